"""A router whose calls have costs of their own: money on true costs, failures, whom it asks."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from per_call_markets import FAST, prompts, voters

from frugalmct import Strategy
from frugalmct.errors import FrugalError
from frugalmct.live import Budget, Call, LedgerError, NoAnswer, OutOfMoney, Patience, PerCallRouter, Router

NEVER_LEFT_OUT = Patience(timeout=None, retries=0, wait=0.0, failures=1000, calls=1000)


@pytest.fixture(scope="module")
def by_text():
    return Strategy.fit(prompts(300), [0.6, 1.0], base="none", options=FAST)


@pytest.fixture(scope="module")
def by_votes():
    return Strategy.fit(voters(300), [2.5], base=["one", "two"], options=FAST)


def item_of(market, n):
    return {"id": str(market.items[n]), "text": None if market.extras.text is None else market.extras.text[n]}


def asker(market, n, calls):
    def ask(service, _):
        k = market.service_index(service)
        calls.append((n, k))
        answer = "whatever"
        if market.kind == "labels":
            row = market.scores[k][n]
            answer = [(str(market.labels[j]), float(x)) for j, x in zip(row.indices, row.data, strict=True)]
        return Call(answer, float(market.costs[n, k]))

    return ask


def run_all(router, market):
    calls, results = [], []
    for n in range(len(market)):
        results.append(router.run(item_of(market, n), asker(market, n, calls)))
    return results, calls


def test_every_item_is_answered_within_the_money(by_text):
    market = prompts(200, 1)
    router = PerCallRouter(by_text, Budget(total=0.2, items=200), per=1000)
    results, calls = run_all(router, market)
    assert router.plan.budget == 1.0
    assert len(calls) == 200 and all(len(result.asked) == 1 for result in results)
    true = sum(market.costs[call] for call in calls) / 1000
    assert router.money.state().spent == pytest.approx(true, abs=1e-6)
    assert true <= 0.2 + market.costs.max() / 1000
    right = np.mean([market.quality[call] for call in calls])
    assert right > 0.85
    assert all(0 <= result.expected <= 1 for result in results)


def test_never_over_with_caps_and_then_out_of_money(by_text):
    market = prompts(60, 1)
    caps = dict(zip(market.services, market.costs.max(axis=0).tolist(), strict=True))
    router = PerCallRouter(by_text, Budget(total=20.0, items=20), caps=caps, plan=1.0)
    with pytest.raises(OutOfMoney, match="which does not pay for"):
        run_all(router, market)
    assert router.money.state().spent <= 20.0


def test_a_price_is_its_own_cap():
    market = prompts(120)
    extras = replace(market.extras, costs=None)
    priced = replace(market, prices=np.array([0.2, 1.0]), extras=extras)
    strategy = Strategy.fit(priced, [0.6], base="none", options=FAST)
    router = PerCallRouter(strategy, Budget(total=5.5, items=10), plan=0.6)
    with pytest.raises(OutOfMoney, match="which does not pay for"):
        for n in range(40):
            router.run(item_of(priced, n), lambda service, item: Call("said"))
    assert 5.3 < router.money.state().spent <= 5.5


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (Call("said", -1.0), "A call's cost is -1.0; give a number, 0 or more"),
        (Call("said", float("nan")), "A call's cost is nan"),
        ("said", "ask gave a str for"),
    ],
)
def test_nonsense_from_ask_is_said_and_nothing_is_booked(by_text, call, sentence):
    router = PerCallRouter(by_text, Budget(total=5, items=2))
    with pytest.raises(FrugalError, match=sentence):
        router.run({"text": "hello"}, lambda service, item: call)
    assert router.money.state().spent == router.money.state().reserved == 0


def test_a_wrong_item_is_said_before_money_is_spent(by_votes):
    calls = []
    router = PerCallRouter(by_votes, Budget(total=250, items=100))
    with pytest.raises(FrugalError, match="The item's text is 7; give a text"):
        router.run({"text": 7}, lambda service, item: calls.append(service))
    assert not calls


def test_answers_that_are_no_labels_count_as_failed(by_votes):
    """Where labels were learnt from: it counts as empty, and the expert is asked. What it cost was paid."""
    router = PerCallRouter(by_votes, Budget(total=250, items=100), patience=NEVER_LEFT_OUT)
    answers = {"one": "seven", "two": [["7", 1.0]], "expert": [["8", 1.0]]}
    result = router.run({"id": "a"}, lambda service, item: Call(answers[service], 0.1))
    assert result.service == "expert" and "a list of [label, score] pairs" in result.failed["one"]
    assert set(result.asked) == {"two", "expert"}
    assert result.cost == pytest.approx(0.3) == router.money.state().spent


def test_those_asked_first_decide_whether_the_expert_is_asked(by_votes):
    market = voters(100, 1)
    router = PerCallRouter(by_votes, Budget(total=250, items=100))
    results, _ = run_all(router, market)
    agreed = [r for n, r in enumerate(results) if (market.scores[0][n] != market.scores[1][n]).nnz == 0]
    differed = [r for n, r in enumerate(results) if (market.scores[0][n] != market.scores[1][n]).nnz]
    assert np.mean([set(result.asked) == {"one", "two"} for result in agreed]) > 0.8
    assert np.mean([result.service == "expert" for result in differed]) > 0.9
    assert results[0].answer[0][0] in market.labels


def test_whoever_fails_is_passed_over_and_paid_nothing(by_text):
    market = prompts(1, 1)

    def ask(service, item):
        if service == "big":
            raise TimeoutError("no answer")
        return Call("fine", 0.1)

    for text in ("add divide 17", "hello poem"):
        router = PerCallRouter(by_text, Budget(total=5, items=2))
        result = router.run({"text": text}, ask)
        assert result.service == "mini" and result.answer == "fine"
        assert result.cost == pytest.approx(0.1) == router.money.state().spent
    assert market.services == ("mini", "big")


def test_nobody_answers(by_text):
    def ask(service, item):
        raise ValueError("down")

    router = PerCallRouter(by_text, Budget(total=5, items=2))
    with pytest.raises(NoAnswer, match="ValueError: down"):
        router.run({"text": "hello"}, ask)
    assert router.money.state().spent == 0


@pytest.mark.parametrize(("fixture", "market"), [("by_text", prompts(60, 1)), ("by_votes", voters(60, 1))])
def test_in_steps_as_in_one(request, fixture, market):
    """The same services asked, the same money, whoever makes the calls; now and then one fails."""
    strategy = request.getfixturevalue(fixture)

    def called(n, service):
        if (n + len(service)) % 7 == 0:
            return TimeoutError("no answer")
        return asker(market, n, [])(service, None)

    def ask_for(n):
        def ask(service, _):
            call = called(n, service)
            if isinstance(call, Exception):
                raise call
            return call

        return ask

    whole, stepped = (
        PerCallRouter(strategy, Budget(total=150, items=60), patience=NEVER_LEFT_OUT) for _ in range(2)
    )
    for n in range(len(market)):
        expected = _or_error(lambda n=n: whole.run(item_of(market, n), ask_for(n)))
        assert _or_error(lambda n=n: _in_steps(stepped, item_of(market, n), n, called)) == expected
    assert stepped.money.state() == whole.money.state()
    assert stepped.money.state().reserved == 0


def _in_steps(router, item, n, called):
    ticket = router.open(item)
    while ticket.ask:
        assert router.money.state().reserved > 0
        router.decide(ticket, called(n, ticket.ask))
    return router.close(ticket).to_dict()


def _or_error(work):
    try:
        found = work()
        return found if isinstance(found, dict) else found.to_dict()
    except NoAnswer as error:
        return str(error), error.cost


def test_a_step_that_the_ledger_refuses_can_be_taken_again(by_votes, monkeypatch, tmp_path):
    pytest.importorskip("sqlalchemy")
    router = PerCallRouter(by_votes, Budget(total=250, items=100), f"sqlite:///{tmp_path / 'ledger.db'}")
    ticket = router.open({"id": "a"})
    first, second = ticket.ask, {"one": "two", "two": "one"}[ticket.ask]
    reserve = router.money.reserve

    def away(*_):
        raise LedgerError("the disk is full")

    monkeypatch.setattr(router.money, "reserve", away)
    with pytest.raises(LedgerError):
        router.decide(ticket, Call([["7", 1.0]], 0.1))
    assert ticket.ask == first and not ticket.calls and ticket.cost == 0
    monkeypatch.setattr(router.money, "reserve", reserve)
    assert router.decide(ticket, Call([["7", 1.0]], 0.1)) == second
    assert router.money.state().spent == pytest.approx(0.1)  # once
    with pytest.raises(FrugalError, match=f"waits for the call of {second}"):
        router.close(ticket)
    assert router.decide(ticket, None) == "expert"
    assert router.decide(ticket, None) is None
    assert ticket.ask is None and ticket.failed == dict.fromkeys((second, "expert"), "the call failed")
    assert router.close(ticket).service == first and router.money.state().reserved == 0
    router.shut()


def test_a_call_that_the_ledger_cannot_settle_stays_reserved(by_text, monkeypatch):
    """It was made, and may be charged."""
    router = PerCallRouter(by_text, Budget(total=5, items=2))

    def away(*_):
        raise LedgerError("the disk is full")

    monkeypatch.setattr(router.money, "settle", away)
    with pytest.raises(LedgerError, match="the disk is full"):
        router.run({"text": "hello poem"}, lambda service, item: Call("fine", 0.1))
    assert router.money.state().reserved > 0 and router.money.state().spent == 0


def test_a_call_that_is_none_leaves_the_ticket_as_it_was(by_text):
    router = PerCallRouter(by_text, Budget(total=5, items=2))
    ticket = router.open({"text": "hello poem"})
    asked = ticket.ask
    for wrong in ("text", Call("fine", -1)):
        with pytest.raises(FrugalError, match="give a"):
            router.decide(ticket, wrong)
        assert ticket.ask == asked and router.money.state().reserved > 0
    assert router.decide(ticket, Call("fine", 0.1)) is None
    assert router.close(ticket).answer == "fine"


def test_a_ledger_is_shared(by_text, tmp_path):
    pytest.importorskip("sqlalchemy")
    url, market = f"sqlite:///{tmp_path / 'ledger.db'}", prompts(20, 1)
    for part in (range(10), range(10, 20)):
        router = PerCallRouter(by_text, Budget(total=20, items=20), url)
        run_all(router, market.subset(list(part)))
        spent, items = router.money.state().spent, router.money.state().items
        router.shut()
    assert items == 20
    assert 0 < spent <= 20 + market.costs.max()


def test_each_router_names_the_other(by_text):
    with pytest.raises(FrugalError, match="give it to a PerCallRouter"):
        Router(by_text, Budget(total=1, items=1))
    plain = Strategy.fit(voters(60), [1.0], method="paper", base="one", options={"trees": 3})
    with pytest.raises(FrugalError, match="give it to a Router"):
        PerCallRouter(plain, Budget(total=1, items=1))
    with pytest.raises(FrugalError, match="no budget was given"):
        PerCallRouter(by_text)
    with pytest.raises(FrugalError, match="PerCallRouter: budget is 5; give a Budget"):
        PerCallRouter(by_text, 5)
    with pytest.raises(FrugalError, match=r"the money is 0\.1 an item"):
        PerCallRouter(by_text, Budget(total=1, items=10))


def test_health_tells_of_traffic_and_money(by_text, tmp_path):
    """Traffic like training; what was expected, what it cost and what is left, across two routers."""
    market, url = prompts(160, 2), f"sqlite:///{tmp_path}/l.db"
    budget = Budget(total=0.4, items=400)
    results = []
    for part in (range(80), range(80, 160)):
        with PerCallRouter(by_text, budget, url, per=1000) as router:
            results += [router.run(item_of(market, n), asker(market, n, [])) for n in part]
    with PerCallRouter(by_text, None, url, per=1000) as router:
        health = router.health()
        at_once = router.model.curve.at(health.left * 1000 / 240)
    assert (health.items, health.items_left, health.drift.items) == (160, 240, 160)
    assert health.ok and not health.drift.drifted and health.left_out == ()
    assert health.drift.expected == pytest.approx(np.mean([result.expected for result in results]))
    assert health.spent == pytest.approx(sum(result.cost for result in results))
    assert health.lasts_for == pytest.approx(health.left / (health.spent / 160))
    assert (health.dual_price, health.planned_dual_price) == (at_once, router.plan.dual_price)


def test_other_traffic_has_drifted(by_text):
    """Sums alone, of which training had half."""
    market = prompts(600, 3)
    sums = [n for n in range(600) if market.quality[n, 0] == 0][:150]
    router = PerCallRouter(by_text, Budget(total=10, items=400), per=1000)
    for n in sums:
        router.run(item_of(market, n), asker(market, n, []))
    health = router.health()
    assert health.drift.drifted and "the estimates of mini" in health.warnings[0]


def test_the_promise_is_what_training_expects_of_the_plan(by_text):
    router = PerCallRouter(by_text, Budget(total=1, items=1000), per=1000)
    trained = by_text.training.first(router.plan.first)
    walked = trained.walk(router.plan.budget, router.model.curve)
    expected = np.mean([row[choice] for row, choice in zip(trained.accuracy, walked.choices, strict=True)])
    assert (walked.choices >= 0).all()
    assert router.health().drift.promised == pytest.approx(expected)


def test_the_money_is_gone(by_text):
    router = PerCallRouter(by_text, Budget(total=2, items=3), caps={"mini": 0.6, "big": 4})
    router.run({"text": "hello"}, lambda *_: Call("yes", 1.999))
    with pytest.raises(OutOfMoney):
        router.open({"text": "hello"})
    health = router.health()
    assert health.turned_away == 1 and any("The money is gone" in text for text in health.warnings)


def test_feedback(by_text, by_votes):
    router = PerCallRouter(by_text, Budget(total=10, items=10))
    router.run({"id": "a", "text": "hello"}, lambda *_: Call("yes", 0.1))
    assert router.feedback("a", quality=0.5) == 0.5 and router.feedback("a", quality=1) == 1
    with pytest.raises(FrugalError, match="was no list of"):
        router.feedback("a", ["yes"])
    for wrong in ({}, {"truth": ["x"], "quality": 1}):
        with pytest.raises(FrugalError, match="one of the two"):
            router.feedback("a", **wrong)
    assert (router.health().drift.reached, router.health().drift.judged) == (0.75, 2)
    labels = PerCallRouter(by_votes, Budget(total=100, items=10))
    labels.run({"id": "b"}, lambda *_: Call([["7", 0.9]], 0.1))
    assert labels.feedback("b", ["7"]) == 1 and labels.feedback("b", ["8"]) == 0
    assert labels.feedback("long ago", ["8"], answer=[["8", 0.5]]) == 1


def test_steps_of_coroutines(by_votes, tmp_path):
    market, url = voters(20, 1), f"sqlite:///{tmp_path}/l.db"
    alone = PerCallRouter(by_votes, Budget(total=50, items=20))
    expected, _ = run_all(alone, market)

    async def all_items(router):
        results = []
        for n in range(20):
            ticket = await router.aopen(item_of(market, n))
            while ticket.ask:
                await router.adecide(ticket, asker(market, n, [])(ticket.ask, None))
            results.append(await router.aclose(ticket))
        return results

    with PerCallRouter(by_votes, Budget(total=50, items=20), url) as router:
        assert asyncio.run(all_items(router)) == expected
        assert router.money.state().spent == pytest.approx(alone.money.state().spent)
