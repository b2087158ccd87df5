"""Yardsticks: each service alone, what a mix blind to the items can reach, and what nobody can exceed."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.baselines.hull import affordable_budget, mixture_at, rising_hull
from frugalmct.errors import FrugalError
from frugalmct.seeds import generator
from frugalmct.select import Problem, Solution, solve
from frugalmct.select.checks import accuracy_table, base_index, cost_vector, whole_number
from frugalmct.select.problem import addon_costs

IntArray = NDArray[np.int64]

COUNT_ROUNDING = 2e-13
"""What a whole number of items may miss by rounding; well within the budget's own tolerance."""


class SingleService(NamedTuple):
    """A service asked for every item: its mean accuracy, and its price."""

    service: int
    accuracy: float
    cost: float


def single_services(accuracy: ArrayLike, costs: ArrayLike) -> list[SingleService]:
    """Each service alone, from the (items, services) accuracy of its own answers."""
    costs = cost_vector("single_services", costs)
    table = accuracy_table("single_services", accuracy, services=costs.size)
    if not len(table):
        raise FrugalError("single_services: accuracy has no items; give at least one row.")
    means = table.mean(axis=0)
    return [SingleService(k, float(means[k]), float(costs[k])) for k in range(costs.size)]


def best_service(accuracy: ArrayLike, costs: ArrayLike, budget: float = math.inf) -> SingleService:
    """The most accurate service that costs no more than the budget; the cheaper one in a tie."""
    services = single_services(accuracy, costs)
    budget = affordable_budget("best_service", budget, min(single.cost for single in services))
    # The cheapest is affordable by the rounding allowance even where it costs a breath more.
    affordable = [single for single in services if single.cost <= budget] or [
        min(services, key=lambda single: single.cost)
    ]
    return max(affordable, key=lambda single: (single.accuracy, -single.cost))


def random_mix(
    mean_accuracy: ArrayLike, costs: ArrayLike, base: int, budget: float, items: int, seed: int = 0
) -> IntArray:
    """A service for each item, chosen without looking at it: the best mix of that cost by training means.

    mean_accuracy: (services,) mean training accuracy of the base combined with each service; base: what
    every item pays. The best blind mix is one of two combinations on the hull of (cost, mean accuracy).
    Who gets the dearer one is drawn with the seed; how many do is rounded down, so the cost is never over
    the budget, and under it by less than one item.
    """
    costs = cost_vector("random_mix", costs)
    means = accuracy_table("random_mix", np.atleast_2d(mean_accuracy), services=costs.size)[0]
    base = base_index("random_mix", base, costs.size)
    items = whole_number("random_mix", "items", items, 0)
    total = costs[base] + addon_costs(costs, base)
    hull = rising_hull(total, means)
    budget = affordable_budget("random_mix", budget, float(total[hull[0]]))
    low, high, probability = mixture_at(total[hull], budget)
    dearer = min(items, math.floor(items * probability * (1 + COUNT_ROUNDING)))
    choices = np.full(items, hull[low], dtype=np.int64)
    choices[generator(seed, "random_mix").permutation(items)[:dearer]] = hull[high]
    return choices


def oracle(true_accuracy: ArrayLike, costs: ArrayLike, base: int, budget: float) -> Solution:
    """The best selection within the budget for one who knows every accuracy: a bound on any strategy."""
    return solve(Problem(true_accuracy, costs, base, budget), method="exact")
