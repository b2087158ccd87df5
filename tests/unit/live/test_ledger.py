"""The ledger, on SQLite and on PostgreSQL: never over the budget, nothing negative, every call once."""

import csv
import io
import json
import sqlite3
import subprocess
import sys
import threading
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_databases import new_schema

from frugalmct.errors import FrugalError
from frugalmct.live.budget import Budget
from frugalmct.live.ledger import Ledger
from frugalmct.live.money import NANO
from frugalmct.live.records import LedgerError, Wish

pytest.importorskip("sqlalchemy", reason="the ledger needs SQLAlchemy: pip install 'frugalmct[live]'")

DAY = 86_400.0


class Clock:
    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def money(ledger: Ledger) -> tuple[float, float, float, int]:
    state = ledger.state()
    return state.spent, state.reserved, state.left, state.items


def test_reserve_settle_release(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=1.0))
    first = ledger.reserve(0.6, "A", "t1")
    assert (first.amount, first.left, first.items) == (0.6, 0.4, 1)
    assert money(ledger) == (0, 0.6, 0.4, 1)
    assert ledger.reserve(0.5, "B", "t1") is None
    second = ledger.reserve(0.4, "B", "t1")  # exactly what is left
    assert money(ledger) == (0, 1.0, 0, 1)
    assert ledger.settle(first, 0.25) == 0.25
    ledger.release(second)
    assert money(ledger) == (0.25, 0, 0.75, 1)
    assert ledger.settle(ledger.reserve(0.1, "A", "t2")) == 0.1
    assert money(ledger) == (0.35, 0, 0.65, 2)


def test_tenths_add_up_exactly(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=1))
    made = [ledger.reserve(0.1, "A", f"t{n}") for n in range(11)]
    assert [reservation is None for reservation in made] == [False] * 10 + [True]


def test_settling_again_changes_nothing(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=1))
    reservation = ledger.reserve(0.5, "A", "t")
    assert [ledger.settle(reservation.id, cost) for cost in (0.3, 0.3, 0.4)] == [0.3, 0.3, 0.3]
    ledger.release(reservation)  # comes too late: it was charged
    assert money(ledger) == (0.3, 0, 0.7, 1)
    assert [row["state"] for row in ledger.rows()] == ["settled"]


def test_a_key_reserves_once(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=1))
    twice = [ledger.reserve(0.4, "A", "t", key="call-1") for _ in range(2)]
    assert twice[0] == twice[1]
    assert [(found.left, found.items) for found in twice] == [(0.6, 1)] * 2
    assert ledger.state().reserved == 0.4
    ledger.reserve(0.1, "B", "u")
    again = ledger.reserve(0.4, "A", "t", key="call-1")
    assert (again.left, again.items) == (0.5, 2)  # as it is now


def test_exchange_can_spend_what_it_gives_back(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=1))
    first = ledger.reserve(0.9, "A", "t")
    made = ledger.exchange(settle=[(first, 0.2)], reserve=[Wish(0.9, "B", "t"), Wish(0.8, "C", "t")])
    assert [entry and entry.service for entry in made] == [None, "C"]
    assert money(ledger) == (0.2, 0.8, 0, 1)


def test_exchange_is_all_or_nothing(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=1))
    first = ledger.reserve(0.5, "A", "t")
    with pytest.raises(LedgerError, match="no reservation 'unknown'"):
        ledger.exchange(settle=[(first, 0.5), ("unknown", 0.1)], reserve=[Wish(0.1, "B", "t")])
    assert money(ledger) == (0, 0.5, 0.5, 1)


def test_reservations_of_the_dead_are_written_off_as_spent(url: str, clock: Clock) -> None:
    ledger = Ledger.open(url, Budget(total=1), time_limit=100, clock=clock)
    lost = ledger.reserve(0.3, "A", "t1")
    clock.now += 60
    ledger.reserve(0.2, "A", "t2")
    assert ledger.write_off() == 0
    clock.now += 60
    ledger = Ledger.open(url, time_limit=100, clock=clock)  # opening tidies up
    assert money(ledger) == (0.3, 0.2, 0.5, 2)
    assert ledger.settle(lost, 0.1) == 0.1  # it lives after all, and knows what it cost
    assert money(ledger) == (0.1, 0.2, 0.7, 2)
    assert ledger.settle(lost, 0.2) == 0.1


def test_a_cost_above_the_reservation_is_on_the_books(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=1))
    ledger.settle(ledger.reserve(0.9, "A", "t"), 1.5)
    assert money(ledger) == (1.5, 0, 0, 1)
    assert ledger.reserve(0.001, "A", "t") is None


def test_every_period_has_its_money(url: str, clock: Clock) -> None:
    clock.now = 10 * DAY + 5
    ledger = Ledger.open(url, Budget(per_day=1), clock=clock)
    late = ledger.reserve(0.7, "A", "t1")
    clock.now += DAY
    assert money(ledger) == (0, 0, 1, 0)
    assert ledger.reserve(0.9, "A", "t2")
    ledger.settle(late, 0.6)  # belongs to the day it was reserved on
    state = ledger.state()
    assert (state.spent, state.reserved, state.items_before, state.all_spent) == (0, 0.9, 1, 0.6)
    assert [row["spent"] for row in ledger.by_day()] == [0.6, 0]


def test_a_clock_that_jumps_gives_no_period_twice(url: str, clock: Clock) -> None:
    clock.now = 10 * DAY + 5
    ledger = Ledger.open(url, Budget(per_day=1), clock=clock)
    spent_on: dict[float, float] = {}
    for day in (10, 9, 8, 10, 12, 10, 11, 12, 13, 1, 13):
        clock.now = day * DAY + 5
        while ledger.reserve(0.25, "A", f"{day}-{ledger.state().reserved}"):
            start = ledger.state().start
            spent_on[start] = spent_on.get(start, 0) + 0.25
    assert spent_on == {10 * DAY: 1.0, 12 * DAY: 1.0, 13 * DAY: 1.0}
    clock.now = 12 * DAY
    assert ledger.state().clock_behind == DAY


def test_a_clock_that_ran_ahead_can_be_put_right(url: str, clock: Clock) -> None:
    ledger = Ledger.open(url, Budget(per_day=1), clock=clock)
    clock.now = 3_000 * DAY
    wrong = ledger.reserve(0.4, "A", "t1")
    clock.now = 12 * DAY
    assert ledger.state().clock_behind > 0
    ledger.accept_clock()
    state = ledger.state()
    assert (state.start, state.reserved, state.items, state.clock_behind) == (12 * DAY, 0.4, 1, 0)
    ledger.settle(wrong, 0.3)
    assert money(ledger) == (0.3, 0, 0.7, 1)
    clock.now = 13 * DAY
    assert money(ledger) == (0, 0, 1, 0)


def test_putting_a_clock_right_keeps_the_budget_that_another_process_gave(url: str, clock: Clock) -> None:
    one, other = Ledger.open(url, Budget(total=100), clock=clock), Ledger.open(url, clock=clock)
    other.change_budget(Budget(total=1))
    one.accept_clock()
    assert one.reserve(50, "A", "t") is None and one.budget == Budget(total=1)


def test_a_step_that_was_done_stands_though_old_reservations_cannot_be_written_off(
    url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger.open(url, Budget(total=10), clock=clock)
    clock.now += 3600

    def full() -> int:
        raise LedgerError("no space left")

    monkeypatch.setattr(ledger, "write_off", full)
    made = ledger.exchange(reserve=[Wish(5, "A", "t1"), Wish(50, "B", "t1")])
    assert made[0] is not None and made[1] is None and ledger.state().reserved == 5
    assert "could not be written off: no space left" in caplog.text


def test_another_budget_must_be_meant(url: str, clock: Clock) -> None:
    ledger = Ledger.open(url, Budget(per_day=1), clock=clock)
    ledger.settle(ledger.reserve(0.7, "A", "t"))
    with pytest.raises(LedgerError, match=r"has Budget\(per_day=1.*but Budget\(total=3"):
        Ledger.open(url, Budget(total=3))
    other = Ledger.open(url, clock=clock)
    ledger.change_budget(Budget(per_month=1))
    assert other.reserve(0.4, "A", "t") is None  # the day's spending is the month's
    assert other.reserve(0.3, "A", "t")
    clock.now += DAY
    assert other.reserve(0.1, "A", "t") is None
    clock.now += 31 * DAY
    assert other.reserve(0.9, "A", "t")


def test_money_that_died_is_written_off_when_it_is_missed(url: str, clock: Clock) -> None:
    """A ledger that is open for days tidies, too: nobody waits for money that does not come back."""
    ledger = Ledger.open(url, Budget(total=1), clock=clock)
    dead = ledger.reserve(0.9, "A", "t")
    clock.now += 3_000
    held = ledger.reserve(0.1, "A", "t2")
    assert ledger.reserve(0.1, "A", "t3") is None
    clock.now += 700
    assert ledger.reserve(0.1, "A", "t3") is None and money(ledger) == (0.9, 0.1, 0, 2)
    assert ledger.settle(dead, 0.5) == 0.5
    clock.now += 3_000
    ledger.exchange(reserve=[Wish(2, "A", "t4")])
    assert [row["state"] for row in ledger.rows()] == ["settled", "written off"]
    assert ledger.settle(held, 0.1) == 0.1


def test_half_a_character_is_said_to_be_none(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=1))
    for step in (
        lambda: ledger.reserve(0.1, "A", "a\ud800"),
        lambda: ledger.reserve(0.1, "\udfff", "a"),
        lambda: ledger.exchange(reserve=[Wish(0.1, "A", "\ud800")]),
        lambda: ledger.settle("\ud800"),
        lambda: ledger.release("\ud800"),
    ):
        with pytest.raises(FrugalError, match="give a text of at most 200 characters"):
            step()
    assert money(ledger) == (0, 0, 1, 0)


def test_a_ledger_of_another_format_is_left_alone(url: str) -> None:
    from sqlalchemy import create_engine, text

    Ledger.open(url, Budget(total=1)).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE frugalmct_account SET format = 2"))
    engine.dispose()
    with pytest.raises(LedgerError, match="has format 2, and this version of frugalmct reads format 1"):
        Ledger.open(url)


def test_the_time_limit_is_the_ledgers(url: str, clock: Clock) -> None:
    ledger = Ledger.open(url, Budget(total=1), clock=clock, time_limit=10_000)
    ledger.reserve(0.5, "A", "t")
    clock.now += 5_000
    assert Ledger.open(url, clock=clock).time_limit == 10_000 and money(ledger)[:2] == (0, 0.5)
    assert Ledger.open(url, clock=clock, time_limit=100).time_limit == 100 and money(ledger)[:2] == (0.5, 0)
    assert Ledger.open(url, clock=clock).time_limit == 100
    with pytest.raises(FrugalError, match="time_limit is"):
        Ledger.open(url, clock=clock, time_limit="soon")


@pytest.mark.parametrize("old", [{"total": 100}, {"per_month": 100}])
def test_a_finer_budget_counts_what_its_period_has_spent(url: str, clock: Clock, old: dict) -> None:
    clock.now = 40 * DAY
    ledger = Ledger.open(url, Budget(**old), clock=clock)
    ledger.settle(ledger.reserve(1, "A", "yesterday"))
    clock.now = 41 * DAY + 5
    ledger.settle(ledger.reserve(50, "A", "today"))
    held = ledger.reserve(40, "A", "today, too")
    assert ledger.reserve(2, "A", "yesterday")  # an item that came before
    ledger.change_budget(Budget(per_day=100))
    assert money(ledger) == (50, 42, 8, 2)
    assert (ledger.state().all_spent, ledger.state().all_items) == (51, 3)
    assert ledger.reserve(9, "A", "another") is None and ledger.reserve(8, "A", "another")
    ledger.settle(held, 10)
    assert money(ledger) == (60, 10, 30, 3)
    clock.now = 42 * DAY
    assert money(ledger) == (0, 0, 100, 0)


@pytest.mark.parametrize("new", [{"total": 5}, {"per_day": 5}, {"per_month": 5}])
@pytest.mark.parametrize("old", [{"total": 100}, {"per_day": 100}])
def test_a_budget_that_begins_later_takes_effect_then(url: str, clock: Clock, old: dict, new: dict) -> None:
    clock.now = 40 * DAY
    ledger = Ledger.open(url, Budget(**old), clock=clock)
    ledger.settle(ledger.reserve(10, "A", "t"))
    ledger.change_budget(Budget(**new, start="1970-02-11"))  # tomorrow
    assert ledger.state().left == 90 and ledger.settle(ledger.reserve(20, "A", "t2")) == 20
    clock.now = 41 * DAY
    assert money(ledger) == (0, 0, 5, 0)
    assert ledger.reserve(6, "A", "t3") is None and ledger.reserve(5, "A", "t3")
    assert (ledger.state().all_spent, ledger.state().all_items) == (30, 3)


def test_before_the_start_nothing_is_spent(url: str, clock: Clock) -> None:
    clock.now = 0.0
    ledger = Ledger.open(url, Budget(total=1, start="1970-01-02"), clock=clock)
    assert ledger.reserve(0.1, "A", "t") is None
    assert money(ledger) == (0, 0, 0, 0)
    clock.now = DAY
    assert ledger.reserve(0.1, "A", "t")


def test_export_and_totals_agree(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=10))
    for number in range(30):
        reservation = ledger.reserve(0.1, "ABC"[number % 3], f"t{number // 2}")
        if number % 5:
            ledger.settle(reservation, 0.01 * number)
        elif number % 2:
            ledger.release(reservation)
    lines, table = io.StringIO(), io.StringIO()
    assert ledger.export(lines) == ledger.export(table, "csv") == 30
    rows = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [row["id"] for row in csv.DictReader(io.StringIO(table.getvalue()))] == [row["id"] for row in rows]
    expected: dict[str, float] = defaultdict(float)
    for row in rows:
        expected[row["service"]] += row["cost"] or 0
    assert {row["service"]: row["spent"] for row in ledger.by_service()} == pytest.approx(expected)
    assert sum(row["spent"] for row in ledger.by_day()) == pytest.approx(ledger.state().spent)
    assert ledger.state().items == 15
    assert [call["service"] for call in ledger.calls("t0")] == ["A", "B"]


def test_notes_lose_nothing_between_threads(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=10))
    assert ledger.recall("count") is None

    def add() -> None:
        for _ in range(20):
            ledger.note("count", lambda old: str(int(old or 0) + 1))

    ledger.note("count", lambda old: "0")
    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.recall("count") == "80"


def test_many_make_the_same_ledger_at_once(url: str) -> None:
    gate, outcomes = threading.Barrier(6), []

    def begin(number: int) -> None:
        gate.wait()
        try:
            with Ledger.open(url, Budget(total=10)) as ledger:
                outcomes.append(ledger.settle(ledger.reserve(0.1, "A", f"t{number}")))
        except Exception as error:
            outcomes.append(error)

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [0.1] * 6
    assert money(Ledger.open(url)) == (0.6, 0, 9.4, 6)


def test_a_new_file_that_another_reads_is_waited_for(tmp_path: Path) -> None:
    """SQLite turns away who asks for WAL while others read, at once in some cases: we come again."""
    path = tmp_path / "ledger.db"
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    reader.execute("CREATE TABLE other (id)")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM other").fetchall()
    with pytest.raises(LedgerError, match="was busy for too long"):
        Ledger.open(f"sqlite:///{path}", Budget(total=1), wait=0.1)
    later = threading.Timer(0.3, reader.close)
    later.start()
    with Ledger.open(f"sqlite:///{path}", Budget(total=1)) as ledger:
        assert money(ledger) == (0, 0, 1, 0)
    later.join()


def test_a_broken_connection_is_made_again(postgres: str) -> None:
    """The server ends our connections, as it does when it is restarted: the call is simply made again."""
    from sqlalchemy import create_engine, text

    ledger = Ledger.open(new_schema(postgres), Budget(total=10))
    end_all = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    engine = create_engine(postgres)
    made = []
    for number in range(3):
        made.append(ledger.reserve(1, "A", f"t{number}"))
        with engine.begin() as connection:
            connection.execute(end_all)
        ledger.settle(made[-1], 0.5)
    engine.dispose()
    assert money(ledger) == (1.5, 0, 8.5, 3)


def test_a_commit_whose_outcome_is_unknown(url: str) -> None:
    """The connection breaks just after the commit: trying again finds the reservation."""
    from sqlalchemy.exc import OperationalError

    ledger = Ledger.open(url, Budget(total=10))
    store, run = ledger._store, ledger._store._in_turn
    broken = []

    @contextmanager
    def breaks_once():
        with run() as connection:
            yield connection
        if not broken:
            broken.append(True)
            raise OperationalError("COMMIT", None, Exception("gone"), connection_invalidated=True)

    store._in_turn = breaks_once
    reservation = ledger.reserve(1, "A", "t")
    broken.clear()
    assert ledger.settle(reservation, 0.5) == 0.5
    assert money(ledger) == (0.5, 0, 9.5, 1)
    assert len(list(ledger.rows())) == 1


def test_survives_a_fork(url: str) -> None:
    """A child that reserves must not disturb the connection of its parent."""
    code = (
        "import os, sys\n"
        "from frugalmct.live.budget import Budget\n"
        "from frugalmct.live.ledger import Ledger\n"
        "ledger = Ledger.open(sys.argv[1], Budget(total=10))\n"
        "ledger.reserve(1, 'A', 'parent')\n"
        "children = [os.fork() for _ in range(1)]\n"
        "if children[0] == 0:\n"
        "    [ledger.settle(ledger.reserve(0.01, 'A', f'child{n}')) for n in range(50)]\n"
        "    os._exit(0)\n"
        "[ledger.settle(ledger.reserve(0.01, 'A', f'parent{n}')) for n in range(50)]\n"
        "assert os.waitpid(children[0], 0)[1] == 0\n"
        "state = ledger.state()\n"
        "print(state.spent_nano, state.reserved_nano, state.items)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, url], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(NANO), str(NANO), "101"], done.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ledger.db", "The ledger's URL is 'ledger.db'; give sqlite:///ledger.db"),
        ("mysql://u@h/d", "of kind mysql"),
        ("nonsense://x", "nonsense"),
        ("sqlite://", "names no file"),
        ("sqlite:////nowhere/at/all.db", "check that its folder exists"),
    ],
)
def test_urls_that_do_not_work(url: str, said: str) -> None:
    with pytest.raises(LedgerError) as error:
        Ledger.open(url, Budget(total=1))
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Dear ledger, " * 1000)
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger.open(f"sqlite:///{tmp_path}/note.txt", Budget(total=1))


def test_a_new_ledger_needs_a_budget(url: str) -> None:
    with pytest.raises(LedgerError, match=r"is new; give Ledger\.open a budget"):
        Ledger.open(url)


@pytest.mark.parametrize(
    "wish", [Wish(-1, "A", "t"), Wish(0.1, "", "t"), Wish(0.1, "A", "x" * 201), Wish(0.1, 3, "t")]
)
def test_wishes_that_make_no_sense(tmp_path: Path, wish: Wish) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path}/ledger.db", Budget(total=1))
    with pytest.raises(FrugalError, match=r"Ledger\.reserve"):
        ledger.exchange(reserve=[wish])


def test_without_sqlalchemy_one_sentence() -> None:
    code = (
        "import sys\n"
        "sys.modules['sqlalchemy'] = None\n"
        "from frugalmct.live.budget import Budget\n"
        "from frugalmct.live.ledger import Ledger\n"
        "try:\n    Ledger.open('sqlite:///x.db', Budget(total=1))\n"
        "except ValueError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'frugalmct[live]'" in done.stdout, done.stderr


def test_busy_for_too_long_is_said(url: str) -> None:
    ledger = Ledger.open(url, Budget(total=1))
    waiting = Ledger.open(url, wait=0.05)

    def while_locked(_: str | None) -> str:
        with pytest.raises(LedgerError, match="was busy for too long"):
            waiting.note("y", str)
        return ""

    ledger.note("x", while_locked)
    assert waiting.reserve(0.1, "A", "t")
