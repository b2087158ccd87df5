"""The authors' release as a source: fetched from a git repository, then run like any other data."""

import csv
import json
import random
from pathlib import Path

import pytest
from released import LABEL_MAP, committed, write_frugalmct
from tiny_project import Project

from frugalmct.sources.release import dataset_folder

# One worker does all that share the copied project.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tiny run")]

INDICES = {"Google": 0, "Microsoft": 2, "EveryPixel": 6, "SSD": 100000}


def write_release(folder: Path, items: int = 200, without: tuple[str, ...] = ()) -> None:
    """A release of PASCAL in which every service finds most of the labels."""
    rng = random.Random(3)
    labels = list(LABEL_MAP)
    true = {f"2010_{number:06}": rng.sample(labels, rng.randint(1, 2)) for number in range(items)}
    answers = {
        index: None
        if name in without
        else {
            item: [(label, round(rng.uniform(0.3, 1), 3)) for label in found if rng.random() < 0.7]
            for item, found in true.items()
        }
        for name, index in INDICES.items()
    }
    write_frugalmct(dataset_folder(folder, "PASCAL"), true, answers)


@pytest.fixture
def here(project: Project, tmp_path) -> Project:
    """The project with an empty folder of results."""
    (tmp_path / "here").mkdir()
    return Project(project.root, tmp_path / "here")


def config(source: dict[str, str] | None = None, **more: object) -> str:
    """As JSON, which is YAML too."""
    wanted = {"data": "release", "only": ["PASCAL"], "scale": 1.0, "repeats": 1} | more
    return json.dumps(wanted | ({"release_source": source} if source else {}))


def rows(project: Project, table: str) -> list[dict[str, str]]:
    path = project.folder / "results" / "tables" / f"{table}.csv"
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


TABLES = ("--", "results/tables/dataset_statistics.csv", "results/tables/service_prices.csv")


def test_a_release_that_is_not_there_is_fetched_once(here, tmp_path):
    write_release(tmp_path / "remote")
    settings = config(committed(tmp_path / "remote"))
    here.run(*TABLES, config=settings)
    assert (here.folder / "release/FrugalMCT/dataset/mlserviceperformance_PASCAL/meta.csv").is_file()
    (statistics,) = rows(here, "dataset_statistics")
    assert (statistics["items"], statistics["data"]) == ("200", "release")
    assert statistics["dropped_services"] == ""
    assert "Nothing to be done" in here.run(*TABLES, config=settings)


def test_with_no_way_to_fetch_it_a_sentence_tells_what_to_do(here):
    settings = config({"url": "file:///nowhere/at/all", "commit": "0" * 40})
    output = here.run(*TABLES, config=settings, succeed=False)
    assert "The release cannot be fetched from file:///nowhere/at/all" in output
    assert "--config release_dir=FOLDER." in output and "Traceback" not in output
    assert not (here.folder / "release" / "FrugalMCT").exists()


def test_missing_answers_are_told_before_any_job_starts(here):
    write_release(here.folder / "copy", without=("SSD",))
    output = here.run(*TABLES, config=config(release_dir="copy"), succeed=False)
    assert "The answers of PASCAL's SSD are missing: there is no copy/dataset/" in output
    assert "Traceback" not in output and not (here.folder / "results").exists()


def test_dropped_services_are_told_in_the_tables(here):
    write_release(here.folder / "copy", without=("SSD",))
    here.run(*TABLES, config=config(release_dir="copy", missing_services="drop"))
    (statistics,) = rows(here, "dataset_statistics")
    assert statistics["dropped_services"] == "SSD"
    prices = {row["service"]: row for row in rows(here, "service_prices")}
    assert list(prices) == ["Everypixel", "Microsoft", "Google", "SSD"]
    assert prices["SSD"]["price_usd_per_10k"] == "" and prices["SSD"]["reason"].startswith("dropped")


def test_editing_a_copy_of_the_release_makes_its_market_again(here):
    write_release(here.folder / "copy")
    settings = config(release_dir="copy")
    here.run(*TABLES, config=settings)
    truth = dataset_folder(here.folder / "copy", "PASCAL") / "Model100000_TrueLabel.txt"
    truth.write_text(truth.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert "Market of PASCAL" in here.run("--dry-run", *TABLES, config=settings)


def test_a_run_on_the_release_goes_through_to_the_report(here):
    write_release(here.folder / "copy", without=("SSD",))
    settings = config(release_dir="copy", missing_services="drop", repeats=2)
    here.run(config=settings)
    assert {"figures/tradeoff/PASCAL.svg", "tables/single_services.csv", "report.html"} <= here.made()
    assert "tables/simulation_fidelity.csv" not in here.made()
    report = (here.folder / "results" / "report.html").read_text(encoding="utf-8")
    assert "<strong>REAL DATA</strong>" in report and "SIMULATED" not in report
    assert "PASCAL is without SSD, whose answers are not in the release at hand." in report
    assert "Table simulation_fidelity: no dataset of this run is simulated." in report
    assert "COCO is not among the datasets run" in report
    drawing = (here.folder / "results" / "figures" / "tradeoff.svg").read_text(encoding="utf-8")
    assert "REAL DATA" in drawing and "SIMULATED" not in drawing
    assert "Nothing to be done" in here.run(config=settings)
