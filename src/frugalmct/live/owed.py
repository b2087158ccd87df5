"""Settlements that wait for the ledger's next step, so that an item needs one transaction less.

Until then their calls are reservations on the books, which count as spent: nothing is ever free that is not.
"""

import atexit
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from frugalmct.errors import FrugalError
from frugalmct.live.records import WouldWait

LOG = logging.getLogger("frugalmct.live")
Change = dict[str, Any]


class Owed:
    """What is to be settled; `settle` does so, at the latest `within` seconds after the first was added."""

    def __init__(self, within: float, settle: Callable[[], None]) -> None:
        """settle: a bound method; its object may be forgotten."""
        self.within = within
        self._settle = weakref.WeakMethod(settle)
        self._changes: list[Change] = []
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._pid = os.getpid()
        self._wake: threading.Event | None = None
        atexit.register(_settle_now, self._settle)

    def any(self) -> bool:
        """Whether there is something to settle, or another thread is about it."""
        self._look_where()
        return bool(self._changes) or self._turn.locked()

    def add(self, change: Change) -> None:
        self._look_where()
        with self._lock:
            self._changes.append(change)
            if self._wake is None:
                self._wake = threading.Event()
                own = (self._settle, self._wake, self.within)
                threading.Thread(target=_keep_settling, args=own, daemon=True).start()
            self._wake.set()

    @contextmanager
    def taken(self, must_not_wait: bool) -> Iterator[list[Change]]:
        """All of them, for one thread at a time; what it cannot settle is owed as before."""
        self._look_where()
        if not self._turn.acquire(blocking=not must_not_wait):
            raise WouldWait
        changes: list[Change] = []
        try:
            with self._lock:
                changes, self._changes = self._changes, []
            yield changes
        except BaseException:
            with self._lock:
                self._changes = [*changes, *self._changes]
                if self._wake is not None:
                    self._wake.set()
            raise
        finally:
            self._turn.release()

    def _look_where(self) -> None:
        """A process that was forked off owes nothing of what its parent does, and has none of its threads."""
        if os.getpid() != self._pid:
            self._lock, self._turn, self._wake = threading.Lock(), threading.Lock(), None
            self._changes, self._pid = [], os.getpid()


def _keep_settling(settle: "weakref.WeakMethod[Any]", wake: threading.Event, within: float) -> None:
    """In a thread of its own, until the ledger is forgotten."""
    while settle() is not None:
        if not wake.wait(60.0):
            continue
        wake.clear()
        time.sleep(within)
        _settle_now(settle)


def _settle_now(settle: "weakref.WeakMethod[Any]") -> None:
    work = settle()
    try:
        if work is not None:
            work()
    except FrugalError as error:
        LOG.warning("Calls that were made are still reserved, and will be settled later: %s", error)
