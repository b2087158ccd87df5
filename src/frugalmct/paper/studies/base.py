"""One dataset in one repetition, whichever way its services are paid: what all studies start from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from frugalmct.market import Market
from frugalmct.splits import Split

AnyMarket = TypeVar("AnyMarket", bound=Market)

READERS: dict[str, Callable[..., Any]] = {"market": Market.load, "split": Split.load}
"""The files of a repetition, and how each is read."""

# Of any type: a study reads only what its NEEDS name.
NOT_NEEDED: Any = None


@dataclass(frozen=True, eq=False)
class BaseCase(Generic[AnyMarket]):
    """A dataset with what was learnt on it in one repetition; what a study does not need is not there.

    settings: what the study is configured by, as the study's SETTINGS name it.
    """

    dataset: str
    repetition: int
    market: AnyMarket = NOT_NEEDED
    split: Split = NOT_NEEDED
    settings: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @cached_property
    def train(self) -> AnyMarket:
        return self.market.subset(self.split.whole_train)

    @cached_property
    def test(self) -> AnyMarket:
        return self.market.subset(self.split.test)
