"""What studies of the offline problem ask of estimates: with one price per service, or costs of calls."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from frugalmct.select import Problem


class Items(Protocol):
    """Estimates of some items, with the truth."""

    def __len__(self) -> int: ...

    def rows(self, rows: NDArray[np.int64], /) -> "Items": ...

    def problem(self, budget: float) -> Problem: ...

    def dual_price(self, budget: float, delta: float = ...) -> float: ...

    def reached(self, choices: NDArray[np.int64]) -> NDArray[np.float64]: ...


class BothParts(Protocol):
    """Of training items, from which dual prices come, and of test items."""

    @property
    def train(self) -> Items: ...

    @property
    def test(self) -> Items: ...


class Spent(Protocol):
    """A plan, as far as money goes."""

    @property
    def budget(self) -> float: ...

    @property
    def delta(self) -> float: ...
