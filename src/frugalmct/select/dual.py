"""The problem's one dual variable, exactly: the price per unit of cost, and the whole frontier.

At price p an item prefers the tier that maximises accuracy - p * cost. As p falls, the item climbs the
upper concave hull of its (cost, accuracy) points, one *step* per hull edge, at the price that equals the
edge's slope. Sorting the slopes of all items therefore gives spend and accuracy at every price, with no
search over a grid.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.errors import FrugalError
from frugalmct.select.checks import (
    FloatArray,
    accuracy_table,
    base_index,
    cost_vector,
    number_array,
    real_number,
)
from frugalmct.select.problem import Problem, addon_costs, allowance, checked_problem, spend
from frugalmct.select.tiers import Picks, Tiers

SAMPLE = 4096
"""Items whose steps bracket the price before the steps of all the others are looked at."""

_HULL_CHUNK = 1 << 15
_SMALLEST = 5e-324


@dataclass(frozen=True, eq=False)
class Steps:
    """Hull edges of many items: at price `slope` one item moves from tier `start` up to tier `stop`."""

    slope: FloatArray
    gain: FloatArray
    start: NDArray[np.unsignedinteger]
    stop: NDArray[np.unsignedinteger]

    def __len__(self) -> int:
        return self.slope.size


def hull_steps(columns: list[FloatArray], costs: FloatArray) -> Steps:
    """Every upward edge of every item's upper concave hull, in no particular order."""
    items = columns[0].size
    parts = [
        part
        for start in range(0, items, _HULL_CHUNK)
        for part in _chunk_steps([column[start : start + _HULL_CHUNK] for column in columns], costs)
    ]
    if not parts:
        none = np.empty(0, dtype=np.uint8)
        return Steps(np.empty(0), np.empty(0), none, none)
    slope, gain, start, stop = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Steps(slope, gain, start, stop)


def _chunk_steps(columns: list[FloatArray], costs: FloatArray) -> Iterator[tuple[NDArray, ...]]:
    """March along the hulls tier by tier: all items that have a vertex at a tier move on together."""
    tiers = len(columns)
    kind = np.min_scalar_type(max(tiers - 1, 1))
    arrived: list[list[NDArray]] = [[] for _ in range(tiers)]
    arrival_slopes: list[list[FloatArray]] = [[] for _ in range(tiers)]
    for here in range(tiers - 1):
        if here == 0:
            members, ceiling = None, None
            at_here = columns[0]
        elif arrived[here]:
            members, ceiling = np.concatenate(arrived[here]), np.concatenate(arrival_slopes[here])
            at_here = columns[here][members]
        else:
            continue
        slope, stop = _steepest_edge(columns, costs, here, members, at_here, kind)
        if ceiling is not None:
            np.minimum(slope, ceiling, out=slope)  # rounding must not make a later edge steeper
        for target in range(here + 1, tiers):
            moving = np.flatnonzero(stop == target)
            if moving.size == 0:
                continue
            who = moving if members is None else members[moving]
            edge = slope[moving]
            arrived[target].append(who)
            arrival_slopes[target].append(edge)
            gain = columns[target][who] - at_here[moving]
            yield edge, gain, np.full(edge.size, here, kind), np.full(edge.size, target, kind)


def _steepest_edge(
    columns: list[FloatArray],
    costs: FloatArray,
    here: int,
    members: NDArray | None,
    at_here: FloatArray,
    kind: np.dtype,
) -> tuple[FloatArray, NDArray]:
    """Slope and target of the steepest rising edge out of tier `here`; target 0 where none rises."""
    best = np.full(at_here.size, _SMALLEST)
    stop = np.zeros(at_here.size, dtype=kind)
    with np.errstate(over="ignore"):
        for target in range(here + 1, len(columns)):
            column = columns[target] if members is None else columns[target][members]
            slope = (column - at_here) / (costs[target] - costs[here])
            np.copyto(stop, kind.type(target), where=slope >= best)  # on a straight line go to its end
            np.maximum(best, slope, out=best)
    return best, stop


@dataclass(frozen=True, eq=False)
class PricedPicks:
    """A price, what every item picks at it, and what that spends: within the capacity it was found for."""

    price: float
    picks: Picks
    spend: float


def cheapest_within(tiers: Tiers, capacity: float) -> PricedPicks:
    """The smallest price whose picks spend at most `capacity`; it minimises the dual objective."""
    at_zero = _picks_if_within(tiers, 0.0, capacity)
    if at_zero is not None:
        return at_zero
    price = _breakpoint_price(tiers, capacity)
    # In exact arithmetic an item at its own slope ties and picks the cheaper tier; rounding may break
    # the tie upwards, so the price is raised by as few units in the last place as put that right.
    nudge = math.ulp(price)
    while (found := _picks_if_within(tiers, price, capacity)) is None:
        price += nudge
        nudge *= 2
    return found


def _picks_if_within(tiers: Tiers, price: float, capacity: float) -> PricedPicks | None:
    picks = tiers.picks_at(price)
    spent = spend(tiers.counts(picks), tiers.costs.tolist())
    return PricedPicks(price, picks, spent) if spent <= capacity else None


def _breakpoint_price(tiers: Tiers, capacity: float) -> float:
    """The smallest slope at which the steps above it cost at most `capacity` (which price 0 exceeds)."""
    low, high = _bracket(tiers, capacity)
    if low == 0.0 and math.isinf(high):
        undecided, columns, counts = tiers.items, tiers.columns, [0] * len(tiers)
    else:
        at_low, at_high = tiers.picks_at(low), tiers.picks_at(high)
        rows = np.flatnonzero(at_low != at_high)
        undecided, columns = rows.size, [column[rows] for column in tiers.columns]
        counts = (np.array(tiers.counts(at_high)) - tiers.counts(at_high[rows])).tolist()
    counts[0] += undecided  # before any step, at an infinite price
    steps = hull_steps(columns, tiers.costs)
    return _smallest_fitting(steps, counts, tiers.costs.tolist(), capacity, low, high)


def _bracket(tiers: Tiers, capacity: float) -> tuple[float, float]:
    """Prices low < high with spend(low) > capacity >= spend(high), guessed from a sample of the items."""
    if tiers.items <= 2 * SAMPLE:
        return 0.0, math.inf
    stride = tiers.items // SAMPLE
    sample = [np.ascontiguousarray(column[::stride]) for column in tiers.columns]
    steps = hull_steps(sample, tiers.costs)
    order = np.argsort(-steps.slope)
    slopes = steps.slope[order]
    spent = np.cumsum((tiers.costs[steps.stop] - tiers.costs[steps.start])[order])
    middle = int(np.searchsorted(spent, capacity * sample[0].size / tiers.items))
    margin = 2 * math.isqrt(slopes.size)
    low = float(slopes[middle + margin]) if middle + margin < slopes.size else 0.0
    high = float(slopes[middle - margin]) if middle >= margin and slopes.size > margin else math.inf
    if low > 0 and _picks_if_within(tiers, low, capacity) is not None:
        low = 0.0
    if not math.isinf(high) and _picks_if_within(tiers, high, capacity) is None:
        high = math.inf
    return low, high


def _smallest_fitting(
    steps: Steps, counts: list[int], costs: list[float], capacity: float, low: float, high: float
) -> float:
    """The smallest slope in (low, high] above which all steps, taken from `counts` on, fit the capacity."""
    by_edge = [
        (start, stop, np.sort(steps.slope[(steps.start == start) & (steps.stop == stop)]))
        for start in range(len(costs))
        for stop in range(start + 1, len(costs))
    ]

    def fits(price: float) -> bool:
        now = list(counts)
        for start, stop, slopes in by_edge:
            taken = slopes.size - int(np.searchsorted(slopes, price, side="right"))
            now[start] -= taken
            now[stop] += taken
        return spend(now, costs) <= capacity

    candidates = np.sort(steps.slope[(steps.slope > low) & (steps.slope <= high)])
    first, last = 0, candidates.size
    while first < last:
        middle = (first + last) // 2
        if fits(candidates[middle]):
            last = middle
        else:
            first = middle + 1
    return float(candidates[first]) if first < candidates.size else high


def dual_price(problem: Problem, delta: float = 0.01) -> float:
    """The paper's p̂: a minimiser of (1-δ)(b - c_base) p + (1/N) Σ_n max_k (a_nk - p c_k [k != base]).

    Where the minimisers are an interval it is the smallest of them: the smallest price at which the
    picks, ties to the cheaper service, stay within (1-δ) of the add-on budget. It is 0 when even the
    most accurate picks do. δ may be negative, never above 1.
    """
    checked_problem("dual_price", problem)
    delta = real_number("dual_price", "delta", delta, "a number up to 1")
    if not (math.isfinite(delta) and delta <= 1):
        raise FrugalError(f"dual_price: delta is {delta}; give a finite number up to 1.")
    capacity = allowance(problem.items, problem.budget, problem.base_cost, share=1 - delta)
    return cheapest_within(Tiers.of(problem.accuracy, problem.addon_costs, problem.base), capacity).price


@dataclass(frozen=True, eq=False)
class Frontier:
    """Best mean accuracy at every budget (of the relaxed problem, where one item may be split).

    Entry i is a corner of the frontier: at `prices[i]` (the smallest price that selects it; ties to the
    cheaper service) the picks have mean cost `budgets[i]`, base included, and mean accuracy
    `accuracies[i]`. Budgets and accuracies rise, prices fall to 0.
    """

    prices: FloatArray
    budgets: FloatArray
    accuracies: FloatArray
    spends: FloatArray
    items: int
    base_cost: float

    @overload
    def price(self, budget: float) -> float: ...
    @overload
    def price(self, budget: ArrayLike) -> FloatArray: ...
    def price(self, budget: ArrayLike) -> float | FloatArray:
        """The smallest price whose picks stay within the budget: `dual_price` with δ = 0."""
        budgets = self._checked_budgets("Frontier.price", budget)
        found = self.prices[self._corner_within(budgets)]
        return float(found) if found.ndim == 0 else found

    @overload
    def accuracy(self, budget: float) -> float: ...
    @overload
    def accuracy(self, budget: ArrayLike) -> FloatArray: ...
    def accuracy(self, budget: ArrayLike) -> float | FloatArray:
        """The relaxed optimum at a budget: no selection within that budget is more accurate."""
        budgets = self._checked_budgets("Frontier.accuracy", budget)
        found = np.asarray(np.interp(budgets, self.budgets, self.accuracies))
        return float(found) if found.ndim == 0 else found

    def cheapest_budget(self, target_accuracy: float) -> float:
        """The smallest budget at which `accuracy` reaches the target."""
        target = real_number("cheapest_budget", "target_accuracy", target_accuracy, "an accuracy from 0 to 1")
        if not target <= self.accuracies[-1]:
            raise FrugalError(
                f"cheapest_budget: target_accuracy {target:g} is out of reach; "
                f"ask for at most {self.accuracies[-1]:.6g}, the best at any budget."
            )
        return float(np.interp(target, self.accuracies, self.budgets))

    def _corner_within(self, budgets: FloatArray) -> NDArray[np.intp]:
        allowed = [allowance(self.items, b, self.base_cost) for b in budgets.ravel().tolist()]
        return np.searchsorted(self.spends, np.reshape(allowed, budgets.shape), side="right") - 1

    def _checked_budgets(self, where: str, budget: ArrayLike) -> FloatArray:
        budgets = number_array(where, "budget", budget, "a budget or an array of budgets")
        if not np.isfinite(budgets).all() or (budgets < self.base_cost * (1 - 1e-12)).any():
            raise FrugalError(
                f"{where}: budget {budgets.tolist()} is not allowed; give finite numbers, "
                f"at least the base service's price {self.base_cost:g}."
            )
        return budgets


def frontier(accuracy: ArrayLike, costs: ArrayLike, base: int) -> Frontier:
    """Price, spend and accuracy at every budget, from one sort of all hull slopes."""
    prices = cost_vector("frontier", costs)
    table = accuracy_table("frontier", accuracy, services=prices.size)
    if table.shape[0] == 0:
        raise FrugalError("frontier: accuracy has no items; give at least one row.")
    base = base_index("frontier", base, prices.size)
    return _frontier_of(Tiers.of(table, addon_costs(prices, base), base), float(prices[base]))


def _frontier_of(tiers: Tiers, base_cost: float) -> Frontier:
    steps = hull_steps(tiers.columns, tiers.costs)
    order = np.argsort(-steps.slope, kind="stable")
    slopes = steps.slope[order]
    last_of_equals = np.flatnonzero(np.append(slopes[1:] != slopes[:-1], np.ones(min(1, slopes.size), bool)))
    start, stop = steps.start[order], steps.stop[order]
    spent = np.zeros(last_of_equals.size)
    for tier in range(1, len(tiers)):
        moves = (stop == tier).astype(np.int32)
        moves -= start == tier
        spent += np.cumsum(moves)[last_of_equals] * tiers.costs[tier]
    # Extended precision: a running sum over every step would otherwise drift by more than a mean does.
    gained = np.cumsum(steps.gain[order], dtype=np.longdouble)[last_of_equals].astype(np.float64)
    lowest = float(tiers.columns[0].sum())
    spends = np.maximum.accumulate(np.append(0.0, spent))
    accuracies = np.maximum.accumulate(np.append(lowest, lowest + gained)) / tiers.items
    return Frontier(
        prices=np.append(slopes[last_of_equals], 0.0),
        budgets=base_cost + spends / tiers.items,
        accuracies=accuracies,
        spends=spends,
        items=tiers.items,
        base_cost=base_cost,
    )
