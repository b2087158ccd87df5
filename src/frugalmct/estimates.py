"""Estimated accuracy of each choice, items x services, with the truth where it is known.

Estimating and deciding are apart: estimates are made once, every method and budget re-uses them.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from frugalmct.errors import FrugalError
from frugalmct.metrics import pearson, rmse
from frugalmct.select import Frontier, OnlineSelector, Problem, chosen, frontier, mean_cost
from frugalmct.sparse import Rows

Accuracies = NDArray[np.float64]
Choices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Estimates:
    """One base's estimates of some items.

    base: the service asked for every item; prices: (services,); estimated: (items, services) accuracy of the
    base combined with each service, as estimated out of sample; actual: the same in truth, None if unknown.
    """

    base: int
    prices: NDArray[np.float64]
    estimated: Accuracies
    actual: Accuracies | None = None

    def __len__(self) -> int:
        return len(self.estimated)

    def rows(self, rows: Rows) -> "Estimates":
        """Of some of the items."""
        actual = None if self.actual is None else self.actual[rows]
        return replace(self, estimated=self.estimated[rows], actual=actual)

    @property
    def truth(self) -> Accuracies:
        """`actual`, where it is known."""
        if self.actual is None:
            raise FrugalError("The true accuracies of these items are not known; give a market with truth.")
        return self.actual

    def flat(self, means: NDArray[np.float64]) -> "Estimates":
        """The paper's dummy: every item's estimate of a service is the same number."""
        return replace(self, estimated=np.tile(means, (len(self), 1)))

    @property
    def base_cost(self) -> float:
        return float(self.prices[self.base])

    @cached_property
    def frontier(self) -> Frontier:
        """Dual price, spend and accuracy at every budget."""
        return frontier(self.estimated, self.prices, self.base)

    def dual_price(self, budget: float, delta: float = 0.0) -> float:
        """The paper's p̂ of these items, the share δ of the add-on budget kept back."""
        return self.frontier.dual_price(budget, delta)

    def problem(self, budget: float) -> Problem:
        return Problem(self.estimated, self.prices, self.base, budget)

    def route(self, budget: float, dual_price: float) -> Choices:
        """Algorithm 1 over the items in their order."""
        selector = OnlineSelector(self.prices, self.base, budget, len(self), dual_price)
        return selector.choose_all(self.estimated)

    def reached(self, choices: Choices) -> NDArray[np.float64]:
        """(items,) the true accuracy of each item's choice."""
        return chosen(self.truth, choices)

    def cost(self, choices: Choices) -> float:
        """The mean cost of the choices, base included."""
        return mean_cost(choices, self.prices, self.base)

    def quality(self) -> dict[str, float]:
        """RMSE and correlation of estimated with actual accuracy, means over services as in the paper."""
        return estimate_quality(self.estimated, self.truth)


def estimate_quality(estimated: Accuracies, truth: Accuracies) -> dict[str, float]:
    """RMSE and correlation of (items, services) estimates with the truth, means over services."""
    pairs = list(zip(estimated.T, truth.T, strict=True))
    return {
        "rmse": float(np.mean([rmse(estimate, true) for estimate, true in pairs])),
        "pcc": float(np.mean([pearson(estimate, true) for estimate, true in pairs])),
    }
