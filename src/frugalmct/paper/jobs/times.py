"""What jobs took: time and memory, from what Snakemake measured."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd


def job_times(benchmarks: Path, timings: Iterable[str | Path] | None = None) -> pd.DataFrame:
    """Rule, start, end, seconds and memory of every job, from what Snakemake measured.

    timings: the files in the folder `benchmarks` that count; all of them if it is not given.

    It writes a job's benchmark file when the job ends: the file's own time is that end.
    """
    rows = []
    files = benchmarks.rglob("*.tsv") if timings is None else map(Path, timings)
    for file in sorted(files):
        try:
            measured = pd.read_csv(file, sep="\t", na_values=["-"])
        except (FileNotFoundError, pd.errors.ParserError, pd.errors.EmptyDataError):
            continue
        rule, end = file.relative_to(benchmarks).parts[0].removesuffix(".tsv"), file.stat().st_mtime
        rows += [
            (rule, end - row["s"], end, row["s"], row.get("max_rss")) for row in measured.to_dict("records")
        ]
    return pd.DataFrame(rows, columns=["rule", "start", "end", "seconds", "memory"])


def rule_times(jobs: pd.DataFrame) -> pd.DataFrame:
    """Jobs, seconds and memory of every rule, the longest first."""
    times = jobs.groupby("rule").agg(
        jobs=("seconds", "size"),
        all_jobs_seconds=("seconds", "sum"),
        longest_job_seconds=("seconds", "max"),
        most_memory_MiB=("memory", "max"),
    )
    return times.sort_values("all_jobs_seconds", ascending=False).reset_index()
