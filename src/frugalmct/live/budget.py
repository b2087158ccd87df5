"""What may be spent: a total, or so much a day, week or month, and how many items it should last for.

    Budget(total=120, items=100_000)
    Budget(per_month=500, start="2026-03-15", time_zone="Europe/Berlin")

Times are seconds since 1970 (`time.time()`). A budget has no state: what was spent is in the ledger, which
also remembers the latest period it has seen, so that a clock that jumps never gives a period's money twice.
"""

import math
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from frugalmct.checks import whole_number
from frugalmct.errors import FrugalError
from frugalmct.live.money import budget_nano, from_nano

WHERE = "Budget"
KINDS = ("total", "per_day", "per_week", "per_month")
EARLY = 0.05
"""Of a period's time that must have passed before its own traffic alone says how many items it will have."""


@dataclass(frozen=True)
class Period:
    """A stretch of time with money of its own: `start <= now < end`, in seconds since 1970."""

    start: float
    end: float
    nano: int

    @property
    def money(self) -> float:
        return from_nano(self.nano)


@dataclass(frozen=True)
class Budget:
    """Exactly one of `total`, `per_day`, `per_week`, `per_month`.

    `items`: how many items the money should last for (those of one period where there are periods); None to
    learn it from the traffic. `start`: before it nothing may be spent; weeks begin on its weekday, months on
    its day. It may be a date or a date with a time, as text or as an object. Without it, weeks begin on
    Monday and months on the first. Money that a period leaves over lapses.
    """

    total: float | None = None
    per_day: float | None = None
    per_week: float | None = None
    per_month: float | None = None
    items: int | None = None
    start: str | date | datetime | None = None
    time_zone: str = "UTC"
    kind: str = field(init=False)
    nano: int = field(init=False)
    _zone: tzinfo = field(init=False, repr=False, compare=False)
    _began: datetime | None = field(init=False, repr=False, compare=False)
    opens: float = field(init=False, repr=False, compare=False)
    """When it begins; -infinity without a start."""
    _whole: Period = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise FrugalError(
                f"{WHERE}: {' and '.join(given) or 'no amount'} given; give one of {', '.join(KINDS)}."
            )
        if self.items is not None:
            whole_number(WHERE, "items", self.items, least=1)
        keep = object.__setattr__  # the class is frozen once made
        keep(self, "kind", given[0])
        keep(self, "nano", budget_nano(WHERE, given[0], getattr(self, given[0])))
        keep(self, given[0], float(getattr(self, given[0])))
        keep(self, "_zone", _zone(self.time_zone))
        began = _start(self.start, self._zone)
        keep(self, "_began", began)
        keep(self, "start", None if began is None else began.replace(tzinfo=None).isoformat())
        keep(self, "opens", -math.inf if began is None else began.timestamp())
        keep(self, "_whole", Period(max(self.opens, 0.0), math.inf, self.nano))  # that of a total

    @property
    def amount(self) -> float:
        """The money of the total, or of one period."""
        return from_nano(self.nano)

    def period(self, now: float) -> Period | None:
        """The period that `now` lies in; None before the start."""
        if now < self.opens:
            return None
        if self.kind == "total":
            return self._whole
        day = self._day_of(now)
        first = self._first_day(day)
        begins = max(self._midnight(first), self.opens)
        return Period(begins, self._midnight(self._next_first(first)), self.nano)

    def day(self, now: float) -> date:
        """The calendar day in the budget's time zone."""
        return datetime.fromtimestamp(now, self._zone).date()

    def items_left(self, now: float, seen: int, period: Period, before: int | None = None) -> float | None:
        """Items still to come in the period; None when nothing is known about it.

        `seen` of them came already; `before` is how many the period before had. Where `items` was not given
        they are learnt: by the time passed, mixed early on with the period before.
        """
        if self.items is not None:
            return float(max(self.items - seen, 0))
        if math.isinf(period.end):
            return None
        passed = min(max((now - period.start) / (period.end - period.start), 0.0), 1.0)
        if before is None:
            return seen * (1 - passed) / max(passed, EARLY) if seen else None
        # By the end of the period its own traffic counts fully, at its beginning the period before does.
        own = seen / passed if passed > 0 else float(before)
        trust = min(passed / EARLY, 1.0)
        return max(trust * own + (1 - trust) * before, seen) * (1 - passed)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; `from_dict` reads them."""
        amounts = {kind: value for kind in KINDS if (value := getattr(self, kind)) is not None}
        return amounts | {"items": self.items, "start": self.start, "time_zone": self.time_zone}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Budget":
        return cls(**values)

    def __str__(self) -> str:
        parts = [f"{self.kind}={self.amount:g}"]
        parts += [f"{name}={value}" for name in ("items", "start") if (value := getattr(self, name))]
        return f"Budget({', '.join(parts)}, time_zone={self.time_zone})"

    def _midnight(self, day: date) -> float:
        """The moment a day begins. `start` may begin its days later than at midnight."""
        hour = time() if self._began is None else self._began.time()
        return datetime.combine(day, hour, tzinfo=self._zone).timestamp()

    def _day_of(self, now: float) -> date:
        day = datetime.fromtimestamp(now, self._zone).date()
        # A start in the middle of the day, or clocks set back across midnight, put `now` into another one.
        while self._midnight(day) > now:
            day -= timedelta(days=1)
        while self._midnight(day + timedelta(days=1)) <= now:
            day += timedelta(days=1)
        return day

    def _first_day(self, day: date) -> date:
        if self.kind == "per_day":
            return day
        if self.kind == "per_week":
            weekday = self._began.weekday() if self._began else 0
            return day - timedelta(days=(day.weekday() - weekday) % 7)
        this_month = self._in_month(day.year, day.month)
        if this_month <= day:
            return this_month
        return self._in_month(day.year - (day.month == 1), (day.month - 2) % 12 + 1)

    def _next_first(self, first: date) -> date:
        if self.kind == "per_month":
            return self._in_month(first.year + (first.month == 12), first.month % 12 + 1)
        return first + timedelta(days=7 if self.kind == "per_week" else 1)

    def _in_month(self, year: int, month: int) -> date:
        """The day a month's period begins: the start's day, or the last day of a month without it."""
        last = (date(year + (month == 12), month % 12 + 1, 1) - timedelta(days=1)).day
        return date(year, month, min(self._began.day if self._began else 1, last))


def _zone(name: object) -> tzinfo:
    try:
        return ZoneInfo(name)  # type: ignore[arg-type]
    except (OSError, ValueError, TypeError, KeyError):
        raise FrugalError(
            f"{WHERE}: time_zone is {name!r}; give a name such as UTC or Europe/Berlin."
        ) from None


def _start(value: object, zone: tzinfo) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = object()
    if isinstance(value, datetime):
        return value.astimezone(zone) if value.tzinfo else value.replace(tzinfo=zone)
    if isinstance(value, date):
        return datetime.combine(value, time(), tzinfo=zone)
    raise FrugalError(f"{WHERE}: start is not a date; give one such as 2026-03-15 or 2026-03-15T06:00.")
