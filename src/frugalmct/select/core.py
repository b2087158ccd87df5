"""What fixing leaves to decide, as a short list of levels for the search in `exact`.

Three facts keep the list short however many items there are. Only the nearest moves of each kind matter
(`relaxation.reaches`). Of the items with a single possible move, the nearest move first, so a run of them
is one level with the choices 0, 1, 2, ... (a chain). And alike items can be moved in bundles of 1, 2, 4, ...
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalmct.select.checks import FloatArray
from frugalmct.select.problem import PROOF_TOLERANCE, IntArray
from frugalmct.select.relaxation import Moves, Relaxation
from frugalmct.select.tiers import Picks

CHAIN_LENGTH = 8
"""Items per chain: fewer levels, but more choices at each."""

LONG_RUN = 16
"""More alike items than this are bundled rather than chained."""

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


def build_core(relaxation: Relaxation, kinds: list[Moves], limit: float) -> Core:
    """Levels for these moves; `limit` is what a better selection can lose at most."""
    return _Builder(relaxation, kinds, limit).build()


class _Builder:
    def __init__(self, relaxation: Relaxation, kinds: list[Moves], limit: float) -> None:
        self.price, self.costs, self.limit = relaxation.price, relaxation.tiers.costs, limit
        self.items, rows = np.unique(np.concatenate([kind.items for kind in kinds]), return_inverse=True)
        self.starts = relaxation.picks[self.items]
        self.gains = _gains(relaxation, kinds, rows, self.items.size)
        self.units, self.room = _whole_money(relaxation, self.items.size)
        # Gains that differ by less than this are alike: far below what counts as an improvement.
        self.quantum = max(PROOF_TOLERANCE / 100 * relaxation.value / relaxation.tiers.items, 1e-300)

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
        loss = self.price * (self.costs[stop] - self.costs[start]) - gain[0]
        return _order_key(abs(int(shift[0])), loss, 1), level

    def _bundles(self, rows: NDArray[np.intp]) -> Iterator[tuple[tuple[float, ...], Level]]:
        gain, start = self.gains[rows[0]], int(self.starts[rows[0]])
        stops = np.flatnonzero(np.isfinite(gain))
        loss = np.maximum(self.price * (self.costs[stops] - self.costs[start]) - gain[stops], 0.0)
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
            yield _order_key(int(np.abs(shift).max()), least, size), level


def _order_key(largest_shift: int, loss: float, size: int) -> tuple[float, ...]:
    """Large sums of money first (by powers of 8): small ones can then be bounded almost exactly. Among
    alike sums the moves nearest to the price come first, and large bundles before small ones."""
    return -(largest_shift.bit_length() // 3), max(loss, 0.0), -size


def _gains(relaxation: Relaxation, kinds: list[Moves], rows: NDArray[np.intp], items: int) -> FloatArray:
    """(items, tiers) accuracy gained by each possible move, -inf for the others."""
    columns = relaxation.tiers.columns
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


def _whole_money(relaxation: Relaxation, movable: int) -> tuple[IntArray, int]:
    """Tier costs and room as whole numbers, so that equal sums of money are equal.

    Where the prices share no unit it is one so small that rounding the costs of all movable items stays
    within the slack; should sums then overflow, a larger one, with room for all the rounding.
    """
    costs = relaxation.tiers.costs
    if relaxation.whole:
        return costs.astype(np.int64), int(relaxation.room)
    fine, coarse = relaxation.slack / movable, float(costs[-1]) * movable / _LARGEST_SUM
    unit, extra = (fine, 0) if fine >= coarse else (coarse, movable)
    return np.rint(costs / unit).astype(np.int64), math.floor(relaxation.room / unit) + extra
