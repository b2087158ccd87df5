"""The budgeted selection problem, a solution to it, and the one policy on rounding.

The model: every item pays the base service, or all of several; choosing another service k pays its cost on
top, so the add-on cost is that for k outside the base and 0 for a service of the base. Without a base an item
pays what it chooses. Costs are one price per service, or one per item and service. The budget is the mean
cost an item may incur.

**Rounding policy**, used by every solver and selector here:

- The money a selection spends on add-ons is an exactly rounded sum: with a price per service of K products,
  from how many items each service got, `spend(counts, add-on costs)`; with costs per item of N costs. Its
  error grows with neither items nor services.
- A selection is within budget when that spend is at most `allowance(...)`: the add-on budget
  N * (budget - base cost), plus RELATIVE_SLACK of it (budgets are often themselves sums), plus
  ROUNDING_SLACK of the whole budget (what `budget - base cost` can lose, as in 6.01 - 0.01).
  The mean cost, in exact arithmetic of the numbers given, never exceeds budget * (1 + 1e-12).
- An optimum is proven when no selection within the add-on budget proper is better by more than
  PROOF_TOLERANCE of its mean accuracy (general solvers: by more than 1e-9 of the highest accuracy there
  is, see `solvers`), however small the accuracies are. `status` is `optimal` when, and only when, it is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import (
    MAX_MONEY,
    Base,
    FloatArray,
    accuracy_and_costs,
    base_services,
    real_number,
)
from frugalmct.errors import FrugalError

RELATIVE_SLACK = 5e-13
ROUNDING_SLACK = 16 * float(np.finfo(np.float64).eps)
PROOF_TOLERANCE = 1e-12

IntArray = NDArray[np.int64]


def base_list(base: Base) -> list[int]:
    """The services that every item pays: one, several or none."""
    if base is None:
        return []
    return [int(service) for service in np.atleast_1d(base)]


def addon_costs(costs: FloatArray, base: Base) -> FloatArray:
    """What choosing each service adds to an item's cost, of the shape of costs: nothing for the base."""
    addon = costs.copy()
    addon[..., base_list(base)] = 0.0
    return addon


def mean_base_cost(costs: FloatArray, base: Base) -> float:
    """What an item pays on average whatever is chosen."""
    paid = costs[..., base_list(base)]
    return math.fsum(paid.ravel().tolist()) / (len(costs) if costs.ndim == 2 else 1)


def spend(counts: Sequence[int], addon: Sequence[float]) -> float:
    """Add-on money for `counts[k]` items at service k; never falls when a count rises."""
    return math.fsum(map(mul, counts, addon))


def spend_of(choices: NDArray[np.integer], addon: FloatArray) -> float:
    """Add-on money of the choices, at (K,) or (N, K) add-on costs."""
    if addon.ndim == 2:
        return math.fsum(chosen(addon, choices).tolist())
    return spend(np.bincount(choices, minlength=addon.size).tolist(), addon.tolist())


def chosen(table: NDArray[Any], choices: NDArray[np.integer]) -> NDArray[Any]:
    """(N,) the value in each row of the (N, K) table that its choice points at."""
    return np.take_along_axis(table, choices[:, None], axis=1)[:, 0]


def mean_cost(choices: NDArray[np.integer], costs: FloatArray, base: Base) -> float:
    """Mean cost of an item, at (K,) or (N, K) costs: the base for every one, the chosen service beside it."""
    return mean_base_cost(costs, base) + spend_of(choices, addon_costs(costs, base)) / choices.size


def allowance(items: int, budget: float, base_cost: float) -> float:
    """The most that the add-ons of `items` items may cost."""
    addon_budget = max(0.0, budget - base_cost)
    return items * (addon_budget + RELATIVE_SLACK * addon_budget + ROUNDING_SLACK * budget)


def checked_budget(where: str, value: object, least_cost: float, base: Base) -> float:
    budget = real_number(where, "budget", value, "the mean cost an item may incur, a number")
    if not 0 <= budget <= MAX_MONEY:
        raise FrugalError(f"{where}: budget is {budget:g}; give a number from 0 to {MAX_MONEY:g}.")
    # Without a base the cheapest choices are add-ons, and must be within the slack that these have.
    if budget < least_cost * (1 - (RELATIVE_SLACK / 2 if base is None else PROOF_TOLERANCE)):
        needed, remedy = _unavoidable(base)
        raise FrugalError(f"{where}: budget {budget:g} is below {needed} {least_cost:g}{remedy}.")
    return budget


def _unavoidable(base: Base) -> tuple[str, str]:
    if base is None:
        return "what the cheapest choice of every item costs on average,", "; raise the budget"
    service = "service's price" if isinstance(base, int) else "services' price"
    return f"the base {service}", ", which every item pays; raise the budget or choose a cheaper base"


@dataclass(frozen=True, eq=False)
class Problem:
    """Choose one service per item: highest mean accuracy with mean cost at most `budget`.

    accuracy: (N, K) estimated accuracy of each service on each item, in [0, 1] (kept as a read-only
        view, not copied, when it is a float64 array).
    costs: (K,) price of each service, or (N, K) what it costs for each item.
    base: index of the service that every item pays, a list of several that it pays all of, or None: then
        it pays only what is chosen.
    budget: mean cost an item may incur, base included.
    """

    accuracy: FloatArray
    costs: FloatArray
    base: Base
    budget: float

    def __post_init__(self) -> None:
        accuracy, costs = accuracy_and_costs("Problem", self.accuracy, self.costs)
        accuracy, costs = accuracy.view(), costs.copy()
        accuracy.flags.writeable = costs.flags.writeable = False
        base = base_services("Problem", self.base, costs.shape[-1])
        for name, value in (("accuracy", accuracy), ("costs", costs), ("base", base)):
            object.__setattr__(self, name, value)
        budget = checked_budget("Problem", self.budget, self.least_cost, base)
        object.__setattr__(self, "budget", budget)

    @property
    def items(self) -> int:
        return self.accuracy.shape[0]

    @property
    def services(self) -> int:
        return self.accuracy.shape[1]

    @cached_property
    def highest(self) -> float:
        """The highest accuracy of any item and service."""
        return max(float(self.accuracy.max()), 0.0)

    @cached_property
    def base_cost(self) -> float:
        """What an item pays on average whatever is chosen."""
        return mean_base_cost(self.costs, self.base)

    @cached_property
    def addon_costs(self) -> FloatArray:
        """(K,) or (N, K), as the costs."""
        return addon_costs(self.costs, self.base)

    @cached_property
    def least_spend(self) -> float:
        """What the cheapest add-ons cost in all: nothing where there is a base."""
        cheapest = self.addon_costs.min(axis=-1)
        return self.items * float(cheapest) if cheapest.ndim == 0 else math.fsum(cheapest.tolist())

    @cached_property
    def cheapest(self) -> IntArray:
        """(N,) a cheapest selection: the base, or of each item the cheapest service."""
        if self.base is not None:
            return np.full(self.items, base_list(self.base)[0], dtype=np.int64)
        return np.broadcast_to(self.addon_costs.argmin(axis=-1), self.items).astype(np.int64)

    @property
    def least_cost(self) -> float:
        """Mean cost of the cheapest selection, base included."""
        return self.base_cost + self.least_spend / self.items

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

    def spend(self, choices: NDArray[np.integer]) -> float:
        return spend_of(choices, self.addon_costs)

    def within_budget(self, choices: NDArray[np.integer]) -> bool:
        return self.spend(choices) <= self.allowance

    def mean_cost(self, choices: NDArray[np.integer]) -> float:
        """Mean cost an item incurs, base included."""
        return self.base_cost + self.spend(choices) / self.items

    def mean_accuracy(self, choices: NDArray[np.integer]) -> float:
        return float(chosen(self.accuracy, choices).mean())


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


def judged(
    problem: Problem, choices: IntArray, bound: float, status: str, tolerance: float, otherwise: str
) -> Outcome:
    """The outcome of a method that ended with `status`: called optimal, and proven, only where the bound
    is within `tolerance` of what the choices reach; what else would be called so is `otherwise`."""
    proven = status == "optimal" and bound - problem.mean_accuracy(choices) <= tolerance
    return Outcome(choices, bound, proven, status if proven or status != "optimal" else otherwise)


@dataclass(frozen=True, eq=False)
class Solution:
    """What a method reached. `proven`: no selection is better (to the tolerance of `problem`).

    choices: (N,) service of each item; accuracy, cost: their means, base included; bound: no selection
    within budget has a higher mean accuracy; status, how the method ended: `optimal` (proven), `rounded`
    (lp), `time_limit`, `state_limit` (exact, too many states to list), `rounding_limit` (exact, prices too
    far apart to tell), `unproven` (a solver calls its selection optimal, but its bound does not say so),
    `no_solution` or `over_budget` (a solver has none, or none within budget: the choices are then all base,
    or the ones that the reduced model started from), or the solver's own word.
    """

    choices: IntArray
    accuracy: float
    cost: float
    bound: float
    proven: bool
    seconds: float
    method: str
    status: str
