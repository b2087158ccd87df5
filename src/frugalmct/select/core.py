"""What fixing leaves to decide, as a short list of levels for the search in `exact`."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import FloatArray
from frugalmct.select.problem import IntArray
from frugalmct.select.relaxation import Relaxation
from frugalmct.select.tiers import Picks

_LARGEST_SUM = 2**61


@dataclass(frozen=True, eq=False)
class Bundle:
    """`items` move together, to `stops[choice]`; choice 0 leaves them."""

    items: NDArray[np.integer]
    stops: list[int]


@dataclass(frozen=True, eq=False)
class Chain:
    """The first `choice` of `items` move to `stop`."""

    items: NDArray[np.integer]
    stop: int


@dataclass(frozen=True, eq=False)
class Level:
    """One decision. shift, gain: money and accuracy of each choice, choice 0 being to move nothing;
    part_shift, part_gain: moves of which each choice is a sum (for bounds); plan: what a choice means."""

    shift: IntArray
    gain: FloatArray
    part_shift: IntArray
    part_gain: FloatArray
    plan: Bundle | Chain


@dataclass(frozen=True, eq=False)
class Core:
    """The levels in the order in which the search takes them, and the room there is, in whole money."""

    levels: list[Level]
    room: int

    def apply(self, path: list[int], picks: Picks) -> Picks:
        """The picks with items moved as the path's choices say; levels beyond the path stay."""
        moved = picks.copy()
        for level, choice in zip(self.levels, path, strict=False):
            plan = level.plan
            if isinstance(plan, Bundle):
                moved[plan.items] = plan.stops[choice]
            else:
                moved[plan.items[:choice]] = plan.stop
        return moved


def order_key(largest_shift: int, loss: float, size: int) -> tuple[float, ...]:
    """Large sums of money first (by powers of 8): small ones can then be bounded almost exactly. Among
    alike sums the moves nearest to the dual price come first, and large bundles before small ones."""
    return -(largest_shift.bit_length() // 3), max(loss, 0.0), -size


def whole_money(relaxation: Relaxation, costs: FloatArray, movable: int) -> tuple[IntArray, int]:
    """These tier costs, and the room, as whole numbers, so that equal sums of money are equal.

    Where the prices share no unit it is one so small that rounding the costs of all movable items stays
    within the slack; should sums then overflow, a larger one, with room for all the rounding.
    """
    if relaxation.whole:
        return costs.astype(np.int64), int(relaxation.room)
    fine, coarse = relaxation.slack / movable, float(costs.max()) * movable / _LARGEST_SUM
    unit, extra = (fine, 0) if fine >= coarse else (coarse, movable)
    return np.rint(costs / unit).astype(np.int64), math.floor(relaxation.room / unit) + extra
