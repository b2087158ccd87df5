"""Strategies with costs per call over HTTP: what the router does, money by true costs, looks at it."""

import pytest
from per_call_markets import FAST, prompts, voters
from test_serve_looks import parsed

from frugalmct import Strategy
from frugalmct.live import Budget, Call, PerCallRouter

PER = 1000


@pytest.fixture(scope="module")
def by_text():
    return Strategy.fit(prompts(200), [0.6, 1.0], base="none", options=FAST)


@pytest.fixture(scope="module")
def by_votes():
    return Strategy.fit(voters(200), [2.5], base=["one", "two"], options=FAST)


def item_of(market, n) -> dict:
    item = {"id": str(market.items[n])}
    return item if market.extras.text is None else item | {"text": str(market.extras.text[n])}


def call_of(market, n, service) -> dict:
    """As a caller sends it."""
    k = market.service_index(service)
    answer = f"{service} says so"
    if market.kind == "labels":
        row = market.scores[k][n]
        answer = [[str(market.labels[j]), float(x)] for j, x in zip(row.indices, row.data, strict=True)]
    return {"answer": answer, "cost": float(market.costs[n, k])}


def route(client, market, n) -> dict:
    step = client.ok("/open", item_of(market, n))
    while step["ask"]:
        answers = {step["ask"]: call_of(market, n, step["ask"])}
        step = client.ok("/decide", {"ticket": step["ticket"], "answers": answers})
    return client.ok("/close", {"ticket": step["ticket"]})


@pytest.mark.parametrize(("kind", "rate"), [("by_text", 1.0), ("by_votes", 2.5)])
def test_items_are_routed_as_by_the_router_itself(request, serving, tmp_path, kind, rate):
    strategy = request.getfixturevalue(kind)
    market = (prompts if kind == "by_text" else voters)(40, 1)
    budget = Budget(total=rate * 40 / PER, items=40)
    alone, expected = PerCallRouter(strategy, budget, per=PER), []
    for n in range(40):

        def ask(service, _, n=n):
            return Call(**call_of(market, n, service))

        expected.append(alone.run(item_of(market, n), ask).to_dict())
    router = PerCallRouter(strategy, budget, f"sqlite:///{tmp_path}/l.db", per=PER)
    with serving(router) as client:
        found = [route(client, market, n) for n in range(40)]
        health, metrics = client.get("/health")[1], parsed(client.get("/metrics")[1])
        status = client.get("/status")[1]
    assert found == expected
    costs = sum(result["cost"] for result in expected)
    assert (health["items"], health["reserved"], health["drift"]["items"]) == (40, 0, 40)
    assert health["spent"] == pytest.approx(costs) == pytest.approx(metrics["frugalmct_cost_total", ""])
    assert health["accuracy"]["expected"] == pytest.approx(
        sum(result["expected"] for result in expected) / 40
    )
    assert status["services"] == list(strategy.services) and status["closed"] == 40


def test_a_request_sent_again_changes_nothing(by_votes, serving):
    market = voters(20, 1)
    router = PerCallRouter(by_votes, Budget(total=0.05, items=20), per=PER)
    with serving(router) as client:
        for n in range(20):
            step = client.ok("/open", item_of(market, n))
            ticket, said = step["ticket"], []
            while step["ask"]:
                answers = {step["ask"]: call_of(market, n, step["ask"])}
                said.append({"ticket": ticket, "answers": answers})
                step = client.ok("/decide", said[-1])
                spent = router.money.state()
                assert all(client.ok("/decide", again) == step for again in said)
                assert router.money.state() == spent
            result = client.ok("/close", {"ticket": ticket})
            assert client.ok("/close", {"ticket": ticket}) == result
    assert router.money.state().reserved_nano == 0
    assert router.traffic.share().sketch.items == 20


def test_the_last_call_may_come_with_close(by_text, serving):
    market = prompts(5, 1)
    router = PerCallRouter(by_text, Budget(total=0.02, items=5), per=PER)
    with serving(router) as client:
        for n in range(5):
            step = client.ok("/open", item_of(market, n))
            status, reply = client.post("/close", {"ticket": step["ticket"]})
            assert status == 422 and f"waits for the call of {step['ask']}" in reply["error"]
            call = call_of(market, n, step["ask"])
            result = client.ok("/close", {"ticket": step["ticket"], "answers": {step["ask"]: call}})
            assert result["service"] == step["ask"] and result["answer"] == call["answer"]
            assert result["cost"] == pytest.approx(call["cost"] / PER, abs=1e-9)


def test_failed_calls_cost_nothing(by_text, serving):
    """When nobody is left to ask the item ends, with the same reply however often it is asked for."""
    router = PerCallRouter(by_text, Budget(total=0.02, items=5), per=PER)
    with serving(router) as client:
        step = client.ok("/open", {"id": "a", "text": "add 17"})
        first = {"ticket": step["ticket"], "answers": {step["ask"]: None}}
        step = client.ok("/decide", first)
        assert step["failed"] == {next(iter(first["answers"])): "the call failed"}
        last = {"ticket": step["ticket"], "answers": {step["ask"]: None}}
        ended = client.post("/decide", last)
        assert ended[0] == 424 and "has no answer" in ended[1]["error"] and ended[1]["cost"] == 0
        assert client.post("/decide", last) == ended == client.post("/close", {"ticket": step["ticket"]})
        assert client.get("/status")[1]["tickets"] == 0
    state = router.money.state()
    assert (state.spent_nano, state.reserved_nano, state.items) == (0, 0, 1)


def test_the_money_ends(by_text, serving):
    router = PerCallRouter(by_text, Budget(total=1, items=1), caps={"mini": 2, "big": 2})
    with serving(router) as client:
        status, reply = client.post("/open", {"text": "add 17"})
        assert status == 402 and "does not pay for" in reply["error"]
        health = client.get("/health")[1]
    assert health["turned_away"] == 1 and health["items"] == 0


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"nobody": None}, "waits for the call of"),
        ({"ask": "It is 17."}, "A call is 'It is 17.'; give"),
        ({"ask": {"cost": 1}}, "A call is"),
        ({"ask": {"answer": 1, "price": 1}}, "A call is"),
        ({"ask": {"answer": 1, "cost": -1}}, "A call's cost is -1"),
        ({"ask": {"answer": 1, "cost": "1"}}, "A call's cost is '1'"),
    ],
)
def test_a_call_that_is_none_leaves_the_ticket_as_it_was(by_text, serving, answers, sentence):
    router = PerCallRouter(by_text, Budget(total=0.02, items=5), per=PER)
    with serving(router) as client:
        step = client.ok("/open", {"text": "add 17"})
        sent = {step["ask"] if name == "ask" else name: value for name, value in answers.items()}
        status, reply = client.post("/decide", {"ticket": step["ticket"], "answers": sent})
        assert status == 422 and sentence in reply["error"]
        good = {step["ask"]: {"answer": "17", "cost": 0.2}}
        assert client.ok("/close", {"ticket": step["ticket"], "answers": good})["cost"] == 0.0002


def test_feedback_by_quality_or_by_labels(by_text, by_votes, serving):
    with serving(PerCallRouter(by_text, Budget(total=0.02, items=5), per=PER)) as client:
        name = route(client, prompts(5, 1), 0)["id"]
        assert client.ok("/feedback", {"id": name, "quality": 0.25}) == {"accuracy": 0.25}
        for wrong, sentence in (
            ({"truth": ["car"]}, "give its quality"),
            ({}, "one of the two"),
            ({"truth": ["car"], "quality": 1.0}, "one of the two"),
            ({"quality": 1.5}, "quality is 1.5; give a number in [0, 1]"),
        ):
            status, reply = client.post("/feedback", {"id": name} | wrong)
            assert status == 422 and sentence in reply["error"], reply
        accuracy = client.get("/health")[1]["accuracy"]
        assert (accuracy["reached"], accuracy["judged"]) == (0.25, 1)
    market = voters(5, 1)
    with serving(PerCallRouter(by_votes, Budget(total=0.05, items=5), per=PER)) as client:
        result = route(client, market, 0)
        truth = [label for label, _ in result["answer"]]
        assert client.ok("/feedback", {"id": result["id"], "truth": truth}) == {"accuracy": 1.0}


def test_the_description_has_what_stands(by_text, serving):
    with serving(PerCallRouter(by_text, Budget(total=0.02, items=5), per=PER)) as client:
        described = client.get("/openapi.json")[1]
    closed = described["paths"]["/close"]["post"]["responses"]
    schema = closed["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    fields = set(described["components"]["schemas"][schema]["properties"])
    assert fields == {"id", "answer", "service", "asked", "cost", "expected", "failed"}


def test_services_that_are_all_left_out_are_no_mistake_of_the_caller(by_text, serving):
    router = PerCallRouter(by_text, Budget(total=5, items=10), per=PER)
    for service in by_text.services:
        for _ in range(10):
            router.breaker.failed(service)
    with serving(router) as client:
        status, reply = client.post("/open", {"id": "a", "text": "hello"})
    assert status == 424 and "has no answer" in reply["error"]
