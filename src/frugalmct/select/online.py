"""Algorithm 1 of the paper: choose services item by item, at a given dual price, within the budget.

Two points of the pseudo-code are made definite here. Money is deducted for what is really chosen: an item
sent to the base because its service had become too expensive costs nothing extra (read literally, the
pseudo-code would still deduct it, and stop all later add-ons). And the budget covers `items` items, so
choosing for more than those is an error, not a silent overrun of the base's price.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.checks import (
    Base,
    FloatArray,
    accuracy_table,
    base_services,
    check_accuracy_range,
    check_items,
    cost_table,
    number_array,
    real_number,
    whole_number,
)
from frugalmct.errors import FrugalError
from frugalmct.select.dual import Frontier
from frugalmct.select.problem import (
    IntArray,
    addon_costs,
    allowance,
    base_list,
    checked_budget,
    mean_base_cost,
)
from frugalmct.select.tiers import best_at, preference_order

_SHIFT = 1074
_ONE = 1 << _SHIFT
"""Money is counted in the unit of the smallest float, so that every sum of it is exact."""


def exact_money(money: float) -> int:
    """A float as a whole number of the smallest float there is."""
    numerator, denominator = money.as_integer_ratio()
    return numerator << (_SHIFT + 1 - denominator.bit_length())


class OnlineSelector:
    """Chooses argmax_k accuracy_k - price * add-on cost_k, ties to the smallest add-on cost, then the base,
    while the total budget `items * budget` lasts; an item that can no longer pay goes to the base (of
    several the one that looks most accurate; without a base, to its cheapest service).

    `price` is the dual price. `choose` takes one item's row, `choose_all` many; both continue from the same
    state and agree exactly. With a `reprice` frontier (say of the training items) the dual price is read
    anew every `reprice_every` items at the budget left per item left; without it, it stays as given.

    costs: (K,) the price of each service, or (N, K) with N = `items` what each item, in this order, will
    cost. An item whose own costs are known only when it comes is chosen for with them; the costs given here
    then say what to set aside for the base, or the cheapest choice, of the items still to come.
    """

    def __init__(
        self,
        costs: ArrayLike,
        base: Base,
        budget: float,
        items: int,
        price: float,
        *,
        reprice: Frontier | None = None,
        reprice_every: int = 256,
    ) -> None:
        where = "OnlineSelector"
        self._costs = cost_table(where, costs).copy()
        self.items = whole_number(where, "items", items, least=1)
        check_items(where, self._costs, self.items)
        self.base = base_services(where, base, self._costs.shape[-1])
        self.dual_price = real_number(where, "price", price, "a number, 0 or more")
        if not self.dual_price >= 0:
            raise FrugalError(f"{where}: price is {price!r}; give a number, 0 or more.")
        if not (reprice is None or isinstance(reprice, Frontier)):
            raise FrugalError(f"{where}: reprice is a {type(reprice).__name__}; give a Frontier or None.")
        self._reprice = reprice
        self._reprice_every = whole_number(where, "reprice_every", reprice_every, least=1)
        self._addon = addon_costs(self._costs, self.base)
        self._set_money(where, budget)
        self._seen = self._paid = 0

    def _set_money(self, where: str, budget: object) -> None:
        """What is set aside for each item, and what the budget leaves beyond that for add-ons."""
        self.base_cost = mean_base_cost(self._costs, self.base)
        rows = np.atleast_2d(self._costs)
        self._set_aside = [
            self._least(row, addon) for row, addon in zip(rows, np.atleast_2d(self._addon), strict=True)
        ]
        cheapest = self._addon.min(axis=-1)
        least_cost = self.base_cost + math.fsum(np.atleast_1d(cheapest)) / len(rows)
        self.budget = checked_budget(where, budget, least_cost, self.base)
        addons = exact_money(allowance(self.items, self.budget, self.base_cost))
        each = 1 if self._per_item else self.items
        self._left = addons - each * sum(map(exact_money, np.atleast_1d(cheapest).tolist()))
        self._later = each * sum(self._set_aside)
        if not self._per_item:
            self._order = preference_order(self._addon, self.base)
            self._extra = [exact_money(cost) - exact_money(float(cheapest)) for cost in self._addon.tolist()]

    @property
    def _per_item(self) -> bool:
        return self._costs.ndim == 2

    @property
    def seen(self) -> int:
        """Items chosen for so far."""
        return self._seen

    @property
    def spent(self) -> float:
        """Money spent so far, base included."""
        return self._paid / _ONE

    def choose(self, row: ArrayLike, costs: ArrayLike | None = None) -> int:
        """The service for the next item, given its (K,) estimated accuracies, and its (K,) costs where they
        are not those that the selector was made with."""
        where, services = "OnlineSelector.choose", self._costs.shape[-1]
        values = number_array(where, "row", row, "one accuracy per service")
        if values.shape != (services,):
            raise FrugalError(
                f"{where}: row has shape {values.shape}; give {services} accuracies, one per service."
            )
        check_accuracy_range(where, values)
        if costs is not None:
            costs = np.atleast_2d(number_array(where, "costs", costs, "one cost per service"))
        return int(self._choose(where, values[None, :], costs)[0])

    def choose_all(self, matrix: ArrayLike, costs: ArrayLike | None = None) -> IntArray:
        """The services for the next n items, given their (n, K) estimated accuracies, and their (n, K) costs
        where they are not those that the selector was made with."""
        table = accuracy_table("OnlineSelector.choose_all", matrix, services=self._costs.shape[-1])
        return self._choose("OnlineSelector.choose_all", table, costs)

    def _choose(self, where: str, table: FloatArray, costs: ArrayLike | None) -> IntArray:
        own = None if costs is None else self._checked_costs(where, costs, table)
        if self._per_item and own is None:
            own = self._costs[self._seen : self._seen + len(table)]
        self._check_room(len(table))
        blocks, start = [np.empty(0, dtype=np.int64)], 0
        while start < len(table):
            self._refresh_dual_price()
            size = self._reprice_every - self._seen % self._reprice_every if self._reprice else len(table)
            part = table[start : start + size]
            if own is None:
                blocks.append(self._choose_alike(part))
            else:
                blocks.append(self._choose_own(part, own[start : start + size]))
            start += size
        return np.concatenate(blocks)

    def _checked_costs(self, where: str, costs: ArrayLike, table: FloatArray) -> FloatArray:
        own = cost_table(where, costs)
        if own.shape != table.shape:
            raise FrugalError(
                f"{where}: costs has shape {own.shape}; give what each of the {len(table)} item(s) costs at "
                f"each of the {table.shape[1]} services."
            )
        return own

    def _choose_alike(self, table: FloatArray) -> IntArray:
        """At the prices that hold for all items."""
        self._check_money(len(table) * self._set_aside[0], "the next items cost")
        columns = [table[:, service] for service in self._order]
        ranks = best_at(columns, self._addon[self._order].tolist(), self.dual_price)
        choices = np.array(self._order, dtype=np.int64)[ranks]
        counts = self._cut(choices, table)
        self._pay(sum(n * extra for n, extra in zip(counts, self._extra, strict=True)), choices.size)
        return choices

    def _cut(self, choices: IntArray, table: FloatArray) -> list[int]:
        """Send items to the base from where their service stops being affordable; what each then got.

        Money only shrinks, so a service once too expensive stays so: each one causes at most one cut.
        """
        start, counts = 0, [0] * len(self._extra)
        while start < choices.size:
            rest = choices[start:]
            total = _added(counts, rest)
            if self._within(total):
                return total
            first = self._first_overrun(counts, rest)
            counts = _added(counts, rest[:first])
            unaffordable = start + first + np.flatnonzero(rest[first:] == rest[first])
            choices[unaffordable] = self._fallback(table, unaffordable, self._addon)
            start += first
        return counts

    def _first_overrun(self, counts: list[int], choices: IntArray) -> int:
        """Position of the first item that exceeds the money left, beside what `counts` cost."""
        fits, exceeds = 0, choices.size
        while exceeds - fits > 1:
            middle = (fits + exceeds) // 2
            trial = _added(counts, choices[fits:middle])
            if self._within(trial):
                counts, fits = trial, middle
            else:
                exceeds = middle
        return fits

    def _within(self, counts: list[int]) -> bool:
        # Items with costs of their own may have taken what was set aside for others: then nothing is left.
        return sum(n * extra for n, extra in zip(counts, self._extra, strict=True)) <= max(self._left, 0)

    def _choose_own(self, table: FloatArray, costs: FloatArray) -> IntArray:
        """At costs of their own, one after the other."""
        addon = addon_costs(costs, self.base)
        choices = self._wanted(table, addon)
        for n, (row, more) in enumerate(zip(costs, addon, strict=True)):
            reserved = self._set_aside[self._seen if self._per_item else 0]
            least = self._least(row, more)
            surplus = least - reserved
            extra = exact_money(float(more[choices[n]])) - exact_money(float(more.min()))
            if extra > 0 and extra + surplus > self._left:
                choices[n], extra = self._fallback(table, n, more), 0
            self._check_money(least, f"item {self._seen + 1} costs")
            self._pay(extra + surplus, 1)
        return choices

    def _wanted(self, table: FloatArray, addon: FloatArray) -> IntArray:
        """The services wanted at the dual price, were money no object."""
        bases, price = base_list(self.base), min(self.dual_price, float(np.finfo(np.float64).max))
        order = sorted(range(table.shape[1]), key=lambda k: k not in bases)
        best, cost = np.full(len(table), -np.inf), np.full(len(table), np.inf)
        wanted = np.zeros(len(table), dtype=np.int64)
        with np.errstate(over="ignore"):
            for k in order:
                value = table[:, k] - price * addon[:, k]
                better = (value > best) | ((value == best) & (addon[:, k] < cost))
                best, cost = np.where(better, value, best), np.where(better, addon[:, k], cost)
                wanted[better] = k
        return wanted

    def _fallback(self, table: FloatArray, rows: int | NDArray[np.intp], addon: FloatArray) -> IntArray | int:
        """Where rows of the table go that cannot pay for more; `addon`: their (K,) add-on costs."""
        bases = np.array(base_list(self.base), dtype=np.int64)
        if bases.size == 0:
            return int(addon.argmin())
        return int(bases[0]) if bases.size == 1 else bases[table[rows][..., bases].argmax(axis=-1)]

    def _least(self, costs: FloatArray, addon: FloatArray) -> int:
        """What an item costs at the least: its base, or without one its cheapest service."""
        base = sum(exact_money(float(costs[service])) for service in base_list(self.base))
        return base + exact_money(float(addon.min()))

    def _pay(self, beyond: int, items: int) -> None:
        """Pay for `items` items what was set aside for them, and so much beyond."""
        aside = self._set_aside[self._seen] if self._per_item else items * self._set_aside[0]
        self._left -= beyond
        self._later -= aside
        self._paid += aside + beyond
        self._seen += items

    def _refresh_dual_price(self) -> None:
        if self._reprice is not None and self._seen % self._reprice_every == 0 and self._seen < self.items:
            left = max(0, self._left) / (_ONE * (self.items - self._seen))
            self.dual_price = float(self._reprice.dual_price(self._reprice.least_cost + left))

    def _check_money(self, least: int, what: str) -> None:
        if least > self._left + self._later:
            raise FrugalError(
                f"OnlineSelector: {what} at least {least / _ONE:g}, more than the "
                f"{(self._left + self._later) / _ONE:g} that is left of the budget; raise the budget."
            )

    def _check_room(self, wanted: int) -> None:
        left = self.items - self._seen
        if wanted > left:
            raise FrugalError(
                f"OnlineSelector: {wanted} more item(s) asked for, but of the {self.items} items that the "
                f"budget covers only {left} are left; make a selector for more items."
            )


def _added(counts: list[int], choices: NDArray[np.int64]) -> list[int]:
    added = np.bincount(choices, minlength=len(counts)).tolist()
    return [a + b for a, b in zip(counts, added, strict=True)]
