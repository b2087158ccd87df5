"""The relaxed problem (items may be split), what it fixes, and its rounding as in the paper's proof.

At the relaxed problem's dual price p, moving an item from its pick to tier j loses
`loss = max_k(a_k - p c_k) - (a_j - p c_j) >= 0` against the dual bound, so every selection is worth exactly

    bound - (losses of its moves) - p * (money it leaves unused).

With a selection in hand that misses the bound by `gap`, a move that loses `gap` or more cannot be part of
a better one: that is fixing by reduced cost (see `moves` and `item_moves`).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from frugalmct.checks import FloatArray
from frugalmct.select.dual import cheapest_within
from frugalmct.select.item_tiers import AnyTiers, ItemTiers
from frugalmct.select.problem import PROOF_TOLERANCE, Outcome, Problem, judged
from frugalmct.select.tiers import Picks, Tiers
from frugalmct.select.ties import first_tied, take_ties

SAME_COST = 1e-14
"""Prices that differ by no more than this share are rounding variants of one price."""

NEGLIGIBLE = 1e-17
"""Services that, called for every item, cost no more than this share of the money count as free; and one
of which the money buys no more than this share of a single call counts as out of reach."""

DECIMALS = 4
"""Accuracies of up to so many decimals are seen to be that: their sums rise in steps."""

_EXACT_FLOAT = 2**53
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The relaxed optimum: what every item picks at the dual price, and `room`, the money the picks leave.

    Costs are in working units (see `working_units`), those of the dual price, the room and the slack too.
    value: summed accuracy of the picks; shortfall: what ties cost against the bound by rounding;
    slack: what the search may lose by rounding money; step: all sums of accuracies are multiples of it, 0
    where nothing such is seen.
    """

    tiers: AnyTiers
    dual_price: float
    picks: Picks
    room: float
    value: float
    shortfall: float
    whole: bool
    slack: float
    step: float = 0.0

    @property
    def gap(self) -> float:
        """How far the picks are from the dual bound, in summed accuracy."""
        return self.dual_price * self.room + self.shortfall

    @property
    def tolerance(self) -> float:
        """What counts as no improvement, in summed accuracy: half of the policy's tolerance."""
        return PROOF_TOLERANCE / 2 * abs(self.value)

    @property
    def least_gain(self) -> float:
        """A selection that is no better by more than this is not better: sums rise in steps."""
        return 0.99 * self.step if 0.01 * self.step > self.tolerance else self.tolerance

    def mean_bound(self, above_picks: float) -> float:
        """The mean accuracy that lies `above_picks` over the picks' sum."""
        return (self.value + above_picks) / self.tiers.items


def relax(problem: Problem, tighten: bool = True) -> Relaxation:
    """Solve the relaxed problem exactly.

    `tighten` leaves out what no whole selection can use: services that cost more than the whole add-on
    budget, and money below the common unit of the prices.
    """
    capacity, allowed = (max(m - problem.least_spend, 0.0) for m in (problem.capacity, problem.allowance))
    tiers, units = _working_tiers(problem, capacity, allowed, tighten)
    found = cheapest_within(tiers, units.capacity)
    ties = take_ties(tiers, found, units.capacity)
    return Relaxation(
        tiers=tiers,
        dual_price=found.dual_price,
        picks=ties.picks,
        room=max(0.0, units.capacity - ties.spend),
        value=tiers.value(ties.picks),
        shortfall=ties.shortfall,
        whole=units.whole,
        slack=units.capacity * (1 - capacity / allowed) / 2 if allowed > 0 else 0.0,
        step=common_step(problem.accuracy) if tighten else 0.0,
    )


def _working_tiers(
    problem: Problem, capacity: float, allowed: float, tighten: bool
) -> tuple[AnyTiers, "Units"]:
    """Tiers and capacity beyond the cheapest choice of every item, in working units.

    Whole units are looked for before the cheapest is taken off, which would leave rounding errors.
    """
    addon = problem.addon_costs
    cheapest = addon.min(axis=-1, keepdims=True)
    beyond, ceiling = addon - cheapest, allowed if tighten else allowed / NEGLIGIBLE
    addon = np.where(beyond <= NEGLIGIBLE * capacity / problem.items, cheapest, addon)
    addon = np.where(beyond > ceiling, np.inf, addon)
    units = working_units(addon, problem.capacity, problem.items) if tighten else None
    if units is not None and units.whole:
        least = units.costs.min(axis=-1).sum() * (problem.items if addon.ndim == 1 else 1)
        units = replace(units, capacity=max(units.capacity - float(least), 0.0))
    else:
        units = working_units(addon - cheapest, capacity, problem.items, whole=False)
    given = problem.accuracy, units.costs, problem.base
    if addon.ndim == 2:
        return ItemTiers.of(*given, ceiling=_LARGEST), units
    return Tiers.of(*given, ceiling=_LARGEST, alike=SAME_COST), units


@dataclass(frozen=True, eq=False)
class Units:
    """Tier costs and capacity in one unit of money; whole: all of them are whole numbers."""

    costs: FloatArray
    capacity: float
    whole: bool = False


def working_units(costs: FloatArray, capacity: float, items: int, whole: bool = True) -> Units:
    """Whole multiples of the costs' greatest common unit where they have one, else shares of the capacity.

    Costs of any shape, infinite where out of reach. Money below the common unit can never be spent, so the
    capacity is rounded down to it: with two tiers that alone makes the relaxed optimum whole.
    """
    paid = costs[(costs > 0) & (costs < np.inf)]
    if paid.size == 0:
        return Units(costs, 0.0, whole=True)
    highest, sample = float(paid.max()), paid[:: max(1, paid.size // 512)]
    capacity = min(capacity, 2 * items * highest)  # more cannot be spent
    tried = [1 / float(paid.min()), *(10.0**digits for digits in range(16))] if whole else []
    with np.errstate(over="ignore", invalid="ignore"):
        for per_unit in tried:
            if highest * per_unit * items >= _EXACT_FLOAT or not _are_whole(sample * per_unit):
                continue
            if _are_whole(paid * per_unit):
                common = int(np.gcd.reduce(np.rint(paid * per_unit).astype(np.int64)))
                rounded = np.rint(costs * per_unit) / common
                return Units(rounded, float(math.floor(capacity * per_unit / common)), whole=True)
    if capacity == 0:
        return Units(np.where(costs > 0, 1.0, 0.0), 0.0)
    return Units(costs / capacity * items, float(items))


def _are_whole(scaled: FloatArray) -> bool:
    return bool((np.abs(scaled - np.rint(scaled)) <= 1e-15 * scaled).all())


def common_step(accuracy: FloatArray) -> float:
    """The power of ten of which all accuracies are multiples, 0 if there is none."""
    for decimals in range(DECIMALS + 1):
        scale = 10.0**decimals
        if _near_whole(accuracy[:64] * scale) and _near_whole(accuracy * scale):
            return 1 / scale
    return 0.0


def _near_whole(scaled: FloatArray) -> bool:
    return bool((np.abs(scaled - np.rint(scaled)) <= 1e-13 * np.abs(scaled)).all())


def solve_lp(problem: Problem, time_limit: float | None) -> Outcome:
    """The relaxed optimum with its at most one split item sent to the base, as in the paper's proof."""
    del time_limit  # it takes milliseconds
    relaxation = relax(problem, tighten=False)
    picks, split = relaxation.picks.copy(), None
    if relaxation.dual_price * relaxation.room > relaxation.tolerance:  # a tie that does not fit whole
        split = first_tied(relaxation.tiers, picks, relaxation.dual_price)
    if split is not None:
        picks[split] = 0
    closed = split is None and relaxation.gap <= relaxation.tolerance
    bound = relaxation.mean_bound(relaxation.gap + relaxation.tolerance / 4)
    status = "optimal" if closed else "rounded"
    choices = relaxation.tiers.services(picks)
    return judged(problem, choices, bound, status, PROOF_TOLERANCE * abs(bound), "rounded")
