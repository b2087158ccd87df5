"""The problem's one dual variable, exactly: the dual price per unit of cost, and the whole frontier.

At dual price p an item prefers the tier that maximises accuracy - p * cost. As p falls, the item climbs the
upper concave hull of its (cost, accuracy) points, one *step* per hull edge, at the dual price that equals the
edge's slope. Sorting the slopes of all items therefore gives spend and accuracy at every dual price, with no
search over a grid.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from frugalmct.checks import (
    Base,
    FloatArray,
    accuracy_and_costs,
    base_services,
    number_array,
    real_number,
)
from frugalmct.errors import FrugalError
from frugalmct.select.item_tiers import AnyTiers, tiers_of
from frugalmct.select.problem import Problem, addon_costs, allowance, checked_problem, mean_base_cost
from frugalmct.select.tiers import Cost, Picks

SAMPLE = 4096
"""Items whose steps bracket the dual price before the steps of all the others are looked at."""

_HULL_CHUNK = 1 << 15
_SMALLEST = 5e-324
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Steps:
    """Hull edges of many items: at dual price `slope` an item moves up, for `cost` and `gain` more."""

    slope: FloatArray
    gain: FloatArray
    cost: FloatArray

    def steepest_first(self) -> "Steps":
        order = np.argsort(-self.slope, kind="stable")
        return Steps(self.slope[order], self.gain[order], self.cost[order])


def hull_steps(tiers: AnyTiers) -> Steps:
    """Every upward edge of every item's upper concave hull, in no particular order."""
    parts: list[tuple[FloatArray, ...]] = []
    for start in range(0, tiers.items, _HULL_CHUNK):
        chunk = slice(start, start + _HULL_CHUNK)
        columns = [column[chunk] for column in tiers.columns]
        parts += _chunk_steps(columns, [_part(cost, chunk) for cost in tiers.costs])
    if not parts:
        return Steps(np.empty(0), np.empty(0), np.empty(0))
    return Steps(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _part(cost: Cost, which: slice | np.ndarray | None) -> Cost:
    return cost[which] if isinstance(cost, np.ndarray) and which is not None else cost


def _chunk_steps(columns: list[FloatArray], costs: Sequence[Cost]) -> Iterator[tuple[FloatArray, ...]]:
    """March along the hulls tier by tier: all items that have a vertex at a tier move on together."""
    tiers = len(columns)
    arrived: list[list[np.ndarray]] = [[] for _ in range(tiers)]
    arrival_slopes: list[list[FloatArray]] = [[] for _ in range(tiers)]
    for here in range(tiers - 1):
        if here == 0:
            members, ceiling = None, None
        elif arrived[here]:
            members, ceiling = np.concatenate(arrived[here]), np.concatenate(arrival_slopes[here])
        else:
            continue
        slope, stop = _steepest_edge(columns, costs, here, members)
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
            more = _part(costs[target], who) - _part(costs[here], who)
            yield edge, columns[target][who] - columns[here][who], np.broadcast_to(more, edge.shape)


def _steepest_edge(
    columns: list[FloatArray], costs: Sequence[Cost], here: int, members: np.ndarray | None
) -> tuple[FloatArray, np.ndarray]:
    """Slope and target of the steepest rising edge out of tier `here`; target 0 where none rises."""
    which = slice(None) if members is None else members
    at_here, cost_here = columns[here][which], _part(costs[here], members)
    best = np.full(at_here.size, _SMALLEST)
    stop = np.zeros(at_here.size, dtype=np.min_scalar_type(max(len(columns) - 1, 1)))
    with np.errstate(over="ignore"):
        for target in range(here + 1, len(columns)):
            slope = (columns[target][which] - at_here) / (_part(costs[target], members) - cost_here)
            np.copyto(stop, stop.dtype.type(target), where=slope >= best)  # on a straight line to its end
            np.maximum(best, slope, out=best)
    return best, stop


@dataclass(frozen=True, eq=False)
class PricedPicks:
    """A dual price, what every item picks at it, and what that spends: within a given capacity."""

    dual_price: float
    picks: Picks
    spend: float


def cheapest_within(tiers: AnyTiers, capacity: float) -> PricedPicks:
    """The smallest dual price whose picks spend at most `capacity`; it minimises the dual objective."""
    at_zero = _picks_if_within(tiers, 0.0, capacity)
    if at_zero is not None:
        return at_zero
    found_at = _breakpoint(tiers, capacity)
    # In exact arithmetic an item at its own slope ties and picks the cheaper tier; rounding may break
    # the tie upwards, so the dual price is raised by as few units in the last place as put that right.
    nudge = math.ulp(found_at)
    while (found := _picks_if_within(tiers, found_at, capacity)) is None:
        found_at += nudge
        nudge *= 2
    return found


def _picks_if_within(tiers: AnyTiers, at: float, capacity: float) -> PricedPicks | None:
    picks = tiers.picks_at(at)
    spent = tiers.spend(picks)
    return PricedPicks(at, picks, spent) if spent <= capacity else None


def _breakpoint(tiers: AnyTiers, capacity: float) -> float:
    """The smallest slope at which the steps above it cost at most `capacity` (which 0 exceeds)."""
    low, high = _bracket(tiers, capacity)
    if low == 0.0 and math.isinf(high):
        undecided, settled = tiers, 0.0
    else:
        at_low, at_high = tiers.picks_at(low), tiers.picks_at(high)
        rows = np.flatnonzero(at_low != at_high)
        undecided = tiers.rows(rows)
        settled = tiers.spend(at_high) - undecided.spend(at_high[rows])
    steps = hull_steps(undecided).steepest_first()
    spent = settled + np.cumsum(steps.cost, dtype=np.longdouble)
    first_too_many = min(int(np.searchsorted(spent, capacity, side="right")), steps.slope.size - 1)
    return min(max(float(steps.slope[first_too_many]), low), high)


def _bracket(tiers: AnyTiers, capacity: float) -> tuple[float, float]:
    """Dual prices low < high with spend(low) > capacity >= spend(high), guessed from a sample."""
    if tiers.items <= 2 * SAMPLE:
        return 0.0, math.inf
    sample = tiers.rows(slice(None, None, tiers.items // SAMPLE))
    steps = hull_steps(sample).steepest_first()
    slopes, spent = steps.slope, np.cumsum(steps.cost)
    middle = int(np.searchsorted(spent, capacity * sample.items / tiers.items))
    margin = 2 * math.isqrt(slopes.size)
    low = float(slopes[middle + margin]) if middle + margin < slopes.size else 0.0
    high = float(slopes[middle - margin]) if middle >= margin and slopes.size > margin else math.inf
    if low > 0 and _picks_if_within(tiers, low, capacity) is not None:
        low = 0.0
    if not math.isinf(high) and _picks_if_within(tiers, high, capacity) is None:
        high = math.inf
    return low, high


def checked_delta(where: str, value: object) -> float:
    delta = real_number(where, "delta", value, "a number up to 1")
    if not (math.isfinite(delta) and delta <= 1):
        raise FrugalError(f"{where}: delta is {delta}; give a finite number up to 1.")
    return delta


def dual_price(problem: Problem, delta: float = 0.01) -> float:
    """The paper's p̂: a minimiser of (1-δ)(b - c_base) p + (1/N) Σ_n max_k (a_nk - p c_nk [k not a base]).

    Where the minimisers are an interval it is the smallest of them: the smallest at which the picks, ties to
    the cheaper service, stay within (1-δ) of the add-on budget. It is 0 when even the most accurate picks
    do. δ may be negative, never above 1. Without a base, δ is held back of what the budget leaves beyond
    the cheapest choice of every item.
    """
    checked_problem("dual_price", problem)
    share = 1 - checked_delta("dual_price", delta)
    budget = problem.least_cost + max(share * (problem.budget - problem.least_cost), 0.0)
    capacity = max(allowance(problem.items, budget, problem.base_cost) - problem.least_spend, 0.0)
    return cheapest_within(tiers_of(problem.accuracy, problem.addon_costs, problem.base), capacity).dual_price


@dataclass(frozen=True, eq=False)
class Frontier:
    """Best mean accuracy at every budget (of the relaxed problem, where one item may be split).

    Entry i is a corner of the frontier: at `dual_prices[i]` (the smallest that selects it; ties to the
    cheaper service) the picks have mean cost `budgets[i]`, base included, and mean accuracy
    `accuracies[i]`. Budgets and accuracies rise, dual prices fall to 0. `spends`: what the picks' add-ons
    cost in all; base_cost: what an item pays on average whatever is chosen; least_cost: with the cheapest
    choice, which is the same where there is a base.
    """

    dual_prices: FloatArray
    budgets: FloatArray
    accuracies: FloatArray
    spends: FloatArray
    items: int
    base_cost: float

    @property
    def least_cost(self) -> float:
        return float(self.budgets[0])

    @overload
    def dual_price(self, budget: float, delta: float = 0.0) -> float: ...
    @overload
    def dual_price(self, budget: ArrayLike, delta: float = 0.0) -> FloatArray: ...
    def dual_price(self, budget: ArrayLike, delta: float = 0.0) -> float | FloatArray:
        """The smallest dual price whose picks keep to the budget, with the share δ of the add-on budget
        (budget - least cost) held back: the paper's p̂ of these items, as `dual_price` of their problem."""
        budgets = self._checked_budgets("Frontier.dual_price", budget)
        share = 1 - checked_delta("Frontier.dual_price", delta)
        addon = np.maximum(share * (budgets - self.least_cost), 0.0)
        allowed = self._allowed(self.least_cost + addon)
        corner = np.maximum(np.searchsorted(self.spends, allowed, side="right") - 1, 0)
        found = self.dual_prices[corner]
        return float(found) if found.ndim == 0 else found

    @overload
    def accuracy(self, budget: float) -> float: ...
    @overload
    def accuracy(self, budget: ArrayLike) -> FloatArray: ...
    def accuracy(self, budget: ArrayLike) -> float | FloatArray:
        """The relaxed optimum at a budget: no selection within that budget is more accurate.

        It counts what the policy on rounding lets a selection spend, and is itself rounded up.
        """
        budgets = self._checked_budgets("Frontier.accuracy", budget)
        found = np.interp(self._allowed(budgets), self.spends, self.accuracies)
        rounding = 4 * _EPSILON + self.spends.size * float(np.finfo(np.longdouble).eps)
        found = np.asarray(np.minimum(found + rounding * np.abs(found), self.accuracies[-1]))
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

    def _allowed(self, budgets: FloatArray) -> FloatArray:
        allowed = [allowance(self.items, b, self.base_cost) for b in budgets.ravel().tolist()]
        return np.reshape(allowed, budgets.shape)

    def _checked_budgets(self, where: str, budget: ArrayLike) -> FloatArray:
        budgets = number_array(where, "budget", budget, "a budget or an array of budgets")
        if not np.isfinite(budgets).all() or (budgets < self.least_cost * (1 - 1e-12)).any():
            raise FrugalError(
                f"{where}: budget {budgets.tolist()} is not allowed; give finite numbers, "
                f"at least what the base or the cheapest choice costs, {self.least_cost:g}."
            )
        return budgets


def frontier(accuracy: ArrayLike, costs: ArrayLike, base: Base) -> Frontier:
    """Dual price, spend and accuracy at every budget, from one sort of all hull slopes.

    accuracy: (N, K); costs: (K,) or (N, K); base: an index, a list of them, or None, as in `Problem`.
    """
    table, prices = accuracy_and_costs("frontier", accuracy, costs)
    base = base_services("frontier", base, prices.shape[-1])
    addon = addon_costs(prices, base)
    cheapest = np.broadcast_to(addon.min(axis=-1), len(table))
    return _frontier_of(tiers_of(table, addon, base), mean_base_cost(prices, base), math.fsum(cheapest))


def _frontier_of(tiers: AnyTiers, base_cost: float, least_spend: float) -> Frontier:
    steps = hull_steps(tiers).steepest_first()
    slopes = steps.slope
    last_of_equals = np.flatnonzero(np.append(slopes[1:] != slopes[:-1], np.ones(min(1, slopes.size), bool)))
    # Extended precision: running sums over every step would otherwise drift by more than a mean does.
    spent, gained = (
        np.append(0.0, np.cumsum(change, dtype=np.longdouble)[last_of_equals].astype(np.float64))
        for change in (steps.cost, steps.gain)
    )
    spends = np.maximum.accumulate(least_spend + spent)
    accuracies = (float(tiers.columns[0].sum()) + gained) / tiers.items
    # The last corner as `Problem` computes it: what no selection exceeds, to the last digit.
    accuracies[-1] = np.maximum.reduce(tiers.columns).mean()
    accuracies = np.maximum.accumulate(np.minimum(accuracies, accuracies[-1]))
    return Frontier(
        dual_prices=np.append(slopes[last_of_equals], 0.0),
        budgets=base_cost + spends / tiers.items,
        accuracies=accuracies,
        spends=spends,
        items=tiers.items,
        base_cost=base_cost,
    )
