"""Settlements that wait for the ledger's next step: reservations until then, and never lost."""

import sqlite3
import subprocess
import sys
import time

import pytest
from live_market import Recorded, photos

from frugalmct import Budget, Router, Strategy
from frugalmct.errors import FrugalError
from frugalmct.live import Ledger, LedgerError, Patience
from frugalmct.live.records import Wish, WouldWait

pytest.importorskip("sqlalchemy", reason="the ledger needs SQLAlchemy: pip install 'frugalmct[live]'")

LONG = 60.0
"""Seconds: longer than any of these tests takes."""


@pytest.fixture
def books(url):
    """The ledger as another process sees it."""
    with Ledger.open(url, Budget(total=10)) as ledger:
        yield ledger


@pytest.fixture
def ledger(url, books):
    with Ledger.open(url, settle_within=LONG) as ledger:
        yield ledger


def money(ledger: Ledger) -> tuple[float, float, int]:
    state = ledger.state()
    return state.spent, state.reserved, state.items


def test_a_settlement_goes_with_the_next_reservation(ledger, books):
    first = ledger.reserve(1, "A", "t1")
    assert ledger.settle(first, 0.25) == 0.25
    assert money(books) == (0, 1, 1), "until then it counts in full"
    second = ledger.reserve(2, "A", "t2")
    assert money(books) == (0.25, 2, 2)
    assert second.left == 7.75, "what it gave back can be reserved"
    assert ledger.settle(second) == 2
    ledger.exchange(reserve=[Wish(1, "B", "t2")])
    assert money(books) == (2.25, 1, 2)


def test_a_call_of_another_ledger_is_told_once_and_fails_nobody_elses_step(ledger, books, tmp_path, caplog):
    with Ledger.open(f"sqlite:///{tmp_path}/other.db", Budget(total=5)) as other:
        theirs = other.reserve(1, "A", "theirs")
        ledger.settle(theirs)
    assert ledger.settle(ledger.reserve(1, "A", "t1"), 0.5) == 0.5
    assert money(ledger) == (0.5, 0, 1) == money(books)
    (record,) = caplog.records
    assert record.levelname == "ERROR" and f"has no reservation {theirs.id!r}" in record.getMessage()


@pytest.mark.parametrize(
    "look",
    [
        lambda ledger: ledger.state(),
        lambda ledger: ledger.by_service(),
        lambda ledger: list(ledger.rows()),
        lambda ledger: ledger.calls("t"),
        lambda ledger: ledger.close(),
    ],
)
def test_every_look_shows_it_settled(ledger, books, look):
    ledger.settle(ledger.reserve(1, "A", "t"))
    look(ledger)
    assert money(books) == (1, 0, 1)
    assert [row["state"] for row in books.rows()] == ["settled"]


def test_what_costs_more_than_was_reserved_does_not_wait(ledger, books):
    ledger.settle(ledger.reserve(1, "A", "t"), 3)
    assert money(books) == (3, 0, 1)


def test_settling_again_and_releasing_change_nothing(ledger, books):
    made = ledger.reserve(1, "A", "t")
    for _ in range(3):
        ledger.settle(made)
    ledger.release(made)
    assert money(books) == (1, 0, 1)


def test_a_step_that_fails_leaves_it_owed(ledger, books, monkeypatch):
    made = [ledger.reserve(1, "A", f"t{n}") for n in range(3)]
    write = ledger._store.write

    def fails(_):
        raise LedgerError("the disk is full")

    monkeypatch.setattr(ledger._store, "write", fails)
    for one in made:
        ledger.settle(one)
        with pytest.raises(LedgerError):
            ledger.reserve(1, "A", "next")
    monkeypatch.setattr(ledger._store, "write", write)
    assert money(books) == (0, 3, 3)
    assert ledger.reserve(1, "A", "next")
    assert money(books) == (3, 1, 4)


def test_it_is_settled_in_time_without_another_step(url, books):
    with Ledger.open(url, settle_within=0.01) as ledger:
        for n in range(3):
            ledger.settle(ledger.reserve(1, "A", f"t{n}"))
            until = time.monotonic() + LONG
            while money(books) != (n + 1, 0, n + 1):
                assert time.monotonic() < until
                time.sleep(0.01)


def test_where_nothing_may_be_waited_for(tmp_path):
    path = tmp_path / "l.db"
    with Ledger.open(f"sqlite:///{path}", Budget(total=10), settle_within=LONG) as ledger:
        ledger.settle(ledger.reserve(1, "A", "t"))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with ledger.without_waiting(), pytest.raises(WouldWait):
            ledger.reserve(1, "A", "u")
        other.close()
        with ledger.without_waiting():
            assert ledger.reserve(1, "A", "u")
        assert money(ledger) == (1, 1, 2)


ENDS = """
import os, sys
from frugalmct.live import Ledger
ledger = Ledger.open(sys.argv[1], settle_within=60)
made = [ledger.reserve(1, "A", f"t{n}") for n in range(2)]
for one in made:
    ledger.settle(one, 0.5)
if os.fork() == 0:  # a child owes nothing of its parent's
    assert ledger.reserve(1, "A", "child") and not ledger._owed.any()
    os._exit(0)
os.wait()
if sys.argv[2] == "killed":
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize(("end", "settled"), [("ended", (1.0, 1.0, 3)), ("killed", (0, 3, 3))])
def test_processes_that_end(url, books, end, settled):
    """In good order all is settled; of one that is killed the calls count in full, as they did before."""
    subprocess.run([sys.executable, "-c", ENDS, url, end], check=end == "ended")
    assert money(books) == settled
    books.write_off(older_than=-1)
    assert books.state().spent + books.state().reserved == settled[0] + settled[1]


def test_a_router_makes_the_same_choices(tmp_path):
    strategy = Strategy.fit(photos(200), 5.0, base="cheap", options={"trees": 10, "leaf": 5})
    ask, results, states = Recorded(photos(100, 2, "new")), [], []
    for seconds in (0.0, LONG):
        url, budget = f"sqlite:///{tmp_path}/{seconds:g}.db", Budget(total=0.5, items=100)
        money = Ledger.open(url, budget, settle_within=seconds)
        with Router(strategy, ledger=money, per=1000, patience=Patience(timeout=None)) as router:
            results.append([router.run(item, ask).to_dict() for item in ask.items()])
            states.append(router.money.state())
    assert results[0] == results[1]
    assert states[0] == states[1] and states[0].reserved_nano == 0


@pytest.mark.parametrize("seconds", [-1, 61, float("nan"), "soon", None])
def test_times_that_make_no_sense(tmp_path, seconds):
    with pytest.raises(FrugalError, match="settle_within is"):
        Ledger.open(f"sqlite:///{tmp_path}/l.db", Budget(total=1), settle_within=seconds)
