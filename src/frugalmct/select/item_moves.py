"""Moves of items that each have their own costs: what fixing by reduced cost leaves of the problem.

No two moves are alike, so each item with a move left is one level of the core. Few are left all the same:
the better the selection in hand, the fewer, and near the dual price there are many items to build one from.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import FloatArray
from frugalmct.select.core import Bundle, Core, Level, order_key, whole_money
from frugalmct.select.item_tiers import ItemTiers
from frugalmct.select.problem import IntArray
from frugalmct.select.relaxation import Relaxation
from frugalmct.select.tiers import Picks

PER_WIDTH = 8
"""Moves in a core for each unit of its width."""

_FILLING = 64


@dataclass(frozen=True, eq=False)
class ItemMoves:
    """Every move of the relaxed picks that loses less than a limit; cost, gain: how much more it costs than
    the pick, and brings."""

    relaxation: Relaxation
    items: NDArray[np.intp]
    stops: NDArray[np.unsignedinteger]
    loss: FloatArray
    cost: FloatArray
    gain: FloatArray

    @classmethod
    def below_limit(cls, relaxation: Relaxation, tiers: ItemTiers, limit: float) -> "ItemMoves":
        picks = relaxation.picks
        paid, here = tiers.picked(tiers.costs, picks), tiers.picked(tiers.columns, picks)
        parts = []
        for stop in range(len(tiers)):
            cost, gain = tiers.costs[stop] - paid, tiers.columns[stop] - here
            loss = relaxation.dual_price * cost - gain
            kept = np.flatnonzero((loss < limit) & (picks != stop))
            stops = np.full(kept.size, stop, dtype=picks.dtype)
            parts.append((kept, stops, np.maximum(loss[kept], 0.0), cost[kept], gain[kept]))
        return cls(relaxation, *(np.concatenate(part) for part in zip(*parts, strict=True)))

    def __len__(self) -> int:
        return self.items.size

    def only(self, which: np.ndarray) -> "ItemMoves":
        """Those that a mask or positions point at."""
        parts = (self.items, self.stops, self.loss, self.cost, self.gain)
        return ItemMoves(self.relaxation, *(part[which] for part in parts))

    def below(self, limit: float) -> "ItemMoves":
        """Those that lose less than a lower limit."""
        return self.only(self.loss < limit)

    def needed(self, limit: float) -> float:
        """How wide a core must be to hold them all."""
        del limit
        return len(self) / PER_WIDTH

    def core(self, limit: float, width: int | None = None) -> Core:
        """Levels for the nearest moves, `PER_WIDTH` for each unit of width, by default all."""
        del limit
        count = len(self) if width is None else PER_WIDTH * width
        near = self if count >= len(self) else self.only(np.argpartition(self.loss, count)[:count])
        return near._levels()

    def _levels(self) -> Core:
        moves = self.only(np.lexsort((self.stops, self.items)))
        shift, room = whole_money(self.relaxation, np.append(moves.cost, 0.0), len(moves))
        first = np.flatnonzero(np.append(True, moves.items[1:] != moves.items[:-1]))
        levels = []
        for start, stop in zip(first.tolist(), [*first[1:].tolist(), len(moves)], strict=True):
            here = slice(start, stop)
            shifts, gains = shift[here], moves.gain[here]
            stays = int(self.relaxation.picks[moves.items[start]])
            plan = Bundle(moves.items[start : start + 1], [stays, *moves.stops[here].tolist()])
            level = Level(np.append(0, shifts), np.append(0.0, gains), shifts, gains, plan)
            levels.append((order_key(int(np.abs(shifts).max()), float(moves.loss[here].min()), 1), level))
        return Core([level for _, level in sorted(levels, key=lambda keyed: keyed[0])], room)

    def flat(self) -> tuple[IntArray, IntArray]:
        """The item and the tier it moves to, of each move."""
        return self.items, self.stops.astype(np.int64)

    def fill(self) -> tuple[Picks, float]:
        """The picks with the room spent on moves that gain accuracy, the largest gain first, and the sum."""
        picks, room, gained = self.relaxation.picks.copy(), self.relaxation.room, 0.0
        useful = self.only((self.gain > 0) & (self.cost <= room))
        for _ in range(_FILLING):
            if len(useful) == 0:
                break
            best = int(useful.gain.argmax())
            item = useful.items[best]
            picks[item] = useful.stops[best]
            room, gained = room - float(useful.cost[best]), gained + float(useful.gain[best])
            useful = useful.only((useful.items != item) & (useful.cost <= room))
        return picks, gained
