"""The budgeted selection problem, a solution to it, and the one policy on rounding.

The model: every item pays the base service; choosing another service k pays costs[k] on top, so the
add-on cost is costs[k] for k != base and 0 for the base. The budget is the mean cost an item may incur.

**Rounding policy**, used by every solver and selector here:

- The money a selection spends is computed from how many items each service got, `spend(counts, add-on
  costs)`: K products and sums, so its error does not grow with the number of items.
- A selection is within budget when that spend is at most `allowance(...)`: the add-on budget
  N * (budget - base cost), plus RELATIVE_SLACK of it (budgets are often themselves sums), plus
  ROUNDING_SLACK of the whole budget (what `budget - base cost` can lose, as in 6.01 - 0.01).
  The mean cost therefore never exceeds budget * (1 + 1e-12).
- An optimum is proven when no selection within the add-on budget proper is better by more than
  PROOF_TOLERANCE of the mean accuracy (general solvers: by more than their own 1e-9, see `ilp`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from frugalmct.errors import FrugalError
from frugalmct.select.checks import (
    MAX_MONEY,
    FloatArray,
    accuracy_table,
    base_index,
    cost_vector,
    real_number,
)

RELATIVE_SLACK = 5e-13
ROUNDING_SLACK = 16 * float(np.finfo(np.float64).eps)
PROOF_TOLERANCE = 1e-12

IntArray = NDArray[np.int64]


def addon_costs(costs: FloatArray, base: int) -> FloatArray:
    """What choosing each service adds to an item's cost: nothing for the base, which is paid anyway."""
    addon = costs.copy()
    addon[base] = 0.0
    return addon


def spend(counts: Sequence[int], addon: Sequence[float]) -> float:
    """Add-on money for `counts[k]` items at service k; never falls when a count rises."""
    total = 0.0
    for count, cost in zip(counts, addon, strict=True):
        total += count * cost
    return total


def allowance(items: int, budget: float, base_cost: float, share: float = 1.0) -> float:
    """The most that `spend` may be for `items` items; `share` scales the add-on budget (1 - δ)."""
    addon_budget = share * max(0.0, budget - base_cost)
    return items * (addon_budget + RELATIVE_SLACK * addon_budget + ROUNDING_SLACK * budget)


def checked_budget(where: str, value: object, base_cost: float) -> float:
    budget = real_number(where, "budget", value, "the mean cost an item may incur, a number")
    if not 0 <= budget <= MAX_MONEY:
        raise FrugalError(f"{where}: budget is {budget:g}; give a number from 0 to {MAX_MONEY:g}.")
    if budget < base_cost * (1 - PROOF_TOLERANCE):
        raise FrugalError(
            f"{where}: budget {budget:g} is below the base service's price {base_cost:g}, "
            "which every item pays; raise the budget or choose a cheaper base."
        )
    return budget


@dataclass(frozen=True, eq=False)
class Problem:
    """Choose one service per item: highest mean accuracy with mean cost at most `budget`.

    accuracy: (N, K) estimated accuracy of each service on each item, in [0, 1] (kept as a read-only
        view, not copied, when it is a float64 array).
    costs: (K,) price of each service; base: index of the service that every item pays;
    budget: mean cost an item may incur, base included.
    """

    accuracy: FloatArray
    costs: FloatArray
    base: int
    budget: float

    def __post_init__(self) -> None:
        costs = cost_vector("Problem", self.costs).copy()
        accuracy = accuracy_table("Problem", self.accuracy, services=costs.size).view()
        if accuracy.shape[0] == 0:
            raise FrugalError("Problem: accuracy has no items; give at least one row.")
        base = base_index("Problem", self.base, costs.size)
        budget = checked_budget("Problem", self.budget, float(costs[base]))
        accuracy.flags.writeable = costs.flags.writeable = False
        for name, value in (("accuracy", accuracy), ("costs", costs), ("base", base), ("budget", budget)):
            object.__setattr__(self, name, value)

    @property
    def items(self) -> int:
        return self.accuracy.shape[0]

    @property
    def services(self) -> int:
        return self.accuracy.shape[1]

    @property
    def base_cost(self) -> float:
        return float(self.costs[self.base])

    @cached_property
    def addon_costs(self) -> FloatArray:
        return addon_costs(self.costs, self.base)

    @property
    def addon_budget(self) -> float:
        """Total money left for add-ons, N * (budget - base cost)."""
        return self.items * max(0.0, self.budget - self.base_cost)

    @property
    def allowance(self) -> float:
        """The most that a selection's add-ons may cost in all, under the rounding policy."""
        return allowance(self.items, self.budget, self.base_cost)

    @property
    def capacity(self) -> float:
        """What solvers aim for: nine tenths of the slack, the last one being for their own rounding."""
        return self.addon_budget + 0.9 * (self.allowance - self.addon_budget)

    def counts(self, choices: NDArray[np.integer]) -> list[int]:
        """How many items each service got."""
        return np.bincount(choices, minlength=self.services).tolist()

    def spend(self, choices: NDArray[np.integer]) -> float:
        return spend(self.counts(choices), self.addon_costs.tolist())

    def within_budget(self, choices: NDArray[np.integer]) -> bool:
        return self.spend(choices) <= self.allowance

    def mean_cost(self, choices: NDArray[np.integer]) -> float:
        """Mean cost an item incurs, base included."""
        return self.base_cost + self.spend(choices) / self.items

    def mean_accuracy(self, choices: NDArray[np.integer]) -> float:
        return float(np.take_along_axis(self.accuracy, choices[:, None], axis=1).mean())


def checked_problem(where: str, value: object) -> Problem:
    if not isinstance(value, Problem):
        raise FrugalError(f"{where}: problem is a {type(value).__name__}; give a frugalmct.select.Problem.")
    return value


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method hands to `solve`: a service per item, an upper bound on the mean accuracy, and how it
    ended; see `Solution`."""

    choices: IntArray
    bound: float
    proven: bool
    status: str


@dataclass(frozen=True, eq=False)
class Solution:
    """What a method reached. `proven`: no selection is better (to the tolerance of `problem`).

    choices: (N,) service of each item; accuracy, cost: their means, base included; bound: no selection
    within budget has a higher mean accuracy; status, how the method ended: `optimal`, `rounded` (lp),
    `time_limit`, `state_limit` (exact, out of memory for states), `rounding_limit` (exact, prices too
    far apart to tell), `no_solution` or `over_budget` (a solver has none, or none within budget: the
    choices are then all base, or the ones that the reduced model started from), or the solver's own word.
    """

    choices: IntArray
    accuracy: float
    cost: float
    bound: float
    proven: bool
    seconds: float
    method: str
    status: str
