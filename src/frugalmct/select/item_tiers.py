"""Tiers where every item has its own costs: tier t is the item's t-th cheapest service."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import Base, FloatArray
from frugalmct.select.problem import IntArray, base_list, chosen
from frugalmct.select.tiers import Picks, Tiers, best_at


@dataclass(frozen=True, eq=False)
class ItemTiers:
    """costs, columns: per tier the (N,) add-on cost beyond the item's cheapest, rising from 0, and the
    accuracy, -inf where a cheaper service is no less accurate; order: (N, M) the services behind them."""

    costs: list[FloatArray]
    columns: list[FloatArray]
    order: NDArray[np.unsignedinteger]

    @classmethod
    def of(
        cls,
        accuracy: FloatArray,
        addon: FloatArray,
        base: Base,
        *,
        ceiling: float = np.inf,
    ) -> "ItemTiers":
        """What costs more than `ceiling` beyond an item's cheapest service is left out."""
        cost = addon - addon.min(axis=1, keepdims=True)
        order = _cheapest_first(cost, accuracy, base)
        columns = np.take_along_axis(accuracy, order, axis=1).T.copy()
        costs = np.take_along_axis(cost, order, axis=1).T.copy()
        best = columns[0].copy()
        for tier in range(1, len(columns)):
            useless = (columns[tier] <= best) | (costs[tier] > ceiling)
            np.maximum(best, columns[tier], out=best, where=~useless)
            columns[tier][useless] = -np.inf
            np.copyto(costs[tier], costs[tier - 1], where=useless)  # one that matters to nobody
        return cls(list(costs), list(columns), order)

    @property
    def items(self) -> int:
        return self.order.shape[0]

    def __len__(self) -> int:
        return len(self.columns)

    def rows(self, which: NDArray[np.integer] | slice) -> "ItemTiers":
        """Of some of the items only."""
        return ItemTiers(
            [np.ascontiguousarray(cost[which]) for cost in self.costs],
            [np.ascontiguousarray(column[which]) for column in self.columns],
            self.order[which],
        )

    def picks_at(self, dual_price: float) -> Picks:
        """The tier each item prefers at a dual price per unit of cost, the cheaper one in a tie."""
        return best_at(self.columns, self.costs, dual_price)

    def picked(self, values: list[FloatArray], picks: Picks) -> FloatArray:
        """(N,) of `costs` or `columns` the entry of each item's pick."""
        found = np.empty(self.items)
        for tier, column in enumerate(values):
            np.copyto(found, column, where=picks == tier)
        return found

    def spend(self, picks: Picks) -> float:
        return math.fsum(self.picked(self.costs, picks).tolist())

    def value(self, picks: Picks) -> float:
        """Summed accuracy of the picks."""
        return float(self.picked(self.columns, picks).sum())

    def services(self, picks: Picks) -> IntArray:
        """The service behind each item's tier."""
        return chosen(self.order, picks.astype(np.int64)).astype(np.int64)


def _cheapest_first(cost: FloatArray, accuracy: FloatArray, base: Base) -> NDArray[np.unsignedinteger]:
    """Services of each item by cost, then accuracy, then whether they are of the base, then index."""
    bases = base_list(base)
    preferred = np.array(sorted(range(cost.shape[1]), key=lambda k: k not in bases))
    by_accuracy = np.argsort(-accuracy[:, preferred], axis=1, kind="stable")
    services = preferred[by_accuracy]
    by_cost = np.argsort(np.take_along_axis(cost, services, axis=1), axis=1, kind="stable")
    kind = np.min_scalar_type(max(cost.shape[1] - 1, 1))
    return np.take_along_axis(services, by_cost, axis=1).astype(kind)


AnyTiers = Tiers | ItemTiers


def tiers_of(accuracy: FloatArray, addon: FloatArray, base: Base) -> AnyTiers:
    """The tiers of (K,) or (N, K) add-on costs."""
    return (Tiers if addon.ndim == 1 else ItemTiers).of(accuracy, addon, base)
