"""What a router of costs per call tells of itself: drift, the quality expected and promised, its money."""

import numpy as np

from frugalmct.live.records import State as Account
from frugalmct.live.report import HealthReport
from frugalmct.live.sketch import Sketch
from frugalmct.percall import PerCallPlan, PerCallStrategy
from frugalmct.percall.model import FirstModel


def call_sketch(strategy: PerCallStrategy, plan: PerCallPlan) -> Sketch:
    """What the traffic is held against: the training items, and what the plan would have chosen for them.

    Labels are not counted, so that every item counts as silent, here as in the traffic.
    """
    trained = strategy.training.first(plan.first)
    choices = trained.walk(plan.budget, strategy.models[plan.first].curve).choices
    chosen = trained.accuracy[np.arange(len(trained)), np.maximum(choices, 0)]
    expected = np.where(choices < 0, 0.0, chosen)
    return Sketch.of_counts(trained.accuracy, np.zeros(0, dtype=np.int64), len(trained), (), expected)


class CallReport(HealthReport):
    """Its hooks; `model` is that of those whom the plan asks first."""

    strategy: PerCallStrategy
    plan: PerCallPlan
    model: FirstModel
    per: float

    def _items_to_come(self, now: float, state: Account) -> float | None:
        return self._items_after(state.items, now, state)

    def _items_after(self, seen: int, now: float, state: Account) -> float | None:
        """How many come after the `seen` ones, as far as that is known."""
        period = self.money.budget.period(now)
        if period is None:
            return None
        return self.money.budget.items_left(now, seen, period, state.items_before)

    def _dual_prices(self, state: Account, items_left: float | None) -> tuple[float, float]:
        planned = self.plan.dual_price
        return (self.model.curve.at(state.left * self.per / items_left) if items_left else planned), planned

    def _loss_without(self, service: str) -> str:
        index = self.strategy.services.index(service)
        if index in self.plan.first:
            return "every item must do without one that is asked first"
        whole = self.strategy.training.first(self.plan.first)
        before, after = (
            own.walk(self.plan.budget, own.curve).reached(own.quality).mean()
            for own in (whole, whole.without(index))
        )
        return f"quality is {after:.3f} instead of {before:.3f} at this budget, by the training items"

    def _least(self) -> tuple[float, str]:
        return self.model.curve.lowest / self.per, "an item at the least"
