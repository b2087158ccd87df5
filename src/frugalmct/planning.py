"""Which plan to follow at each budget, by what plans reach on trial with the training items.

Beside the plans of single bases there are those of small sets of services, and mixtures of two plans. Each is
taken only where it is surely better on trial; usually one service first, with its own dual price, is as good:
such a plan already gives each item what it is worth.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import State
from frugalmct.hull import mixture_at, rising_hull
from frugalmct.mixing import CascadePlan
from frugalmct.plans import DELTA
from frugalmct.training import Training, Trials

# Surely better: by so many standard errors of the difference, since the best of many is compared, and by so
# much mean accuracy at least.
SURE = 3.0
MARGIN = 0.001

Point = tuple[State, float]
"""A base, at a budget."""


def surely_better(accuracy: NDArray[np.float64], than: NDArray[np.float64]) -> bool:
    """Whether the (items,) accuracies are higher on average by more than noise."""
    difference = accuracy - than
    error = float(difference.std()) / math.sqrt(len(difference))
    return float(difference.mean()) > max(MARGIN, SURE * error)


@dataclass(eq=False)
class Planner:
    """Plans of some bases, tried on training items; each is tried once.

    trials: which items dual prices come from, and which they are tried on; deltas: the δ to choose from.
    """

    training: Training
    trials: Trials
    deltas: Sequence[float] = (DELTA,)
    _tried: dict[tuple[State, float, float], NDArray[np.float64]] = field(init=False, default_factory=dict)
    _most: dict[State, float] = field(init=False, default_factory=dict)

    @property
    def usual(self) -> float:
        return min(self.deltas, key=lambda delta: abs(delta - DELTA))

    def reached(self, base: State, budget: float, delta: float | None = None) -> NDArray[np.float64]:
        """(items,) what a base's plan reached on trial."""
        key = base, float(budget), self.usual if delta is None else delta
        if key not in self._tried:
            self._tried[key] = self._try(*key)
        return self._tried[key]

    def _try(self, base: State, budget: float, delta: float) -> NDArray[np.float64]:
        training = self.training
        if budget <= training.base_cost(base) and np.delete(training.prices, base).all():
            # Nothing can be paid for beside the base: no dual price need be found.
            return np.concatenate([training.accuracy[base][tried_on] for _, tried_on in self.trials])
        return training.tried(training.cascade(base), budget, delta, self.trials)

    def promised(self, plan: CascadePlan) -> NDArray[np.float64]:
        """(items,) what a plan reaches on trial; of two that are mixed what is expected."""
        if plan.other is None or plan.rest is None:
            return self.reached(plan.base, plan.budget, plan.delta)
        other = plan.other
        low, high = self.reached(plan.base, plan.rest, plan.delta), self.reached(*_point(other), other.delta)
        return (1 - plan.share) * low + plan.share * high

    def best_base(self, budget: float, bases: Iterable[State]) -> State:
        """The base of the highest accuracy on trial, of those that the budget pays for."""
        payable = [base for base in bases if self.training.base_cost(base) <= budget]
        if len(payable) == 1:
            return payable[0]
        return max(payable, key=lambda base: self.reached(base, budget).mean())

    def single(self, budget: float, bases: Iterable[State]) -> CascadePlan:
        """First the base, at the ordinary δ; then δ for that base: as the paper does, one after the other."""
        base, delta = self.best_base(budget, bases), self.usual
        if len(self.deltas) > 1:
            scores = {delta: float(self.reached(base, budget, delta).mean()) for delta in self.deltas}
            delta = max(scores, key=lambda delta: (scores[delta], -abs(delta - DELTA)))
        return self._priced(base, budget, delta)

    def _priced(self, base: State, budget: float, delta: float) -> CascadePlan:
        dual_price = self.training.cascade(base).dual_price(budget, delta)
        return CascadePlan(float(budget), base, delta, dual_price)

    def plans(self, budgets: Sequence[float], bases: Sequence[State]) -> list[CascadePlan]:
        """A plan for each budget.

        Where that of a lower budget did better on trial, it is followed: more money does no harm.
        """
        hull = self.hull(budgets, bases)
        alone = [base for base in bases if len(base) == 1] or bases
        best: CascadePlan | None = None
        highest, found = -np.inf, {}
        for budget in sorted(budgets):
            plan = self.mixed(self.single(budget, bases), hull)
            score = float(self.promised(plan).mean())
            if best is None or score >= highest:
                best, highest = plan, score
            found[budget] = self._with_gain(replace(best, budget=float(budget)), alone)
        return [found[budget] for budget in budgets]

    def _with_gain(self, plan: CascadePlan, alone: Sequence[State]) -> CascadePlan:
        if plan.other is None and plan.base in alone:
            return plan
        payable = [base for base in alone if self.training.base_cost(base) <= plan.budget]
        if not payable:
            return plan
        single = self.reached(self.best_base(plan.budget, payable), plan.budget).mean()
        return replace(plan, gain=max(float(self.promised(plan).mean() - single), 0.0))

    def sets_that_pay(
        self, budgets: Sequence[float], bases: Sequence[State], sets: Iterable[State]
    ) -> list[State]:
        """Those sets of services that are surely better to ask first, at some budget, than any base."""
        return [
            own
            for own in sets
            if any(
                surely_better(self.reached(own, budget), self.reached(self.best_base(budget, bases), budget))
                for budget in budgets
                if self.training.base_cost(own) < budget
            )
        ]

    def hull(self, budgets: Sequence[float], bases: Sequence[State]) -> list[Point]:
        """The bases and budgets on the concave hull of accuracy over budgets, from the cheapest on.

        Of each base: alone, with all the money that it could use, and at the given budgets between.
        """
        points = [(base, budget) for base in bases for budget in self._tried_at(base, budgets)]
        accuracy = np.array([self.reached(*point).mean() for point in points])
        vertices = rising_hull(np.array([budget for _, budget in points]), accuracy)
        return [points[vertex] for vertex in vertices]

    def _tried_at(self, base: State, budgets: Sequence[float]) -> list[float]:
        least, most = self.training.base_cost(base), self.most(base)
        return sorted({least, most, *(float(budget) for budget in budgets if least < budget < most)})

    def most(self, base: State) -> float:
        """The budget from which on a base's plan is the same, on every trial: all that is wanted is paid."""
        if base not in self._most:
            whole, least = self.training.cascade(base), self.training.base_cost(base)
            parts = [whole.part(rows) for trial in self.trials for rows in trial]
            highest = max(part.mean_cost(0.0) for part in (whole, *parts))
            kept = 1 - self.usual
            self._most[base] = least + (max(highest - least, 0.0) / kept if kept > 0 else 0.0)
        return self._most[base]

    def mixed(self, single: CascadePlan, hull: Sequence[Point]) -> CascadePlan:
        """The two plans of the hull on both sides of a budget, if they are surely better than one."""
        low, high, share = mixture_at(np.array([budget for _, budget in hull]), single.budget)
        if not share:
            return single
        expected = (1 - share) * self.reached(*hull[low]) + share * self.reached(*hull[high])
        if not surely_better(expected, self.promised(single)):
            return single
        (base, rest), other = hull[low], self._priced(*hull[high], self.usual)
        plan = self._priced(base, rest, self.usual)
        return replace(plan, budget=single.budget, other=other, rest=rest)


def _point(plan: CascadePlan) -> Point:
    return plan.base, plan.budget
