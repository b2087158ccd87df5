"""Results that are neither stale nor lost, whatever happens to files, times, and the list of datasets."""

import json
import os
import re
import shlex
import shutil
import time
from pathlib import Path

import pytest
from tiny_project import Project

# One worker does all that share the run.
pytestmark = pytest.mark.xdist_group("tiny run")

HOUR = 3600
SMALL = "only: [own]\nrepeats: 1\nscale: 0.05\npredictor: mean\n"
TARGETS = ("--", "results/headlines/own.txt", "results/tables/predictor_quality.csv")
MARKET, SPLIT = "results/markets/own.npz", "results/splits/own/0.npz"


def planned(project: Project, *targets: str) -> set[str]:
    output = project.run("--dry-run", "--", *targets, config=SMALL)
    return set(re.findall(r"(?m)^Job \d+: (.+)$", output))


@pytest.fixture(scope="module")
def small(project: Project) -> Project:
    """A run of one dataset, far enough that every kind of result is there."""
    here = project.beside("small")
    here.run(*TARGETS, config=SMALL)
    return here


@pytest.fixture
def copied(small: Project, tmp_path: Path) -> Project:
    """The run, to do something to."""
    shutil.copytree(small.folder, tmp_path / "copied")
    return Project(small.root, tmp_path / "copied")


def test_data_replaced_by_an_older_file_are_read_again_and_times_alone_change_nothing(copied):
    own = copied.folder / "own.jsonl"
    os.utime(own, (time.time() + 9 * HOUR,) * 2)
    assert planned(copied, SPLIT) == set(), "the content is the same"
    copied.run("--forcerun", "read_answers", "--", MARKET, config=SMALL)
    own.write_bytes(own.read_bytes().replace(b"item 0", b"item O", 1))
    os.utime(own, (1e9, 1e9))
    assert planned(copied, SPLIT) == {"Answers of own", "Split 0 of own"}


@pytest.mark.slow
def test_a_result_of_the_future_is_made_again_once(copied):
    split = copied.folder / SPLIT
    before = split.read_bytes()
    for file in (copied.folder / MARKET, split):
        os.utime(file, (time.time() + 9 * HOUR,) * 2)
    times = split.stat().st_mtime
    dry = copied.run("--dry-run", *TARGETS, config=SMALL)
    assert f"{MARKET} and 1 more are dated in the future; a run will make them again." in dry
    assert split.stat().st_mtime == times, "a dry run changes nothing"
    output = copied.run(*TARGETS, config=SMALL)
    assert "this run makes them again." in output and "Market of own" in output
    assert split.stat().st_mtime < time.time() and split.read_bytes() == before
    assert "Nothing to be done" in copied.run(*TARGETS, config=SMALL)


RESULTS = [
    MARKET,
    SPLIT,
    "results/combinations/own/0.json",
    "results/estimates/own/0.npz",
    "results/plans/own/0.json",
    "results/selections/own/0.csv",
    "results/baselines/own/0.csv",
]


@pytest.mark.slow
@pytest.mark.parametrize("result", RESULTS)
def test_a_damaged_result_is_repaired_by_what_the_message_says(copied, result):
    file = copied.folder / result
    whole = copied.fingerprints()
    file.write_bytes(file.read_bytes()[:-7])
    output = copied.run(*TARGETS, config=SMALL, succeed=False)
    # What a reader of the message does.
    said = re.findall(r"(?m)^(results/\S+): .*; make it again with `snakemake (.+)`\.$", output)
    ((named, arguments),) = set(said)
    assert named == result and "Traceback" not in output
    copied.run(*shlex.split(arguments), config=SMALL)
    copied.run(*TARGETS, config=SMALL)
    assert copied.fingerprints() == whole


def test_a_dry_run_removes_nothing(copied):
    results = copied.folder / "results"
    for name in (".my.settings.json", "markets/.frugalmct-unfinished-x7_abcde.npz"):
        (results / name).write_text("{}", encoding="utf-8")
    before = copied.made()
    copied.run("--dry-run", *TARGETS, config=SMALL)
    assert copied.made() == before
    copied.run("--forcerun", "announce_dataset", *TARGETS, config=SMALL)
    assert before - copied.made() == {"markets/.frugalmct-unfinished-x7_abcde.npz"}


@pytest.mark.slow
def test_figures_of_a_dataset_that_is_gone_do_not_lie_beside_fresh_ones(copied):
    shutil.copy(copied.folder / "own.jsonl", copied.folder / "twin.jsonl")
    block = json.dumps(
        {
            "task": "MIC",
            "source": {"kind": "jsonl", "path": "twin.jsonl"},
            "prices": {"free": 0.01, "fair": 5, "dear": 12.5},
        }
    )
    both = SMALL.replace("[own]", "[own, twin]") + f"datasets: {{twin: {block}}}\n"
    target = ("--", "results/tables/label_distribution.csv")
    copied.run(*target, config=both)
    figures = copied.folder / "results" / "figures" / "label_distribution"
    assert {file.name for file in figures.iterdir()} == {"own.svg", "own.png", "twin.svg", "twin.png"}
    (figures / "mine.svg").write_text("<svg/>", encoding="utf-8")
    copied.run(*target, config=SMALL)
    assert {file.name for file in figures.iterdir()} == {"own.svg", "own.png", "mine.svg"}
    assert (copied.folder / "results/markets/twin.npz").exists(), (
        "what took long stays for when it comes back"
    )


@pytest.mark.slow
def test_the_report_has_the_times_of_all_jobs_of_the_run(finished):
    """Counted in the folder of the whole run, where nothing of another run can be."""
    results = finished.folder / "results"
    jobs: dict[str, int] = {}
    for file in (results / "benchmarks").rglob("*.tsv"):
        rule = file.relative_to(results / "benchmarks").parts[0].removesuffix(".tsv")
        jobs[rule] = jobs.get(rule, 0) + 1
    del jobs["write_report"]
    page = (results / "report.html").read_text(encoding="utf-8")
    table = page[page.index("Time and memory of every rule</caption>") :].partition("</table>")[0]
    rows = re.findall(r'<tr><td[^>]*>([^<]+)</td><td[^>]*data-value="([\d.]+)"', table)
    assert {rule: int(float(number)) for rule, number in rows} == jobs
