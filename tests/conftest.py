"""For all tests; that this file is here also puts `helpers` on the import path."""

import os
from typing import Any

# Tests run side by side: threads of their own would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# The same examples in every run, and no failure because a shared machine was slow.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> "OneRunEach | None":
    return OneRunEach(config, log) if config.getvalue("dist") == "loadgroup" else None


# The tests of exhibits that share what a run in one process made.
OF_A_RUN = ("test_a_study_says", "test_it_builds_exactly", "test_it_is_made_from")


class OneRunEach(LoadScopeScheduling):
    """What shares a small run of the workflow, or a database server, goes to one worker, which makes it once.

    xdist's own groups rely on renaming tests, which pytest no longer lets them do.
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith("tests/e2e/"):
            return "small run"
        if any(f"test_exhibits.py::{name}" in nodeid for name in OF_A_RUN):
            return "exhibits of a run"
        live = nodeid.startswith("tests/unit/live/")
        return "ledgers" if live and ("/test_ledger" in nodeid or "[postgresql" in nodeid) else nodeid
