"""The selection problem as an integer program, whole and reduced, and `solve_with`, which runs it.

A backend takes a `Model` and says in a `Run` what it really reached; models, budget checks and statuses are
shared. Solvers may overrun a constraint by their feasibility tolerance, so their selection is checked against
the budget policy, and where it fails the model is solved again with a little less money.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from frugalmct.checks import FloatArray
from frugalmct.select.exact import good_selection, moves_below
from frugalmct.select.item_moves import ItemMoves
from frugalmct.select.moves import SharedMoves
from frugalmct.select.problem import PROOF_TOLERANCE, IntArray, Outcome, Problem, chosen, judged
from frugalmct.select.relaxation import Relaxation, relax, working_units
from frugalmct.select.solvers.model import Backend, Model
from frugalmct.select.tiers import Picks

MEAN_TOLERANCE = 1e-9
"""How close a finished solver's selection must be to its bound to count as proven: as a share of the
highest accuracy of all, because solvers keep to absolute tolerances and get values of up to 1."""

_ATTEMPTS = 4


@dataclass(frozen=True, eq=False)
class Formulation:
    """A model of a problem and the way back: from chosen variables to services, from the objective to mean
    accuracy; with a selection and a bound for when the solver has none."""

    model: Model
    choices: Callable[[IntArray], IntArray]
    mean: Callable[[float], float]
    fallback: IntArray
    bound: Callable[[], float]


def solve_with(problem: Problem, time_limit: float | None, backend: Backend, reduced: bool) -> Outcome:
    """Formulate the whole problem, or what fixing leaves of it, and run a backend on it."""
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    if not reduced:
        return _run(problem, whole_formulation(problem), backend, deadline)
    relaxation = relax(problem)
    picks, value = good_selection(problem, relaxation, deadline)
    limit = relaxation.gap - value - relaxation.least_gain
    moves = moves_below(relaxation, limit)
    if not moves:
        bound = relaxation.mean_bound(value + 1.25 * relaxation.tolerance)
        choices = relaxation.tiers.services(picks)
        return judged(problem, choices, bound, "optimal", PROOF_TOLERANCE * abs(bound), "rounding_limit")
    return _run(problem, reduced_formulation(relaxation, moves, picks), backend, deadline)


def _run(problem: Problem, formulation: Formulation, backend: Backend, deadline: float) -> Outcome:
    model, bound = formulation.model, math.inf
    known = problem.mean_accuracy(formulation.fallback)
    for attempt in range(_ATTEMPTS):
        left = deadline - time.perf_counter()
        if attempt > 0 and left <= 0:
            break
        run = backend(model, None if math.isinf(left) else max(left, 0.01))
        if math.isinf(bound):  # a later attempt bounds a tighter problem
            bound = formulation.bound() if run.bound is None else formulation.mean(run.bound)
            bound = max(bound, known)  # fixing keeps only what could be better than the known selection
        if run.chosen is None:
            return Outcome(formulation.fallback, bound, False, "no_solution")
        choices = formulation.choices(run.chosen)
        if problem.within_budget(choices):
            if known > problem.mean_accuracy(choices):  # made of what fixing left out
                choices = formulation.fallback
            status = "optimal" if run.finished else run.status
            return judged(problem, choices, bound, status, MEAN_TOLERANCE * problem.highest, "unproven")
        overrun = float(model.cost[run.chosen].sum()) - formulation.model.capacity
        less = 2.0 ** (attempt + 1) * max(overrun, 1e-12 * model.capacity)
        model = replace(model, capacity=model.capacity - less)
    return Outcome(formulation.fallback, bound, False, "over_budget")


def whole_formulation(problem: Problem) -> Formulation:
    """One variable per item and service."""
    cost, capacity = _whole_money(problem)
    first = np.arange(problem.items + 1, dtype=np.int64) * problem.services
    scale = _power_of_two(problem.highest)
    return Formulation(
        model=Model(
            value=problem.accuracy.ravel() / scale,
            cost=np.broadcast_to(cost, problem.accuracy.shape).ravel(),
            first=first,
            capacity=capacity,
        ),
        choices=lambda chosen: chosen - first[:-1],
        mean=lambda objective: objective * scale / problem.items,
        fallback=problem.cheapest,
        bound=lambda: _dual_bound(relax(problem)),
    )


def _whole_money(problem: Problem) -> tuple[FloatArray, float]:
    """Add-on costs, of their own shape, and capacity for the solver; what nobody can afford exceeds it."""
    addon = problem.addon_costs
    affordable = addon <= problem.allowance
    units = working_units(np.where(affordable, addon, 0.0), problem.capacity, problem.items)
    return _solver_money(
        np.where(affordable, units.costs, 2 * units.capacity + 1), units.capacity, units.whole
    )


def reduced_formulation(
    relaxation: Relaxation, moves: SharedMoves | ItemMoves, fallback: Picks
) -> Formulation:
    """One variable per item with a move left: to stay, and one for each of its moves."""
    tiers = relaxation.tiers
    moving, stops = moves.flat()
    items, rows = np.unique(moving, return_inverse=True)
    stays = relaxation.picks[items].astype(np.int64)
    row, stop = np.append(np.arange(items.size), rows), np.append(stays, stops)
    order = np.lexsort((stop, row))
    row, stop = row[order], stop[order]
    table, costs = (
        np.column_stack([np.broadcast_to(column, tiers.items)[items] for column in columns])
        for columns in (tiers.columns, tiers.costs)
    )
    gain = table[row, stop] - table[row, stays[row]]
    money = relaxation.room + float(chosen(costs, stays).sum())
    cost, capacity = _solver_money(costs[row, stop], money, relaxation.whole)

    def choices(chosen: IntArray) -> IntArray:
        moved = relaxation.picks.copy()
        moved[items] = stop[chosen]
        return tiers.services(moved)

    return Formulation(
        model=Model(
            # Gains over the picks in units of the gap: the solver's tolerances then resolve the gap well.
            value=gain / relaxation.gap,
            cost=cost,
            first=np.append(np.searchsorted(row, np.arange(items.size)), row.size),
            capacity=capacity,
        ),
        choices=choices,
        mean=lambda objective: relaxation.mean_bound(objective * relaxation.gap),
        fallback=tiers.services(fallback),
        bound=lambda: _dual_bound(relaxation),
    )


def _solver_money(costs: FloatArray, capacity: float, whole: bool) -> tuple[FloatArray, float]:
    """Costs of at most 1, by a power of two so that whole costs keep their sums exact. With whole costs a
    quarter of a unit changes nothing but keeps selections that use all money off the solver's edge."""
    scale = _power_of_two(float(costs.max()))
    return costs / scale, (capacity + 0.25 * whole) / scale


def _power_of_two(value: float) -> float:
    """The smallest one that is not below a value, so that dividing by it makes no rounding error."""
    return 2.0 ** math.ceil(math.log2(max(value, 1e-300)))


def _dual_bound(relaxation: Relaxation) -> float:
    return relaxation.mean_bound(relaxation.gap)
