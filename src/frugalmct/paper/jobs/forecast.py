"""What a run would do and how long it would take, from what the jobs of its rules took before."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from frugalmct.errors import FrugalError
from frugalmct.paper.jobs.reference import reference
from frugalmct.paper.jobs.times import job_times

BENCHMARKS = Path("results/benchmarks")
BEFORE = "by what the jobs of each rule took before"
# Of a dry run's table of jobs: a rule and its number; rules that only name files have no job of their own.
_JOBS = re.compile(r"(?m)^([a-z]+_[a-z_]+) +(\d+)$")


def planned_jobs(arguments: Sequence[str]) -> dict[str, int]:
    """Rule -> number of jobs that `snakemake` with these arguments would start; none is started."""
    if find_spec("snakemake") is None:
        raise FrugalError(
            "forecast: Snakemake is not installed beside this Python; use the environment that `make` builds "
            "(.venv/bin/python), or `pip install 'frugalmct[workflow]'`."
        )
    command = [sys.executable, "-m", "snakemake", "--dry-run", *arguments]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode:
        raise FrugalError(f"forecast: the dry run failed: {(outcome.stderr or outcome.stdout).strip()}")
    table = outcome.stdout.rpartition("Job stats:")[2]
    return {rule: int(number) for rule, number in _JOBS.findall(table)}


def earlier_seconds(benchmarks: Path) -> dict[str, float]:
    """Rule -> mean seconds of a job, of the rules that Snakemake has measured."""
    return job_times(benchmarks).groupby("rule")["seconds"].mean().to_dict()


def forecast(cores: str, arguments: Sequence[str]) -> Iterator[str]:
    """Of the workflow in this folder, line by line."""
    count = core_count(cores)
    start = time.monotonic()
    jobs = planned_jobs(["--cores", str(count), *arguments])
    planning = time.monotonic() - start
    before, source = earlier_seconds(BENCHMARKS), BEFORE
    if jobs and not before:
        before, source = reference()
    return in_lines(jobs, before, count, planning, source)


def in_lines(
    jobs: Mapping[str, int],
    before: Mapping[str, float],
    cores: int,
    planning: float = 0,
    source: str = BEFORE,
) -> Iterator[str]:
    """The forecast for a person: one line per rule, the longest first, then the sum.

    before: rule -> seconds of a job; planning: seconds that Snakemake takes before the first job, on one
    core; source: where `before` is from, in words.
    """
    if not jobs:
        yield "Nothing to be done: everything is made and up to date."
        return
    expected = {rule: number * before[rule] for rule, number in jobs.items() if rule in before}
    width = max(map(len, jobs))
    for rule, number in sorted(jobs.items(), key=lambda planned: -expected.get(planned[0], 0.0)):
        yield _row(rule, width, number, expected.get(rule))
    yield _row("all", width, sum(jobs.values()), sum(expected.values()) if expected else None)
    yield _expectation(jobs, before, cores, planning, source)


def _row(rule: str, width: int, number: int, seconds: float | None) -> str:
    return f"  {rule:<{width}}  {number:>4}  {'not known' if seconds is None else _duration(seconds):>11}"


def _expectation(
    jobs: Mapping[str, int], before: Mapping[str, float], cores: int, planning: float, source: str
) -> str:
    known = [rule for rule in jobs if rule in before]
    if not known:
        return "No expected time: none of these jobs was ever measured."
    total = sum(jobs[rule] * before[rule] for rule in known)
    # However many the cores, a job has one.
    expected = planning + max(total / cores, *(before[rule] for rule in known))
    unknown = sum(jobs[rule] for rule in jobs if rule not in before)
    besides = f", and {unknown} jobs that were never measured" if unknown else ""
    on = f"{cores} core{'s' if cores > 1 else ''}"
    return f"Expected: {_duration(expected)} on {on}, {source}{besides}."


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def core_count(given: str) -> int:
    """Cores as Snakemake takes them: a number, or `all`."""
    if given == "all":
        return os.cpu_count() or 1
    if not given.isdecimal() or int(given) < 1:
        raise FrugalError(f"forecast: cores is {given!r}; give a whole number from 1 on, or all.")
    return int(given)
