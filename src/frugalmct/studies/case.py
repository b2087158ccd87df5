"""One dataset at one budget, in one repetition: what all studies of a case start from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from frugalmct.accuracy_model import buffered_price
from frugalmct.combine import Combiners
from frugalmct.errors import FrugalError
from frugalmct.market import Market, Split
from frugalmct.predictions import BasePredictions, Combination, Predictions
from frugalmct.sparse import take_rows
from frugalmct.strategy import Plan, load_plans, mean_cost, route

Choices = NDArray[np.int64]


def plan_at(plans: Sequence[Plan], prices: NDArray[np.float64], budget: float) -> Plan:
    """The plan of that budget; where it was not swept, that of the nearest one, for this budget.

    Base and buffer are then those found for the neighbour: nothing is tuned again for a study.
    """
    affordable = [plan for plan in plans if prices[plan.base] <= budget]
    if not affordable:
        cheapest = min(float(prices[plan.base]) for plan in plans)
        raise FrugalError(
            f"A study's budget is {budget:g}, but every base that was learnt costs at least {cheapest:g}; "
            "raise the study's budget, or add it to the dataset's budgets."
        )
    nearest = min(affordable, key=lambda plan: abs(plan.budget - budget))
    return Plan(float(budget), nearest.base, nearest.delta)


@dataclass(frozen=True, eq=False)
class Case:
    """A dataset with what was learnt on it, and the budget to look at."""

    market: Market
    parts: Split
    combination: Combination
    predictions: Predictions
    plans: Sequence[Plan]
    budget: float
    metric: str = "accuracy"

    @classmethod
    def load(cls, files: Any, budget: float, metric: str) -> "Case":
        """From a job's input files."""
        return cls(
            Market.load(files.market),
            Split.load(files.split),
            Combination.load(files.combination),
            Predictions.load(files.predictions),
            load_plans(files.plans),
            float(budget),
            metric,
        )

    @cached_property
    def train(self) -> Market:
        return self.market.subset(self.parts.whole_train)

    @cached_property
    def test(self) -> Market:
        return self.market.subset(self.parts.test)

    @cached_property
    def plan(self) -> Plan:
        return plan_at(self.plans, self.market.prices, self.budget)

    @property
    def predicted(self) -> BasePredictions:
        return self.predictions.by_base[self.plan.base]

    @property
    def combiners(self) -> Combiners:
        return self.combination.combiners[self.plan.base]

    @cached_property
    def price(self) -> float:
        """The paper's p̂."""
        return buffered_price(self.predicted.frontier, self.plan.budget, self.plan.delta)

    def choices_at(self, price: float) -> Choices:
        """Algorithm 1 over the test items, at any price."""
        return route(
            self.predicted.test_estimates, self.market.prices, self.plan.base, self.plan.budget, price
        )

    @cached_property
    def choices(self) -> Choices:
        return self.choices_at(self.price)

    def reached(self, choices: Choices) -> NDArray[np.float64]:
        """The true accuracy of each item's chosen combination."""
        return self.predicted.test_accuracy[np.arange(len(choices)), choices]

    def cost(self, choices: Choices) -> float:
        return mean_cost(choices, self.market.prices, self.plan.base)

    @cached_property
    def answers(self) -> csr_matrix:
        """The combined label set of every test item."""
        return chosen_answers(self.test, self.combiners, self.choices)


def chosen_answers(market: Market, combiners: Combiners, choices: Choices) -> csr_matrix:
    """Each item's answer, of the base combined with the service it chose."""
    rows = [np.flatnonzero(choices == k) for k in range(len(market.services))]
    answers = [combiners.apply(market.subset(items), k) for k, items in enumerate(rows) if len(items)]
    order = np.argsort(np.concatenate(rows))
    return take_rows(vstack(answers, format="csr"), order)
