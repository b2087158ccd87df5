"""What a mix of services that is blind to the items can reach."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.baselines.hull import affordable_budget, mixture_at, rising_hull
from frugalmct.checks import accuracy_table, base_index, cost_vector, whole_number
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
    every item pays. The best blind mix is one of two combinations on the hull of (cost, mean accuracy).
    Who gets the more expensive one is drawn with the seed; how many do is rounded down, so the cost is
    never over the budget, and under it by less than one item.
    """
    costs = cost_vector("random_mix", costs)
    means = accuracy_table("random_mix", np.atleast_2d(mean_accuracy), services=costs.size)[0]
    base = base_index("random_mix", base, costs.size)
    items = whole_number("random_mix", "items", items, 0)
    total = costs[base] + addon_costs(costs, base)
    hull = rising_hull(total, means)
    budget = affordable_budget("random_mix", budget, float(total[hull[0]]))
    low, high, probability = mixture_at(total[hull], budget)
    upgraded = min(items, math.floor(items * probability * (1 + COUNT_ROUNDING)))
    choices = np.full(items, hull[low], dtype=np.int64)
    choices[generator(seed, "random_mix").permutation(items)[:upgraded]] = hull[high]
    return choices
