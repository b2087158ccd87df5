"""Money in memory does what the ledger does."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frugalmct.live.budget import Budget
from frugalmct.live.purse import Purse
from frugalmct.live.records import LedgerError, Wish

pytest.importorskip("sqlalchemy", reason="the ledger needs SQLAlchemy: pip install 'frugalmct[live]'")

from frugalmct.live.ledger import Ledger

DAY = 86_400.0
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "settle", "release", "exchange", "settle again", "release again", "day"]),
        st.sampled_from([0.0, 0.1, 0.25, 1.0, 3.0]),
        st.integers(0, 3),
    ),
    max_size=25,
)


@settings(max_examples=40)
@given(STEPS, st.booleans())
def test_step_for_step(tmp_path_factory, steps, by_day):
    now = [10 * DAY]
    budget = Budget(per_day=4, start="1970-01-02") if by_day else Budget(total=4, items=9)
    folder = tmp_path_factory.mktemp("ledger")
    books = [
        Purse(budget, clock=lambda: now[0]),
        Ledger.open(f"sqlite:///{folder}/l.db", budget, clock=lambda: now[0]),
    ]
    held: list[list] = [[], []]
    made: list[list] = [[], []]
    for kind, amount, ticket in steps:
        if kind == "day":
            now[0] += DAY
        seen = [_step(*own, kind, amount, ticket) for own in zip(books, held, made, strict=True)]
        assert seen[0] == seen[1]
        states = [book.state() for book in books]
        assert states[0] == states[1]
    books[1].close()


def _step(book, held, ever, kind, amount, number):
    """What a step gave, without the keys, which are random. `held`: those that are open."""
    ticket = f"t{number}"
    if kind.endswith("again"):
        own = ever[number % len(ever)] if ever else None
        if own is None or own in held:
            return None
        return book.release(own) if kind == "release again" else book.settle(own, amount)
    if kind == "reserve":
        made = [book.reserve(amount, "s", ticket)]
    elif kind == "exchange":
        made = book.exchange(
            settle=[(held.pop(), amount)] if held else [], reserve=[Wish(amount, "s", ticket)] * 2
        )
    elif held and kind == "settle":
        return book.settle(held.pop(0), None if amount == 3.0 else amount)
    elif held and kind == "release":
        return book.release(held.pop(0))
    else:
        return None
    held += [one for one in made if one is not None]
    ever += [one for one in made if one is not None]
    return [one and (one.nano, one.left_nano, one.items) for one in made]


def test_what_was_closed_long_ago_is_forgotten(monkeypatch):
    monkeypatch.setattr("frugalmct.live.purse.MOST_CALLS", 3)
    purse = Purse(Budget(total=10))
    made = [purse.reserve(1, "s", f"t{number}") for number in range(5)]
    assert (
        [purse.settle(one, 0.5) for one in made]
        == [0.5] * 5
        == [purse.settle(one) for one in made[2:]] + [0.5] * 2
    )
    with pytest.raises(LedgerError, match="nor is it among the last 3"):
        purse.settle(made[0])
    assert purse.state().spent == 2.5


def test_tickets_that_are_never_closed_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("frugalmct.live.purse.MOST_CALLS", 100)
    now = [0.0]
    purse = Purse(Budget(total=10_000), clock=lambda: now[0], time_limit=50)
    for number in range(1_000):
        now[0] += 1.0
        purse.reserve(1, "s", f"t{number}")
    assert len(purse._open) <= 101 and len(purse._closed) <= 100
    assert purse.state().spent + purse.state().reserved == 1_000


def test_notes_and_mistakes():
    purse = Purse(Budget(total=1))
    assert purse.recall("a") is None
    assert purse.note("a", lambda old: f"{old}!") == "None!" == purse.recall("a")
    with pytest.raises(LedgerError, match="no open reservation"):
        purse.settle("x")


def test_threads_never_spend_more():
    purse = Purse(Budget(total=10))

    def work(name: int) -> None:
        for number in range(500):
            if made := purse.reserve(0.1, "s", f"{name}-{number}"):
                state = purse.state()
                assert state.spent_nano + state.reserved_nano <= state.money_nano
                purse.settle(made) if number % 3 else purse.release(made)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert purse.state().spent == 10.0 and purse.state().reserved_nano == 0
