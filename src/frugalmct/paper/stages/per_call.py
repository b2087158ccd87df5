"""Costs per call, or a quality of answers: our method at every budget, and with one service less."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.market import Market
from frugalmct.paper.names import OK, PER_CALL, WITHOUT
from frugalmct.paper.stages.select import COLUMNS
from frugalmct.percall import PerCallStrategy
from frugalmct.percall.columns import Table
from frugalmct.percall.fitting import Base, Fitted, fitted, per_call_learning
from frugalmct.percall.model import First, Learnt, Walked, dual_price_curve, walk
from frugalmct.percall.spending import Spending
from frugalmct.plans import AUTO, DELTA
from frugalmct.seeds import small_seed

Numbers = NDArray[np.float64]

BUDGETS = 11
# Budgets that are not given begin and end so far above the cheapest and the best service.
MARGIN = 1.25
# A free service would have them begin at nothing.
WIDEST = 1000.0


def default_budgets(market: Market, base: Base, metric: str) -> list[float]:
    """From a little above the cheapest service, or whoever is asked first, to a little above the best one."""
    prices, quality = np.asarray(market.prices), market.service_accuracy(metric).mean(axis=0)
    named = [] if base in (AUTO, "none", None) else [base] if isinstance(base, str) else list(base)
    least = sum(prices[market.service_index(name)] for name in named) if named else prices.min()
    best = float(prices[int(quality.argmax())])
    high = MARGIN * max(best + (least if named else 0.0), least) or MARGIN * float(prices.max())
    low = max(MARGIN * least, high / WIDEST)
    spread = np.geomspace(low, max(high, 2 * low), BUDGETS).tolist()
    return sorted({float(f"{budget:.3g}") for budget in [*spread, *([best] if best > low else [])]})


def settings_of(dataset: str, repetition: int, seed: int, threads: int = 1) -> dict[str, Any]:
    """How a repetition learns; all else is as the market says."""
    return {"seed": small_seed(seed, dataset, repetition), "jobs": threads}


def fit_per_call(train: Market, budgets: Sequence[float], base: Base, settings: Mapping[str, Any]) -> Fitted:
    """Our method, learnt from training items."""
    return fitted(train, budgets, base, per_call_learning(train, **settings))


def sweep_per_call(found: Fitted, test: Market, repetition: int) -> pd.DataFrame:
    """One row per budget with all services, and one with each service left out."""
    strategy = PerCallStrategy(found.parts())
    rows = [*_rows(strategy, test), *LeftOut(found, test).rows()]
    head = {"dataset": test.name, "repetition": repetition}
    return pd.DataFrame([head | row for row in rows], columns=COLUMNS)


def _rows(strategy: PerCallStrategy, test: Market) -> Iterator[dict[str, Any]]:
    for budget, plan in strategy.plans.items():
        reached = strategy.evaluate(test, budget)
        yield {
            "method": PER_CALL,
            "budget": budget,
            "accuracy": reached.accuracy,
            "cost": reached.cost,
            "status": OK,
            "base": strategy.names(plan.first),
            "delta": DELTA,
            "dual_price": plan.dual_price,
        }


class LeftOut:
    """What is reached with one service less, from the same estimates of the others.

    Where that service is among those asked first, the others of them are asked, and learnt from anew.
    """

    def __init__(self, found: Fitted, test: Market) -> None:
        self._learner, self._firsts, self._test = found.learner, found.firsts, test
        self._learnt: dict[First, Learnt] = dict(found.learnt)
        self._estimated: dict[First, tuple[Numbers, Numbers]] = {}
        self._items: Table = found.learner.items.table(test.known())
        self._quality = test.service_accuracy(found.learner.learning.metric)
        self._costs = np.broadcast_to(test.costs, self._quality.shape)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Of the budgets that still pay for somebody."""
        services = self._test.services
        for number, service in enumerate(services if len(services) > 1 else ()):
            for budget, first in self._firsts.items():
                rest = tuple(k for k in first if k != number)
                walked = self._walked(number, rest, budget)
                if walked is None:
                    continue
                keep = [k for k in range(len(services)) if k != number]
                yield {
                    "method": f"{WITHOUT}{service}",
                    "budget": budget,
                    "accuracy": float(walked.reached(self._quality[:, keep]).mean()),
                    "cost": walked.cost,
                    "status": OK,
                    "base": " + ".join(services[k] for k in rest) or "none",
                    "delta": DELTA,
                }

    def _walked(self, without: int, first: First, budget: float) -> Walked | None:
        learnt, (accuracy, costs) = self._of(first)
        keep = [k for k in range(accuracy.shape[1]) if k != without]
        own = tuple(keep.index(k) for k in first)
        paid = np.broadcast_to(self._learner.market.costs, learnt.accuracy.shape)[:, keep]
        curve = dual_price_curve(learnt.accuracy[:, keep], learnt.costs[:, keep], paid, own)
        if budget < curve.lowest:
            return None
        spending = Spending(curve, budget, len(self._test), own, delta=DELTA)
        return walk(spending, accuracy[:, keep], costs[:, keep], self._costs[:, keep])

    def _of(self, first: First) -> tuple[Learnt, tuple[Numbers, Numbers]]:
        if first not in self._learnt:
            self._learnt[first] = self._learner.learn(first)
        if first not in self._estimated:
            model = self._learnt[first].model
            self._estimated[first] = model.estimate(self._test.known(first), self._items)
        return self._learnt[first], self._estimated[first]
