"""Moves between tiers that all items share: what fixing by reduced cost leaves of the problem.

Three facts keep the list short however many items there are. Only the nearest moves of each kind matter
(`reaches`). Of the items with a single possible move, the nearest move first, so a run of them is one level
with the choices 0, 1, 2, ... (a chain). And alike items can be moved in bundles of 1, 2, 4, ...
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import FloatArray
from frugalmct.select.core import Bundle, Chain, Core, Level, order_key, whole_money
from frugalmct.select.problem import PROOF_TOLERANCE, IntArray, spend
from frugalmct.select.relaxation import Relaxation
from frugalmct.select.tiers import Picks, Tiers
from frugalmct.select.ties import most_that_fit, move_losses

CHAIN_LENGTH = 8
"""Items per chain: fewer levels, but more choices at each."""

LONG_RUN = 16
"""More alike items than this are bundled rather than chained."""


@dataclass(frozen=True, eq=False)
class Kind:
    """Moves of one kind, from tier `start` to tier `stop`: their items and losses."""

    start: int
    stop: int
    items: NDArray[np.integer]
    loss: FloatArray

    def only(self, which: NDArray[Any]) -> "Kind":
        """Those that a mask or positions point at."""
        return replace(self, items=self.items[which], loss=self.loss[which])

    def below(self, limit: float) -> "Kind":
        return self.only(self.loss < limit)

    def nearest(self, count: int) -> "Kind":
        """The `count` moves with the smallest losses."""
        return self if count >= self.loss.size else self.only(np.argpartition(self.loss, count)[:count])


@dataclass(frozen=True, eq=False)
class SharedMoves:
    """Every move of the relaxed picks that loses less than a limit, kind by kind."""

    relaxation: Relaxation
    tiers: Tiers
    kinds: list[Kind]

    @classmethod
    def below_limit(cls, relaxation: Relaxation, tiers: Tiers, limit: float) -> "SharedMoves":
        kinds = []
        for start in range(len(tiers)):
            members = np.flatnonzero(relaxation.picks == start)
            for stop in range(len(tiers)):
                if stop == start or members.size == 0:
                    continue
                loss = move_losses(tiers, members, relaxation.dual_price, start, stop)
                keep = np.flatnonzero(loss < limit)
                if keep.size:
                    kinds.append(Kind(start, stop, members[keep], np.maximum(loss[keep], 0.0)))
        return cls(relaxation, tiers, kinds)

    def __len__(self) -> int:
        return sum(kind.items.size for kind in self.kinds)

    def below(self, limit: float) -> "SharedMoves":
        """Those that lose less than a lower limit."""
        return self._of(kind.below(limit) for kind in self.kinds)

    def needed(self, limit: float) -> int:
        """How wide a core must be to hold all that a selection that loses less than `limit` can involve."""
        return max(reaches(self.kinds, limit))

    def core(self, limit: float, width: int | None = None) -> Core:
        """Levels for the `width` nearest moves of each kind, by default all that `limit` asks for."""
        counts = reaches(self.kinds, limit)
        nearest = (
            kind.nearest(count if width is None else min(count, width))
            for kind, count in zip(self.kinds, counts, strict=True)
        )
        return _Builder(self.relaxation, self.tiers, self._of(nearest).kinds, limit).build()

    def flat(self) -> tuple[IntArray, IntArray]:
        """The item and the tier it moves to, of each move."""
        items = np.concatenate([kind.items for kind in self.kinds])
        return items, np.concatenate([np.full(kind.items.size, kind.stop) for kind in self.kinds])

    def _of(self, kinds: Any) -> "SharedMoves":
        return replace(self, kinds=[kind for kind in kinds if kind.loss.size])

    def fill(self) -> tuple[Picks, float]:
        """The picks with the room spent on moves that gain accuracy, costliest first, and what they gain."""
        relaxation = self.relaxation
        costs, moved = self.tiers.costs.tolist(), relaxation.picks.copy()
        counts, gained = self.tiers.counts(moved), 0.0
        capacity = spend(counts, costs) + relaxation.room
        for kind in sorted(self.kinds, key=lambda kind: costs[kind.start] - costs[kind.stop]):
            more = costs[kind.stop] - costs[kind.start]
            if more <= 0 or spend(counts, costs) + more > capacity:
                continue
            worth = relaxation.dual_price * more
            useful = kind.only((moved[kind.items] == kind.start) & (kind.loss < worth))
            count = most_that_fit(counts, costs, kind.start, kind.stop, useful.items.size, capacity)
            taken = useful.nearest(count)
            moved[taken.items] = kind.stop
            counts[kind.start] -= count
            counts[kind.stop] += count
            gained += float((worth - taken.loss).sum())
        return moved, gained


def reaches(kinds: list[Kind], limit: float) -> list[int]:
    """How many moves of each kind, nearest first, a selection that loses less than `limit` can involve.

    Swapping two items of one kind costs no money, so the ones with the smallest losses move first: if the
    r-th nearest has moved, so have, somewhere, the r - 1 items before it, and the losses are at least
    that of the r-th plus the r - 1 smallest of all.
    """
    before = np.append(0.0, np.cumsum(np.sort(np.concatenate([kind.loss for kind in kinds]))))
    return [int(np.searchsorted(np.sort(kind.loss) + before[: kind.loss.size], limit)) for kind in kinds]


def bundle_sizes(count: int, ways: int) -> list[int]:
    """Sizes, rising, such that any split of `count` items over `ways` choices is a split of bundles.

    Each size (1, 2, 4, ...) occurs at least `ways` times while items last: enough to settle the odd
    counts, after which all counts are even and the argument repeats at the next size.
    """
    sizes: list[int] = []
    size = 1
    while count > 0:
        taken = count if count <= 2 * ways else ways + (count - ways) % 2
        sizes += [size] * taken
        count = (count - taken) // 2
        size *= 2
    return sizes


class _Builder:
    def __init__(self, relaxation: Relaxation, tiers: Tiers, kinds: list[Kind], limit: float) -> None:
        self.dual_price, self.costs, self.limit = relaxation.dual_price, tiers.costs, limit
        self.items, rows = np.unique(np.concatenate([kind.items for kind in kinds]), return_inverse=True)
        self.starts = relaxation.picks[self.items]
        self.gains = _gains(tiers, kinds, rows, self.items.size)
        self.units, self.room = whole_money(relaxation, self.costs, self.items.size)
        # Gains that differ by less than this are alike: far below what counts as an improvement.
        self.quantum = max(PROOF_TOLERANCE / 100 * relaxation.value / tiers.items, 1e-300)

    def build(self) -> Core:
        levels = [*self._single_levels(), *self._several_levels()]
        return Core([level for _, level in sorted(levels, key=lambda keyed: keyed[0])], self.room)

    def _single_levels(self) -> Iterator[tuple[tuple[float, ...], Level]]:
        """Items with one possible move: bundles where many are alike, chains for the others."""
        single = np.flatnonzero(np.isfinite(self.gains).sum(axis=1) == 1)
        if single.size == 0:
            return
        stops = self.gains[single].argmax(axis=1)
        gains = self.gains[single, stops]
        order = np.lexsort((-gains, stops, self.starts[single]))
        single, stops = single[order], stops[order]
        rounded = np.rint(gains[order] / self.quantum)
        kind = self.starts[single].astype(np.int64) * self.costs.size + stops
        for rows, run_lengths in _split_runs(single, kind, rounded):
            long_runs = np.repeat(run_lengths > LONG_RUN, run_lengths)
            for run in np.split(rows[long_runs], np.cumsum(run_lengths[run_lengths > LONG_RUN])[:-1]):
                if run.size:
                    yield from self._bundles(run)
            chained = rows[~long_runs]
            for first in range(0, chained.size, CHAIN_LENGTH):
                yield self._chain(chained[first : first + CHAIN_LENGTH])

    def _several_levels(self) -> Iterator[tuple[tuple[float, ...], Level]]:
        several = np.flatnonzero(np.isfinite(self.gains).sum(axis=1) > 1)
        if several.size == 0:
            return
        keys = np.column_stack([self.starts[several], np.rint(self.gains[several] / self.quantum)])
        order = np.lexsort(keys.T)
        keys = keys[order]
        borders = np.flatnonzero((keys[1:] != keys[:-1]).any(axis=1)) + 1
        for alike in np.split(several[order], borders):
            yield from self._bundles(alike)

    def _chain(self, rows: NDArray[np.intp]) -> tuple[tuple[float, ...], Level]:
        start = int(self.starts[rows[0]])
        stop = int(self.gains[rows[0]].argmax())
        gain = self.gains[rows, stop]
        shift = np.full(rows.size, self.units[stop] - self.units[start])
        level = Level(
            shift=np.append(0, np.cumsum(shift)),
            gain=np.append(0.0, np.cumsum(gain)),
            part_shift=shift,
            part_gain=gain,
            plan=Chain(self.items[rows], stop),
        )
        loss = self.dual_price * (self.costs[stop] - self.costs[start]) - gain[0]
        return order_key(abs(int(shift[0])), loss, 1), level

    def _bundles(self, rows: NDArray[np.intp]) -> Iterator[tuple[tuple[float, ...], Level]]:
        gain, start = self.gains[rows[0]], int(self.starts[rows[0]])
        stops = np.flatnonzero(np.isfinite(gain))
        loss = np.maximum(self.dual_price * (self.costs[stops] - self.costs[start]) - gain[stops], 0.0)
        least = float(loss.min())
        movable = rows.size if least * rows.size < self.limit else max(1, math.ceil(self.limit / least))
        first = 0
        for size in bundle_sizes(min(movable, rows.size), stops.size + 1):
            usable = stops[loss * size < self.limit]
            if usable.size == 0:
                return
            shift, gains = size * (self.units[usable] - self.units[start]), size * gain[usable]
            plan = Bundle(self.items[rows[first : first + size]], [start, *usable.tolist()])
            first += size
            level = Level(np.append(0, shift), np.append(0.0, gains), shift, gains, plan)
            yield order_key(int(np.abs(shift).max()), least, size), level


def _gains(tiers: Tiers, kinds: list[Kind], rows: NDArray[np.intp], items: int) -> FloatArray:
    """(items, tiers) accuracy gained by each possible move, -inf for the others."""
    columns = tiers.columns
    gains = np.full((items, len(columns)), -np.inf)
    begin = 0
    for kind in kinds:
        end = begin + kind.items.size
        gains[rows[begin:end], kind.stop] = columns[kind.stop][kind.items] - columns[kind.start][kind.items]
        begin = end
    return gains


def _split_runs(
    rows: NDArray[np.intp], kind: IntArray, value: FloatArray
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Per kind (rows are sorted by kind, then value) its rows and the lengths of runs of equal value."""
    new_kind = kind[1:] != kind[:-1]
    borders = np.flatnonzero(new_kind) + 1
    new_value = new_kind | (value[1:] != value[:-1])
    begins = np.append(0, np.flatnonzero(new_value) + 1)
    for first, last in zip([0, *borders.tolist()], [*borders.tolist(), rows.size], strict=True):
        inside = begins[(begins >= first) & (begins < last)]
        yield rows[first:last], np.diff(np.append(inside, last))
