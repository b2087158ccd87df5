"""What a mix of services that is blind to the items can reach."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.baselines.frugalml import Choices
from frugalmct.checks import accuracy_table, base_index, cost_vector, whole_number
from frugalmct.errors import FrugalError
from frugalmct.hull import affordable_budget, mixture_at, rising_hull
from frugalmct.seeds import generator
from frugalmct.select.problem import addon_costs

IntArray = NDArray[np.int64]

COUNT_ROUNDING = 2e-13
"""What a whole number of items may miss by rounding; well within the budget's own tolerance."""


def random_mix(
    mean_accuracy: ArrayLike, costs: ArrayLike, base: int, budget: float, items: int, seed: int = 0
) -> IntArray:
    """A service for each item, chosen without looking at it: the best mix of that cost by training means.

    mean_accuracy: (services,) mean training accuracy of the base combined with each service; base: what
    every item pays. Drawn as in `best_mix`.
    """
    costs = cost_vector("random_mix", costs)
    base = base_index("random_mix", base, costs.size)
    return best_mix("random_mix", mean_accuracy, costs[base] + addon_costs(costs, base), budget, items, seed)


def best_base_mix(
    mean_accuracy: Mapping[int, ArrayLike], costs: ArrayLike, budget: float, items: int, seed: int = 0
) -> Choices:
    """The same over all bases: `mean_accuracy` has the (services,) means of every base that may be asked.

    The two combinations that are mixed may be of different bases.
    """
    costs = cost_vector("best_base_mix", costs)
    bases = [base_index("best_base_mix", base, costs.size) for base in mean_accuracy]
    if not bases:
        raise FrugalError("best_base_mix: mean_accuracy has no base; give the means of at least one.")
    rows: Any = list(mean_accuracy.values())  # of equal length, or it is said
    means = accuracy_table("best_base_mix", rows, services=costs.size)
    totals = np.concatenate([costs[base] + addon_costs(costs, base) for base in bases])
    chosen = best_mix("best_base_mix", means.ravel(), totals, budget, items, seed)
    place, addon = np.divmod(chosen, costs.size)
    return Choices(np.array(bases, dtype=np.int64)[place], addon)


def best_mix(
    where: str, mean_accuracy: ArrayLike, totals: ArrayLike, budget: float, items: int, seed: int
) -> IntArray:
    """One of some choices for each item, blindly, given what each reaches on average and costs in total.

    The best blind mix is one of two choices on the hull of (cost, mean accuracy). Who gets the more
    expensive one is drawn with the seed; how many do is rounded down, so the cost is never over the budget,
    and under it by less than one item.
    """
    totals = cost_vector(where, totals)
    means = accuracy_table(where, np.atleast_2d(mean_accuracy), services=totals.size)[0]
    items = whole_number(where, "items", items, 0)
    hull = rising_hull(totals, means)
    budget = affordable_budget(where, budget, float(totals[hull[0]]))
    low, high, probability = mixture_at(totals[hull], budget)
    upgraded = min(items, math.floor(items * probability * (1 + COUNT_ROUNDING)))
    choices = np.full(items, hull[low], dtype=np.int64)
    choices[generator(seed, "random_mix").permutation(items)[:upgraded]] = hull[high]
    return choices
