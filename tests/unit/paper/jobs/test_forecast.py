"""The forecast of a run: jobs counted by Snakemake, times from what it measured before."""

import shutil
from pathlib import Path

import pytest
import yaml

from frugalmct.errors import FrugalError
from frugalmct.paper.jobs import reference
from frugalmct.paper.jobs.forecast import core_count, earlier_seconds, in_lines, planned_jobs

PROJECT = Path(__file__).parents[4]

HEADER = "s\th:m:s\tmax_rss\n"


@pytest.fixture
def benchmarks(tmp_path):
    for name, seconds in {"fit_all/A/0": 100.0, "fit_all/B/0": 300.0, "write_report": 4.0}.items():
        file = tmp_path / f"{name}.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{HEADER}{seconds}\t-\t-\n", encoding="utf-8")
    (tmp_path / "write_report_old.tsv").write_text(HEADER, encoding="utf-8")
    return tmp_path


def test_a_rules_jobs_are_averaged(benchmarks):
    assert earlier_seconds(benchmarks) == {"fit_all": 200.0, "write_report": 4.0}
    assert earlier_seconds(benchmarks / "none") == {}


def test_the_sum_is_shared_by_the_cores_the_longest_first(benchmarks):
    *rows, total, expected = in_lines({"write_report": 1, "fit_all": 6}, earlier_seconds(benchmarks), 2)
    assert [row.split() for row in rows] == [
        ["fit_all", "6", "20", "min", "00", "s"],
        ["write_report", "1", "4", "s"],
    ]
    assert total.split() == ["all", "7", "20", "min", "04", "s"]
    assert expected == "Expected: 10 min 02 s on 2 cores, by what the jobs of each rule took before."


def test_planning_takes_its_time_before_the_first_job_however_many_cores():
    *_, words = in_lines({"a_b": 4}, {"a_b": 10.0}, 4, planning=7)
    assert words.startswith("Expected: 17 s on 4 cores")


def test_no_number_of_cores_makes_a_run_shorter_than_its_longest_job():
    assert "Expected: 1 h 00 min on 64 cores" in list(in_lines({"a_b": 2}, {"a_b": 3600.0}, 64))[-1]


def test_what_is_not_known_is_said():
    *_, total, words = in_lines({"a_b": 2, "c_d": 3}, {}, 2)
    assert total.endswith("not known")
    assert words == "No expected time: none of these jobs was ever measured."
    *_, words = in_lines({"a_b": 2, "c_d": 3}, {"a_b": 1.0}, 1)
    assert words.endswith("took before, and 3 jobs that were never measured.")
    assert list(in_lines({}, {}, 2)) == ["Nothing to be done: everything is made and up to date."]


@pytest.mark.parametrize("words", ["none", "0", "-1", "1.5", ""])
def test_cores_are_a_number_or_all(words):
    with pytest.raises(FrugalError, match=r"forecast: cores is .*; give a whole number from 1 on, or all\."):
        core_count(words)
    assert core_count("3") == 3 and core_count("all") >= 1


def test_where_nothing_was_run_the_default_runs_times_count_at_this_machines_pace(monkeypatch):
    kept = yaml.safe_load(reference.FILE.read_text(encoding="utf-8"))
    monkeypatch.setattr(reference, "pace", lambda: 2 * kept["pace"])
    seconds, words = reference.reference()
    assert seconds == {rule: 2 * value for rule, value in kept["seconds"].items()}
    assert words == f"by the default run on {kept['machine']}, where a tree takes 0.50 times as long"


def test_the_kept_times_are_of_the_rules_that_the_default_run_has(tmp_path, monkeypatch):
    """A rule added, renamed or taken away: `python tools/keep_times.py`."""
    shutil.copy(PROJECT / "config.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    jobs = planned_jobs(["--snakefile", str(PROJECT / "Snakefile"), "--cores", "1"])
    assert jobs.keys() == yaml.safe_load(reference.FILE.read_text(encoding="utf-8"))["seconds"].keys()
