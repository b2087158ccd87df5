"""What asking on costs at every dual price, from one look at the items.

As the dual price rises an item turns, at each state, from one choice to the next cheaper one on its upper
hull, until it stops there. Between two turns it stays: a range of dual prices with one cost. The ends of all
these ranges, sorted, give the spend at every dual price, and so the dual price of every budget.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Stay(NamedTuple):
    """Some items, each at the dual prices from `low` up to, and without, `high`."""

    items: NDArray[np.int64]
    low: Floats
    high: Floats


def turns(columns: Sequence[Floats], costs: Floats, stay: Stay) -> Iterator[tuple[int, Stay]]:
    """Which column is preferred where: that of the highest value - dual price * cost, of equals the first.

    columns: (items,) what each choice is worth, by rising cost.
    """
    items, low, high = stay
    table = np.array([column[items] for column in columns])
    at = np.argmax(table - low * costs[:, None], axis=0)
    while len(items):
        saved = costs[at] - costs[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(
                saved > 0, (np.take_along_axis(table, at[None], axis=0) - table) / saved, np.inf
            )
        next_one = np.argmin(slopes, axis=0)
        turn = np.maximum(slopes.min(axis=0), low)  # rounding must not turn an item back
        for column in np.flatnonzero(np.bincount(at)).tolist():
            here = (at == column) & (low < np.minimum(turn, high))
            yield column, Stay(items[here], low[here], np.minimum(turn, high)[here])
        on = turn < high
        items, low, high, at, table = items[on], turn[on], high[on], next_one[on], table[:, on]


@dataclass(frozen=True, eq=False)
class Spending:
    """dual_prices: rising from 0; spend: what all items cost from each of them up to the next."""

    dual_prices: Floats
    spend: Floats

    @classmethod
    def of(cls, stays: Sequence[tuple[float, Stay]]) -> "Spending":
        """From what a stay costs each of its items, and the stay."""
        paid = [(cost, stay) for cost, stay in stays if cost]
        ends = [np.zeros(1), *(end for _, stay in paid for end in (stay.low, stay.high))]
        changes = [np.zeros(1)]
        changes += [np.full(len(stay.items), change) for cost, stay in paid for change in (cost, -cost)]
        dual_prices = np.concatenate(ends)
        order = np.argsort(dual_prices, kind="stable")
        dual_prices = dual_prices[order]
        last = np.append(dual_prices[1:] != dual_prices[:-1], True)
        # Extended precision: the running sum goes up and down by every item's cost.
        spend = np.cumsum(np.concatenate(changes)[order], dtype=np.longdouble)[last]
        return cls(dual_prices[last], spend.astype(np.float64))

    def lowest_within(self, most: float) -> float:
        """The lowest dual price at which no more than this is spent."""
        return float(self.dual_prices[np.argmax(self.spend <= most)])
