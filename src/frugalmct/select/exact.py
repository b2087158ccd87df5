"""The integer optimum, proven: dual bound, fixing by reduced cost, dynamic programming over the rest.

The search walks the levels of a `Core`. A state is (money moved, accuracy moved) against the relaxed picks.
A state is dropped when another costs no more and is no worse, or when the relaxed optimum of the levels still
to come cannot lift it above the best selection known. Rounds over few moves and few states come first: they
are cheap and give a selection so good that fixing leaves little; the last round takes every move that fixing
leaves, and is the proof.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import FloatArray
from frugalmct.select.core import Core, Level
from frugalmct.select.item_moves import ItemMoves
from frugalmct.select.item_tiers import ItemTiers
from frugalmct.select.moves import SharedMoves
from frugalmct.select.problem import PROOF_TOLERANCE, IntArray, Outcome, Problem, judged
from frugalmct.select.relaxation import Relaxation, relax
from frugalmct.select.tiers import Picks

FIRST_WIDTH, WIDER = 3, 4
"""Moves of each kind in the first trial round, and the factor from one round to the next."""

TRIAL_STATES, MORE_STATES = 512, 2
"""States kept in the first trial round, and the factor from one round to the next."""

LAST_WIDTH = 12
"""Rounds up to this width do not give up when they find nothing better."""

PROOF_RATIO = 3
"""The proof starts when it needs at most this many times the moves of the next trial round."""

PROOF_STATES = 1 << 18
WORK_LIMIT = 60_000_000
"""States the proof keeps at once, and looks at over all levels: some ten seconds, and 120 MB at worst to
read the selection back. What is not proven then would seldom be for ten times as much."""


class Rest:
    """Upper bound on what the levels still to come can add, as a function of the room left.

    It is the relaxed optimum in which every move is on its own: undo the moves that save money, then take
    those that cost money, in order of accuracy per money.
    """

    def __init__(self, levels: list[Level]) -> None:
        number = np.repeat(np.arange(len(levels)), [level.part_shift.size for level in levels])
        shift = np.concatenate([level.part_shift for level in levels]).astype(np.float64)
        gain = np.concatenate([level.part_gain for level in levels])
        useful = np.flatnonzero((shift < 0) | (gain > 0))
        with np.errstate(divide="ignore"):  # a move that costs less than the unit of money comes first
            order = useful[np.argsort(-gain[useful] / shift[useful], kind="stable")]
        self._number, self._saves = number[order], shift[order] < 0
        self._shift, self._gain = np.abs(shift[order]), np.abs(gain[order])

    def after(self, level: int) -> tuple[FloatArray, FloatArray]:
        """Breakpoints (room, best addition), both rising; with less room than the first nothing fits."""
        ahead = self._number > level
        shift, gain, saves = self._shift[ahead], self._gain[ahead], self._saves[ahead]
        return (
            np.append(0.0, np.cumsum(shift)) - shift[saves].sum(),
            np.append(0.0, np.cumsum(gain)) - gain[saves].sum(),
        )


@dataclass(frozen=True, eq=False)
class Found:
    """value: best accuracy above the picks; path: the choices that reach it, None if the selection known
    before was not beaten; missed: bound on what was not looked at, -inf if everything was;
    stopped: why something was not."""

    value: float
    path: list[int] | None
    missed: float
    stopped: str | None


def search(core: Core, known: float, tolerance: float, states: int, deadline: float) -> Found:
    """Dynamic programming over the core's levels for something better than `known`."""
    rest = Rest(core.levels)
    bound, bound_level = rest.after(-1), -1
    cost, value = np.zeros(1, dtype=np.int64), np.zeros(1)
    trace: list[NDArray[np.int32]] = []
    widths: list[int] = []
    best, best_at = known, None
    missed, stopped, work = -math.inf, None, 0
    for number, level in enumerate(core.levels):
        work += cost.size * level.shift.size
        if time.perf_counter() > deadline or work > WORK_LIMIT:
            stopped = "time_limit" if work <= WORK_LIMIT else "state_limit"
            missed = max(missed, float(_reachable(core.room, cost, value, rest.after(number - 1)).max()))
            break
        widths.append(cost.size)
        cost, value, origin = _extend(cost, value, level)
        fitting = int(np.searchsorted(cost, core.room, side="right")) - 1
        if fitting >= 0 and value[fitting] > best:
            best, best_at = float(value[fitting]), (number, int(origin[fitting]))
        if number - bound_level >= 8 or cost.size > 256:  # an older bound is weaker but still one
            bound, bound_level = rest.after(number), number
        reachable = _reachable(core.room, cost, value, bound)
        keep = np.flatnonzero(reachable > best + tolerance)
        if keep.size > states:
            stopped = "state_limit"
            ranked = np.argpartition(reachable[keep], keep.size - states)
            missed = max(missed, float(reachable[keep[ranked[: keep.size - states]]].max()))
            keep = np.sort(keep[ranked[keep.size - states :]])
        if keep.size == 0:
            break
        cost, value = cost[keep], value[keep]
        trace.append(origin[keep].astype(np.int32))
    path = None if best_at is None else _read_back(trace, widths, *best_at)
    return Found(best, path, missed, stopped)


def _extend(cost: IntArray, value: FloatArray, level: Level) -> tuple[IntArray, FloatArray, NDArray[np.intp]]:
    """The states after one more level, rising in both cost and value, the dominated ones left out.

    Their `origin` is choice * (number of earlier states) + earlier state.
    """
    costs = (level.shift[:, None] + cost).ravel()
    values = (level.gain[:, None] + value).ravel()
    order = np.argsort(costs, kind="stable")
    costs, values = costs[order], values[order]
    better = np.ones(order.size, dtype=bool)
    np.greater(values[1:], np.maximum.accumulate(values)[:-1], out=better[1:])
    kept = np.flatnonzero(better)
    costs = costs[kept]
    last_of_equals = np.ones(kept.size, dtype=bool)
    np.not_equal(costs[1:], costs[:-1], out=last_of_equals[:-1])
    kept = kept[last_of_equals]
    return costs[last_of_equals], values[kept], order[kept]


def _reachable(
    room: int, cost: IntArray, value: FloatArray, bound: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """The best value that each state may still lead to."""
    return value + np.interp((room - cost).astype(np.float64), *bound, left=-np.inf)


def _read_back(trace: list[NDArray[np.int32]], widths: list[int], number: int, origin: int) -> list[int]:
    """The choices that led to a state, from the origins kept at every level."""
    path = [0] * (number + 1)
    while True:
        path[number], state = divmod(origin, widths[number])
        if number == 0:
            return path
        number -= 1
        origin = int(trace[number][state])


@dataclass(eq=False)
class _Progress:
    """Best picks so far, their value above the relaxed picks, and the bound on that value."""

    picks: Picks
    value: float
    upper: float
    status: str = "optimal"

    def bound(self, tolerance: float) -> float:
        """No selection is worth more: the search passes over what gains no more than the tolerance, and a
        quarter of it is for rounding."""
        return max(self.upper, self.value + tolerance) + tolerance / 4


def solve_exact(problem: Problem, time_limit: float | None) -> Outcome:
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    relaxation = relax(problem)
    progress = _Progress(relaxation.picks, 0.0, relaxation.gap)
    _close_gap(problem, relaxation, progress, deadline)
    choices = relaxation.tiers.services(progress.picks)
    closed = progress.upper - progress.value <= relaxation.least_gain
    if closed:  # nothing lies between
        progress.upper = progress.value
    bound = relaxation.mean_bound(progress.bound(relaxation.tolerance))
    status = "optimal" if closed else progress.status
    return judged(problem, choices, bound, status, PROOF_TOLERANCE * abs(bound), "rounding_limit")


def good_selection(problem: Problem, relaxation: Relaxation, deadline: float) -> tuple[Picks, float]:
    """What the trial rounds find, and its value above the relaxed picks: seldom beaten, but not proven."""
    progress = _Progress(relaxation.picks, 0.0, relaxation.gap)
    _close_gap(problem, relaxation, progress, deadline, prove=False)
    return progress.picks, progress.value


def moves_below(relaxation: Relaxation, limit: float) -> SharedMoves | ItemMoves:
    """Every move that loses less than `limit`; the others are fixed."""
    tiers = relaxation.tiers
    if isinstance(tiers, ItemTiers):
        return ItemMoves.below_limit(relaxation, tiers, limit)
    return SharedMoves.below_limit(relaxation, tiers, limit)


def _close_gap(
    problem: Problem, relaxation: Relaxation, progress: _Progress, deadline: float, prove: bool = True
) -> None:
    """Trial rounds of growing width, then the proof."""
    tolerance = relaxation.least_gain
    if progress.upper <= tolerance:
        return
    moves = moves_below(relaxation, relaxation.gap - tolerance)
    _adopt(problem, relaxation, progress, *moves.fill())
    width, states, exhausted = FIRST_WIDTH, TRIAL_STATES, False
    while True:
        limit = relaxation.gap - progress.value - tolerance
        moves = moves.below(limit)
        if not moves:
            progress.upper = progress.value
            return
        proof = (exhausted and width > LAST_WIDTH) or moves.needed(limit) <= PROOF_RATIO * width
        if proof and not prove and progress.value > 0:
            return
        core = moves.core(limit, None if proof else width)
        found = search(core, progress.value, tolerance, PROOF_STATES if proof else states, deadline)
        if found.path is not None:
            picks = core.apply(found.path, relaxation.picks)
            if not _adopt(problem, relaxation, progress, picks, found.value):
                progress.status = "rounding_limit"
                return
        if proof:
            progress.upper = min(progress.upper, max(progress.value, found.missed))
        if proof or found.stopped == "time_limit":
            progress.status = found.stopped or "optimal"
            return
        width, states = width * WIDER, states * MORE_STATES
        exhausted = found.path is None and found.stopped is None


def _adopt(problem: Problem, relaxation: Relaxation, progress: _Progress, picks: Picks, value: float) -> bool:
    """Take over picks of this value, if they are within budget at the unrounded prices."""
    if not problem.within_budget(relaxation.tiers.services(picks)):
        return False
    progress.picks, progress.value = picks, value
    return True
