"""A market in which only the outcome is informative: nothing of it, or of a call that was not made, is seen.

Outcomes are coins. Texts and given numbers are noise. What a service answers (labels and scores, its
answer_features) and what its call cost tell its outcome exactly, once that call was made and not before.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng
from per_call_markets import FAST

from frugalmct import PerCallStrategy
from frugalmct.live import Budget, Call, PerCallRouter
from frugalmct.market import Extras, LabelMarket, Market, QualityMarket, text_column
from frugalmct.sparse import label_matrix

SERVICES = ("a", "b", "c")
WORDS = np.array(["red", "green", "blue", "seven", "tree"])
ITEMS = 400


def coins(kind: str, seed: int, items: int = ITEMS, outcome: np.ndarray | None = None) -> Market:
    rng = default_rng(seed)
    fallen = (rng.random((items, 3)) < 0.5) * 1.0
    outcome = fallen if outcome is None else outcome
    shared = {
        "name": "coins",
        "task": "",
        "items": np.array([f"{seed} {n}" for n in range(items)]),
        "services": SERVICES,
        "prices": np.full(3, 1.5),
        "features": rng.random((items, 2)),
        "extras": Extras(
            costs=1.0 + outcome,
            text=text_column([" ".join(rng.choice(WORDS, 6)) for _ in range(items)]),
            answer_numbers=tuple(outcome[:, [k]] for k in range(3)),
        ),
    }
    if kind == "quality":
        return QualityMarket(quality=outcome, **shared)
    truth, rows = rng.integers(0, 20, items), np.arange(items + 1)
    answers = [np.where(outcome[:, k] > 0, truth, (truth + 1 + k) % 20) for k in range(3)]
    return LabelMarket(
        labels=np.array([str(n) for n in range(20)]),
        truth=label_matrix(rows, truth, None, 20),
        scores=tuple(
            label_matrix(rows, answer, 0.1 + 0.8 * outcome[:, k], 20) for k, answer in enumerate(answers)
        ),
        **shared,
    )


def otherwise(market: Market, asked: tuple[int, ...]) -> Market:
    """The same items and calls of `asked`; all else of the calls, the outcomes and the truth are others."""
    outcome = market.service_accuracy()
    other = coins(market.kind, 99, len(market), np.where(np.isin(np.arange(3), asked), outcome, 1 - outcome))
    changes = {"features": market.features, "items": market.items}
    changes["extras"] = replace(other.extras, text=market.extras.text)
    if market.kind == "labels":
        own = [market.scores[k] if k in asked else other.scores[k] for k in range(3)]
        changes["scores"] = tuple(own)
    return replace(other, **changes)


@pytest.mark.parametrize("features", ["auto", "text", "given", "labels"])
@pytest.mark.parametrize("kind", ["quality", "labels"])
def test_before_anyone_is_asked_nothing_tells(kind, features):
    market, new = coins(kind, 1), coins(kind, 2)
    strategy = PerCallStrategy.fit(market, [4.0], base="none", features=features, options=FAST)
    found = strategy.evaluate(new, 4.0)
    best = new.service_accuracy()
    assert best.max(axis=1).mean() > 0.8, "whoever saw the outcome would choose one that is right"
    assert abs(found.accuracy - 0.5) < 0.08 and abs(strategy.plan(4.0).accuracy - 0.5) < 0.08
    _, costs = strategy.estimate(new, 4.0)
    for own, true in zip(costs.T, new.costs.T, strict=True):
        assert np.ptp(own) < 1e-9 or abs(np.corrcoef(own, true)[0, 1]) < 0.2


@pytest.mark.parametrize("kind", ["quality", "labels"])
def test_what_was_asked_tells_of_itself_and_of_nobody_else(kind):
    market, new = coins(kind, 1), coins(kind, 2)
    seen = PerCallStrategy.fit(market, [4.0], base="a", options=FAST)
    # Right where a is, and a coin elsewhere: 0.75, where the outcome would give 0.88.
    assert abs(seen.evaluate(new, 4.0).accuracy - 0.75) < 0.06
    for features in ("text", "given"):
        blind = PerCallStrategy.fit(market, [4.0], base="a", features=features, options=FAST)
        assert abs(blind.evaluate(new, 4.0).accuracy - 0.5) < 0.08


@pytest.mark.parametrize("first", [(), (0,), (1,), (0, 2)])
@pytest.mark.parametrize("kind", ["quality", "labels"])
def test_estimates_are_the_same_whatever_was_not_asked(kind, first):
    base = [SERVICES[k] for k in first] or "none"
    strategy = PerCallStrategy.fit(coins(kind, 1, 150), [6.0], base=base, options=FAST)
    new = coins(kind, 2, 60)
    before = strategy.estimate(new, 6.0)
    for estimate, again in zip(before, strategy.estimate(otherwise(new, first), 6.0), strict=True):
        assert np.array_equal(estimate, again)
    for service in first:  # whereas each of those asked is looked at
        fewer = tuple(k for k in first if k != service)
        assert not np.array_equal(before[0], strategy.estimate(otherwise(new, fewer), 6.0)[0])


@pytest.mark.parametrize("base", ["none", "a"])
@pytest.mark.parametrize("kind", ["quality", "labels"])
def test_a_router_sees_the_calls_that_it_made(kind, base):
    """Items that carry their whole record along are routed as those that do not."""
    strategy = PerCallStrategy.fit(coins(kind, 1), [4.0], base=base, options=FAST)
    new = coins(kind, 2, 100)
    outcome, made = new.service_accuracy(), []

    def record(n: int, key: str) -> dict:
        values = {
            "quality": outcome[n].tolist(),
            "costs": new.costs[n].tolist(),
            "answer_features": [[x] for x in outcome[n].tolist()],
            "predictions": [[["right" if x else "wrong", 0.1 + 0.8 * x]] for x in outcome[n].tolist()],
        }
        return dict(zip(SERVICES, values[key], strict=True))

    def routed(whole: bool) -> list:
        router = PerCallRouter(strategy, Budget(total=400, items=100), plan=4.0)
        results = []
        for n in range(len(new)):
            item = {"id": str(n), "text": new.extras.text[n], "features": new.features[n].tolist()}
            if whole:
                keys = ("quality", "costs", "answer_features", "predictions")
                item |= {"truth": ["right"]} | {key: record(n, key) for key in keys}

            def ask(service: str, _: dict, n: int = n) -> Call:
                made.append((n, service))
                answers = record(n, "predictions") if kind == "labels" else dict.fromkeys(SERVICES, "said")
                return Call(
                    answers[service], record(n, "costs")[service], record(n, "answer_features")[service]
                )

            results.append(router.run(item, ask))
        return results

    bare = routed(whole=False)
    assert routed(whole=True) == bare
    assert made[: len(made) // 2] == [(int(result.id), name) for result in bare for name in result.asked]
    reached = np.mean([outcome[int(r.id), SERVICES.index(r.service)] for r in bare])
    assert abs(reached - (0.5 if base == "none" else 0.75)) < 0.13
