"""The steps that `bench_growth.py` measures: each gives, for a size, what is to be timed; what it needs is
prepared before.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench_live import plain_answers

from frugalmct import Budget, Router, Strategy
from frugalmct.combine import Combiners, fit_market_combiners
from frugalmct.combine.learned import LearnedCombiner
from frugalmct.features import FeatureMap
from frugalmct.market import Market
from frugalmct.plus import ENOUGH_ITEMS
from frugalmct.predict import make_predictor
from frugalmct.seeds import generator
from frugalmct.select import OnlineSelector, Problem, dual_price, solve
from frugalmct.sources import load_market

BASE, BUDGET, BLOCK, FOREST_ITEMS, ROUTER_ITEMS = 0, 6.0, 100_000, 10_000, 2_000
SERVICE = {
    "recall": 1.0, "mistakes": 0.5, "difficulty": 1.0, "noise": 0.3,
    "level": 0.5, "separation": 2.0, "candour": 0.8, "spread": 1.5, "decimals": 4,
}  # fmt: skip
MARKET = {
    "kind": "simulated", "popularity": 0.95, "head": 4.0, "topic_share": 0.6, "size_shape": 3.0,
    "phantoms": 1.5, "confusion": 0.3, "visibility": 1.0, "label_skill": 1.0, "group_skill": 0.3,
    "ease": 1.0, "blind": 0.05, "trouble_mistakes": 0.5, "world": 0,
}  # fmt: skip
LABELS_PER_ITEM, TOPICS = 3, 6


@dataclass(frozen=True)
class Size:
    items: int
    labels: int = 80
    services: int = 4

    @property
    def prices(self) -> dict[str, float]:
        """The first is nearly free, the others rise evenly to 15."""
        paid = np.linspace(6, 15, self.services - 1).round(2).tolist()
        return {f"service {k}": price for k, price in enumerate([0.01, *paid])}


def simulated(size: Size) -> Market:
    labels = [f"label {number}" for number in range(size.labels)]
    source = MARKET | {
        "items": size.items,
        "label_occurrences": LABELS_PER_ITEM * size.items,
        "labels": labels,
        "topics": {f"topic {number}": labels[number::TOPICS] for number in range(TOPICS)},
        "services": {name: SERVICE | {"recall": 1 + 0.1 * k} for k, name in enumerate(size.prices)},
    }
    return load_market("growth", {"task": "MIC", "source": source, "prices": size.prices}, seed=1)


def blocks(size: Size) -> Iterator[np.ndarray]:
    """Estimates like a forest's, a block at a time: services differ by a little, items by more."""
    level = np.linspace(0.60, 0.75, size.services)
    for first in range(0, size.items, BLOCK):
        rng = generator("bench", "growth", first)
        count = min(BLOCK, size.items - first)
        block = rng.normal(level, 0.10, (count, size.services)) + rng.normal(0, 0.15, (count, 1))
        yield np.clip(block, 0, 1)


def costs_of_calls(block: np.ndarray, size: Size) -> np.ndarray:
    """What each call costs: the price, times how large the item is, times what the service makes of it."""
    rng = generator("bench", "growth", "costs", float(block[0, 0]))
    prices = np.array(list(size.prices.values()))
    return prices * rng.lognormal(-0.08, 0.4, (len(block), 1)) * rng.uniform(0.8, 1.2, block.shape)


def problem_of(size: Size) -> Problem:
    accuracy = np.empty((size.items, size.services))
    for first, block in zip(range(0, size.items, BLOCK), blocks(size), strict=True):
        accuracy[first : first + BLOCK] = block
    return Problem(accuracy, list(size.prices.values()), BASE, budget=BUDGET)


def call_problem_of(size: Size) -> Problem:
    """The same with a cost for every call."""
    plain = problem_of(size)
    costs = np.empty_like(plain.accuracy)
    for first in range(0, size.items, BLOCK):
        costs[first : first + BLOCK] = costs_of_calls(plain.accuracy[first : first + BLOCK], size)
    return Problem(plain.accuracy, costs, BASE, budget=BUDGET)


# ---- steps: what is prepared, and then timed


def simulate(size: Size, market_file: Path) -> Callable[[], Any]:
    return lambda: simulated(size).save(market_file)


def combine(size: Size, market_file: Path) -> Callable[[], Any]:
    market = Market.load(market_file)
    return lambda: fit_market_combiners(market, BASE)


def combine_learned(size: Size, market_file: Path) -> Callable[[], Any]:
    """The learned combiner of the base and one add-on, as plus learns it: from all items, and judged out of
    fold on as many as forests learn from."""
    market = Market.load(market_file)
    answers = [market.scores[service] for service in (BASE, 1)]
    judged = np.arange(min(ENOUGH_ITEMS, size.items))
    return lambda: LearnedCombiner.fit(market.truth, answers, judged=judged)


def _features(market: Market) -> Any:
    evidence = market.evidence(BASE)
    return FeatureMap.of(evidence, market.task).transform(evidence)


def _table(market: Market) -> tuple[Any, np.ndarray]:
    services = len(market.services)
    combiners = Combiners(BASE, np.full(services, 0.5), np.full(services, 0.2))
    return _features(market), market.choice_accuracy(combiners)


def fit(size: Size, market_file: Path) -> Callable[[], Any]:
    features, accuracy = _table(Market.load(market_file))
    return lambda: make_predictor("random_forest").fit(features, accuracy)


def estimate(size: Size, market_file: Path) -> Callable[[], Any]:
    market = Market.load(market_file)
    predictor = make_predictor("random_forest").fit(*_table(market.subset(np.arange(FOREST_ITEMS))))
    features = _features(market)
    return lambda: predictor.estimate(features)


def price(size: Size, _: Path) -> Callable[[], Any]:
    problem = problem_of(size)
    return lambda: dual_price(problem)


def exact(size: Size, _: Path) -> Callable[[], Any]:
    return _proof(problem_of(size))


def exact_calls(size: Size, _: Path) -> Callable[[], Any]:
    return _proof(call_problem_of(size))


def _proof(problem: Problem) -> Callable[[], Any]:
    def proven() -> None:
        if not solve(problem).proven:
            raise AssertionError("the optimum was not proven")

    return proven


def online(size: Size, _: Path) -> Callable[[], Any]:
    """At the price of the first block; the stream is made as it is read, and its making is timed too."""
    first, costs = next(blocks(size)), list(size.prices.values())
    right = dual_price(Problem(first, costs, BASE, budget=BUDGET))

    def stream() -> None:
        selector = OnlineSelector(costs, BASE, budget=BUDGET, items=size.items, price=right)
        for block in blocks(size):
            selector.choose_all(block)

    return stream


def online_calls(size: Size, _: Path) -> Callable[[], Any]:
    """The same where every call's cost comes with its item; set aside is what the base costs on average."""
    first = next(blocks(size))
    costs = costs_of_calls(first, size)
    right = dual_price(Problem(first, costs, BASE, budget=BUDGET))

    def stream() -> None:
        usual = costs.mean(axis=0)
        selector = OnlineSelector(usual, BASE, budget=BUDGET, items=size.items, price=right)
        for block in blocks(size):
            selector.choose_all(block, costs_of_calls(block, size))

    return stream


def router(size: Size, market_file: Path) -> Callable[[], Any]:
    """Items one by one through a `Router` that counts its money by itself; the strategy is of 2,000 items."""
    market = Market.load(market_file)
    strategy = Strategy.fit(
        market.subset(np.arange(ROUTER_ITEMS)), BUDGET, method="paper", base=market.services[BASE]
    )
    answers, items = plain_answers(market.subset(np.arange(size.items))), size.items

    def traffic() -> None:
        with Router(strategy, Budget(total=BUDGET * items, items=items)) as live:
            services = live.strategy.services
            for row in range(items):
                ticket = live.open({"id": str(row)})
                while ticket.ask:
                    live.decide(ticket, {ticket.ask: answers[services.index(ticket.ask)][row]})
                live.close(ticket)

    return traffic


OF_MARKETS = {
    "simulate": simulate, "combine": combine, "learned combiner": combine_learned,
    "fit": fit, "estimate": estimate, "router": router,
}  # fmt: skip
OF_ESTIMATES = {
    "price": price, "exact": exact, "online": online,
    "exact, costs of calls": exact_calls, "online, costs of calls": online_calls,
}  # fmt: skip
STEPS = OF_MARKETS | OF_ESTIMATES
FEWER = {"router": 10}
"""Steps that are measured on a tenth of the items: they take them one by one."""
