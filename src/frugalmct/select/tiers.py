"""Services of equal add-on cost form a tier; selecting at a price is a choice among tiers.

Costs do not depend on the item, so within a tier an item can only want its most accurate service, and
the tiers have the same order of cost for every item. Everything downstream works on at most K contiguous
columns in that order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalmct.select.checks import FloatArray
from frugalmct.select.problem import IntArray

Picks = NDArray[np.unsignedinteger]

CHUNK = 1 << 14
"""Items handled at once, so that a chunk's columns stay in the processor's cache."""


def preference_order(addon: FloatArray, base: int) -> list[int]:
    """Services as ties are broken: smallest add-on cost, then the base, then the lowest index."""
    return sorted(range(addon.size), key=lambda k: (addon[k], k != base, k))


def best_at_price(columns: Sequence[FloatArray], costs: Sequence[float], price: float) -> Picks:
    """For each item the column with the highest accuracy - price * cost; the first one wins a tie."""
    items = columns[0].shape[0]
    penalties = [price * cost if cost > 0 else 0.0 for cost in costs]
    picks = np.zeros(items, dtype=np.min_scalar_type(max(len(columns) - 1, 1)))
    best, value = np.empty(CHUNK), np.empty(CHUNK)
    better = np.empty(CHUNK, dtype=bool)
    for start in range(0, items, CHUNK):
        chunk = slice(start, min(start + CHUNK, items))
        size = chunk.stop - chunk.start
        b, v, m = best[:size], value[:size], better[:size]
        np.subtract(columns[0][chunk], penalties[0], out=b)
        for k in range(1, len(columns)):
            np.subtract(columns[k][chunk], penalties[k], out=v)
            np.greater(v, b, out=m)
            np.copyto(picks[chunk], picks.dtype.type(k), where=m)
            if k + 1 < len(columns):
                np.maximum(b, v, out=b)
    return picks


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
        base: int,
        *,
        dearest: float = np.inf,
        free: float = 0.0,
        alike: float = 0.0,
    ) -> "Tiers":
        """The tiers that cost no more than `dearest`; the first one is free and holds the base.

        Services up to `free` count as free, and costs within a share `alike` as one, the dearest of them.
        """
        members: list[list[int]] = []
        for service in preference_order(addon, base):
            if addon[service] > dearest:
                break
            if members and addon[service] <= max(free, addon[members[-1][0]] * (1 + alike)):
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

    def picks_at(self, price: float) -> Picks:
        """The tier each item prefers at a price per unit of cost, the cheaper one in a tie."""
        return best_at_price(self.columns, self.costs.tolist(), price)

    def counts(self, picks: Picks) -> list[int]:
        return np.bincount(picks, minlength=len(self)).tolist()

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
