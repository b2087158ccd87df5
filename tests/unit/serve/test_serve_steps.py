"""Routing over HTTP does what the router does, and requests sent again change nothing."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from live_market import PRICES, Recorded

from frugalmct.live import Ledger, LedgerError

PER = 1000


def route(client, ask, item) -> dict:
    """One item in steps, as docs/serve.md tells it."""
    step = client.ok("/open", item)
    while step["ask"]:
        answers = {step["ask"]: ask(step["ask"], item)}
        step = client.ok("/decide", {"ticket": step["ticket"], "answers": answers})
    return client.ok("/close", {"ticket": step["ticket"]})


@pytest.mark.parametrize("database", [None, "sqlite"])
def test_items_are_routed_as_by_the_router_itself(make_router, market, serving, tmp_path, database):
    ask, alone = Recorded(market), make_router()
    expected = [alone.run(item, ask).to_dict() for item in ask.items()]
    router = make_router(ledger=f"sqlite:///{tmp_path}/l.db" if database else None)
    with serving(router) as client:
        found = [route(client, ask, item) for item in ask.items()]
        status, health = client.get("/health")
        assert status == 200 and health["items"] == 60 and health["reserved"] == 0
        assert health["spent"] == pytest.approx(sum(result["cost"] for result in expected))
    assert found == expected


def test_many_callers_at_once_share_the_budget(make_router, market, serving, tmp_path):
    """More of them than the server has threads; whatever their order, the books agree with the replies."""
    ask, url = Recorded(market), f"sqlite:///{tmp_path}/l.db"
    items = list(ask.items())
    with serving(make_router(ledger=url)) as client, ThreadPoolExecutor(20) as pool:
        results = list(pool.map(lambda item: route(client, ask, item), items))
        health = client.get("/health")[1]
    assert [result["id"] for result in results] == [item["id"] for item in items]
    assert health["items"] == 60 and health["reserved"] == 0 and health["spent"] <= health["money"]
    assert health["spent"] == pytest.approx(sum(result["cost"] for result in results))


def test_a_request_sent_again_changes_nothing(make_router, market, serving):
    ask, router = Recorded(market), make_router(rate=8.0)
    with serving(router) as client:
        for item in ask.items():
            opened = client.ok("/open", item)
            ticket, step, said = opened["ticket"], opened, []
            while step["ask"]:
                said.append({"ticket": ticket, "answers": {step["ask"]: ask(step["ask"], item)}})
                step = client.ok("/decide", said[-1])
                spent = router.money.state()
                assert all(client.ok("/decide", again) == step for again in said)
                assert router.money.state() == spent
            result = client.ok("/close", {"ticket": ticket})
            assert client.ok("/close", {"ticket": ticket}) == result
        assert client.get("/status")[1]["tickets"] == 0
    assert router.money.state().reserved_nano == 0


def test_the_last_answer_may_come_with_close(make_router, market, serving):
    """Nobody is asked after it, and money that was reserved for such a call goes back."""
    ask, router = Recorded(market), make_router(rate=8.0)
    with serving(router) as client:
        for item in list(ask.items())[:20]:
            ticket = client.ok("/open", item)["ticket"]
            answers = {"cheap": ask("cheap", item)}
            if wanted := client.ok("/decide", {"ticket": ticket, "answers": answers})["ask"]:
                answers[wanted] = ask(wanted, item)
            result = client.ok("/close", {"ticket": ticket, "answers": answers})
            assert result["asked"] == list(answers)
            assert result["cost"] == pytest.approx(sum(PRICES[service] for service in answers) / PER)
            assert router.money.state().reserved_nano == 0


def test_failed_calls_cost_nothing_and_nonsense_is_a_failed_call(make_router, serving):
    router = make_router()
    with serving(router) as client:
        ticket = client.ok("/open", {"id": "a"})["ticket"]
        step = client.ok("/decide", {"ticket": ticket, "answers": {"cheap": {"label": "car"}}})
        assert "the score of 'label' is" in step["failed"]["cheap"] and step["ask"] in ("good", "best")
        while step["ask"]:
            step = client.ok("/decide", {"ticket": ticket, "answers": {step["ask"]: None}})
        status, reply = client.post("/close", {"ticket": ticket})
        assert status == 424 and "Item a has no answer: cheap: " in reply["error"] and reply["cost"] == 0
        assert client.post("/close", {"ticket": ticket}) == (status, reply)
        assert client.get("/status")[1]["failed"] == {"cheap": 1, "good": 1, "best": 1}
    assert router.money.state().spent_nano == 0 == router.money.state().reserved_nano


def test_when_the_money_is_gone(make_router, serving):
    with serving(make_router(items=1, rate=0.6, plan=3.0)) as client:
        ticket = client.ok("/open", {})["ticket"]
        client.ok("/close", {"ticket": ticket, "answers": {"cheap": [["car", 0.9]]}})
        status, reply = client.post("/open", {"id": "b"})
        assert status == 402 and reply["error"].startswith("Item b was not sent anywhere: 0.0001 is left")
        assert "The money is gone" in " ".join(client.get("/health")[1]["warnings"])


def test_feedback(make_router, market, serving):
    ask = Recorded(market)
    with serving(make_router()) as client:
        result = route(client, ask, next(ask.items()))
        labels = [label for label, _ in result["answer"]]
        assert client.ok("/feedback", {"id": result["id"], "truth": labels}) == {"accuracy": 1.0}
        half = {"id": "long ago", "truth": ["car", "bike"], "answer": ["car"]}
        assert client.ok("/feedback", half) == {"accuracy": 0.5}
        status, reply = client.post("/feedback", {"id": "never", "truth": ["car"]})
        assert status == 422 and "give its answer as well" in reply["error"]


def test_feedback_that_is_sent_again_counts_once(make_router, market, serving):
    ask = Recorded(market)
    with serving(make_router()) as client:
        item = next(ask.items())
        right = {"id": route(client, ask, item)["id"], "truth": ["car"]}
        first = client.ok("/feedback", right)
        assert [client.ok("/feedback", right) for _ in range(3)] == [first] * 3
        assert client.get("/health")[1]["accuracy"]["judged"] == 1
        client.ok("/feedback", right | {"truth": ["bike"]})  # something else is said of it
        assert client.get("/health")[1]["accuracy"]["judged"] == 2
        route(client, ask, item)  # and it came again
        client.ok("/feedback", right | {"truth": ["bike"]})
        assert client.get("/health")[1]["accuracy"]["judged"] == 3


def test_a_ledger_that_is_away_is_no_mistake_of_the_caller(
    make_router, market, serving, tmp_path, monkeypatch
):
    """The caller gets a 503 and may send the same again: nothing is lost, nothing charged twice."""
    ask, router = Recorded(market), make_router(ledger=f"sqlite:///{tmp_path}/l.db", rate=8.0)
    item = next(ask.items())

    def away(*_, **__):
        raise LedgerError("The ledger has no space left on its disk; free some space and try again.")

    with serving(router) as client:
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "reserve", away)
            status, reply = client.post("/open", item)
            assert status == 503 and "no space left" in reply["error"]
        ticket = client.ok("/open", item)["ticket"]
        answers = {"cheap": ask("cheap", item)}
        with monkeypatch.context() as patch:
            for name in ("exchange", "settle"):
                patch.setattr(Ledger, name, away)
            assert client.post("/decide", {"ticket": ticket, "answers": answers})[0] == 503
        step = client.ok("/decide", {"ticket": ticket, "answers": answers})
        if step["ask"]:
            answers[step["ask"]] = ask(step["ask"], item)
        result = client.ok("/close", {"ticket": ticket, "answers": answers})
        state = client.get("/health")[1]
    assert state["reserved"] == 0 and state["items"] == 1
    assert result["cost"] == state["spent"] == pytest.approx(sum(PRICES[s] for s in result["asked"]) / PER)
