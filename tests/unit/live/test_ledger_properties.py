"""Whatever is done to a ledger, in any order and with any clock: checked against a count kept by hand."""

import math
from collections import defaultdict
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live_databases import new_schema

from frugalmct.live.budget import Budget
from frugalmct.live.ledger import Ledger
from frugalmct.live.money import NANO, cost_nano
from frugalmct.live.records import Wish, new_key

pytest.importorskip("sqlalchemy", reason="the ledger needs SQLAlchemy: pip install 'frugalmct[live]'")

DAY = 86_400.0
LIMIT = 1_000.0
CALLS = st.integers(0, 3)  # few, so that a call is often closed twice
AMOUNTS = st.one_of(st.sampled_from([0.0, 0.1, 0.1, 0.3, 1.0]), st.floats(0, 1.2))
STEPS = st.one_of(
    st.tuples(st.just("reserve"), AMOUNTS, st.integers(0, 8)),
    st.tuples(st.just("settle"), CALLS, st.floats(0, 1)),
    st.tuples(st.just("release"), CALLS),
    st.tuples(st.just("exchange"), CALLS, AMOUNTS, st.integers(0, 8)),
    st.tuples(st.just("jump"), st.one_of(st.floats(-3, 3), st.sampled_from([-0.001, 0.001]))),
    st.tuples(st.just("write off")),
    st.tuples(st.just("open again")),
    st.tuples(st.just("accept clock")),
    st.tuples(st.just("change budget"), st.deferred(lambda: NEW_BUDGETS)),
)
NEW_BUDGETS = st.builds(
    lambda kind, start: Budget(**{kind: 1.0}, start=start),
    st.sampled_from(["total", "per_day", "per_month"]),
    st.sampled_from([None, "1970-04-10T18:00", "1970-04-12", "1970-04-20"]),  # it begins on April 11th
)
BUDGETS = st.sampled_from([Budget(total=2), Budget(per_day=1), Budget(per_week=1, time_zone="Asia/Tokyo")])


@dataclass
class Book:
    """What should be on the books, kept by hand: of every call what it holds of the money."""

    now: float = 100 * DAY
    amounts: dict[str, int] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    costs: dict[str, int] = field(default_factory=dict)
    tickets: set[str] = field(default_factory=set)
    since: dict[str, float] = field(default_factory=dict)
    tidied: float = 100 * DAY

    def reserved(self, made, ticket: str) -> None:
        self.amounts[made.id], self.states[made.id] = made.nano, "reserved"
        self.costs[made.id], self.since[made.id] = 0, self.now
        self.tickets.add(ticket)

    def settled(self, key: str, cost: int) -> None:
        if self.states[key] != "settled":
            self.states[key], self.costs[key] = "settled", cost

    def released(self, key: str) -> None:
        if self.states[key] != "settled":
            self.states[key], self.costs[key] = "released", 0

    def refused(self) -> None:
        """Who is refused looks for what may be written off, once a minute."""
        if not 0 <= self.now - self.tidied < 60:
            self.written_off()

    def written_off(self) -> None:
        self.tidied = self.now
        for key, state in self.states.items():
            if state == "reserved" and self.since[key] < self.now - LIMIT:
                self.states[key], self.costs[key] = "written off", self.amounts[key]

    def held(self, key: str) -> int:
        return self.amounts[key] if self.states[key] == "reserved" else self.costs[key]


def do(step: tuple, ledger: Ledger, book: Book, url: str) -> Ledger:
    kind, *values = step
    keys = list(book.amounts)
    if kind == "reserve":
        made = ledger.reserve(values[0], "A", f"t{values[1]}")
        refused_rightly(ledger, made, values[0])
        if made:
            book.reserved(made, f"t{values[1]}")
        else:
            book.refused()
    elif kind == "jump":
        book.now = max(book.now + values[0] * DAY, 0.0)
    elif kind == "write off":
        ledger.write_off()
        book.written_off()
    elif kind == "accept clock":
        ledger.accept_clock()
    elif kind == "change budget":
        ledger.change_budget(values[0])
    elif kind == "open again":
        ledger.close()
        ledger = Ledger.open(url, time_limit=LIMIT, clock=lambda: book.now)
        book.written_off()
    elif keys:
        key = keys[values[0] % len(keys)]
        if kind == "release":
            ledger.release(key)
            book.released(key)
        elif kind == "settle":
            # Never above what was reserved; and a released call is not settled, since its money may be gone.
            cost = int(book.amounts[key] * values[1]) / NANO
            if book.states[key] != "released":
                ledger.settle(key, cost)
                book.settled(key, cost_nano("test", "cost", cost))
        else:
            (made,) = ledger.exchange(release=[key], reserve=[Wish(values[1], "B", f"t{values[2]}")])
            book.released(key)
            if made:
                book.reserved(made, f"t{values[2]}")
            else:
                book.refused()
    return ledger


def refused_rightly(ledger: Ledger, made: object, amount: float) -> None:
    """What is refused is more than what is left, or it is before the start."""
    if made is None:
        state = ledger.state()
        assert state.start == math.inf or cost_nano("test", "amount", amount) > state.left_nano


def check(ledger: Ledger, book: Book) -> None:
    state = ledger.state()
    rows = {row["id"]: row for row in ledger.rows()}
    assert {key: row["state"] for key, row in rows.items()} == book.states
    by_period: dict[float, int] = defaultdict(int)
    for key, row in rows.items():
        assert round((row["cost"] or 0) * NANO) == book.costs[key]
        by_period[row["period"]] += book.held(key)
    assert min(state.spent_nano, state.reserved_nano, state.items) >= 0
    assert state.spent_nano + state.reserved_nano == by_period.get(state.start, 0)
    assert state.all_spent_nano == sum(book.costs.values())
    assert state.all_items == len(book.tickets)


def run(url: str, budget: Budget, steps: list[tuple]) -> None:
    book = Book()
    ledger = Ledger.open(url, budget, time_limit=LIMIT, clock=lambda: book.now)
    merged = False
    try:
        for step in steps:
            ledger = do(step, ledger, book, url)
            check(ledger, book)
            merged |= step[0] in ("accept clock", "change budget")
            state = ledger.state()
            # Joining periods may show more spent than one period has.
            assert merged or state.spent_nano + state.reserved_nano <= state.money_nano == budget.nano
    finally:
        ledger.close()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=BUDGETS, steps=st.lists(STEPS, min_size=5, max_size=40))
def test_on_sqlite(tmp_path_factory: pytest.TempPathFactory, budget: Budget, steps: list[tuple]) -> None:
    run(f"sqlite:///{tmp_path_factory.mktemp('ledger')}/ledger.db", budget, steps)


@pytest.mark.slow
@pytest.mark.xdist_group("postgresql")
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=BUDGETS, steps=st.lists(STEPS, min_size=5, max_size=30))
def test_on_postgresql(postgres: str, budget: Budget, steps: list[tuple]) -> None:
    run(new_schema(postgres), budget, steps)


def test_keys_grow_and_differ() -> None:
    made = [new_key() for _ in range(1000)]
    assert len(set(made)) == 1000
    assert [key[:14] for key in made] == sorted(key[:14] for key in made)
