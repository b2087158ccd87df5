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
        st.sampled_from(["reserve", "settle", "release", "exchange", "day"]),
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
    for kind, amount, ticket in steps:
        if kind == "day":
            now[0] += DAY
        seen = [_step(book, own, kind, amount, f"t{ticket}") for book, own in zip(books, held, strict=True)]
        assert seen[0] == seen[1]
        states = [book.state() for book in books]
        assert states[0] == states[1]
    books[1].close()


def _step(book, held, kind, amount, ticket):
    """What a step gave, without the keys, which are random."""
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
    return [one and (one.nano, one.left_nano, one.items) for one in made]


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
