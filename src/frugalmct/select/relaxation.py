"""The relaxed problem (items may be split), what it fixes, and its rounding as in the paper's proof.

At the relaxed problem's price p, moving an item from its pick to tier j loses
`loss = max_k(a_k - p c_k) - (a_j - p c_j) >= 0` against the dual bound, so every selection is worth exactly

    bound - (losses of its moves) - p * (money it leaves unused).

With a selection in hand that misses the bound by `gap`, a move that loses `gap` or more can not be part of
a better one: that is fixing by reduced cost.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frugalmct.select.checks import FloatArray
from frugalmct.select.dual import PricedPicks, cheapest_within
from frugalmct.select.problem import PROOF_TOLERANCE, Outcome, Problem, spend
from frugalmct.select.tiers import Picks, Tiers

TIE_LOSS = 1e-14
"""Moves that lose no more than this are ties: rounding of accuracies up to 1 is about that large."""

SAME_COST = 1e-14
"""Prices that differ by no more than this share are rounding variants of one price."""

NEGLIGIBLE = 1e-17
"""Services that, called for every item, cost no more than this share of the money count as free."""

_EXACT_FLOAT = 2**53


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The relaxed optimum: what every item picks at the price, and `room`, the money the picks leave.

    Costs are in working units (see `working_units`), those of the price, the room and the slack too.
    value: summed accuracy of the picks; shortfall: what ties cost against the bound by rounding;
    slack: what the search may lose by rounding money.
    """

    tiers: Tiers
    price: float
    picks: Picks
    room: float
    value: float
    shortfall: float
    whole: bool
    slack: float

    @property
    def gap(self) -> float:
        """How far the picks are from the dual bound, in summed accuracy."""
        return self.price * self.room + self.shortfall

    @property
    def tolerance(self) -> float:
        """What counts as no improvement, in summed accuracy: half of the policy's tolerance."""
        return PROOF_TOLERANCE / 2 * self.value

    def mean_bound(self, above_picks: float) -> float:
        """The mean accuracy that lies `above_picks` over the picks' sum."""
        return (self.value + above_picks) / self.tiers.items


def relax(problem: Problem, tighten: bool = True) -> Relaxation:
    """Solve the relaxed problem exactly.

    `tighten` leaves out what no whole selection can use: services dearer than the whole add-on budget,
    and money below the common unit of the prices.
    """
    capacity = problem.capacity
    if tighten:
        tiers = Tiers.of(
            problem.accuracy,
            problem.addon_costs,
            problem.base,
            dearest=problem.allowance,
            free=NEGLIGIBLE * capacity / problem.items,
            alike=SAME_COST,
        )
        units = working_units(tiers.costs, capacity, tiers.items)
    else:
        tiers = Tiers.of(problem.accuracy, problem.addon_costs, problem.base)
        units = Units(tiers.costs, capacity)
    tiers = replace(tiers, costs=units.costs)
    found = cheapest_within(tiers, units.capacity)
    ties = take_ties(tiers, found, units.capacity)
    return Relaxation(
        tiers=tiers,
        price=found.price,
        picks=ties.picks,
        room=max(0.0, units.capacity - ties.spend),
        value=math.fsum(float(column[ties.picks == t].sum()) for t, column in enumerate(tiers.columns)),
        shortfall=ties.shortfall,
        whole=units.whole,
        slack=units.capacity * (1 - capacity / problem.allowance) / 2 if problem.allowance > 0 else 0.0,
    )


@dataclass(frozen=True, eq=False)
class Units:
    """Tier costs and capacity in one unit of money; whole: all of them are whole numbers."""

    costs: FloatArray
    capacity: float
    whole: bool = False


def working_units(costs: FloatArray, capacity: float, items: int) -> Units:
    """Whole multiples of the costs' greatest common unit where they have one, else shares of the capacity.

    Money below the common unit can never be spent, so the capacity is rounded down to it: with two tiers
    that alone makes the relaxed optimum whole.
    """
    if costs.size == 1:
        return Units(costs, 0.0, whole=True)
    capacity = min(capacity, 2 * items * float(costs[-1]))  # more can not be spent
    with np.errstate(over="ignore", invalid="ignore"):
        for per_unit in [1 / costs[1], *(10.0**digits for digits in range(16))]:
            scaled = costs * per_unit
            rounded = np.rint(scaled)
            if rounded[-1] * items < _EXACT_FLOAT and (np.abs(scaled - rounded) <= 1e-15 * scaled).all():
                common = math.gcd(*(int(cost) for cost in rounded))
                return Units(rounded / common, float(math.floor(capacity * per_unit / common)), whole=True)
    return Units(costs / capacity * items, float(items))


@dataclass(frozen=True, eq=False)
class Ties:
    picks: Picks
    spend: float
    shortfall: float


def take_ties(tiers: Tiers, found: PricedPicks, capacity: float) -> Ties:
    """Move items up to tiers they like as well at this price while money lasts, dearest moves first.

    At price 0 a tie is equally accurate, and the dearer one would only waste money.
    """
    if found.price == 0:
        return Ties(found.picks, found.spend, 0.0)
    picks, counts, costs = found.picks.copy(), tiers.counts(found.picks), tiers.costs.tolist()
    shortfall = 0.0
    edges = [(start, stop) for stop in range(len(tiers)) for start in range(stop)]
    for start, stop in sorted(edges, key=lambda edge: costs[edge[0]] - costs[edge[1]]):
        if spend(counts, costs) + costs[stop] - costs[start] > capacity:
            continue
        tied, loss = tied_moves(tiers, picks, found.price, start, stop)
        extra = _most_that_fit(counts, costs, start, stop, tied.size, capacity)
        picks[tied[:extra]] = stop
        counts[start] -= extra
        counts[stop] += extra
        shortfall += float(loss[:extra].sum())
    return Ties(picks, spend(counts, costs), shortfall)


def tied_moves(
    tiers: Tiers, picks: Picks, price: float, start: int, stop: int
) -> tuple[NDArray[np.intp], FloatArray]:
    """Items that picked `start` and like `stop` as well, and what moving them would lose by rounding."""
    members = np.flatnonzero(picks == start)
    loss = _losses(tiers, members, price, start, stop)
    tied = loss <= TIE_LOSS
    return members[tied], np.maximum(loss[tied], 0.0)


def _losses(tiers: Tiers, members: NDArray[np.intp], price: float, start: int, stop: int) -> FloatArray:
    loss = tiers.columns[start][members]
    loss -= tiers.columns[stop][members]
    loss += price * (tiers.costs[stop] - tiers.costs[start])
    return loss


def _most_that_fit(
    counts: list[int], costs: list[float], start: int, stop: int, available: int, capacity: float
) -> int:
    """How many items may move from `start` to `stop` before the spend exceeds the capacity."""
    room = max(0.0, capacity - spend(counts, costs))
    fitting = min(available, math.floor(min(room / (costs[stop] - costs[start]), available)) + 1)
    while fitting > 0:
        moved = list(counts)
        moved[start] -= fitting
        moved[stop] += fitting
        if spend(moved, costs) <= capacity:
            break
        fitting -= 1
    return fitting


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves of one kind, from tier `start` to tier `stop`: their items and losses."""

    start: int
    stop: int
    items: NDArray[np.integer]
    loss: FloatArray

    def below(self, limit: float) -> "Moves":
        keep = self.loss < limit
        return replace(self, items=self.items[keep], loss=self.loss[keep])

    def nearest(self, count: int) -> "Moves":
        """The `count` moves with the smallest losses."""
        if count >= self.loss.size:
            return self
        first = np.argpartition(self.loss, count)[:count]
        return replace(self, items=self.items[first], loss=self.loss[first])


def moves_below(relaxation: Relaxation, limit: float) -> list[Moves]:
    """Every move that loses less than `limit`; the others are fixed."""
    tiers, kinds = relaxation.tiers, []
    for start in range(len(tiers)):
        members = np.flatnonzero(relaxation.picks == start)
        for stop in range(len(tiers)):
            if stop == start or members.size == 0:
                continue
            loss = _losses(tiers, members, relaxation.price, start, stop)
            keep = np.flatnonzero(loss < limit)
            if keep.size:
                kinds.append(Moves(start, stop, members[keep], np.maximum(loss[keep], 0.0)))
    return kinds


def reaches(kinds: list[Moves], limit: float) -> list[int]:
    """How many moves of each kind, nearest first, a selection that loses less than `limit` can involve.

    Swapping two items of one kind costs no money, so the ones with the smallest losses move first: if the
    r-th nearest has moved, so have, somewhere, the r - 1 items before it, and the losses are at least
    that of the r-th plus the r - 1 smallest of all.
    """
    before = np.append(0.0, np.cumsum(np.sort(np.concatenate([kind.loss for kind in kinds]))))
    return [int(np.searchsorted(np.sort(kind.loss) + before[: kind.loss.size], limit)) for kind in kinds]


def solve_lp(problem: Problem, time_limit: float | None) -> Outcome:
    """The relaxed optimum with its at most one split item sent to the base, as in the paper's proof."""
    del time_limit  # it takes milliseconds
    relaxation = relax(problem, tighten=False)
    choices = relaxation.tiers.services(relaxation.picks)
    split = _split_item(relaxation)
    if split is not None:
        choices[split] = problem.base
    proven = split is None and relaxation.gap <= relaxation.tolerance
    return Outcome(choices, relaxation.mean_bound(relaxation.gap), proven, "optimal" if proven else "rounded")


def _split_item(relaxation: Relaxation) -> int | None:
    """The item that would take the room left: a tie that does not fit whole."""
    if relaxation.price * relaxation.room <= relaxation.tolerance:
        return None
    tiers = relaxation.tiers
    for stop in range(len(tiers)):
        for start in range(stop):
            tied, _ = tied_moves(tiers, relaxation.picks, relaxation.price, start, stop)
            if tied.size:
                return int(tied[0])
    return None
