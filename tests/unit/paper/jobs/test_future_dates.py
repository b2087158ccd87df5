"""Results dated in the future are made again, once."""

import os
import time
from pathlib import Path

import pytest

from frugalmct.paper.jobs.dates import LONG_AGO, dated_ahead, set_back

HOUR = 3600.0


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    (folder / "markets").mkdir(parents=True)
    for name, ahead in {"past": -HOUR, "now": 0.0, "soon": 2.0, "ahead": HOUR, "far": 1e9}.items():
        file = folder / "markets" / f"{name}.npz"
        file.write_text("x", encoding="utf-8")
        os.utime(file, (time.time() + ahead,) * 2)
    return folder


def times(results: Path) -> dict[str, float]:
    return {file.stem: file.stat().st_mtime for file in results.rglob("*.npz")}


def test_files_of_the_future_are_found(results):
    assert [file.stem for file in dated_ahead(results)] == ["ahead", "far"]


def test_a_run_dates_them_long_ago_and_touches_no_other(results):
    before = times(results)
    sentence = set_back(results, dry=False)
    after = times(results)
    assert {name for name in after if after[name] != before[name]} == {"ahead", "far"}
    # 0 would be no time at all to Snakemake.
    assert after["ahead"] == after["far"] == LONG_AGO > 0
    assert (
        sentence
        == f"{results}/markets/ahead.npz and 1 more are dated in the future; this run makes them again."
    )
    assert set_back(results, dry=False) is None


def test_a_dry_run_says_so_and_changes_nothing(results):
    before = times(results)
    assert "a run will make them again." in set_back(results, dry=True)
    assert times(results) == before


def test_nothing_is_said_where_there_is_nothing(tmp_path):
    assert set_back(tmp_path / "none", dry=False) is None
