"""One dataset of label sets in one repetition: what its studies start from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.combine import Combiners
from frugalmct.estimates import Choices
from frugalmct.market import LabelMarket
from frugalmct.model import Learning
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates, learning_for
from frugalmct.paper.stages.plans import load_plans, plan_near
from frugalmct.paper.studies import base
from frugalmct.paper.studies.base import NOT_NEEDED, BaseCase
from frugalmct.plans import Plan

READERS = base.READERS | {
    "combination": Combination.load,
    "estimates": RepetitionEstimates.load,
    "plans": load_plans,
}
"""The files of a repetition, and how each is read; estimates at the prices of the run."""


@dataclass(frozen=True, eq=False)
class Case(BaseCase[LabelMarket]):
    """A dataset of label sets with its combiners, estimates and plans."""

    combination: Combination = NOT_NEEDED
    estimates: RepetitionEstimates = NOT_NEEDED
    plans: Sequence[Plan] = ()

    @classmethod
    def load(
        cls, dataset: str, repetition: int, files: Mapping[str, str], settings: Mapping[str, Any]
    ) -> "Case":
        """From the files of a repetition that a study needs, by the names in READERS."""
        given = {"estimates": [settings.get("prices")]}
        parts: dict[str, Any] = {
            name: READERS[name](file, *given.get(name, ())) for name, file in files.items()
        }
        return cls(dataset, repetition, **parts, settings=settings)

    @property
    def budget(self) -> float:
        return float(self.settings["budget"])

    @property
    def metric(self) -> str:
        return self.settings["block"]["metric"]

    @property
    def learning(self) -> Learning:
        """How the repetition learns."""
        return self.learning_with(self.settings["learning"])

    def learning_with(self, learning: Mapping[str, Any]) -> Learning:
        """The same with these settings of the predictor."""
        threads = self.settings.get("threads", 1)
        return learning_for(self.dataset, self.repetition, self.settings["block"], learning, threads)

    @cached_property
    def plan(self) -> Plan:
        """Of the study's budget."""
        return plan_near(self.plans, self.estimates.prices, self.budget)

    @property
    def own(self) -> BaseEstimates:
        """The estimates of the plan's base."""
        return self.estimates.by_base[self.plan.base]

    @property
    def combiners(self) -> Combiners:
        return self.combination.combiners[self.plan.base]

    @cached_property
    def dual_price(self) -> float:
        """The paper's p̂."""
        return self.own.train.dual_price(self.plan.budget, self.plan.delta)

    def choices_at(self, dual_price: float) -> Choices:
        """Algorithm 1 over the test items, at any dual price."""
        return self.own.test.route(self.plan.budget, dual_price)

    @cached_property
    def choices(self) -> Choices:
        return self.choices_at(self.dual_price)

    def reached(self, choices: Choices) -> NDArray[np.float64]:
        """The true accuracy of each item's chosen combination."""
        return self.own.test.reached(choices)

    def cost(self, choices: Choices) -> float:
        return self.own.test.cost(choices)

    @cached_property
    def answers(self) -> csr_matrix:
        """The combined label set of every test item."""
        return self.test.combined(self.combiners, self.choices)
