"""CP-SAT, from OR-Tools, where it is installed."""

import math

import numpy as np

from frugalmct.select.problem import Outcome, Problem
from frugalmct.select.solvers.formulation import solve_with
from frugalmct.select.solvers.model import Model, Run

_VALUE_UNITS = 10**10

_LARGEST_SUM = 2**53


def solve_cp_sat(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_cp_sat, reduced=False)


def run_cp_sat(model: Model, time_limit: float | None) -> Run:
    """CP-SAT knows whole numbers only: values to 1e-10, costs as fine as its sums allow and rounded down, so
    that no selection within budget is cut off."""
    from ortools.sat.python import cp_model

    cost_units = _LARGEST_SUM // model.variables
    value = np.rint(model.value * _VALUE_UNITS).astype(np.int64)
    cost = np.floor(model.cost * cost_units).astype(np.int64)
    program = cp_model.CpModel()
    variables = [program.new_bool_var("") for _ in range(model.variables)]
    first = model.first.tolist()
    for row in range(model.rows):
        program.add_exactly_one(variables[first[row] : first[row + 1]])
    capacity = math.floor(min(model.capacity, float(model.rows)) * cost_units)
    program.add(cp_model.LinearExpr.weighted_sum(variables, cost.tolist()) <= capacity)
    program.maximize(cp_model.LinearExpr.weighted_sum(variables, value.tolist()))
    solver = cp_model.CpSolver()
    if time_limit is not None:
        solver.parameters.max_time_in_seconds = time_limit
    status = solver.solve(program)
    words = {cp_model.OPTIMAL: "optimal", cp_model.FEASIBLE: "time_limit", cp_model.UNKNOWN: "time_limit"}
    word = words.get(status, solver.status_name(status).lower())
    chosen = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        chosen = model.chosen(np.array([solver.value(variable) for variable in variables], dtype=np.float64))
    rounding = 0.5 * model.rows / _VALUE_UNITS
    bound = solver.best_objective_bound / _VALUE_UNITS + rounding if status != cp_model.UNKNOWN else None
    return Run(chosen, bound, word == "optimal", word)
