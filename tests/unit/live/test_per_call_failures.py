"""Services that fail where calls have costs of their own: what was really paid, the next best asked."""

import asyncio
import logging
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from per_call_markets import FAST, prompts, voters

from frugalmct import Strategy
from frugalmct.errors import FrugalError
from frugalmct.live import Budget, Call, LedgerError, NoAnswer, OutOfMoney, Patience, PerCallRouter
from frugalmct.live.call_choosing import LEFT_OUT
from frugalmct.market import Extras

NEVER_LEFT_OUT = Patience(timeout=None, retries=0, wait=0.0, failures=1000, calls=1000)
RICH = Budget(total=1e6)
"""Of an unknown number of items: the dual price is the plan's throughout."""


def three(items: int, seed: int = 0):
    """Of prompts, with a third service that is as good as the expensive one and costs more."""
    market = prompts(items, seed)
    costs = np.column_stack([market.costs, market.costs[:, 1] * 1.3])
    quality = np.column_stack([market.quality, market.quality[:, 1]])
    extras = Extras(costs, market.extras.text)
    services = (*market.services, "huge")
    return replace(market, services=services, prices=costs.mean(axis=0), quality=quality, extras=extras)


@pytest.fixture(scope="module")
def strategy():
    return Strategy.fit(three(300), [1.0, 2.0], base="none", options=FAST)


@pytest.fixture(scope="module")
def by_votes():
    return Strategy.fit(voters(200), [2.5], base=["one", "two"], options=FAST)


class Failing:
    """Plays a market's calls back; some services fail, in their way, while `down` says so."""

    def __init__(self, market, how=None, down=lambda service, n: True):
        self.market, self.how, self.down = market, how or {}, down
        self.calls: list[tuple[str, int, bool]] = []
        self._rows = {str(name): n for n, name in enumerate(market.items)}

    def items(self):
        return [
            {"id": str(name), "text": None if self.market.extras.text is None else self.market.extras.text[n]}
            for n, name in enumerate(self.market.items)
        ]

    def __call__(self, service, item):
        n, k = self._rows[item["id"]], self.market.service_index(service)
        failed = service in self.how and self.down(service, n)
        self.calls.append((service, n, failed))
        if failed:
            if isinstance(self.how[service], Exception):
                raise self.how[service]
            return self.how[service]
        return Call(service, float(self.market.costs[n, k]))

    @property
    def charged(self) -> float:
        """What the calls that did not fail cost."""
        rows = [(n, self.market.service_index(service)) for service, n, failed in self.calls if not failed]
        return float(sum(self.market.costs[row] for row in rows))


def masked_choices(strategy, market, out=()):
    """Independently of the router: argmax of accuracy - dual price * cost, without the services `out`."""
    accuracy, costs = strategy.estimate(market, 2.0)
    worth = accuracy - strategy.plan(2.0).dual_price * costs
    worth[:, list(out)] = -np.inf
    return worth.argmax(axis=1)


@pytest.mark.parametrize("fault", [ConnectionError("refused"), None], ids=repr)
def test_the_next_best_is_asked_and_nothing_is_charged(strategy, fault):
    market = three(80, 2)
    ask = Failing(market, {"big": fault})
    router = PerCallRouter(strategy, RICH, plan=2.0, patience=NEVER_LEFT_OUT)
    results = [router.run(item, ask) for item in ask.items()]
    expected = masked_choices(strategy, market, out=[1])
    assert [result.service for result in results] == [market.services[k] for k in expected]
    failed = [result for result in results if result.failed]
    assert failed and {result.service for result in failed} >= {"huge"}
    assert router.money.state().spent == pytest.approx(ask.charged, abs=1e-6)
    assert sum(result.cost for result in results) == pytest.approx(router.money.state().spent)
    assert router.money.state().reserved == 0


def test_the_answer_at_hand_is_the_last_resort(by_votes):
    """Nobody else answers once those asked first have: one of them stands, the better one by estimate."""
    market = voters(60, 1)

    def ask(service, item):
        if service == "expert":
            raise ConnectionError("down")
        row = market.scores[market.service_index(service)][int(item["id"])]
        return Call([[str(market.labels[row.indices[0]]), 1.0]], 0.1)

    router = PerCallRouter(by_votes, RICH, plan=2.5, patience=NEVER_LEFT_OUT)
    results = [router.run({"id": str(n)}, ask) for n in range(60)]
    assert any("expert" in result.failed for result in results)
    assert all(set(result.asked) == {"one", "two"} and result.service in ("one", "two") for result in results)
    assert router.money.state().spent == pytest.approx(60 * 0.2) and router.money.state().reserved == 0


def test_a_service_down_for_the_middle_third(strategy):
    """No error reaches the caller, not a cent for failed calls; the choices are the best that are left."""
    market, clock = three(300, 3), [0.0]
    ask = Failing(market, {"big": TimeoutError("slow")}, lambda service, n: 100 <= n < 200)
    patience = Patience(timeout=None, retries=0, pause=20.0, wait=0.0)
    router = PerCallRouter(strategy, RICH, plan=2.0, patience=patience)
    router.breaker.clock = lambda: clock[0]
    results = []
    for item in ask.items():
        clock[0] += 1.0  # one item a second
        results.append(router.run(item, ask))
    tries = [call for call in ask.calls if call[2]]
    assert 5 <= len(tries) <= 12, "left out after five failures, then one trial at a time"
    assert router.money.state().spent == pytest.approx(ask.charged, abs=1e-6)
    assert router.money.state().reserved == 0 and not router.breaker.left_out()
    served = np.array([market.service_index(result.service) for result in results])
    down = (np.arange(300) >= 100) & (np.arange(300) < 200)
    assert (served[down] == masked_choices(strategy, market, out=[1])[down]).all()
    assert (served[:100] == masked_choices(strategy, market)[:100]).all()
    assert (served[250:] == masked_choices(strategy, market)[250:]).all() and 1 in served[250:]
    best = np.where(down, masked_choices(strategy, market, out=[1]), masked_choices(strategy, market))
    rows = np.arange(300)
    assert market.quality[rows, served].mean() >= market.quality[rows, best].mean() - 0.01


@pytest.mark.parametrize("down", [("one",), ("two",), ("one", "two")])
def test_without_one_of_those_asked_first_it_is_still_chosen(by_votes, down):
    """Its answer counts as empty, as in recorded data: the expert is asked where one alone does not do."""
    market = voters(100, 1)

    def ask(service, item):
        if service in down:
            raise ConnectionError("down")
        row = market.scores[market.service_index(service)][int(item["id"])]
        return Call([[str(market.labels[row.indices[0]]), 1.0]], 4.0 if service == "expert" else 0.1)

    router = PerCallRouter(by_votes, RICH, plan=2.5, patience=NEVER_LEFT_OUT)
    results = [router.run({"id": str(n)}, ask) for n in range(100)]
    true = [str(market.labels[row.indices[0]]) for row in market.truth]
    right = np.mean([result.answer[0][0] == label for result, label in zip(results, true, strict=True)])
    assert right > 0.9, "either alone is right in 60 of 100"
    assert all(set(down) == result.failed.keys() for result in results)
    assert router.money.state().spent == pytest.approx(sum(result.cost for result in results))
    assert router.health().drift.items == 0, "what is expected of them is not what training knew"


def test_an_answer_that_cannot_be_used_is_paid_if_its_cost_is_known(by_votes):
    router = PerCallRouter(by_votes, RICH, plan=2.5, patience=NEVER_LEFT_OUT)
    ticket = router.open({"id": "a"})
    wrong = ticket.ask
    router.decide(ticket, Call("x", cost=0.9))
    assert router.money.state().spent == pytest.approx(0.9) == ticket.cost
    router.decide(ticket, Call("x"))  # nobody says that it cost anything
    assert router.money.state().spent == pytest.approx(0.9)
    router.decide(ticket, Call([["7", 1.0]], 3.0))
    result = router.close(ticket)
    assert result.cost == pytest.approx(3.9) == router.money.state().spent
    assert wrong in result.failed and result.service == "expert" and router.money.state().reserved == 0


@pytest.mark.parametrize("features", [[float("nan")], [1.0, 2.0], None, "many"], ids=repr)
def test_numbers_of_an_answer_that_are_none_are_a_failure(features):
    """They are looked at before the money is settled, which is once."""
    market = voters(120)
    numbers = tuple(np.random.default_rng(k).random((120, 1)) for k in range(3))
    market = replace(market, extras=Extras(market.extras.costs, answer_numbers=numbers))
    strategy = Strategy.fit(market, [2.5], method="per_call", base=["one", "two"], options=FAST)
    router = PerCallRouter(strategy, RICH, plan=2.5, patience=NEVER_LEFT_OUT)
    given = {"one": features, "two": [0.5], "expert": None}
    result = router.run({"id": "a"}, lambda service, _: Call([["7", 1.0]], 0.2, given[service]))
    assert result.service == "two" and list(result.failed) == ["one"]
    assert result.cost == pytest.approx(0.4) == router.money.state().spent
    assert router.money.state().reserved == 0


def test_an_item_that_lacks_its_text_is_told_before_money_is_spent():
    asked = []
    strategy = Strategy.fit(prompts(150), [1.5], base="mini", options=FAST)
    router = PerCallRouter(strategy, RICH, plan=1.5)
    with pytest.raises(FrugalError, match="have no text"):
        router.run({"id": "a"}, lambda service, _: asked.append(service))
    assert not asked and router.money.state().reserved == router.money.state().items == 0


@pytest.mark.parametrize("caps", [None, {"one": 0.2, "two": 0.2, "expert": 5.0}])
def test_money_for_one_of_two_that_are_asked_first(by_votes, caps):
    """Whoever answered was paid: the answer stands."""
    router = PerCallRouter(by_votes, Budget(total=0.2, items=1), plan=2.5, caps=caps)
    result = router.run({"id": "a"}, lambda service, _: Call([["7", 1.0]], 0.2))
    assert result.asked == (result.service,) and result.answer == [["7", 1.0]]
    assert result.cost == pytest.approx(0.2)
    with pytest.raises(OutOfMoney):
        router.open({"id": "b"})


def test_another_may_take_some_of_the_last_money_between_a_look_and_a_step(strategy, monkeypatch):
    """What is left is looked at again: there is still money, and so a call is made."""
    router = PerCallRouter(strategy, Budget(total=0.01, items=1), plan=1.0)
    look, taken = router.money.state, []

    def another_comes():
        state = look()
        if len(taken) < 2:
            taken.append(router.money.reserve(0.004, "other", f"other {len(taken)}"))
        return state

    monkeypatch.setattr(router.money, "state", another_comes)
    ticket = router.open({"id": "a", "text": "hello poem"})
    assert len(taken) == 2 and ticket.ask and ticket.reserved.amount == pytest.approx(0.002)


def test_money_that_comes_back_is_waited_for(strategy):
    for caps in (None, {"mini": 1.0, "big": 5.0, "huge": 5.0}):
        router = PerCallRouter(strategy, Budget(total=6, items=3), plan=1.0, caps=caps)
        held = router.money.reserve(6.0, "big", "another item")
        timer = threading.Timer(0.02, lambda held=held, router=router: router.money.release(held))
        timer.start()
        result = router.run({"id": "a", "text": "hello poem"}, lambda *_: Call("yes", 0.1))
        assert result.answer == "yes"
        timer.join()


def test_a_provider_that_charges_for_failures(strategy):
    """Each failed try counts as what it was expected to cost."""
    market = three(40, 2)
    ask = Failing(market, {"big": None})
    charging = replace(NEVER_LEFT_OUT, retries=1, charges_failures=True)
    router = PerCallRouter(strategy, RICH, plan=2.0, patience=NEVER_LEFT_OUT, special={"big": charging})
    results = [router.run(item, ask) for item in ask.items()]
    failed = [n for _, n, wrong in ask.calls if wrong]
    assert failed and len(failed) == 2 * len(set(failed)), "asked again once"
    expected = strategy.estimate(market, 2.0)[1]
    lost = sum(expected[n, 1] for n in failed)
    assert router.money.state().spent == pytest.approx(ask.charged + lost, abs=1e-5)
    assert sum(result.cost for result in results) == pytest.approx(router.money.state().spent)
    assert router.money.state().reserved == 0 and all(result.answer for result in results)


def test_a_charged_retry_must_be_paid_for(strategy):
    charging = replace(NEVER_LEFT_OUT, retries=5, charges_failures=True)
    caps = {"mini": 1.0, "big": 1.0, "huge": 1.0}
    router = PerCallRouter(strategy, Budget(total=2.5, items=2), plan=1.0, caps=caps, patience=charging)
    with pytest.raises((NoAnswer, OutOfMoney)) as ended:
        router.run({"text": "hello poem"}, lambda *_: None)
    state = router.money.state()
    assert 0 < state.spent <= 2.5 and state.reserved == 0
    assert ended.value.cost == pytest.approx(state.spent)


@pytest.mark.parametrize("fault", [None, Call("fine")], ids=["failed", "of unknown cost"])
def test_what_counts_as_estimated_never_counts_as_more_than_its_cap(strategy, fault):
    caps = dict.fromkeys(("mini", "big", "huge"), 0.01)  # less than any estimate
    charging = replace(NEVER_LEFT_OUT, charges_failures=True)
    router = PerCallRouter(strategy, Budget(total=2, items=2), plan=1.0, caps=caps, patience=charging)
    ticket = router.open({"text": "hello poem"})
    router.decide(ticket, fault)
    assert ticket.cost == router.money.state().spent == pytest.approx(0.01)


def test_a_failure_is_counted_once(strategy, monkeypatch):
    """However it ends: after the last retry, or where there is no money for one."""
    for money, tries in ((1000.0, 3), (1.5, 1)):
        patience = replace(NEVER_LEFT_OUT, retries=2, charges_failures=True)
        caps = dict.fromkeys(("mini", "big", "huge"), 1.0)
        budget = Budget(total=money, items=int(money))
        router = PerCallRouter(strategy, budget, plan=1.0, caps=caps, patience=patience)
        noted, asked = [], []
        monkeypatch.setattr(router.breaker, "failed", lambda service, noted=noted: noted.append(service))
        with pytest.raises((NoAnswer, OutOfMoney)):
            router.run({"text": "hello poem"}, lambda service, _, asked=asked: asked.append(service))
        assert noted == asked and asked.count(asked[0]) == tries


def test_a_call_that_fails_once_is_asked_again(strategy):
    market, seen = three(40, 2), set()

    def down(service, n):
        first = (service, n) not in seen
        seen.add((service, n))
        return first

    ask = Failing(market, dict.fromkeys(market.services, ConnectionError("x")), down)
    again = PerCallRouter(strategy, RICH, plan=2.0, patience=replace(NEVER_LEFT_OUT, retries=1))
    plain = PerCallRouter(strategy, RICH, plan=2.0)
    for item in ask.items():
        assert again.run(item, ask) == plain.run(item, Failing(market))
    assert again.money.state().spent == pytest.approx(ask.charged, abs=1e-6)


def test_a_slow_service_is_left_in_time(strategy):
    answered = threading.Event()

    def ask(service, item):
        if service != "mini":
            answered.wait(60)
        return Call(service, 0.1)

    router = PerCallRouter(strategy, RICH, plan=2.0, patience=Patience(timeout=0.7, retries=0))
    started = time.perf_counter()
    result = router.run({"text": "add divide 17 fraction add"}, ask)
    answered.set()
    assert time.perf_counter() - started < 30
    assert result.service == "mini" and result.failed
    assert all("no answer within 0.7 seconds" in reason for reason in result.failed.values())
    assert router.money.state().reserved == 0 and router.money.state().spent == pytest.approx(0.1)


def test_coroutines_and_batches_as_one_by_one(strategy, tmp_path):
    market = three(30, 4)
    alone = PerCallRouter(strategy, RICH, plan=2.0)
    expected = [alone.run(item, Failing(market)) for item in Failing(market).items()]

    async def ask(service, item):
        if service == "big" and item["id"] == str(market.items[0]):
            await asyncio.sleep(60)
        return Failing(market)(service, item)

    async def all_items(router):
        return [await router.arun(item, ask) for item in Failing(market).items()]

    quick = Patience(timeout=0.5, retries=0)
    for ledger in (None, f"sqlite:///{tmp_path}/l.db"):
        with PerCallRouter(strategy, RICH, ledger, plan=2.0, patience=quick) as router:
            found = asyncio.run(all_items(router))
        assert found[1:] == expected[1:]
        assert found[0] == expected[0] or "big" in found[0].failed
    batched = PerCallRouter(strategy, RICH, plan=2.0)
    assert list(batched.batch(Failing(market).items(), Failing(market), workers=3)) == expected
    assert batched.money.state().spent == pytest.approx(alone.money.state().spent)


def test_nobody_answers(strategy):
    ask = Failing(three(2, 2), {name: ConnectionError("down") for name in ("mini", "big", "huge")})
    router = PerCallRouter(strategy, RICH, plan=2.0, patience=NEVER_LEFT_OUT)
    with pytest.raises(NoAnswer, match="ConnectionError: down; "):
        router.run(ask.items()[0], ask)
    assert {service for service, _, _ in ask.calls} == {"mini", "big", "huge"}
    (result,) = router.batch(ask.items()[1:], ask)
    assert result.answer is result.service is None and "has no answer" in result.error
    assert "has no answer" in result.to_dict()["error"] and result.cost == 0
    assert router.money.state().spent == router.money.state().reserved == 0


def test_one_that_is_left_out_is_not_asked_first(by_votes):
    router = PerCallRouter(by_votes, RICH, plan=2.5)
    for _ in range(5):
        router.breaker.failed("one")
    asked = []
    result = router.run({"id": "a"}, lambda service, _: asked.append(service) or Call([["7", 1.0]], 0.1))
    assert asked == ["two", "expert"] and result.failed == {"one": LEFT_OUT}


def test_a_mistake_of_the_caller_is_not_tried_again(strategy):
    asked = []
    router = PerCallRouter(strategy, RICH, plan=2.0)
    with pytest.raises(FrugalError, match="ask gave a str for"):
        router.run({"text": "hello poem"}, lambda service, _: asked.append(service) or "said")
    assert len(asked) == 1 and not router.breaker.left_out()
    assert router.money.state().spent == router.money.state().reserved == 0


def test_a_failure_is_one_however_often_its_step_is_tried_again(strategy, monkeypatch):
    router = PerCallRouter(strategy, RICH, plan=2.0, patience=Patience(failures=2, calls=2))
    ticket = router.open({"text": "hello poem"})
    name, release = ticket.ask, router.money.release

    def full(reservation):
        raise LedgerError("the disk is full")

    monkeypatch.setattr(router.money, "release", full)
    for _ in range(5):
        with pytest.raises(LedgerError):
            router.decide(ticket, None)
    assert not router.breaker.left_out() and ticket.ask == name
    monkeypatch.setattr(router.money, "release", release)
    assert router.decide(ticket, None) != name and not router.breaker.left_out()


def test_leaving_one_out_is_told_with_what_it_costs(strategy, by_votes, caplog):
    router = PerCallRouter(strategy, RICH, plan=2.0)
    with caplog.at_level(logging.WARNING, logger="frugalmct.live"):
        for _ in range(5):
            router._note_failure("big", "ConnectionError: x")
    (record,) = caplog.records
    text = record.getMessage()
    assert "big fails too often and is left out for 30 seconds; without it quality is 0." in text
    assert f"instead of {strategy.plan(2.0).accuracy:.3f}" in text
    health = router.health()
    assert health.left_out == ("big",) and any("big is left out" in text for text in health.warnings)
    first = PerCallRouter(by_votes, RICH, plan=2.5)
    assert first._loss_without("one") == "every item must do without one that is asked first"
