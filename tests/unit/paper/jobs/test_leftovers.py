"""What an earlier run made and this one does not: gone where readers look, and nothing else with it."""

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from frugalmct.paper.exhibit import in_columns, load_exhibit
from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.jobs.leftovers import remove_figures, remove_others
from frugalmct.paper.jobs.times import job_times
from frugalmct.paper.plotting import save_figure
from frugalmct.paper.report.page import write_report
from frugalmct.paper.tables import write_table

OURS = (
    "figures/tradeoff.svg",
    "figures/tradeoff/COCO.svg",
    "figures/tradeoff/PASCAL.svg",
    "figures/beyond.png",
)
MINE = ("figures/tradeoff/mine.svg", "figures/mine.png", "tables/mine.csv", "headlines/mine.txt", "notes.txt")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Of an earlier run with COCO and PASCAL, and a user's own files."""
    folder = tmp_path / "results"
    for name in OURS:
        figure = Figure(figsize=(1, 1))
        save_figure(figure, [(folder / name).with_suffix(ending) for ending in (".svg", ".png")])
    for name in ("tradeoff", "simulation_fidelity"):
        exhibit = load_exhibit(name)
        write_table(
            in_columns(exhibit, pd.DataFrame({"dataset": ["COCO"]})), folder / "tables" / f"{name}.csv"
        )
        (folder / "captions").mkdir(exist_ok=True)
        (folder / "captions" / f"{name}.rst").write_text("x", encoding="utf-8")
    (folder / "headlines").mkdir()
    for name in ("COCO", "PASCAL"):
        (folder / "headlines" / f"{name}.txt").write_text(f"{name} is done: 1.\n", encoding="utf-8")
    for name in MINE:
        (folder / name).write_text("mine", encoding="utf-8")
    return folder


def left(results: Path) -> set[str]:
    return {str(file.relative_to(results)) for file in results.rglob("*") if file.is_file()}


def test_figures_of_datasets_that_an_exhibit_does_not_show_go(results):
    before = left(results)
    kept = [f"{results}/figures/tradeoff/COCO.{ending}" for ending in ("svg", "png")]
    remove_figures("tradeoff", kept, results / "figures")
    assert before - left(results) == {"figures/tradeoff/PASCAL.svg", "figures/tradeoff/PASCAL.png"}


def test_exhibits_and_headlines_that_the_run_has_not_got_go(results):
    before = left(results)
    kept = [results / "tables" / "tradeoff.csv", *(results / "figures").glob("tradeoff*")]
    kept += (results / "figures" / "tradeoff").glob("COCO.*")
    remove_others(all_exhibits(), kept, ["COCO"], results)
    assert before - left(results) == {
        "figures/beyond.svg", "figures/beyond.png",
        "figures/tradeoff/PASCAL.svg", "figures/tradeoff/PASCAL.png",
        "tables/simulation_fidelity.csv", "captions/simulation_fidelity.rst", "headlines/PASCAL.txt",
    }  # fmt: skip


def test_a_users_own_file_under_a_name_of_ours_stays(results):
    own = {"tables/simulation_fidelity.csv": "my,table\n", "headlines/PASCAL.txt": "PASCAL went well",
           "figures/beyond.svg": "<svg/>"}  # fmt: skip
    for name, text in own.items():
        (results / name).write_text(text, encoding="utf-8")
    remove_others(all_exhibits(), [], ["COCO"], results)
    for name, text in own.items():
        assert (results / name).read_text(encoding="utf-8") == text
    assert set(MINE) <= left(results)


def benchmark(folder: Path, name: str) -> Path:
    file = folder / f"{name}.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("s\tmax_rss\n2.5\t100\n", encoding="utf-8")
    return file


def test_times_are_those_of_this_runs_jobs(tmp_path):
    current = [benchmark(tmp_path / "b", name) for name in ("make_market/COCO", "split_market/COCO/0")]
    for gone in ("make_market/PASCAL", "study_predictors/PASCAL/0", "exhibit_gone"):
        benchmark(tmp_path / "b", gone)
    never = tmp_path / "b" / "announce_dataset" / "COCO.tsv"
    assert list(job_times(tmp_path / "b", [*current, never])["rule"]) == ["make_market", "split_market"]
    assert len(job_times(tmp_path / "b")) == 5, "the forecast goes by all that was ever measured"
    write_report(tmp_path / "report.html", [], [], {}, tmp_path / "b", tmp_path, [*current, never])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "split_market" in page and "study_predictors" not in page and "exhibit_gone" not in page
