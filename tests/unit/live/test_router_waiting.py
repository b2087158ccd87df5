"""Steps of coroutines are done at once where they can be; what must wait is begun anew in a thread."""

import asyncio
import sqlite3
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_market import photos

from frugalmct import Budget, Learning, Router, Strategy
from frugalmct.live import LedgerError, NoAnswer, Patience
from frugalmct.live.records import WouldWait


@pytest.fixture(scope="module")
def strategy() -> Strategy:
    learning = Learning(options={"trees": 10, "leaf": 5})
    return Strategy.fit(photos(150), 8.0, method="paper", base="cheap", learning=learning)


@contextmanager
def another_writer(file: Path):
    """Another process in the middle of its transaction."""
    link = sqlite3.connect(file, isolation_level=None)
    link.execute("BEGIN IMMEDIATE")
    yield link
    link.close()


def states(router: Router) -> list[tuple[str, str]]:
    return [(row["service"], row["state"]) for row in router.money.rows()]


def made(strategy: Strategy, folder: Path, **options) -> Router:
    return Router(strategy, Budget(total=80, items=10), f"sqlite:///{folder}/l.db", **options)


def test_a_step_that_would_wait_does_nothing(strategy, tmp_path):
    with made(strategy, tmp_path) as router:
        ticket = router.open({})
        with another_writer(tmp_path / "l.db"):
            for step in (lambda: router.open({}), lambda: router.decide(ticket, {"cheap": []})):
                with pytest.raises(WouldWait), router.money.without_waiting():
                    step()
        assert ticket.ask == "cheap" and not ticket.answers and states(router) == [("cheap", "reserved")]
        with router.money.without_waiting():
            router.decide(ticket, {"cheap": []})
        router.close(ticket)
        assert states(router)[0] == ("cheap", "settled")
        assert router.money.state().reserved_nano == 0  # whoever else was to be asked was not


def test_a_failed_call_may_have_to_wait(strategy, tmp_path):
    """What comes after it is up to whom is asked next: it is not begun where nothing may be waited for."""
    with made(strategy, tmp_path) as router:
        ticket = router.open({})
        with pytest.raises(WouldWait), router.money.without_waiting():
            router.decide(ticket, {"cheap": None})
        assert ticket.ask == "cheap" and not ticket.failed
        assert router.decide(ticket, {"cheap": None}) in ("good", "best")
        assert states(router)[0] == ("cheap", "released")


def test_coroutines_wait_in_a_thread(strategy, tmp_path, monkeypatch):
    """The other writer is through once the step has come to its thread."""
    threads = []

    async def whole_item(router: Router):
        with another_writer(tmp_path / "l.db") as other:

            async def to_thread(step, *arguments):
                threads.append(step)
                other.rollback()
                return step(*arguments)

            monkeypatch.setattr(asyncio, "to_thread", to_thread)
            ticket = await router.aopen({"id": "a"})
            assert len(threads) == 1
            while ticket.ask:
                await router.adecide(ticket, {ticket.ask: [["car", 0.9]]})
            return await router.aclose(ticket)

    with made(strategy, tmp_path) as router:
        result = asyncio.run(whole_item(router))
        assert len(threads) == 1  # nobody else wrote from then on
        assert states(router) == [(service, "settled") for service in result.asked]
        assert router.money.state().items == 1


@pytest.mark.parametrize("database", [None, "sqlite"])
def test_money_that_may_come_back_is_waited_for_in_a_thread(strategy, tmp_path, monkeypatch, database):
    """All of it is reserved: an item waits a little, but holds nobody up meanwhile."""
    url = database and f"sqlite:///{tmp_path}/l.db"
    router = Router(strategy, Budget(total=0.5, items=1), url)
    first = router.open({})
    threads = []

    async def to_thread(step):
        threads.append(step)
        router.money.release(first.reservation)
        return step()

    monkeypatch.setattr(asyncio, "to_thread", to_thread)
    assert asyncio.run(router.aopen({})).ask == "cheap" and len(threads) == 1


@pytest.mark.parametrize("database", [None, "sqlite"])
def test_whoever_gives_money_back_is_not_held_up(strategy, tmp_path, monkeypatch, database):
    url = database and f"sqlite:///{tmp_path}/l.db"
    router = Router(strategy, Budget(total=0.5, items=1), url, patience=Patience(timeout=None, retries=0))
    sleeping, sleep = [], time.sleep

    def noted(seconds):
        sleeping.append(threading.current_thread())
        sleep(seconds)

    async def failing(service, item):
        await asyncio.sleep(0.01)
        raise ConnectionError("x")

    async def good(service, item):
        return [["car", 0.9]]

    async def both():
        return await asyncio.gather(router.arun({}, failing), router.arun({}, good), return_exceptions=True)

    monkeypatch.setattr("frugalmct.live.choosing.time.sleep", noted)
    first, second = asyncio.run(both())
    assert isinstance(first, NoAnswer) and second.asked == ("cheap",)
    assert sleeping and threading.main_thread() not in sleeping


def test_sketches_are_shared_later_where_nothing_may_be_waited_for(strategy, tmp_path):
    with made(strategy, tmp_path, patience=Patience(timeout=None)) as router:
        tickets = [router.open({}) for _ in range(3)]
        for ticket in tickets:
            while ticket.ask:
                router.decide(ticket, {ticket.ask: [["car", 0.9]]})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("frugalmct.live.traffic.SHARE_EVERY", 1)
            with another_writer(tmp_path / "l.db"), router.money.without_waiting():
                assert router.close(tickets[0]).answer is not None
            assert router.close(tickets[1]).answer is not None
        assert router.traffic.share().sketch.items == 2


def test_a_step_that_is_begun_anew_finds_its_trial_again(strategy, tmp_path):
    """A service that was left out is asked once to see whether it is back; being busy is not that once."""
    with made(strategy, tmp_path) as router:
        for _ in range(5):
            router.breaker.failed("cheap")
        router.breaker.clock = lambda: time.monotonic() + 31
        with another_writer(tmp_path / "l.db"), pytest.raises(WouldWait), router.money.without_waiting():
            router.open({})
        assert router.open({}).ask == "cheap"
        assert router.open({}).ask != "cheap"  # one trial at a time


def test_a_step_that_waits_too_long_is_a_ledger_error(strategy, tmp_path):
    from frugalmct.live.ledger import Ledger

    money = Ledger.open(f"sqlite:///{tmp_path}/l.db", Budget(total=80, items=10), wait=0.01)
    with Router(strategy, ledger=money) as router:
        with another_writer(tmp_path / "l.db"), pytest.raises(LedgerError, match="was busy for too long"):
            asyncio.run(router.aopen({}))
        assert asyncio.run(router.aopen({})).ask == "cheap" and len(states(router)) == 1
