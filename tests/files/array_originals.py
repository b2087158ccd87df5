"""One small file of every kind that we write, and how each is loaded, saved again and used."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from frugalmct.errors import FrugalError
from frugalmct.market import Extras, LabelMarket, Market, QualityMarket, text_column
from frugalmct.model import Learning
from frugalmct.paper.stages.call_estimates import RepetitionCalls
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import RepetitionEstimates
from frugalmct.paper.stages.per_call import fit_per_call
from frugalmct.percall import PerCallStrategy
from frugalmct.sparse import label_matrix
from frugalmct.splits import Split, split
from frugalmct.strategy import Strategy

ITEMS, LABELS = 40, ["car", "bike", "猫", "a b", "é"]


PRICES = {"cheap": 0.5, "good": 6.0, "科大讯飞": 10.0}


def made_up_market() -> LabelMarket:
    rng = np.random.default_rng(1)

    def sets(scored: bool) -> Any:
        given = rng.random((ITEMS, len(LABELS))) < 0.4
        starts = np.concatenate([[0], np.cumsum(given.sum(axis=1))])
        codes = np.nonzero(given)[1]
        return label_matrix(starts, codes, rng.random(len(codes)) if scored else None, len(LABELS))

    return LabelMarket(
        name="made up",
        task="MIC",
        items=np.array([f"item {n}" for n in range(ITEMS)]),
        labels=np.array(LABELS),
        services=tuple(PRICES),
        prices=np.array(list(PRICES.values())),
        truth=sets(scored=False),
        scores=tuple(sets(scored=True) for _ in range(3)),
        features=rng.random((ITEMS, 2)),
    )


def made_up_qualities() -> QualityMarket:
    rng = np.random.default_rng(2)
    costs = rng.uniform(0.1, 2.0, (ITEMS, 2))
    return QualityMarket(
        name="qualities",
        task="",
        items=np.array([f"item {n}" for n in range(ITEMS)]),
        services=("cheap", "猫"),
        prices=costs.mean(axis=0),
        quality=rng.random((ITEMS, 2)),
        features=rng.random((ITEMS, 2)),
        extras=Extras(
            costs,
            text_column([f"prompt é {n} " * (1 + n % 5) for n in range(ITEMS)]),
            (rng.random((ITEMS, 1)), None),
        ),
    )


class Kind(NamedTuple):
    load: Callable[[Path], Any]
    save: Callable[[Any, Path], None]
    use: Callable[[Any], None]


def _use_market(market: LabelMarket) -> None:
    accuracy = market.service_accuracy()
    assert np.all((accuracy >= 0) & (accuracy <= 1))
    assert len(market.subset(np.arange(len(market))[:2])) <= 2
    market.statistics()


def _use_qualities(market: Market) -> None:
    assert np.all((market.service_accuracy() >= 0) & (market.service_accuracy() <= 1))
    known = market.subset(np.arange(len(market))[:2]).known((0,))
    assert known.text is None or all(isinstance(text, str) for text in known.text)


def _use_per_call(strategy: Any) -> None:
    market = made_up_market() if strategy.training.priced else made_up_qualities()
    # Damaged prices and budgets may not pay for anyone.
    with suppress(FrugalError):
        assert strategy.with_prices({}, budgets=[max(strategy.plans)]).plans
    if set(strategy.services) != set(market.services):
        return
    if strategy.training.priced:
        market = at_its_prices(market, strategy)
    for budget in strategy.plans:
        # What it learnt from may be more, or other, than these items bring along.
        with suppress(FrugalError):
            choices = strategy.decide(market, budget)
            assert np.all((choices >= -1) & (choices < len(strategy.services)))


def at_its_prices(market: LabelMarket, strategy: Any) -> LabelMarket:
    """A price that is another number is no damage, and the market must have it too."""
    prices = dict(zip(strategy.services, strategy.prices.tolist(), strict=True))
    return replace(market, prices=np.array([prices[service] for service in market.services]))


def _use_strategy(strategy: Strategy) -> None:
    market = made_up_market()
    if set(strategy.services) != set(market.services):
        return
    market = at_its_prices(market, strategy)
    for budget in strategy.plans:
        asked = strategy.decide(market, budget)
        assert asked[:, list(strategy.plan(budget).base)].all()
        strategy.answer(market, asked)
    strategy.with_prices({}, budgets=[max(strategy.plans)])


def _use_split(parts: Split) -> None:
    assert np.all(np.diff(parts.whole_train) > 0) and not set(parts.whole_train) & set(parts.test)


def _use_estimates(estimates: RepetitionEstimates) -> None:
    for own in estimates.by_base.values():
        assert own.train.dual_price(float(estimates.prices.sum())) >= 0


def _use_calls(calls: RepetitionCalls) -> None:
    for own in calls.by_first.values():
        # Damaged costs may be too much for any budget.
        with suppress(FrugalError):
            assert own.train.dual_price(float(own.train.costs.sum())) >= 0
            choices = own.test.walk(float(own.test.costs.sum()), own.train.curve).choices
            assert np.all((choices >= -1) & (choices < len(calls.services)))


KINDS = {
    "market": Kind(Market.load, Market.save, _use_market),
    "packed market": Kind(Market.load, lambda m, path: m.save(path, compress=True), _use_market),
    "quality market": Kind(Market.load, Market.save, _use_qualities),
    "split": Kind(Split.load, Split.save, _use_split),
    "estimates": Kind(
        partial(RepetitionEstimates.load, prices=PRICES), RepetitionEstimates.save, _use_estimates
    ),
    "call estimates": Kind(RepetitionCalls.load, RepetitionCalls.save, _use_calls),
    "strategy": Kind(Strategy.load, Strategy.save, _use_strategy),
    "paper strategy": Kind(Strategy.load, Strategy.save, _use_strategy),
    "per-call strategy": Kind(Strategy.load, PerCallStrategy.save, _use_per_call),
    "strategy with costs": Kind(Strategy.load, PerCallStrategy.save, _use_per_call),
}


def make_originals() -> dict[str, Any]:
    market = made_up_market()
    learning = Learning(options={"trees": 3, "leaf": 4}, seed=2)
    parts = split(ITEMS, seed=2)
    combination = Combination.fit(market, parts, "auto", learning)
    return {
        "market": market,
        "packed market": market,
        "quality market": made_up_qualities(),
        "split": parts,
        "estimates": RepetitionEstimates.fit(market, parts, combination, learning),
        "call estimates": calls_of(made_up_qualities(), parts),
        "strategy": Strategy.fit(market, [0.5, 6.5, 11.0], base="cheap", learning=learning),
        "paper strategy": Strategy.fit(
            market, [0.5, 6.5, 11.0], method="paper", base="cheap", learning=learning
        ),
        # Without a text: its arrays are far larger than all else, and are tried by themselves.
        "per-call strategy": Strategy.fit(
            market, [0.5, 6.5], method="per_call", base="cheap", learning=learning
        ),
        "strategy with costs": Strategy.fit(
            made_up_qualities(), [1.5], base="cheap", features="labels", learning=learning
        ),
    }


def calls_of(market: QualityMarket, parts: Split) -> RepetitionCalls:
    settings = {"options": {"trees": 3, "leaf": 4}, "seed": 2, "features": "labels"}
    found = fit_per_call(market.subset(parts.whole_train), [1.5], "cheap", settings)
    return RepetitionCalls.of(found, market.subset(parts.test))


def members(path: Path) -> dict[str, np.ndarray]:
    """As numpy alone reads them."""
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def same_values(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    """Whether two files say the same: the order of the labels within an item does not count."""
    if left.keys() != right.keys():
        return False
    for name in left:
        if name == "header":
            if _header(left[name]) != _header(right[name]):
                return False
        elif name.endswith((".labels", ".scores")) and f"{name.rpartition('.')[0]}.starts" in left:
            if _sets(left, name.rpartition(".")[0]) != _sets(right, name.rpartition(".")[0]):
                return False
        elif not np.array_equal(left[name], right[name]):
            return False
    return True


def _header(array: np.ndarray) -> Any:
    return json.loads(array.tobytes())


def _sets(arrays: dict[str, np.ndarray], name: str) -> list[dict[int, float]]:
    starts, labels = arrays[f"{name}.starts"].tolist(), arrays[f"{name}.labels"].tolist()
    scores = arrays.get(f"{name}.scores", np.ones(len(labels))).tolist()
    return [dict(zip(labels[a:b], scores[a:b], strict=True)) for a, b in pairwise(starts)]
