"""What long work is at, for people who wait: lines on standard error, never part of the output."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from frugalmct.cli.common import progress

EVERY, EVERY_IN_A_LOG = 3.0, 30.0
"""Seconds between two lines: for whoever looks at a terminal, and where they are kept."""


class Ticker:
    """Says something now and then; work that is soon done says nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = EVERY if sys.stderr.isatty() else EVERY_IN_A_LOG
        self._clock = clock
        self._next = clock() + self._every

    def say(self, text: Callable[[], str]) -> None:
        if (now := self._clock()) >= self._next:
            self._next = now + self._every
            progress(text())


class _Steps(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._ticker = Ticker()

    def emit(self, record: logging.LogRecord) -> None:
        self._ticker.say(record.getMessage)


@contextmanager
def steps_told() -> Iterator[None]:
    """Inside, says now and then which step the library is at, from what it logs as `frugalmct.steps`."""
    log, steps = logging.getLogger("frugalmct.steps"), _Steps()
    level = log.level
    log.addHandler(steps)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(steps)
        log.setLevel(level)
