"""Services that fail: how long to wait, how often to ask again, when to leave one out for a while.

    breaker = Breaker(Patience(timeout=20, retries=1))
    if breaker.allows("Google"):
        try:
            answer = within(patience.timeout, lambda: ask("Google", item))
            breaker.succeeded("Google")
        except Exception:
            breaker.failed("Google")

A service whose last calls failed too often is left out for `pause` seconds; then one call is let through as a
trial. If it succeeds the service is back, if it fails the pause doubles. Each process has its own breaker.
"""

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from frugalmct.checks import real_number, whole_number
from frugalmct.errors import FrugalError

Answer = TypeVar("Answer")
CLOSED, OPEN, TRIAL = "in use", "left out", "on trial"


class ServiceTimeout(Exception):
    """A service did not answer in time."""


@dataclass(frozen=True)
class Patience:
    """How a service's failures are met.

    timeout: seconds to wait for an answer; None to wait as long as it takes. retries: how often to ask again
    after a failure; wait: seconds before the first of them, twice as long before each next one.
    failures of the last calls: leave the service out, for pause seconds at first, longest_pause at most.
    memory: seconds after which an old failure no longer counts.
    charges_failures: whether the provider charges for calls that failed or timed out.
    """

    timeout: float | None = 30.0
    retries: int = 1
    wait: float = 0.5
    failures: int = 5
    calls: int = 10
    pause: float = 30.0
    longest_pause: float = 600.0
    memory: float = 600.0
    charges_failures: bool = False

    def __post_init__(self) -> None:
        for name in ("wait", "pause", "longest_pause", "memory"):
            _not_negative(name, getattr(self, name))
        if self.timeout is not None and _not_negative("timeout", self.timeout) == 0:
            raise FrugalError("Patience: timeout is 0; give seconds, or None to wait as long as it takes.")
        whole_number("Patience", "retries", self.retries, least=0)
        whole_number("Patience", "failures", self.failures, least=1)
        whole_number("Patience", "calls", self.calls, least=self.failures)

    def wait_before(self, retry: int) -> float:
        """Seconds before the retry of that number, from 1; random, so that callers do not come together."""
        return self.wait * 2 ** (retry - 1) * random.uniform(0.5, 1.0)


@dataclass
class _Record:
    outcomes: deque[tuple[float, bool]]
    state: str = CLOSED
    until: float = 0.0
    pause: float = 0.0


@dataclass
class Breaker:
    """One per process; may be shared by its threads. `special` has the patience of single services."""

    patience: Patience = field(default_factory=Patience)
    special: dict[str, Patience] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._records: dict[str, _Record] = {}
        self._lock = threading.Lock()

    def patience_of(self, service: str) -> Patience:
        return self.special.get(service, self.patience)

    def allows(self, service: str) -> bool:
        """Whether the service may be asked now. After the pause, True once: that call is the trial.

        Report its outcome; a trial without outcome counts as lost after another pause.
        """
        with self._lock:
            record = self._records.get(service)
            if record is None or record.state == CLOSED:
                return True
            now = self.clock()
            if now < record.until:
                return False
            record.state, record.until = TRIAL, now + max(record.pause, self._trial_time(service))
            return True

    def give_back(self, service: str) -> None:
        """For a trial that was allowed but not made: the next who asks has it. Does nothing without one."""
        with self._lock:
            record = self._records.get(service)
            if record is not None and record.state == TRIAL:
                record.until = self.clock()

    def available(self, service: str) -> bool:
        """What `allows` would say, without claiming the trial: for looking at several services."""
        with self._lock:
            record = self._records.get(service)
            return record is None or record.state == CLOSED or self.clock() >= record.until

    def state(self, service: str) -> str:
        """`in use`, `left out` or `on trial`."""
        with self._lock:
            record = self._records.get(service)
            return CLOSED if record is None else record.state

    def left_out(self) -> list[str]:
        """Services that are left out or on trial now."""
        with self._lock:
            return sorted(name for name, record in self._records.items() if record.state != CLOSED)

    def succeeded(self, service: str) -> None:
        with self._lock:
            record = self._record(service)
            if record.state != CLOSED:
                record.outcomes.clear()
                record.state, record.pause = CLOSED, 0.0
            record.outcomes.append((self.clock(), True))

    def failed(self, service: str) -> bool:
        """Notes a failure; True when the service is left out from now on."""
        with self._lock:
            record, patience, now = self._record(service), self.patience_of(service), self.clock()
            if record.state == OPEN:
                return False  # a call from before it was left out
            record.outcomes.append((now, False))
            recent = sum(not good for when, good in record.outcomes if when >= now - patience.memory)
            if record.state == CLOSED and recent < patience.failures:
                return False
            longer = 2 * record.pause if record.state == TRIAL else patience.pause
            record.pause = min(longer, patience.longest_pause)
            record.state, record.until = OPEN, now + record.pause
            return True

    def _record(self, service: str) -> _Record:
        if service not in self._records:
            self._records[service] = _Record(deque(maxlen=self.patience_of(service).calls))
        return self._records[service]

    def _trial_time(self, service: str) -> float:
        return self.patience_of(service).timeout or 0.0


def within(seconds: float | None, call: Callable[[], Answer]) -> Answer:
    """What `call()` returns; ServiceTimeout when it takes longer.

    Python cannot stop a thread: a call that came too late goes on in the background, its answer unused.
    """
    if seconds is None:
        return call()
    outcome: list[tuple[bool, object]] = []

    def run() -> None:
        try:
            outcome.append((True, call()))
        except BaseException as error:  # handed to the caller's thread
            outcome.append((False, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise ServiceTimeout(f"no answer within {seconds:g} seconds")
    good, value = outcome[0]
    if not good:
        raise value  # type: ignore[misc]
    return value  # type: ignore[return-value]


async def within_async(seconds: float | None, call: Callable[[], Awaitable[Answer]]) -> Answer:
    """The same for a coroutine, which is cancelled when it takes longer. Its own timeouts stay its own."""
    try:
        async with asyncio.timeout(seconds) as limit:
            return await call()
    except TimeoutError:
        if not limit.expired():
            raise
        raise ServiceTimeout(f"no answer within {seconds:g} seconds") from None


def _not_negative(name: str, value: object) -> float:
    number = real_number("Patience", name, value, "a number of seconds, 0 or more")
    if not number >= 0:
        raise FrugalError(f"Patience: {name} is {value!r}; give a number of seconds, 0 or more.")
    return number
