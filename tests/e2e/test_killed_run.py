"""A run killed at any moment, then started again, ends in the same bytes as one left alone."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tiny_project import Project

# One worker does all that share the run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tiny run")]


@contextmanager
def started(project: Project, *arguments: str) -> Iterator[subprocess.Popen]:
    """A run in a process group of its own, which does not outlive the block."""
    process = subprocess.Popen(
        project.command(*arguments),
        env=project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def kill_when(project: Project, moment: Callable[[], bool], *arguments: str) -> bool:
    """Runs until the moment comes, then kills every process of the run; False if it ended before."""
    with started(project, *arguments) as process:
        while process.poll() is None:
            if moment():
                os.killpg(process.pid, signal.SIGKILL)
                return True
            time.sleep(0.001)
    return False


def files(project: Project, pattern: str) -> list[Path]:
    return list((project.folder / "results").glob(pattern))


def same_bytes(project: Project, undisturbed: Project) -> bool:
    """What the one has made is what the other has."""
    return project.fingerprints().items() <= undisturbed.fingerprints().items()


# All markets and little else.
MARKETS = ("--", "results/tables/dataset_statistics.csv")


def test_killed_while_markets_are_written(finished):
    killed = finished.beside("killed")
    assert kill_when(killed, lambda: bool(files(killed, "markets/.*.npz")), *MARKETS)
    assert list((killed.folder / ".snakemake" / "locks").iterdir()), "the killed run left its locks"
    assert kill_when(killed, lambda: bool(files(killed, "markets/[A-Za-z]*.npz")), *MARKETS)
    killed.run(*MARKETS)
    assert same_bytes(killed, finished), "and no half-written file is left"
    assert len(files(killed, "markets/*.npz")) == 4
    assert "Nothing to be done" in killed.run(*MARKETS)


def test_two_runs_in_one_folder_are_refused_while_both_live(finished):
    shared = finished.beside("shared")
    with started(shared) as first:
        locks = shared.folder / ".snakemake" / "locks"
        while not (locks.is_dir() and any(locks.iterdir())):
            assert first.poll() is None
            time.sleep(0.01)
        assert "Directory cannot be locked" in shared.run(*MARKETS, succeed=False)
        assert first.poll() is None, "the second run left the first alone"
    shared.run(*MARKETS)
    assert same_bytes(shared, finished)


def test_killed_at_ten_random_moments(finished):
    rng = random.Random(10)
    killed = finished.beside("killed_often")
    for _ in range(10):
        end = time.monotonic() + rng.uniform(0.5, 8)
        kill_when(killed, lambda end=end: time.monotonic() > end)
    killed.run()
    assert killed.fingerprints() == finished.fingerprints()
