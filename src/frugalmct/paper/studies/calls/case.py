"""One dataset in one repetition, where calls have costs of their own: what its studies start from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from frugalmct.market import Market
from frugalmct.paper.stages.call_estimates import CallPlan, FirstEstimates, RepetitionCalls
from frugalmct.paper.studies import base
from frugalmct.paper.studies.base import NOT_NEEDED, BaseCase

READERS = base.READERS | {"call_estimates": RepetitionCalls.load}
"""The files of a repetition, and how each is read."""


@dataclass(frozen=True, eq=False)
class Case(BaseCase[Market]):
    """A dataset whose calls have costs of their own, with its estimates and plans."""

    calls: RepetitionCalls = NOT_NEEDED

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
