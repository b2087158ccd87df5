"""A budget counted in this process alone: what a router uses when no ledger is named.

It does what `Ledger` does, step for step, in memory: nothing is shared with other processes, and nothing is
left of it when the process ends. Of calls that were closed it knows the last 100,000.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from frugalmct.live.budget import Budget, Period
from frugalmct.live.money import cost_nano, from_nano
from frugalmct.live.records import (
    NOT_BEGUN,
    RELEASED,
    RESERVED,
    SETTLED,
    TIDY_EVERY,
    TIME_LIMIT,
    WRITTEN_OFF,
    LedgerError,
    Reservation,
    State,
    Wish,
    new_key,
)
from frugalmct.live.waiting import Waiting

MOST_TICKETS = 100_000
MOST_CALLS = 100_000


@dataclass
class _Account:
    period: Period
    spent: int = 0
    reserved: int = 0
    items: int = 0

    @property
    def left(self) -> int:
        return max(self.period.nano - self.spent - self.reserved, 0)


@dataclass(slots=True)
class _Call:
    account: _Account
    nano: int
    since: float
    state: str = RESERVED
    cost: int = 0


class Purse(Waiting):
    """May be shared by threads. time_limit: seconds until an open reservation is written off as spent."""

    name = "memory"
    at_hand = True

    def __init__(
        self, budget: Budget, clock: Callable[[], float] = time.time, *, time_limit: float = TIME_LIMIT
    ) -> None:
        super().__init__()
        self.budget, self.time_limit = budget, time_limit
        self._clock = clock
        self._tidied = clock()
        self._lock = threading.Lock()
        self._accounts: list[_Account] = []
        self._open: dict[str, _Call] = {}
        self._closed: dict[str, _Call] = {}
        self._notes: dict[str, str] = {}
        self._tickets: dict[str, None] = {}

    def close(self) -> None:
        """There is nothing to give back."""

    def reserve(self, amount: float, service: str, ticket: str) -> Reservation | None:
        with self._lock:
            return self._reserve(Wish(amount, service, ticket))

    def settle(self, reservation: Reservation | str, cost: float | None = None) -> float:
        with self._lock:
            return self._close_call(reservation, cost, SETTLED)

    def release(self, reservation: Reservation | str) -> None:
        with self._lock:
            self._close_call(reservation, 0.0, RELEASED)

    def exchange(
        self,
        *,
        settle: Sequence[tuple[Reservation | str, float | None]] = (),
        release: Sequence[Reservation | str] = (),
        reserve: Sequence[Wish] = (),
    ) -> list[Reservation | None]:
        with self._lock:
            for reservation, cost in settle:
                self._close_call(reservation, cost, SETTLED)
            for reservation in release:
                self._close_call(reservation, 0.0, RELEASED)
            return [self._reserve(wish) for wish in reserve]

    def state(self) -> State:
        """A look opens no period: that is done by its first reservation."""
        with self._lock:
            now, known = self._clock(), self._accounts
            account = self._next_account(now)
            if account is not None:
                before = known[-1].items if known else None
            elif known:
                account, before = known[-1], known[-2].items if len(known) > 1 else None
            else:
                return NOT_BEGUN
            period = account.period
            own = (account.spent, account.reserved, account.items)
            totals = (sum(a.spent for a in known), sum(a.items for a in known))
            return State(
                period.start, period.end, period.nano, *own, before, *totals, max(period.start - now, 0.0)
            )

    def recall(self, key: str) -> str | None:
        with self._lock:
            return self._notes.get(key)

    def notes(self, prefix: str) -> dict[str, str]:
        with self._lock:
            return {key: self._notes[key] for key in sorted(self._notes) if key.startswith(prefix)}

    def note(self, key: str, change: Callable[[str | None], str]) -> str:
        with self._lock:
            self._notes[key] = change(self._notes.get(key))
            return self._notes[key]

    def _next_account(self, now: float) -> _Account | None:
        """A new period once the latest has ended; a clock that was set back opens none again."""
        latest = self._accounts[-1] if self._accounts else None
        if latest is not None and now < latest.period.end:
            return None
        period = self.budget.period(now)
        if period is None or (latest is not None and period.start <= latest.period.start):
            return None
        return _Account(period)

    def _account(self, now: float) -> _Account | None:
        """The latest period."""
        if (new := self._next_account(now)) is not None:
            self._accounts.append(new)
        return self._accounts[-1] if self._accounts else None

    def _reserve(self, wish: Wish) -> Reservation | None:
        now, nano = self._clock(), cost_nano("Purse.reserve", "amount", wish.amount)
        account = self._account(now)
        if (
            account is None
            or now >= account.period.end
            or account.spent + account.reserved + nano > (account.period.nano)
        ):
            if not 0 <= now - self._tidied < TIDY_EVERY:
                self._write_off(now)
            return None
        account.reserved += nano
        account.items += wish.ticket not in self._tickets
        self._remember(wish.ticket)
        key = new_key()
        self._open[key] = _Call(account, nano, now)
        if len(self._open) > MOST_CALLS:
            self._write_off(now)
        return Reservation(key, wish.ticket, wish.service, nano, account.left, account.items)

    def _remember(self, ticket: str) -> None:
        """So that an item's second call does not count it again; the oldest are forgotten."""
        self._tickets[ticket] = None
        if len(self._tickets) > MOST_TICKETS:
            del self._tickets[next(iter(self._tickets))]

    def _write_off(self, now: float) -> None:
        """The oldest come first: where a clock was set back, some stay a little longer."""
        self._tidied = now
        while self._open:
            key, call = next(iter(self._open.items()))
            if call.since >= now - self.time_limit:
                return
            self._close_call(key, None, WRITTEN_OFF)

    def _close_call(self, reservation: Reservation | str, cost: float | None, state: str) -> float:
        """Settling again changes nothing; a call written off, or released, is corrected."""
        key = reservation if isinstance(reservation, str) else reservation.id
        given = None if cost is None else cost_nano("Purse.settle", "cost", cost)
        call = self._open.get(key) or self._closed.get(key)
        if call is None:
            raise LedgerError(
                f"There is no open reservation {key!r}, nor is it among the last {MOST_CALLS:,} that were "
                "closed; reserve first."
            )
        if call.state in (SETTLED, state):
            return from_nano(call.cost)
        if call.state == RESERVED:
            call.account.reserved -= call.nano
            del self._open[key]
            self._closed[key] = call
            if len(self._closed) > MOST_CALLS:
                del self._closed[next(iter(self._closed))]
        booked = call.nano if given is None else given
        call.account.spent += booked - call.cost
        call.state, call.cost = state, booked
        return from_nano(booked)
