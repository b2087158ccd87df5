"""One budget for any number of processes: money is reserved before a call and settled after it.

    ledger = Ledger.open("sqlite:///ledger.db", Budget(total=120, items=100_000))
    reservation = ledger.reserve(0.0015, "Google", ticket="a1")     # None: the money left does not pay for it
    ledger.settle(reservation, cost=0.0012)

Each step is one transaction, so that at every look spent + reserved <= the budget. A process that dies leaves
its reservations behind: they count as spent, and after `time_limit` seconds are written off as spent. They
are never given back by guess; the caller who learns later what a call cost may still settle it.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from frugalmct.errors import FrugalError
from frugalmct.live.books import period_row
from frugalmct.live.budget import Budget
from frugalmct.live.money import cost_nano, from_nano
from frugalmct.live.opening import opened, sqlalchemy_parts, waiting
from frugalmct.live.owed import Owed
from frugalmct.live.records import (
    RELEASED,
    RESERVED,
    SETTLED,
    LedgerError,
    Reservation,
    Wish,
    new_key,
)
from frugalmct.live.upkeep import Upkeep
from frugalmct.values import text_fault

LOG = logging.getLogger("frugalmct.live")
WAIT = 30.0
LONGEST = 200
"""Characters of a ticket or a service's name."""


class Ledger(Upkeep):
    """Made by `Ledger.open`; may be shared by threads, and is safe to use after a fork."""

    _owed: Owed | None = None

    @classmethod
    def open(
        cls,
        url: str,
        budget: Budget | None = None,
        *,
        time_limit: float | None = None,
        wait: float = WAIT,
        durable: bool = False,
        settle_within: float = 0.0,
        clock: Callable[[], float] = time.time,
    ) -> "Ledger":
        """The ledger at `url`, made if there is none and a budget is given.

        url: `sqlite:///ledger.db` (one file, processes of one machine) or `postgresql://user@host/database`.
        budget: may be left out for a ledger that exists; another one than the ledger's is an error, since
        two processes with two budgets are more often a mistake than a wish (`change_budget` is the wish).
        time_limit: seconds after which an open reservation is written off as spent, for all who open the
        ledger from now on; by default the ledger's own, at first an hour.
        wait: seconds to wait for other processes' transactions.
        durable: every step waits for the disk. Without it the death of any process loses nothing either, but
        a power cut may lose the last second's steps; with it each step takes as long as the disk does.
        settle_within: seconds that a settlement may wait for this ledger's next step, to be done with it. Its
        call is a reservation meanwhile, which counts as spent; so it is if the process dies. 0: at once.
        """
        seconds, (store_module, tables) = waiting(settle_within), sqlalchemy_parts()
        store = store_module.Store(url, wait=wait, durable=durable)
        store.create()
        kept, limit = store.write(lambda link, _: opened(store.name, link, tables, budget, time_limit))
        if kept is None:
            raise LedgerError(f"The ledger {store.name} is new; give Ledger.open a budget as well.")
        if budget is not None and budget != kept:
            store.close()
            raise LedgerError(
                f"The ledger {store.name} has {kept}, but {budget} was given; open it without a budget, or "
                "change it once with change_budget."
            )
        ledger = cls(store, tables, kept, limit, clock)
        ledger._owed = Owed(seconds, ledger._settle_owed) if seconds else None
        ledger.write_off()
        return ledger

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the connections back; reservations stay as they are."""
        try:
            self._settle_owed()
        finally:
            self._store.close()

    @property
    def at_hand(self) -> bool:
        """Whether a step is done sooner here than a thread is found for it."""
        return self._store.at_hand

    def without_waiting(self) -> AbstractContextManager[None]:
        """Inside, a step that cannot begin at once raises WouldWait: nothing of it was done."""
        return self._store.without_waiting()

    def may_wait(self, anew: bool = False) -> None:
        """For a caller that is about to wait: WouldWait where that is not wanted; see `Waiting`."""
        self._store.may_wait(anew)

    def reserve(
        self, amount: float, service: str, ticket: str, *, key: str | None = None
    ) -> Reservation | None:
        """Keeps `amount`, the most that the call may cost; None when what is left does not pay for it.

        ticket: one text per item, never used for two; an item counts with its first reservation.
        key: given again, it finds the reservation made before instead of making a second one.
        """
        wanted = _wanted(Wish(amount, service, ticket), key)
        now, look = self._clock(), key is not None
        if not look and self._store.in_one_statement and self._owed is None:
            # What it does not do is done the long way.
            found = self._store.at_once(self._sql.RESERVE_AT_ONCE, self._row(wanted, now) | {"now": now})
            if found:
                left, items = found[0]
                return _made(wanted, left, items)
            look = found is None
        made = self._write(lambda connection, again: self._reserve(connection, wanted, now, look or again))
        if made is None:
            self._tidy()
        return made

    def settle(self, reservation: Reservation | str, cost: float | None = None) -> float:
        """Books what the call cost, by default the amount reserved; returns the cost on the books.

        Settling again changes nothing: the first cost stays. A call already written off, or released, is
        corrected. A cost above the amount reserved is booked as it is, even over the budget: it was spent.
        """
        nano = None if cost is None else cost_nano("Ledger.settle", "cost", cost)
        now = self._clock()
        change = _change(reservation, nano, now, SETTLED)
        if self._owed is not None and isinstance(reservation, Reservation):
            booked = reservation.nano if nano is None else nano
            if booked <= reservation.nano:  # more is not on the books, and cannot wait
                self._owed.add(change)
                return from_nano(booked)
        at_once = self._store.in_one_statement
        if at_once and (found := self._store.at_once(self._sql.SETTLE_AT_ONCE, change)):
            return from_nano(found[0][0])
        return self._write(lambda connection, _: self._close_call(connection, change))

    def release(self, reservation: Reservation | str) -> None:
        """Gives the money back: for a call that is known not to be charged. A settled call stays settled."""
        change = _change(reservation, 0, self._clock(), RELEASED)
        self._write(lambda connection, _: self._close_call(connection, change))

    def exchange(
        self,
        *,
        settle: Sequence[tuple[Reservation | str, float | None]] = (),
        release: Sequence[Reservation | str] = (),
        reserve: Sequence[Wish] = (),
    ) -> list[Reservation | None]:
        """Settles, releases and reserves in one transaction: what is given back can be reserved at once.

        Returns one entry per wish; one that cannot be paid for is None and does not stop the next.
        """
        now = self._clock()
        changes = [
            _change(own, None if cost is None else cost_nano("Ledger.settle", "cost", cost), now, SETTLED)
            for own, cost in settle
        ]
        changes += [_change(own, 0, now, RELEASED) for own in release]
        wanted = [_wanted(wish) for wish in reserve]

        def work(connection: Any, again: bool) -> list[Reservation | None]:
            for change in changes:
                self._close_call(connection, change)
            return [self._reserve(connection, wish, now, again) for wish in wanted]

        made = self._write(work)
        if None in made:
            self._tidy()
        return made

    def _write(self, work: Callable[[Any, bool], Any]) -> Any:
        """A step of this ledger, with whatever is owed settled before it in the same transaction."""
        if self._owed is None:
            return self._store.write(work)
        with self._owed.taken(self._store.must_not_wait) as changes:

            def whole(connection: Any, again: bool) -> Any:
                for change in list(changes):
                    try:
                        self._close_call(connection, change)
                    except LedgerError as error:  # no such call, which is no fault of the step at hand
                        changes.remove(change)
                        LOG.error("A call was settled that is not on the books: %s", error)
                return work(connection, again)

            return self._store.write(whole)

    def _read(self, work: Callable[[Any, bool], Any]) -> Any:
        """A look shows what is settled by now."""
        self._settle_owed()
        return super()._read(work)

    def _settle_owed(self) -> None:
        """Also waits for another thread that is about it."""
        if self._owed is not None and self._owed.any():
            self._write(lambda *_: None)

    def _reserve(self, connection: Any, wanted: Reservation, now: float, look: bool) -> Reservation | None:
        if look and (found := connection.execute(self._sql.FIND, {"key": wanted.id}).one_or_none()):
            latest = connection.execute(self._sql.LATEST).one()
            left = max(latest.money - latest.spent - latest.reserved, 0)
            return Reservation(found.id, found.ticket, found.service, found.amount, left, latest.item_count)
        taken = self._take(connection, wanted, now)
        if taken is None:
            return None
        period, left, items = taken
        row = self._row(wanted, now)
        row["period"] = period
        self._store.quick(connection, self._sql.RECORD, row)
        return _made(wanted, left, items)

    def _row(self, wanted: Reservation, now: float) -> dict[str, Any]:
        return {
            "id": wanted.id,
            "ticket": wanted.ticket,
            "service": wanted.service,
            "state": RESERVED,
            "amount": wanted.nano,
            "day": self._day(now),
            "reserved_at": now,
        }

    def _day(self, now: float) -> str:
        """In the budget's time zone; worked out once a second."""
        second, budget, day = self._today
        if second != int(now) or budget is not self.budget:
            day = self.budget.day(now).isoformat()
            self._today = (int(now), self.budget, day)
        return day

    def _take(self, connection: Any, wanted: Reservation, now: float) -> tuple[float, int, int] | None:
        """The period whose money was reserved, what it has left, its items; None when it has not enough."""
        taken = {"now": now, "amount": wanted.nano, "ticket": wanted.ticket}
        found = self._store.quick(connection, self._sql.TAKE, taken)
        if not found and self._open_period(connection, now):
            found = self._store.quick(connection, self._sql.TAKE, taken)
        return found[0] if found else None

    def _open_period(self, connection: Any, now: float) -> bool:
        """Begins a new period once the latest ever seen has ended; says whether it did.

        A clock that was set back stays in the latest period; one that runs ahead opens a period early, whose
        money is then not given again when its time really comes.
        """
        latest = connection.execute(self._sql.LATEST).one_or_none()
        if latest is not None and (latest.end is None or now < latest.end):
            return False
        budget = self._learn(connection.execute(self._sql.READ_ACCOUNT).one().budget)
        period = budget.period(now)
        if period is None or (latest is not None and period.start <= latest.start):
            return False
        connection.execute(self._sql.OPEN_PERIOD, period_row(period))
        return True

    def _close_call(self, connection: Any, change: dict[str, Any]) -> float:
        """Moves a call to its new state and the money with it; a settled one is left alone."""
        closed = self._store.quick(connection, self._sql.CLOSE, change)
        if not closed:
            return from_nano(self._correct(connection, change))
        amount, booked, period = closed[0]
        moved = {"period": period, "no_longer_reserved": amount, "newly_spent": booked}
        self._store.quick(connection, self._sql.MOVE, moved)
        return from_nano(booked)

    def _correct(self, connection: Any, change: dict[str, Any]) -> int:
        """The cost on the books of a call closed before, after correcting one that was not settled."""
        found = connection.execute(self._sql.FIND, {"key": change["key"]}).one_or_none()
        if found is None:
            raise LedgerError(
                f"The ledger {self._store.name} has no reservation {change['key']!r}; reserve first."
            )
        if found.state in (SETTLED, change["to_state"]):
            return found.cost
        cost = found.amount if change["new_cost"] is None else change["new_cost"]
        connection.execute(self._sql.CORRECT, change | {"new_cost": cost})
        moved = {"no_longer_reserved": 0, "newly_spent": cost - found.cost}
        connection.execute(self._sql.MOVE, {"period": found.period} | moved)
        return cost


def _change(reservation: Reservation | str, cost: int | None, now: float, state: str) -> dict[str, Any]:
    key = reservation if isinstance(reservation, str) else reservation.id
    if key is reservation:
        _check_text("reservation", key, "Ledger.settle")
    return {"key": key, "to_state": state, "new_cost": cost, "at": now}


def _wanted(wish: Wish, key: str | None = None) -> Reservation:
    _check_text("ticket", wish.ticket)
    _check_text("service", wish.service)
    if key is not None:
        _check_text("key", key)
    amount = cost_nano("Ledger.reserve", "amount", wish.amount)
    return Reservation(key or new_key(), wish.ticket, wish.service, amount)


def _check_text(name: str, value: object, where: str = "Ledger.reserve") -> None:
    if text_fault(value) or len(str(value)) > LONGEST:
        raise FrugalError(f"{where}: {name} is {value!r}; give a text of at most {LONGEST} characters.")


def _made(wanted: Reservation, left: int, items: int) -> Reservation:
    return Reservation(wanted.id, wanted.ticket, wanted.service, wanted.nano, left, items)
