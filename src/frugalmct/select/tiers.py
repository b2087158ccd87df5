"""An item's services in order of add-on cost; selecting at a dual price is a choice among these tiers.

Where a price holds for all items, services of equal cost form one tier (an item can only want the most
accurate of them), and the tiers are the same for every item. Where costs differ per item, tier t is the
item's own t-th cheapest service (see `item_tiers`). Either way the first tier costs nothing beyond what
the item pays anyway, and everything downstream works on at most K columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import Base, FloatArray
from frugalmct.select.problem import IntArray, base_list, spend

Picks = NDArray[np.unsignedinteger]
Cost = float | FloatArray
"""A tier's cost: one for all items, or one for each."""

CHUNK = 1 << 14
"""Items handled at once, so that a chunk's columns stay in the processor's cache."""

_LARGEST = float(np.finfo(np.float64).max)


def preference_order(addon: FloatArray, base: Base) -> list[int]:
    """Services as ties are broken: smallest add-on cost, then the base, then the lowest index."""
    bases = base_list(base)
    return sorted(range(addon.size), key=lambda k: (addon[k], k not in bases, k))


def best_at(columns: Sequence[FloatArray], costs: Sequence[Cost], dual_price: float) -> Picks:
    """For each item the column with the highest accuracy - dual_price * cost; the first one wins a tie."""
    items = columns[0].shape[0]
    dual_price = min(dual_price, _LARGEST)  # an infinite one would make nonsense of a cost of 0
    picks = np.zeros(items, dtype=np.min_scalar_type(max(len(columns) - 1, 1)))
    best, value, penalty = np.empty((3, min(CHUNK, items)))
    better = np.empty(best.size, dtype=bool)
    for start in range(0, items, CHUNK):
        chunk = slice(start, min(start + CHUNK, items))
        size = chunk.stop - chunk.start
        b, v, m = best[:size], value[:size], better[:size]
        np.subtract(columns[0][chunk], _penalty(costs[0], chunk, dual_price, penalty[:size]), out=b)
        for k in range(1, len(columns)):
            np.subtract(columns[k][chunk], _penalty(costs[k], chunk, dual_price, penalty[:size]), out=v)
            np.greater(v, b, out=m)
            np.copyto(picks[chunk], picks.dtype.type(k), where=m)
            if k + 1 < len(columns):
                np.maximum(b, v, out=b)
    return picks


def _penalty(cost: Cost, chunk: slice, dual_price: float, out: FloatArray) -> Cost:
    if not isinstance(cost, np.ndarray):
        return dual_price * float(cost)
    with np.errstate(over="ignore"):
        return np.multiply(cost[chunk], dual_price, out=out)


@dataclass(frozen=True, eq=False)
class Tiers:
    """costs: (M,) distinct add-on costs, rising from 0; columns: per tier the (N,) best accuracy;
    members: per tier its services, the one preferred in a tie first."""

    costs: FloatArray
    columns: list[FloatArray]
    members: list[list[int]]
    accuracy: FloatArray

    @classmethod
    def of(
        cls,
        accuracy: FloatArray,
        addon: FloatArray,
        base: Base,
        *,
        ceiling: float = np.inf,
        alike: float = 0.0,
    ) -> "Tiers":
        """The tiers that cost no more than `ceiling` beyond the cheapest; the first one holds that.

        Costs within a share `alike` count as one, the highest of them.
        """
        addon = addon - addon.min()
        members: list[list[int]] = []
        for service in preference_order(addon, base):
            if addon[service] > ceiling:
                break
            if members and addon[service] <= addon[members[-1][0]] * (1 + alike):
                members[-1].append(service)
            else:
                members.append([service])
        columns = [_best_of(accuracy, tier) for tier in members]
        costs = np.array([0.0, *(addon[tier[-1]] for tier in members[1:])])
        return cls(costs, columns, members, accuracy)

    @property
    def items(self) -> int:
        return self.accuracy.shape[0]

    def __len__(self) -> int:
        return len(self.columns)

    def rows(self, which: NDArray[np.integer] | slice) -> "Tiers":
        """Of some of the items only."""
        columns = [np.ascontiguousarray(column[which]) for column in self.columns]
        return replace(self, columns=columns, accuracy=self.accuracy[which])

    def picks_at(self, dual_price: float) -> Picks:
        """The tier each item prefers at a dual price per unit of cost, the cheaper one in a tie."""
        return best_at(self.columns, self.costs.tolist(), dual_price)

    def counts(self, picks: Picks) -> list[int]:
        return np.bincount(picks, minlength=len(self)).tolist()

    def spend(self, picks: Picks) -> float:
        return spend(self.counts(picks), self.costs.tolist())

    def value(self, picks: Picks) -> float:
        """Summed accuracy of the picks."""
        return sum(float(column[picks == tier].sum()) for tier, column in enumerate(self.columns))

    def services(self, picks: Picks) -> IntArray:
        """The service behind each item's tier."""
        choices = np.array([tier[0] for tier in self.members], dtype=np.int64)[picks]
        for number, tier in enumerate(self.members):
            if len(tier) > 1:
                here = np.flatnonzero(picks == number)
                services = np.array(tier)
                choices[here] = services[self.accuracy[np.ix_(here, services)].argmax(axis=1)]
        return choices


def _best_of(accuracy: FloatArray, services: list[int]) -> FloatArray:
    column = np.ascontiguousarray(accuracy[:, services[0]])
    for service in services[1:]:
        column = np.maximum(column, accuracy[:, service])
    return column
