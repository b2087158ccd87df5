"""What every solver is given, and what it reports."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import FloatArray
from frugalmct.select.problem import IntArray


@dataclass(frozen=True, eq=False)
class Model:
    """Choose one variable per row: maximise the summed value with summed cost at most `capacity`.

    Row r has the variables `first[r]` to `first[r + 1]` (excluded). Costs are scaled to at most 1 and values
    to about 1, because solver tolerances are absolute.
    """

    value: FloatArray
    cost: FloatArray
    first: IntArray
    capacity: float

    @property
    def rows(self) -> int:
        return self.first.size - 1

    @property
    def variables(self) -> int:
        return self.value.size

    @property
    def row_of(self) -> IntArray:
        return np.repeat(np.arange(self.rows), np.diff(self.first))

    def chosen(self, solution: NDArray[np.floating]) -> IntArray:
        """Each row's largest variable: a solver's 0 and 1 are such only to its tolerance."""
        return np.lexsort((-solution, self.row_of))[self.first[:-1]]


@dataclass(frozen=True, eq=False)
class Run:
    """chosen: each row's variable, None without a solution; bound: the solver's upper bound on the objective,
    None if it has none; finished: it claims optimality; status: in one word."""

    chosen: IntArray | None
    bound: float | None
    finished: bool
    status: str


Backend = Callable[[Model, float | None], Run]
