"""One dataset in one repetition, where calls have costs of their own: what its studies start from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from frugalmct.market import Market
from frugalmct.paper.stages.call_estimates import CallPlan, FirstEstimates, RepetitionCalls
from frugalmct.splits import Split

READERS = {"market": Market.load, "split": Split.load, "call_estimates": RepetitionCalls.load}
"""The files of a repetition, and how each is read."""

# Of any type: a study reads only what its NEEDS name.
NOT_NEEDED: Any = None


@dataclass(frozen=True, eq=False)
class Case:
    """A dataset with what was learnt on it in one repetition; what a study does not need is not there.

    settings: what the study is configured by, as the study's SETTINGS name it.
    """

    dataset: str
    repetition: int
    market: Market = NOT_NEEDED
    split: Split = NOT_NEEDED
    calls: RepetitionCalls = NOT_NEEDED
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(
        cls, dataset: str, repetition: int, files: Mapping[str, str], settings: Mapping[str, Any]
    ) -> "Case":
        """From the files of a repetition that a study needs, by the names in READERS."""
        parts: dict[str, Any] = {name: READERS[name](file) for name, file in files.items()}
        calls = parts.pop("call_estimates", NOT_NEEDED)
        return cls(dataset, repetition, calls=calls, settings=settings, **parts)

    @property
    def budget(self) -> float:
        return self.plan.budget

    @property
    def plan(self) -> CallPlan:
        """Of the budget in the middle."""
        return self.calls.plans[len(self.calls.plans) // 2]

    @property
    def own(self) -> FirstEstimates:
        """The estimates once those have answered whom the plan asks first."""
        return self.calls.by_first[self.plan.first]

    @cached_property
    def train(self) -> Market:
        return self.market.subset(self.split.whole_train)

    @cached_property
    def test(self) -> Market:
        return self.market.subset(self.split.test)
