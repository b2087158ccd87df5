"""A plan, or two mixed: some items, drawn at random, follow the plan of a higher budget, the others that of a
lower one. Together they cost what is between, and reach what is between.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import CascadeSelector, Rows, State
from frugalmct.errors import FrugalError
from frugalmct.seeds import generator


@dataclass(frozen=True)
class CascadePlan:
    """What to do at one budget: who is asked for every item, the buffer δ, the dual price for asking on.

    other: a plan of a higher budget that the share `share` of the items follows; None where one plan is
    enough. rest: then the budget of all other items. gain: what training promised of it over the best plan
    with one service first; 0 where it is one.
    """

    budget: float
    base: State
    delta: float
    dual_price: float
    other: "CascadePlan | None" = None
    rest: float | None = None
    gain: float = 0.0

    @property
    def share(self) -> float:
        """Of the items that follow `other`: as many as the budget pays for."""
        if self.other is None or self.rest is None:
            return 0.0
        return min((self.budget - self.rest) / (self.other.budget - self.rest), 1.0)

    @property
    def bases(self) -> tuple[State, ...]:
        """Its own, and that of the other plan."""
        return (self.base,) if self.other is None else (self.base, self.other.base)

    def follows_other(self, seed: int, item: str) -> bool:
        """Drawn for an item that comes alone: the same for the same id, in every process."""
        return self.other is not None and bool(generator(seed, "mixture", item).random() < self.share)


def bases_of(plans: Iterable[CascadePlan]) -> set[State]:
    """All that are asked first by some plan."""
    return {base for plan in plans for base in plan.bases}


def selector_of(
    prices: NDArray[np.float64], plan: CascadePlan, items: int, steps: int, seed: int
) -> "CascadeSelector | MixedSelector":
    """Decides for that many items by a plan."""
    if plan.other is not None:
        return MixedSelector(prices, plan, items, steps, seed)
    return CascadeSelector(prices, plan.base, plan.budget, items, plan.dual_price, steps)


class Part(NamedTuple):
    """Some of the items, and the plan that they follow."""

    rows: Rows
    plan: CascadePlan
    selector: CascadeSelector


class MixedSelector:
    """Decides item by item, as a `CascadeSelector` does, for two plans that are mixed.

    Who follows the more expensive one is drawn with the seed; how many do is rounded down, and the other
    items have the rest of `items * budget`, so that it is never exceeded.
    """

    def __init__(
        self, prices: NDArray[np.float64], plan: CascadePlan, items: int, steps: int, seed: int
    ) -> None:
        if plan.other is None or plan.rest is None:
            raise FrugalError("MixedSelector: the plan is not mixed; give a CascadeSelector its numbers.")
        high = math.floor(items * plan.share)
        self._upgraded = np.zeros(items, dtype=bool)
        self._upgraded[generator(seed, "mixture").permutation(items)[:high]] = True
        left = (items * plan.budget - high * plan.other.budget) / max(items - high, 1)
        self.parts = [
            Part(rows, own, CascadeSelector(prices, own.base, budget, len(rows), own.dual_price, steps))
            for own, chosen, budget in (
                (plan, ~self._upgraded, max(left, plan.rest)),
                (plan.other, self._upgraded, plan.other.budget),
            )
            if len(rows := np.flatnonzero(chosen))
        ]
        self._seen = 0

    @property
    def spent(self) -> float:
        """Money spent so far."""
        return sum(part.selector.spent for part in self.parts)

    def begin(self) -> State:
        """A new item: who is asked first."""
        if self._seen == len(self._upgraded):
            raise FrugalError(f"MixedSelector: all {self._seen} items that the budget covers were decided.")
        self._seen += 1
        return self._current.begin()

    def ask(self, state: State, row: NDArray[np.float64]) -> int | None:
        """The service to ask next, or None to stop, for the item begun last."""
        return self._current.ask(state, row)

    @property
    def _current(self) -> CascadeSelector:
        return self.parts[-1 if self._upgraded[self._seen - 1] else 0].selector

    def run(self, estimates: Mapping[State, NDArray[np.float64]]) -> NDArray[np.bool_]:
        """(items, services): who is asked for each of all the items."""
        asked = np.zeros(next(iter(estimates.values())).shape, dtype=bool)
        for rows, _, selector in self.parts:
            asked[rows] = selector.run({state: table[rows] for state, table in estimates.items()})
        return asked
