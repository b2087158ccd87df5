"""Choosing item by item where a call's cost is known only once it was made.

It is decided on estimated costs and settled with true ones. A call is made only while money is left, so that
the true spend exceeds `items * budget` by less than the last call; with a cap per call (the most that one may
cost, as a limit on tokens makes it), only while the cap is left, so that it never exceeds it. Money that the
items to come are expected to need, for whoever is asked first or for the cheapest service, is kept back.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.checks import real_number, whole_number
from frugalmct.errors import FrugalError
from frugalmct.select.online import exact_money
from frugalmct.select.problem import allowance

NOBODY = -1
REPRICE_EVERY = 64
# Of the money for items to come, how many standard deviations of their sum are kept back.
DEVIATIONS = 3.0

_UNIT = exact_money(1.0)


@dataclass(frozen=True, eq=False)
class DualPriceCurve:
    """The dual price at every budget, from training items: budgets rise, dual prices fall.

    least, deviation: what an item costs at the least, its mean over items and the standard deviation.
    """

    budgets: NDArray[np.float64]
    dual_prices: NDArray[np.float64]
    least: float
    deviation: float

    def at(self, budget: float) -> float:
        place = int(np.searchsorted(self.budgets, budget * (1 + 1e-12), side="right")) - 1
        return float(self.dual_prices[max(place, 0)])

    @property
    def lowest(self) -> float:
        """The lowest budget: what an item costs at the least, but for rounding."""
        return self.least * (1 - 1e-9)

    def kept(self, coming: float) -> float:
        """What is kept back for so many items to come."""
        return coming * self.least + DEVIATIONS * self.deviation * math.sqrt(coming)


def most_worth(
    accuracy: np.ndarray, costs: np.ndarray, paid: Sequence[int], dual_price: float
) -> NDArray[np.int64]:
    """(items,) argmax of accuracy - dual price * cost, those paid for at no cost; of equals the cheaper."""
    free = costs.copy()
    free[:, list(paid)] = 0.0
    value = accuracy - dual_price * free
    ties = np.where(value == value.max(axis=1, keepdims=True), free, np.inf)
    return ties.argmin(axis=1)


class Spending:
    """The money of `items` items. For each of them: `begin`, then `may_ask` and `pay` for whoever is asked
    first, then `choose`, and `pay` for the one chosen.

    curve: training's dual prices, read anew every `REPRICE_EVERY` items at the money left per item left;
    first: who is asked first; caps: (services,) the most that a call may cost, or None.
    """

    def __init__(
        self,
        curve: DualPriceCurve,
        budget: float,
        items: int,
        first: Sequence[int] = (),
        *,
        delta: float = 0.0,
        caps: ArrayLike | None = None,
    ) -> None:
        self.items = whole_number("Spending", "items", items, least=1)
        self.budget = real_number("Spending", "budget", budget, "a number, 0 or more")
        self.curve, self.first, self.delta = curve, tuple(first), delta
        self.caps = None if caps is None else [float(cap) for cap in np.asarray(caps, dtype=np.float64)]
        self._left = exact_money(allowance(self.items, self.budget, 0.0))
        self._paid = 0
        self.seen = 0
        self.dual_price = 0.0

    @property
    def spent(self) -> float:
        """Money spent so far, as true costs."""
        return self._paid / _UNIT

    @property
    def left(self) -> float:
        return self._left / _UNIT

    def begin(self) -> bool:
        """The next item; whether the dual price was read anew."""
        if self.seen == self.items:
            raise FrugalError(
                f"Spending: all {self.items} items that the budget covers have been decided; "
                "make one for more."
            )
        anew = self.seen % REPRICE_EVERY == 0
        if anew:
            least = self.curve.least
            each = max(self.left / (self.items - self.seen) - least, 0.0)
            self.dual_price = self.curve.at(least + (1 - self.delta) * each)
        self.seen += 1
        return anew

    def may_ask(self, service: int) -> bool:
        """Whether a call may be made at all."""
        return self._left > 0 if self.caps is None else exact_money(self.caps[service]) <= self._left

    def pay(self, service: int, cost: float) -> None:
        """What a call really cost."""
        if self.caps is not None and cost > self.caps[service]:
            raise FrugalError(
                f"A call of service {service} cost {cost:g}, more than the cap of {self.caps[service]:g}; "
                "give a cap that no call exceeds."
            )
        money = exact_money(float(cost))
        self._left -= money
        self._paid += money

    def wanted(self, accuracy: np.ndarray, costs: np.ndarray) -> NDArray[np.int64]:
        """(items,) the service worth most at the dual price, were money no object.

        accuracy, costs: (items, services) estimates. Of equals whoever was asked first, then the cheaper.
        """
        return most_worth(accuracy, costs, self.first, self.dual_price)

    def choose(self, accuracy: np.ndarray, costs: np.ndarray, wanted: int | None = None) -> int:
        """The service whose answer is to stand once all that are asked first have answered; NOBODY if none
        can be paid for. accuracy, costs: (services,) estimates."""
        if wanted is None:
            wanted = int(self.wanted(accuracy[None], costs[None])[0])
        if wanted in self.first or self._affordable(wanted, float(costs[wanted])):
            return wanted
        if self.first:
            return max(self.first, key=lambda k: accuracy[k])
        payable = [k for k in range(len(costs)) if self.may_ask(k)]
        return min(payable, key=lambda k: costs[k], default=NOBODY)

    def _affordable(self, service: int, estimated: float) -> bool:
        kept = self.curve.kept(self.items - self.seen)
        needed = estimated if self.caps is None else self.caps[service]
        return self.may_ask(service) and needed + kept <= self.left
