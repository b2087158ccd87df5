"""Budgets: money by period, whatever the time zone, and how many items are still to come."""

import json
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frugalmct.errors import FrugalError
from frugalmct.live.budget import Budget
from frugalmct.live.money import NANO, budget_nano, cost_nano

ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/St_Johns",
    "Asia/Kathmandu",
    "America/Havana",
    "Australia/Lord_Howe",
]
FROM, TO = datetime(2005, 1, 1, tzinfo=UTC).timestamp(), datetime(2030, 1, 1, tzinfo=UTC).timestamp()


def at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def test_money_is_exact() -> None:
    assert cost_nano("x", "cost", 0.1) * 3 == cost_nano("x", "cost", 0.3) == 3 * NANO // 10
    assert cost_nano("x", "cost", 1e-10) == 1  # never less than was spent
    assert budget_nano("x", "total", 0.9999999999) == NANO - 1
    assert cost_nano("x", "cost", Decimal("0.000000001")) == 1


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, True, "3", None, 1e12])
def test_money_that_is_none_is_refused(bad: object) -> None:
    with pytest.raises(FrugalError, match="give an amount of money"):
        cost_nano("Ledger.reserve", "amount", bad)


@pytest.mark.parametrize(
    ("budget", "now", "first", "last"),
    [
        (Budget(per_day=1), "2026-03-05T13:00", "2026-03-05", "2026-03-06"),
        (Budget(per_week=1), "2026-03-05T13:00", "2026-03-02", "2026-03-09"),
        (Budget(per_month=1), "2026-12-31T23:59", "2026-12-01", "2027-01-01"),
        (Budget(per_week=1, start="2026-01-07"), "2026-03-03T13:00", "2026-02-25", "2026-03-04"),
        (Budget(per_month=1, start="2026-01-31"), "2026-03-30T13:00", "2026-02-28", "2026-03-31"),
        (Budget(per_month=1, start="2025-12-15"), "2026-01-10T13:00", "2025-12-15", "2026-01-15"),
        (
            Budget(per_day=1, start="2026-01-01T06:00"),
            "2026-03-05T05:59",
            "2026-03-04T06:00",
            "2026-03-05T06:00",
        ),
    ],
)
def test_periods_worked_out_by_hand(budget: Budget, now: str, first: str, last: str) -> None:
    period = budget.period(at(now))
    assert (period.start, period.end, period.money) == (at(first), at(last), 1.0)


def test_a_day_of_the_time_zone_has_23_hours_in_spring() -> None:
    budget = Budget(per_day=1, time_zone="Europe/Berlin")
    period = budget.period(at("2026-03-29T12:00", "Europe/Berlin"))
    assert period.end - period.start == 23 * 3600


@given(
    st.floats(FROM, TO),
    st.sampled_from(["per_day", "per_week", "per_month"]),
    st.sampled_from(ZONES),
    st.sampled_from([None, "2004-02-29", "2004-01-31T22:30"]),
)
def test_periods_follow_each_other_without_gap(now: float, kind: str, zone: str, start: str | None) -> None:
    budget = Budget(**{kind: 5}, time_zone=zone, start=start)
    period = budget.period(now)
    assert period.start <= now < period.end
    assert budget.period(period.start) == period
    assert budget.period(period.end).start == period.end
    assert budget.period(math.nextafter(period.end, 0)).start == period.start


def test_nothing_before_the_start() -> None:
    for budget in (Budget(total=5, start="2026-01-02"), Budget(per_month=5, start="2026-01-02")):
        assert budget.period(at("2026-01-01T23:59")) is None
        assert budget.period(at("2026-01-02")).money == 5


def test_a_total_never_ends() -> None:
    assert Budget(total=5).period(0.0) == Budget(total=5).period(1e10)


def test_travels_as_plain_values() -> None:
    for budget in (
        Budget(total=Decimal("1.5"), items=3),
        Budget(per_week=2, start=datetime(2026, 1, 2).date()),
    ):
        assert Budget.from_dict(json.loads(json.dumps(budget.to_dict()))) == budget
        assert Budget.from_dict(budget.to_dict()).nano == budget.nano


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "no amount given"),
        ({"total": 1, "per_day": 1}, "total and per_day given"),
        ({"total": -1}, "total is -1"),
        ({"total": 1, "items": 0}, "items is 0"),
        ({"total": 1, "time_zone": "Europe/Nowhere"}, "time_zone is 'Europe/Nowhere'"),
        ({"total": 1, "time_zone": "../etc"}, "time_zone is"),
        ({"total": 1, "start": "soon"}, "start is not a date"),
    ],
)
def test_mistakes_are_named(arguments: dict, said: str) -> None:
    with pytest.raises(FrugalError, match=said):
        Budget(**arguments)


def test_items_left_as_given_or_learnt() -> None:
    given = Budget(per_day=1, items=1000)
    day = given.period(at("2026-03-05"))
    noon = at("2026-03-05T12:00")
    assert given.items_left(noon, 400, day) == 600
    assert given.items_left(noon, 1400, day) == 0
    learnt = Budget(per_day=1)
    assert learnt.items_left(noon, 400, day) == pytest.approx(400)  # half the day, as many again
    assert learnt.items_left(day.start, 0, day, before=700) == pytest.approx(700)
    assert learnt.items_left(noon, 400, day, before=700) == pytest.approx(400)
    assert learnt.items_left(day.start + 60, 0, day) is None
    assert Budget(total=1).items_left(noon, 400, Budget(total=1).period(noon)) is None


@given(st.floats(0, 1), st.integers(0, 10**6), st.one_of(st.none(), st.integers(0, 10**6)))
def test_items_left_is_never_negative_and_ends_at_nothing(
    passed: float, seen: int, before: int | None
) -> None:
    budget = Budget(per_day=1)
    day = budget.period(at("2026-03-05"))
    now = day.start + passed * timedelta(days=1).total_seconds()
    left = budget.items_left(now, seen, day, before)
    assert left is None or (left >= 0 and math.isfinite(left))
    if now >= day.end and left is not None:
        assert left == 0
