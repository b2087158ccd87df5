"""The whole workflow on small data: what it makes, and what makes it run again."""

import csv
from pathlib import Path

import pytest

# One worker does all that share the run.
pytestmark = pytest.mark.xdist_group("tiny run")
DATASETS = ["PASCAL", "MTWI", "ZHNER", "own"]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_everything_is_made(finished):
    expected = {f"markets/{name}.npz" for name in DATASETS}
    expected |= {f"splits/{name}/{repetition}.npz" for name in DATASETS for repetition in range(2)}
    expected |= {f"figures/own_label_distribution.{kind}" for kind in ("svg", "png")}
    expected |= {
        f"tables/{name}.csv"
        for name in ("dataset_statistics", "service_prices", "simulation_fidelity", "label_distribution")
    }
    assert set(finished.fingerprints()) == expected


def test_tables_tell_of_every_dataset(finished):
    tables = finished.folder / "results" / "tables"
    statistics = {row["dataset"]: row for row in rows(tables / "dataset_statistics.csv")}
    assert list(statistics) == DATASETS
    assert (statistics["PASCAL"]["items"], statistics["PASCAL"]["paper_items"]) == ("346", "11540")
    assert (statistics["own"]["items"], statistics["own"]["paper_items"]) == ("120", "")
    assert [row["data"] for row in statistics.values()] == ["simulated", "simulated", "simulated", "recorded"]
    assert {row["datasets"] for row in rows(tables / "service_prices.csv")} == set(DATASETS)
    assert {row["dataset"] for row in rows(tables / "simulation_fidelity.csv")} == set(DATASETS[:3])


def test_every_job_left_a_log_and_its_timing(finished):
    results = finished.folder / "results"
    logs = {file.relative_to(results / "logs").with_suffix("") for file in (results / "logs").rglob("*.log")}
    timings = {
        file.relative_to(results / "benchmarks").with_suffix("")
        for file in (results / "benchmarks").rglob("*.tsv")
    }
    assert logs == timings
    assert len(logs) == 4 + 8 + 3 + 1


def test_a_second_run_has_nothing_to_do(finished):
    assert "Nothing to be done" in finished.run()


def test_another_run_on_one_core_gives_the_same_bytes(finished):
    alone = finished.beside("alone")
    alone.run(cores=1)
    assert alone.fingerprints() == finished.fingerprints()


def test_editing_a_block_re_runs_its_dataset_only(finished):
    jobs = finished.planned("datasets: {MTWI: {source: {blind: 0.3}}}")
    of_datasets = {job for job in jobs if job.startswith(("Market", "Split"))}
    assert of_datasets == {"Market of MTWI", "Split 0 of MTWI", "Split 1 of MTWI"}


def test_more_repetitions_only_add_their_splits_and_what_no_job_uses_re_runs_nothing(finished):
    later = "{base: auto, budgets: [3, 7], metric: f1, features: labels}"
    jobs = finished.planned(f"repeats: 3\npredictor: mean\ndatasets: {{PASCAL: {later}}}")
    assert jobs == {f"Split 2 of {name}" for name in DATASETS}


def test_editing_own_data_re_runs_what_is_made_of_it(finished):
    own = finished.folder / "own.jsonl"
    before = own.read_bytes()
    try:
        own.write_bytes(before.replace(b"item 0", b"item zero", 1))
        jobs = finished.planned()
    finally:
        own.write_bytes(before)
    assert {"Market of own", "Split 0 of own", "Figure of the labels of own"} <= jobs
    assert not any(name in job for job in jobs for name in DATASETS[:3])


def test_editing_a_module_re_runs_what_depends_on_it(edited):
    def planned_after_edit(*modules: str) -> set[str]:
        files = [edited.root / "src" / "frugalmct" / module for module in modules]
        before = [file.read_bytes() for file in files]
        for file, content in zip(files, before, strict=True):
            file.write_bytes(content + b"\n# edited\n")
        jobs = edited.planned()
        for file, content in zip(files, before, strict=True):
            file.write_bytes(content)
        return jobs

    assert planned_after_edit("figures.py", "combine.py") == {"Figure of the labels of own"}
    simulated = planned_after_edit("sources/simulated.py")
    assert {"Market of PASCAL", "Split 1 of MTWI"} <= simulated
    assert "Market of own" not in simulated
    assert planned_after_edit("reference/paper.yaml") == {
        "Statistics and labels of the datasets",
        "Prices of the services",
        "Simulated markets against what they stand for",
        "Figure of the labels of own",
    }
    assert edited.planned() == set(), "the content of a file counts, not its time"
