"""Samples of a case's items, and what is made of choosing for each: for the studies of robustness."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from frugalmct.paper.studies.base import BaseCase
from frugalmct.seeds import generator

COLUMNS = [
    "dataset", "part", "setting", "items", "train_items", "budget", "base", "delta", "method", "draws",
    "estimated", "regret", "regret_low", "regret_high", "bound", "accuracy", "accuracy_low", "accuracy_high",
    "cost", "highest_cost", "kept_by_price", "data",
]  # fmt: skip

DRAWS = 20
FEWER_DRAWS = 5
"""Of the many settings of prices: what matters there is how accurate they leave the whole."""
MOST_DRAWN = 20_000
"""Items in a draw, where it is not their number that is studied."""
SPREAD = (0.025, 0.975)


class Rows(Protocol):
    """Items that can be drawn."""

    def __len__(self) -> int: ...

    def rows(self, rows: NDArray[np.int64], /) -> Self: ...


Drawn = TypeVar("Drawn", bound=Rows)


@dataclass(frozen=True)
class Outcome:
    """Of one selection of some items: means of estimated and true accuracy, and of cost."""

    estimated: float
    accuracy: float
    cost: float


def draws(case: BaseCase[Any], items: Drawn, count: int | None = None, purpose: str = "test") -> list[Drawn]:
    """DRAWS samples with replacement, the same in all parts: of `count` items, or as many as there are."""
    size = count or min(len(items), MOST_DRAWN)
    random = generator(case.settings["seed"], case.dataset, case.repetition, "robustness", purpose, size)
    return [items.rows(random.integers(len(items), size=size)) for _ in range(DRAWS)]


def halves(hardest_first: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """The usual mix of items, or one half of it; items in that order."""
    half = len(hardest_first) // 2
    return {
        "all items": hardest_first,
        "hard half": hardest_first[:half],
        "easy half": hardest_first[half:],
    }


def summary(outcomes: Sequence[Outcome], offline: Sequence[Outcome]) -> Mapping[str, Any]:
    """Means over the draws, and where 95 % of the draws lie."""
    estimated, accuracy, cost = np.array([(o.estimated, o.accuracy, o.cost) for o in outcomes]).T
    regret = np.array([o.estimated for o in offline]) - estimated
    return {
        "draws": len(outcomes),
        "estimated": estimated.mean(),
        "regret": regret.mean(),
        **dict(zip(("regret_low", "regret_high"), np.quantile(regret, SPREAD).tolist(), strict=True)),
        "accuracy": accuracy.mean(),
        **dict(zip(("accuracy_low", "accuracy_high"), np.quantile(accuracy, SPREAD).tolist(), strict=True)),
        "cost": cost.mean(),
        "highest_cost": cost.max(),
    }
