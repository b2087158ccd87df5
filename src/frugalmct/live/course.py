"""What a router goes by: the plan that its budget pays for, the dual price of the moment, what is affordable.

Prices are in the unit of the strategy, money in that of the budget: a call costs price / `per`. With prices
in USD per 10,000 calls and a budget in USD, `per` is 10,000. Affordable is decided in whole billionths.
"""

import math
import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import State
from frugalmct.checks import real_number
from frugalmct.errors import FrugalError, listed
from frugalmct.live.budget import Budget
from frugalmct.live.ledger import Ledger
from frugalmct.live.money import cost_nano
from frugalmct.live.pacing import Pacer
from frugalmct.live.purse import Purse
from frugalmct.live.records import State as Account
from frugalmct.mixing import CascadePlan
from frugalmct.select.problem import addon_costs
from frugalmct.select.tiers import preference_order
from frugalmct.strategy import Strategy

WHERE = "Router"


class Course:
    """The plan; for each base that can be asked first its pacer, and for each state the order of add-ons.

    Where two plans are mixed, `other` is the pacer of the one that the items drawn for it follow. Both hold
    the money left against what the mixture needs.
    """

    def __init__(
        self,
        strategy: Strategy,
        money: Ledger | Purse,
        per: float,
        plan: float | None,
        pace: str = "adaptive",
    ) -> None:
        self.strategy, self._money = strategy, money
        self.per = real_number(WHERE, "per", per, "what prices are per, a number above 0")
        if not 0 < self.per < math.inf:
            raise FrugalError(f"{WHERE}: per is {per!r}; give what prices are per, a number above 0.")
        self.costs = [cost_nano(WHERE, "price", float(price) / self.per) for price in strategy.prices]
        self.planned = _planned(strategy, self.budget, self.per, plan)
        self.plan, self.warning = self._choose_plan()
        if self.warning:
            warnings.warn(self.warning, stacklevel=4)
        others = sorted(set(strategy.bases) - set(self.plan.bases), key=strategy.training.base_cost)
        self.bases: list[State] = list(dict.fromkeys([*self.plan.bases, *others]))
        self._addon = {state: addon_costs(strategy.prices, state) for state in strategy.models}
        self._order = {state: preference_order(self._addon[state], state) for state in strategy.models}
        self.pacers = {base: self._pacer(base, pace) for base in self.bases}
        other, mean = self.plan.other, self._mean_base_cost
        self.other = None if other is None else Pacer(other.dual_price, self.plan.budget, mean, pace=pace)

    @property
    def budget(self) -> Budget:
        """The money's of now: it may be given another one while this process runs."""
        return self._money.budget

    def _choose_plan(self) -> tuple[CascadePlan, str]:
        base_cost = self.strategy.training.base_cost
        cheapest = min(self.strategy.plans.values(), key=lambda plan: (base_cost(plan.base), plan.budget))
        if self.planned < base_cost(cheapest.base):
            needed = base_cost(cheapest.base) / self.per
            return replace(cheapest, other=None, rest=None), (
                f"{WHERE}: {self.budget} leaves {self.planned / self.per:g} for an item, but the base alone "
                f"costs {needed:g}; add-ons are left out until what remains pays for the items to come, and "
                f"the money pays for {math.floor(self.budget.amount / needed):,} items."
            )
        return self.strategy.plan_at(min(self.planned, max(self.strategy.plans))), ""

    def _pacer(self, base: State, pace: str) -> Pacer:
        training = self.strategy.training
        dual_price, base_cost = self.plan.dual_price, self._mean_base_cost
        if base != self.plan.base:
            base_cost = training.base_cost(base)
            budget = max(self.plan.budget, base_cost)
            dual_price = training.cascade(base).dual_price(budget, self.plan.delta)
        return Pacer(dual_price, max(self.plan.budget, base_cost), base_cost, pace=pace)

    @property
    def _mean_base_cost(self) -> float:
        """Of an item by the plan, in the unit of prices."""
        costs = [self.strategy.training.base_cost(base) for base in self.plan.bases]
        return costs[0] + self.plan.share * (costs[-1] - costs[0])

    def draw(self, item: str) -> bool:
        """Whether an item follows the other one of two plans that are mixed."""
        return self.plan.follows_other(self.strategy.made.seed, item)

    def order(self, drawn: bool) -> list[State]:
        """The bases, as they are tried for an item."""
        first = self.plan.bases[-1] if drawn else self.plan.base
        return [first, *(base for base in self.bases if base != first)]

    def pacer(self, base: State, drawn: bool) -> Pacer:
        return self.other if drawn and self.other is not None else self.pacers[base]

    def leaves_bases(self, base: State, left_nano: int, items_left: float | None) -> bool:
        """Whether a base leaves the money of the plan's cheapest one for the items to come."""
        least = min(self.base_nano(own) for own in self.plan.bases)
        return self.base_nano(base) <= least or left_nano >= math.ceil(least * (items_left or 0.0))

    def cost(self, service: int) -> float:
        """Of one call, in the unit of the budget."""
        return self.costs[service] / 1e9

    def base_nano(self, base: State) -> int:
        """What asking a base costs, in billionths."""
        return sum(self.costs[service] for service in base)

    def items_left(self, seen: int, now: float, state: Account) -> float | None:
        """Items to come after the `seen` ones; None when nothing is known about it.

        Once more have come than were expected, as many again are expected: 100, 200, 400 and so on.
        """
        budget = self.budget
        expected = budget.items
        if expected is not None and seen > expected:
            return float(expected * 2 ** math.ceil(math.log2(seen / expected)) - seen)
        period = budget.period(now)
        if period is None or not math.isfinite(state.start):
            return None
        return budget.items_left(now, seen, period, state.items_before)

    def dual_price(self, base: State, left_nano: int, items_left: float | None, drawn: bool = False) -> float:
        """The dual price for the item whose base has just been reserved."""
        pacer = self.pacer(base, drawn)
        if items_left is None:
            return pacer.planned
        left = (left_nano + self.base_nano(base)) / 1e9 * self.per
        return pacer.update(left, items_left + 1)

    def affords(self, base: State, service: int, left_nano: int, items_left: float | None) -> bool:
        """Whether an add-on leaves the base's money for the items to come."""
        return self.costs[service] <= left_nano - self.kept(base, items_left)

    def kept(self, base: State, items_left: float | None) -> int:
        """The base's money for the items to come, in billionths."""
        cost: float = self.base_nano(base)
        if self.plan.other is not None and base in self.plan.bases:
            cost = self._mean_base_cost / self.per * 1e9
        return math.ceil(cost * (items_left or 0.0))

    def ranked(self, state: State, row: NDArray[np.float64], dual_price: float) -> list[int]:
        """Services by accuracy less dual price times cost, best first; of equals the cheaper first."""
        addon, accuracies = self._addon[state], row.tolist()
        values = {
            service: accuracies[service] - (dual_price * float(addon[service]) if addon[service] > 0 else 0.0)
            for service in self._order[state]
        }
        return sorted(values, key=values.__getitem__, reverse=True)


def _planned(strategy: Strategy, budget: Budget, per: float, plan: float | None) -> float:
    """The money an item may cost, in the unit of prices."""
    if plan is not None:
        return real_number(WHERE, "plan", plan, "one of the strategy's budgets")
    if budget.items is not None:
        return budget.amount * per / budget.items
    if len(strategy.plans) == 1:
        return next(iter(strategy.plans))
    raise FrugalError(
        f"{WHERE}: {budget} does not say how many items it is for, and the strategy knows the budgets "
        f"{listed(strategy.plans)}; give Budget(items=...) or one of these as plan."
    )
