"""One job for several exhibits makes those that have changed, and no other."""

import os
from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.jobs.batch import CURVES, DATA, EACH, ESTIMATES, Part, batches, changed_parts

PAST = 1_000_000_000


@pytest.fixture
def parts(tmp_path):
    """A table of the data, one of that table, and one of other data."""
    for name in ("rows", "others"):
        (tmp_path / f"{name}.csv").write_text(f"{name}\n", encoding="utf-8")

    def part(name: str, origin: str) -> Part:
        figures = [str(tmp_path / f"{name}.svg"), str(tmp_path / f"{name}.png")]
        files = {origin: [str(tmp_path / f"{origin}.csv")]}
        table, caption = (str(tmp_path / f"{name}.{ending}") for ending in ("csv", "rst"))
        return Part(name, "code", {"data": {}}, files, table, figures, caption)

    return [part("first", "rows"), part("second", "first"), part("apart", "others")]


def make(parts: list[Part], record: Path) -> list[str]:
    """Makes what is to be made, a table from its input, and returns the names."""
    made = []
    for part in changed_parts(parts, record):
        ((source,),) = part.files.values()
        for file in part.made:
            Path(file).write_text(f"{part.name} of {Path(source).read_text('utf-8')[:5]}", encoding="utf-8")
        made.append(part.name)
    return made


@pytest.fixture
def record(tmp_path, parts):
    record = tmp_path / "made" / "batch.json"
    assert make(parts, record) == ["first", "second", "apart"]
    return record


def test_what_is_up_to_date_stays_and_looks_new(parts, record):
    files = [Path(file) for part in parts for file in part.made]
    for file in files:
        os.utime(file, (PAST, PAST))
    before = [file.read_bytes() for file in files]
    assert make(parts, record) == []
    assert [file.read_bytes() for file in files] == before
    assert all(file.stat().st_mtime > PAST for file in files), "or Snakemake would run the job for ever"


def test_code_and_settings_make_their_exhibit_again(parts, record):
    first, second, apart = parts
    assert make([first, replace(second, code="edited"), apart], record) == ["second"]
    assert make([first, second, replace(apart, settings={"data": {"mine": "recorded"}})], record) == [
        "second",
        "apart",
    ]


def test_other_input_makes_again_what_is_made_of_it(parts, record, tmp_path):
    (tmp_path / "rows.csv").write_text("other rows\n", encoding="utf-8")
    assert make(parts, record) == ["first", "second"]
    (tmp_path / "rows.csv").write_text("other rows, of which the table shows nothing\n", encoding="utf-8")
    assert make(parts, record) == ["first"], "its table is the same as before"


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_bytes(b"")], ids=["gone", "emptied"])
def test_damaged_files_are_made_again(parts, record, damage):
    damage(Path(parts[2].figures[1]))
    assert make(parts, record) == ["apart"]


@pytest.mark.parametrize("content", ["", "[]", '{"first": 1}', "{"])
def test_without_a_record_all_is_made_again(parts, record, content):
    record.write_text(content, encoding="utf-8")
    assert make(parts, record) == ["first", "second", "apart"]


def test_another_version_of_what_draws_makes_all_again(parts, record, monkeypatch):
    monkeypatch.setattr("frugalmct.paper.jobs.batch.version", lambda tool: f"another {tool}")
    assert make(parts, record) == ["first", "second", "apart"]


def test_a_batch_that_failed_is_made_again(parts, record, tmp_path):
    (tmp_path / "others.csv").write_text("other data\n", encoding="utf-8")
    with pytest.raises(RuntimeError):
        for _ in changed_parts(parts, record):
            raise RuntimeError
    assert make(parts, record) == ["apart"]


def test_every_exhibit_is_in_one_batch_after_what_it_reads():
    exhibits = all_exhibits()
    found = batches(exhibits)
    order = [exhibit.name for members in found.values() for exhibit in members]
    assert sorted(order) == sorted(exhibit.name for exhibit in exhibits)
    batch_of = {exhibit.name: batch for batch, members in found.items() for exhibit in members}
    before: dict[str, set[str]] = {batch: set() for batch in found}
    for members in found.values():
        names = [exhibit.name for exhibit in members]
        for place, exhibit in enumerate(members):
            for need in set(exhibit.needs) & batch_of.keys():
                assert need not in names[place:]
                before[batch_of[exhibit.name]] |= {batch_of[need]} - {batch_of[exhibit.name]}
    TopologicalSorter(before).prepare()


def test_batches_wait_for_no_more_than_they_must():
    found = {
        batch: {exhibit.name for exhibit in members} for batch, members in batches(all_exhibits()).items()
    }
    assert found[DATA] >= {"dataset_statistics"} and found[DATA + EACH] == {"label_distribution"}
    assert found[ESTIMATES] >= {"predictor_quality", "worked_examples"}
    assert found[ESTIMATES + EACH] == {"per_label"}
    assert found[CURVES] >= {"cost_savings", "service_worth", "cheapest_budget"}
    assert found[CURVES + EACH] == {"tradeoff"}
    assert found["solver_runtime"] == {"solver_runtime"}, "the longest study must not hold up the others"
    assert found["case_study"] == {"case_study"} and found["claims"] == {"claims"}


def test_a_figure_per_dataset_is_made_apart_from_exhibits_without():
    for members in batches(all_exhibits()).values():
        assert len({exhibit.plot_each is None for exhibit in members}) == 1
