"""Services that fail: nothing reaches the caller, nothing is charged, the next best is asked."""

import asyncio
import logging
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from live_market import PRICES, Recorded, photos

from frugalmct import Budget, Learning, Router, Strategy
from frugalmct.cascade import NEVER
from frugalmct.live import LedgerError, NoAnswer, OutOfMoney, Patience
from frugalmct.metrics import set_metric

PER = 1000
QUICK = Patience(timeout=None, retries=0, wait=0.0, pause=1e6)
NEVER_LEFT_OUT = Patience(timeout=None, retries=0, wait=0.0, failures=1000, calls=1000)


SMALL = Learning(options={"trees": 20, "leaf": 5})


@pytest.fixture(scope="module", params=["paper", "plus"])
def strategy(request) -> Strategy:
    return Strategy.fit(photos(400), [5.0], method=request.param, base="cheap", learning=SMALL)


@pytest.fixture(scope="module")
def two_bases() -> Strategy:
    """Plans with different bases, so that there is a model of each."""
    market = photos(400)
    first, second = (
        Strategy.fit(market, [budget], method="paper", base=base, learning=SMALL).parts
        for budget, base in ((5, "cheap"), (7, "good"))
    )
    training = replace(
        first.training,
        estimates=first.training.estimates | second.training.estimates,
        accuracy=second.training.accuracy | first.training.accuracy,
        given=first.training.given | second.training.given,
    )
    return Strategy(
        replace(
            first,
            plans=first.plans | second.plans,
            models=first.models | second.models,
            combiners=second.combiners | first.combiners,
            training=training,
        )
    )


class Failing(Recorded):
    """Some services fail, in their way, while `down` says so."""

    def __init__(self, market, how, down=lambda service, number: True):
        super().__init__(market)
        self.how, self.down, self.number = how, down, 0

    def __call__(self, service, item):
        if service in self.how and self.down(service, int(item["id"].split()[-1])):
            self.calls.append((service, item["id"], "failed"))
            fault = self.how[service]
            if isinstance(fault, Exception):
                raise fault
            return fault
        return super().__call__(service, item)


def router(strategy, items=300, rate=5.0, **options) -> Router:
    options = {"per": PER, "pace": "fixed", "patience": QUICK} | options
    return Router(strategy, Budget(total=rate * items / PER, items=items), **options)


def charged(ask) -> float:
    return sum(PRICES[call[0]] for call in ask.calls if len(call) == 2) / PER


NONSENSE = [ConnectionError("refused"), None, "busy", [["car", 7]], {"error": "quota"}]


@pytest.mark.parametrize("fault", NONSENSE, ids=repr)
@pytest.mark.parametrize("service", ["good", "best"])
def test_an_add_on_that_fails_costs_nothing_and_reaches_nobody(strategy, service, fault):
    market = photos(300, 2, "new")
    ask = Failing(market, {service: fault})
    made = router(strategy, patience=NEVER_LEFT_OUT)
    results = [made.run(item, ask) for item in ask.items()]
    state = made.money.state()
    assert all(result.answer is not None and service not in result.asked for result in results)
    assert state.spent == pytest.approx(charged(ask)) and state.reserved_nano == 0
    assert sum(result.cost for result in results) == pytest.approx(state.spent)
    failed = [result for result in results if result.failed]
    assert failed and all(f"{service} failed; " in result.why for result in failed)
    others = {"good", "best"} - {service}
    assert any(set(result.asked) & others for result in failed), "the next best is asked"


def test_the_bases_own_answer_is_the_last_resort(strategy):
    market = photos(300, 2, "new")
    ask = Failing(market, {"good": None, "best": ConnectionError("x")})
    made = router(strategy, patience=NEVER_LEFT_OUT)
    results = [made.run(item, ask) for item in ask.items()]
    assert {result.asked for result in results} == {("cheap",)}
    assert made.money.state().spent == pytest.approx(300 * PRICES["cheap"] / PER)
    sets = strategy.answer(market, np.tile([True, False, False], (300, 1)))
    for row, result in enumerate(results):
        assert {label for label, _ in result.answer} == set(market.labels[sets[row].indices].tolist())


def test_a_service_down_for_the_middle_third(strategy):
    """No error, not a cent for failed calls; accuracy near the best that the remaining services allow."""
    market = photos(600, 5, "new")
    clock = [0.0]
    ask = Failing(market, {"best": TimeoutError("slow")}, lambda service, number: 200 <= number < 400)
    made = router(strategy, items=600, patience=Patience(timeout=None, retries=0, pause=20.0, wait=0.0))
    made.breaker.clock = lambda: clock[0]
    results = []
    for item in ask.items():
        clock[0] += 1.0  # one item a second
        results.append(made.run(item, ask))
    tries = [call for call in ask.calls if len(call) == 3]
    assert 5 <= len(tries) <= 12, "left out after five failures, then one trial at a time"
    assert made.money.state().spent == pytest.approx(charged(ask))
    asked = np.array([[name in result.asked for name in PRICES] for result in results])
    assert asked[:200, 2].any() and not asked[200:400, 2].any() and asked[450:, 2].any()
    # Independently: with `best` unknown in the middle third, the strategy's own choices.
    plan, own = strategy.plan(5.0), np.arange(600)
    tables = strategy._estimates(market, replace(plan, dual_price=0.0))
    blind = np.flatnonzero((own >= 200) & (own < 400))
    for state, table in tables.items():
        if 2 not in state:
            table[blind, 2] = NEVER
    alone = strategy.selector(5.0, 600).run(tables)
    truth = market.truth
    found = set_metric(truth, strategy.answer(market, asked)).mean()
    assert found == pytest.approx(set_metric(truth, strategy.answer(market, alone)).mean(), abs=0.01)


def test_of_several_services_first_one_may_fail():
    """Its answer counts as empty, as in recorded data; it costs nothing."""
    market = photos(100, 2, "new")
    strategy = Strategy.fit(photos(400), [11.0], base=["cheap", "good"], learning=SMALL)
    for down in ("cheap", "good"):
        ask = Failing(market, {down: ConnectionError("x")})
        made = router(strategy, items=100, rate=11.0, patience=NEVER_LEFT_OUT)
        results = [made.run(item, ask) for item in ask.items()]
        assert all(down in result.failed and down not in result.asked for result in results)
        assert any("best" in result.asked for result in results)
        assert made.money.state().spent == pytest.approx(charged(ask))
        assert made.money.state().reserved_nano == 0 and made.money.state().items == 100
    ask = Failing(market, {"cheap": None, "good": None})
    made = router(strategy, items=100, rate=11.0, patience=NEVER_LEFT_OUT)
    assert made.run({"id": "new 0"}, ask).asked == ("best",)


def test_a_further_service_that_fails_leaves_what_was_answered():
    market = photos(100, 2, "new")
    strategy = Strategy.fit(photos(400), [16.0], base="cheap", learning=SMALL)
    whole = router(strategy, items=100, rate=16.0).batch(Recorded(market).items(), Recorded(market))
    order = {result.id: result.asked for result in whole}
    third = {id: asked[2] for id, asked in order.items() if len(asked) == 3}
    assert third

    def ask(service, item):
        if service == third.get(item["id"]):
            raise ConnectionError("x")
        return Recorded(market)(service, item)

    made = router(strategy, items=100, rate=16.0, patience=NEVER_LEFT_OUT)
    for id in third:
        result = made.run({"id": id}, ask)
        assert result.asked == order[id][:2] and third[id] in result.failed
    assert made.money.state().reserved_nano == 0


def test_a_provider_that_charges_for_failures(strategy):
    market = photos(300, 2, "new")
    ask = Failing(market, {"best": None})
    charging = Patience(timeout=None, retries=1, wait=0.0, failures=1000, calls=1000, charges_failures=True)
    made = router(strategy, patience=NEVER_LEFT_OUT, special={"best": charging})
    results = [made.run(item, ask) for item in ask.items()]
    assert made.money.state().spent == pytest.approx(sum(PRICES[call[0]] for call in ask.calls) / PER)
    assert sum(result.cost for result in results) == pytest.approx(made.money.state().spent)
    assert made.money.state().reserved_nano == 0
    assert made.money.state().spent_nano <= made.money.state().money_nano


def charging_router(strategy, money) -> Router:
    charging = Patience(timeout=None, retries=1, wait=0.0, failures=2, calls=10, charges_failures=True)
    return Router(strategy, Budget(total=money, items=1), per=PER, plan=5.0, patience=charging)


def test_a_retry_that_the_money_does_not_pay_for_is_noted_once(strategy, caplog):
    made = charging_router(strategy, PRICES["cheap"] / PER)
    ticket = made.open({})
    with caplog.at_level(logging.INFO, logger="frugalmct.live"):
        assert not made.try_again(ticket, "ConnectionError: x")
        made.decide(ticket, {"cheap": None})
    assert [record.getMessage() for record in caplog.records] == ["cheap failed: ConnectionError: x"]
    assert made.breaker.state("cheap") == "in use"  # two failures leave it out
    with pytest.raises(NoAnswer) as error:
        made.close(ticket)
    assert error.value.cost == made.money.state().spent == PRICES["cheap"] / PER


def test_a_retry_that_the_ledger_cannot_book_leaves_the_ticket_as_it_was(strategy, monkeypatch):
    made = charging_router(strategy, 2 * PRICES["cheap"] / PER)
    ticket = made.open({})
    before = ticket.as_it_is()
    with monkeypatch.context() as patch, pytest.raises(LedgerError):
        patch.setattr(made.money, "exchange", _full_disk)
        made.try_again(ticket, "x")
    assert ticket.as_it_is() == before


def _full_disk(**_):
    raise LedgerError("no space left")


def left_out_until_now(made, service) -> None:
    """Its pause is just over: whoever asks it next makes the trial."""
    for _ in range(made.breaker.patience_of(service).failures):
        made.breaker.failed(service)
    made.breaker.clock = lambda: time.monotonic() + 2e6


def test_a_trial_that_is_refused_the_money_is_left_to_the_next(strategy):
    made = router(strategy, items=1, rate=0.5)
    first = made.open({})
    left_out_until_now(made, "cheap")
    with pytest.raises(OutOfMoney):
        made.open({})
    made.money.release(first.reservation)
    assert made.open({}).ask == "cheap"


def test_a_trial_that_ends_with_its_item_is_left_to_the_next(strategy):
    made = router(strategy)
    left_out_until_now(made, "cheap")
    ticket = made.open({})
    with pytest.raises(NoAnswer):
        made.close(ticket)  # nobody was asked
    assert made.open({}).ask == "cheap"


def test_a_call_that_fails_once_is_asked_again(strategy):
    market = photos(50, 2, "new")
    seen: set = set()

    def down(service, number):
        first = (service, number) not in seen
        seen.add((service, number))
        return first

    ask = Failing(market, {"cheap": ConnectionError("x"), "best": ConnectionError("x")}, down)
    patience = Patience(timeout=None, retries=1, wait=0.0, failures=1000, calls=1000)
    made = router(strategy, items=50, patience=patience)
    plain = router(strategy, items=50)
    for item in ask.items():
        assert made.run(item, ask) == plain.run(item, Recorded(market))
    assert made.money.state().spent == pytest.approx(charged(ask))


def test_a_slow_service_is_left_in_time(strategy):
    answered = threading.Event()

    def ask(service, item):
        if service != "cheap":
            answered.wait(60)
        return [["car", 0.3]]

    made = router(strategy, items=10, rate=5.0, patience=Patience(timeout=0.7, retries=0))
    started = time.perf_counter()
    result = made.run("x", ask)
    answered.set()
    assert time.perf_counter() - started < 30
    assert result.asked == ("cheap",) and result.failed
    assert all("no answer within 0.7 seconds" in reason for reason in result.failed.values())
    assert made.money.state().reserved_nano == 0


def test_slow_coroutines_and_failing_ones(strategy):
    async def ask(service, item):
        if service == "best":
            await asyncio.sleep(60)
        if service == "good":
            raise ConnectionError("x")
        return [["car", 0.3]]

    made = router(strategy, items=10, patience=Patience(timeout=0.5, retries=1, wait=0.0))
    result = asyncio.run(made.arun("x", ask))
    assert result.asked == ("cheap",) and result.failed
    assert made.money.state().spent == pytest.approx(PRICES["cheap"] / PER)


def test_a_base_that_fails_is_replaced_by_the_next(two_bases):
    market = photos(100, 2, "new")
    ask = Failing(market, {"cheap": ConnectionError("x")})
    made = router(two_bases, items=100, rate=7.0, plan=5.0, patience=NEVER_LEFT_OUT)
    assert made.course.bases == [(0,), (1,)]
    results = [made.run(item, ask) for item in ask.items()]
    assert all(result.asked[0] == "good" and "cheap" in result.failed for result in results)
    assert made.money.state().spent == pytest.approx(charged(ask))


def test_without_another_base_an_add_on_must_do(strategy):
    market = photos(100, 2, "new")
    ask = Failing(market, {"cheap": None})
    made = router(strategy, items=100, rate=8.0, patience=NEVER_LEFT_OUT)
    results = list(made.batch(ask.items(), ask))
    answered = [result for result in results if result.answer is not None]
    assert answered and {result.asked for result in answered} <= {("best",), ("good",)}
    assert all("could not be asked" in result.why for result in answered)
    assert made.money.state().spent == pytest.approx(charged(ask))


def test_the_base_left_out_is_not_asked_first(strategy):
    made = router(strategy, items=100, rate=8.0)
    for _ in range(5):
        made.breaker.failed("cheap")
    ticket = made.open({"id": "a"})
    assert ticket.ask in ("good", "best")
    assert made.decide(ticket, {ticket.ask: [["car", 0.9]]}) is None
    assert made.close(ticket).answer == [["car", 0.9]]


def test_nobody_answers(strategy):
    ask = Failing(photos(5, 2, "new"), {name: ConnectionError("down") for name in PRICES})
    made = router(strategy, items=5, rate=8.0, patience=NEVER_LEFT_OUT)
    with pytest.raises(NoAnswer, match="Item new 0 has no answer: cheap: ConnectionError: down; "):
        made.run({"id": "new 0"}, ask)
    assert made.money.state().spent_nano == made.money.state().reserved_nano == 0
    (result,) = made.batch([{"id": "new 1"}], ask)
    assert result.answer is None and "has no answer" in result.error and result.cost == 0


def test_leaving_a_service_out_is_logged_with_what_it_costs(strategy, caplog):
    made = router(strategy)
    with caplog.at_level(logging.WARNING, logger="frugalmct.live"):
        for _ in range(5):
            made._note_failure("best", "ConnectionError: x")
    (record,) = caplog.records
    assert "best fails too often and is left out for 1e+06 seconds" in record.getMessage()
    assert "accuracy is 0." in record.getMessage() and "instead of 0." in record.getMessage()
    assert any("best is left out" in text for text in made.health().warnings)
