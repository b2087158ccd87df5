"""What a ledger hands out: reservations, and its state at one look."""

import math
import os
import time
from dataclasses import dataclass, field

from frugalmct.errors import FrugalError
from frugalmct.live.money import from_nano

RESERVED, SETTLED, RELEASED, WRITTEN_OFF = "reserved", "settled", "released", "written off"

TIME_LIMIT = 3600.0
"""Seconds after which an open reservation is written off as spent, unless the ledger says otherwise."""
TIDY_EVERY = 60.0
"""Seconds between looks for such reservations while there is no money."""


class LedgerError(FrugalError):
    """The ledger could not do what it was asked to; nothing of it was recorded."""


class WouldWait(Exception):
    """A step that was to be done at once cannot be: nothing of it was done, and it may be begun anew."""


@dataclass(frozen=True)
class Reservation:
    """Money kept for one call. `id` alone is enough to settle it, from any process.

    left_nano, items: the period's money still free and the items counted, right after this was reserved: what
    pacing needs, without another look. For one found again by its key: right after it was found.
    """

    id: str
    ticket: str
    service: str
    nano: int
    left_nano: int = field(default=0, compare=False)
    items: int = field(default=0, compare=False)

    @property
    def amount(self) -> float:
        return from_nano(self.nano)

    @property
    def left(self) -> float:
        return from_nano(self.left_nano)


@dataclass(frozen=True)
class Wish:
    """A reservation to be made: the most that a call may cost, whom it asks, and for which ticket."""

    amount: float
    service: str
    ticket: str


@dataclass(frozen=True)
class State:
    """The period's money at one look. Exact amounts are whole billionths (`*_nano`)."""

    start: float
    end: float
    money_nano: int
    spent_nano: int
    reserved_nano: int
    items: int
    items_before: int | None
    all_spent_nano: int
    all_items: int
    clock_behind: float
    """Seconds that the clock lies before the period: it was set back, or had been ahead."""

    @property
    def money(self) -> float:
        return from_nano(self.money_nano)

    @property
    def spent(self) -> float:
        return from_nano(self.spent_nano)

    @property
    def reserved(self) -> float:
        return from_nano(self.reserved_nano)

    @property
    def left_nano(self) -> int:
        """What may still be reserved; 0 also when calls turned out more expensive than reserved for."""
        return max(self.money_nano - self.spent_nano - self.reserved_nano, 0)

    @property
    def left(self) -> float:
        return from_nano(self.left_nano)

    @property
    def all_spent(self) -> float:
        """Over all periods."""
        return from_nano(self.all_spent_nano)


NOT_BEGUN = State(math.inf, -math.inf, 0, 0, 0, 0, None, 0, 0, 0.0)
"""Before the budget's start nothing may be spent. It has always ended: whoever holds it looks again."""


def new_key() -> str:
    """Unique on any number of machines, and growing with time, so that the index is filled from one end."""
    return f"{time.time_ns() // 1_000:014x}{os.urandom(9).hex()}"
