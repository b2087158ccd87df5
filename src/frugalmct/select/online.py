"""Algorithm 1 of the paper: choose services item by item, at a price fixed beforehand, within the budget.

Two points of the pseudo-code are made definite here. Money is deducted for what is really chosen: an item
sent to the base because its service had become too dear costs nothing extra (read literally, the
pseudo-code would still deduct it, and stop all later add-ons). And the budget covers `items` items, so
choosing for more than those is an error, not a silent overrun of the base's price.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.errors import FrugalError
from frugalmct.select.checks import (
    accuracy_table,
    base_index,
    check_accuracy_range,
    cost_vector,
    number_array,
    real_number,
    whole_number,
)
from frugalmct.select.dual import Frontier
from frugalmct.select.problem import IntArray, addon_costs, allowance, checked_budget, spend
from frugalmct.select.tiers import best_at_price, preference_order


class OnlineSelector:
    """Chooses argmax_k accuracy_k - price * add-on cost_k, ties to the smallest add-on cost, then the base,
    while the total budget `items * budget` lasts; an item that can no longer pay goes to the base.

    `choose` takes one item's row, `choose_all` many; both continue from the same state and agree exactly.
    With a `reprice` frontier (say of the training items) the price is read anew every `reprice_every` items
    at the budget left per item left; without it the price stays as given.
    """

    def __init__(
        self,
        costs: ArrayLike,
        base: int,
        budget: float,
        items: int,
        price: float,
        *,
        reprice: Frontier | None = None,
        reprice_every: int = 256,
    ) -> None:
        where = "OnlineSelector"
        vector = cost_vector(where, costs)
        self.base = base_index(where, base, vector.size)
        self.base_cost = float(vector[self.base])
        self.budget = checked_budget(where, budget, self.base_cost)
        self.items = whole_number(where, "items", items, least=1)
        self.price = real_number(where, "price", price, "a number, 0 or more")
        if not self.price >= 0:
            raise FrugalError(f"{where}: price is {price!r}; give a number, 0 or more.")
        if not (reprice is None or isinstance(reprice, Frontier)):
            raise FrugalError(f"{where}: reprice is a {type(reprice).__name__}; give a Frontier or None.")
        self._reprice = reprice
        self._reprice_every = whole_number(where, "reprice_every", reprice_every, least=1)
        addon = addon_costs(vector, self.base)
        self._order = preference_order(addon, self.base)
        self._addon: list[float] = addon.tolist()
        self._allowance = allowance(self.items, self.budget, self.base_cost)
        self._counts = [0] * vector.size
        self._seen = 0

    @property
    def seen(self) -> int:
        """Items chosen for so far."""
        return self._seen

    @property
    def spent(self) -> float:
        """Money spent so far, base included."""
        return self._seen * self.base_cost + spend(self._counts, self._addon)

    def choose(self, row: ArrayLike) -> int:
        """The service for the next item, given its (K,) estimated accuracies."""
        values = number_array("OnlineSelector.choose", "row", row, "one accuracy per service")
        if values.shape != (len(self._addon),):
            raise FrugalError(
                f"OnlineSelector.choose: row has shape {values.shape}; give {len(self._addon)} accuracies, "
                "one per service."
            )
        check_accuracy_range("OnlineSelector.choose", values)
        self._check_room(1)
        self._refresh_price()
        accuracies: list[float] = values.tolist()
        best, wanted = -math.inf, self.base
        for service in self._order:
            cost = self._addon[service]
            value = accuracies[service] - (self.price * cost if cost > 0 else 0.0)
            if value > best:
                best, wanted = value, service
        if not self._affordable(self._counts, wanted):
            wanted = self.base
        self._counts[wanted] += 1
        self._seen += 1
        return wanted

    def choose_all(self, matrix: ArrayLike) -> IntArray:
        """The services for the next n items, given their (n, K) estimated accuracies."""
        table = accuracy_table("OnlineSelector.choose_all", matrix, services=len(self._addon))
        self._check_room(table.shape[0])
        if self._reprice is None:
            return self._choose_block(table)
        blocks, start = [np.empty(0, dtype=np.int64)], 0
        while start < table.shape[0]:
            self._refresh_price()
            size = self._reprice_every - self._seen % self._reprice_every
            blocks.append(self._choose_block(table[start : start + size]))
            start += size
        return np.concatenate(blocks)

    def _choose_block(self, table: NDArray[np.float64]) -> IntArray:
        columns = [table[:, service] for service in self._order]
        ranks = best_at_price(columns, [self._addon[service] for service in self._order], self.price)
        choices = np.array(self._order, dtype=np.int64)[ranks]
        self._take(choices)
        self._seen += choices.size
        return choices

    def _take(self, choices: IntArray) -> None:
        """Count the choices, sending items to the base from where their service stops being affordable.

        Money only shrinks, so a service once too dear stays so: each one causes at most one cut.
        """
        start = 0
        while start < choices.size:
            rest = choices[start:]
            counts = self._counts_with(rest)
            if self._within(counts):
                self._counts = counts
                return
            first = self._first_overrun(rest)
            self._counts = self._counts_with(rest[:first])
            too_dear = rest[first]
            rest[first:][rest[first:] == too_dear] = self.base
            start += first

    def _first_overrun(self, choices: IntArray) -> int:
        """Position of the first item that exceeds the allowance; counted from `self._counts` on."""
        counts, fits, exceeds = self._counts, 0, choices.size
        while exceeds - fits > 1:
            middle = (fits + exceeds) // 2
            added = np.bincount(choices[fits:middle], minlength=len(counts)).tolist()
            trial = [a + b for a, b in zip(counts, added, strict=True)]
            if self._within(trial):
                counts, fits = trial, middle
            else:
                exceeds = middle
        return fits

    def _counts_with(self, choices: IntArray) -> list[int]:
        added = np.bincount(choices, minlength=len(self._counts)).tolist()
        return [a + b for a, b in zip(self._counts, added, strict=True)]

    def _affordable(self, counts: list[int], service: int) -> bool:
        return self._within([count + (k == service) for k, count in enumerate(counts)])

    def _within(self, counts: list[int]) -> bool:
        return spend(counts, self._addon) <= self._allowance

    def _refresh_price(self) -> None:
        if self._reprice is not None and self._seen % self._reprice_every == 0 and self._seen < self.items:
            left = max(0.0, self._allowance - spend(self._counts, self._addon)) / (self.items - self._seen)
            self.price = float(self._reprice.price(self._reprice.base_cost + left))

    def _check_room(self, wanted: int) -> None:
        left = self.items - self._seen
        if wanted > left:
            raise FrugalError(
                f"OnlineSelector: {wanted} more item(s) asked for, but of the {self.items} items that the "
                f"budget covers only {left} are left; make a selector for more items."
            )
