"""Mixtures of two plans: what lies between two points of cost and accuracy can be had at random.

A plan is a base with a budget. Where the best base changes with the budget, the curve of the best plan has a
dent; giving some items the one plan and the others the other, drawn at random, fills it.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frugalmct.baselines.hull import mixture_at, rising_hull
from frugalmct.errors import FrugalError
from frugalmct.seeds import generator

# A mixture must promise this much more than one plan, in mean accuracy: chance alone promises less.
MARGIN = 5e-4


class Trial(NamedTuple):
    """A plan tried out of sample: its base, the budget it was made for, and the accuracy it reached."""

    base: Hashable
    budget: float
    accuracy: float


class PlanMixture(NamedTuple):
    """Two plans and the probability of the second; twice the same plan where one is enough."""

    low: Trial
    high: Trial
    probability: float

    @property
    def single(self) -> bool:
        return self.probability == 0.0


def mix(trials: Sequence[Trial], budget: float, margin: float = MARGIN) -> PlanMixture:
    """The plans to follow at a budget: those of the hull on both sides of it, if they are of different bases
    and promise more than the best single plan by the margin; else that one.

    A plan counts at the budget it was made for, not at what it spent on the trial: it may spend all of it.
    """
    affordable = [trial for trial in trials if trial.budget <= budget * (1 + 1e-12)]
    if not affordable:
        cheapest = min((trial.budget for trial in trials), default=float("nan"))
        raise FrugalError(f"No plan was tried at a budget of {budget:g} or less; the lowest is {cheapest:g}.")
    best = max(affordable, key=lambda trial: (trial.accuracy, -trial.budget))
    cost = np.array([trial.budget for trial in trials], dtype=np.float64)
    accuracy = np.array([trial.accuracy for trial in trials], dtype=np.float64)
    hull = rising_hull(cost, accuracy)
    low, high, probability = mixture_at(cost[hull], budget)
    first, second = trials[hull[low]], trials[hull[high]]
    promised = (1 - probability) * first.accuracy + probability * second.accuracy
    if first.base == second.base or promised < best.accuracy + margin:
        return PlanMixture(best, best, 0.0)
    return PlanMixture(first, second, probability)


def draw_plans(mixture: PlanMixture, items: int, *path: str | int) -> NDArray[np.int64]:
    """(items,): 0 or 1, the plan of each item; a function of the path, say (seed, dataset), alone."""
    return (generator(*path, "mixture").random(items) < mixture.probability).astype(np.int64)
