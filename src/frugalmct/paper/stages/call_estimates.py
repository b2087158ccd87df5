"""What was estimated of calls in one repetition, of training items (out of sample) and of test items."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile, open_arrays
from frugalmct.checks import check_money
from frugalmct.errors import FrugalError
from frugalmct.estimates import estimate_quality
from frugalmct.files import write_arrays
from frugalmct.market import Market
from frugalmct.percall.fitting import Fitted
from frugalmct.percall.model import First, Learner, Learnt
from frugalmct.percall.training import Trained
from frugalmct.plans import DELTA
from frugalmct.select import Frontier, Problem, chosen, frontier, mean_cost
from frugalmct.values import MAX_SERVICES, REMAKE

Numbers = NDArray[np.float64]
Choices = NDArray[np.int64]

PARTS = ("train", "test")
TABLES = ("accuracy", "estimated")


@dataclass(frozen=True, eq=False)
class CallEstimates(Trained):
    """Some items once the services `first` have answered: estimated and true qualities and costs."""

    @property
    def base(self) -> list[int] | None:
        """As the selection problem has it."""
        return list(self.first) or None

    @cached_property
    def expected(self) -> Numbers:
        """Costs as they are known when it is decided: true ones of those asked first, else estimates."""
        if self.caps is not None:
            return self.caps
        costs = self.estimated.copy()
        costs[:, list(self.first)] = self.costs[:, list(self.first)]
        return costs

    def problem(self, budget: float) -> Problem:
        """To choose all at once, as if calls cost what they are expected to."""
        return Problem(self.accuracy, self.expected, self.base, budget)

    @cached_property
    def frontier(self) -> Frontier:
        """Dual price, spend and accuracy at every budget."""
        return frontier(self.accuracy, self.expected, self.base)

    def dual_price(self, budget: float, delta: float = 0.0) -> float:
        return self.frontier.dual_price(budget, delta)

    def reached(self, choices: Choices) -> Numbers:
        """(items,) the true quality of each item's choice."""
        return chosen(self.quality, choices)

    def cost(self, choices: Choices) -> float:
        """The mean of what the choices really cost, those asked first included."""
        return mean_cost(choices, self.costs, self.base)

    def errors(self) -> dict[str, float]:
        """RMSE and correlation of the estimated qualities, and the correlation of the estimated costs where
        calls have costs of their own; means over services."""
        found = estimate_quality(self.accuracy, self.quality)
        if self.caps is None:
            found["cost_pcc"] = estimate_quality(self.estimated, self.costs)["pcc"]
        return found


@dataclass(frozen=True, eq=False)
class FirstEstimates:
    """One set of services asked first: training items, from which dual prices come, and test items."""

    train: CallEstimates
    test: CallEstimates

    @classmethod
    def of(cls, learner: Learner, learnt: Learnt, test: Market) -> "FirstEstimates":
        """Of a model that was just fitted."""
        first, market, metric = learnt.model.first, learner.market, learner.learning.metric
        accuracy, costs = learnt.model.estimate(test.known(first), learner.items.table(test.known()))
        return cls(
            _estimates(first, learnt.accuracy, learnt.costs, learner.quality, market),
            _estimates(first, accuracy, costs, test.service_accuracy(metric), test),
        )

    def dummy(self) -> "FirstEstimates":
        """Every item's estimates are a service's means over the training items."""
        quality, costs = self.train.quality.mean(axis=0), self.train.costs.mean(axis=0)
        train, test = (
            replace(part, accuracy=np.tile(quality, (len(part), 1)), estimated=np.tile(costs, (len(part), 1)))
            for part in (self.train, self.test)
        )
        return FirstEstimates(train, test)


def _estimates(
    first: First, accuracy: Numbers, estimated: Numbers, quality: Numbers, market: Market
) -> CallEstimates:
    prices = market.costs if market.costs.ndim == 1 else None
    return CallEstimates(
        first, accuracy, estimated, quality, np.broadcast_to(market.costs, quality.shape), prices
    )


@dataclass(frozen=True)
class CallPlan:
    """Who is asked first at a budget."""

    budget: float
    first: First
    delta: float = DELTA


@dataclass(frozen=True, eq=False)
class RepetitionCalls:
    """One repetition of one dataset: who is asked first at each budget, and the estimates of each such
    set."""

    services: tuple[str, ...]
    plans: tuple[CallPlan, ...]
    by_first: Mapping[First, FirstEstimates]

    @classmethod
    def of(cls, found: Fitted, test: Market) -> "RepetitionCalls":
        by_first = {
            first: FirstEstimates.of(found.learner, learnt, test) for first, learnt in found.learnt.items()
        }
        plans = tuple(CallPlan(budget, first) for budget, first in sorted(found.firsts.items()))
        return cls(test.services, plans, by_first)

    def names(self, first: First) -> str:
        """Those asked first, for people."""
        return " + ".join(self.services[k] for k in first) or "none"

    def save(self, path: str | Path) -> None:
        firsts = list(self.by_first)
        shared = next(iter(self.by_first.values()))
        arrays: dict[str, Any] = {
            "services": np.array(self.services),
            "budgets": np.array([plan.budget for plan in self.plans]),
            "plans": np.array([firsts.index(plan.first) for plan in self.plans]),
            "firsts": np.array(
                [[k in first for k in range(len(self.services))] for first in firsts], np.int64
            ),
        }
        if shared.test.caps is not None:
            arrays["prices"] = np.asarray(shared.test.caps, np.float64)
        for part in PARTS:
            truth = getattr(shared, part)
            arrays[f"{part}.quality"] = np.asarray(truth.quality, np.float64)
            if truth.caps is None:
                arrays[f"{part}.costs"] = np.asarray(truth.costs, np.float64)
            for number, own in enumerate(self.by_first.values()):
                for name in TABLES:
                    table = getattr(getattr(own, part), name)
                    arrays[f"first{number}.{part}.{name}"] = np.asarray(table, np.float64)
        write_arrays(path, arrays)

    @classmethod
    def load(cls, path: str | Path) -> "RepetitionCalls":
        with open_arrays(path, "estimates file", REMAKE) as file:
            services = file.names("services", most=MAX_SERVICES)
            masks = file.wholes("firsts", (None, len(services)), most=1)
            firsts = [tuple(np.flatnonzero(mask).tolist()) for mask in masks]
            if not firsts or len(set(firsts)) < len(firsts):
                raise FrugalError("its sets of services asked first must be some, and each must be another")
            budgets = file.floats("budgets", (None,), least=0)
            check_money("budgets", budgets)
            places = file.wholes("plans", budgets.shape, most=len(firsts) - 1)
            if not len(budgets) or np.any(np.diff(budgets) <= 0):
                raise FrugalError("its budgets must be some, in rising order")
            parts = [_read(file, part, len(services), firsts) for part in PARTS]
            by_first = dict(zip(firsts, map(FirstEstimates, *parts), strict=True))
            plans = zip(budgets.tolist(), places.tolist(), strict=True)
            return cls(services, tuple(CallPlan(budget, firsts[place]) for budget, place in plans), by_first)


def _read(file: ArrayFile, part: str, services: int, firsts: list[First]) -> list[CallEstimates]:
    """Of every set; estimates have the shape of the truth."""
    quality = file.floats(f"{part}.quality", (None, services), least=0, most=1)
    if not len(quality):
        raise FrugalError(f"{part}.quality has no rows")
    prices = file.prices(services) if "prices" in file else None
    costs = (
        _money(file, f"{part}.costs", quality) if prices is None else np.broadcast_to(prices, quality.shape)
    )
    return [
        CallEstimates(
            first,
            file.floats(f"first{number}.{part}.accuracy", quality.shape, least=0, most=1),
            _money(file, f"first{number}.{part}.estimated", quality),
            quality,
            costs,
            prices,
        )
        for number, first in enumerate(firsts)
    ]


def _money(file: ArrayFile, name: str, like: Numbers) -> Numbers:
    values = file.floats(name, like.shape, least=0)
    check_money(name, values)
    return values
