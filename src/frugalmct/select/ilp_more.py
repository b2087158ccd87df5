"""Solvers that join in when their package (and licence) is present: CP-SAT, SCIP, Gurobi, MOSEK."""

import math
from typing import Any

import numpy as np

from frugalmct.errors import FrugalError
from frugalmct.select.ilp import Model, Run, solve_with
from frugalmct.select.problem import Outcome, Problem

_CP_SAT_VALUE_UNITS = 10**10
_CP_SAT_LARGEST_SUM = 2**53


def solve_cp_sat(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_cp_sat, reduced=False)


def solve_scip(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_scip, reduced=False)


def solve_gurobi(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_gurobi, reduced=False)


def solve_mosek(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_mosek, reduced=False)


def gurobi_problem() -> str | None:
    """What is wrong with Gurobi's licence, or None; the one that pip brings serves small models only."""
    import gurobipy

    try:
        with _quiet_gurobi(gurobipy):
            return None
    except gurobipy.GurobiError as error:
        return f"Gurobi finds no licence ({str(error).rstrip('.: ')})"


def mosek_problem() -> str | None:
    """What is wrong with MOSEK's licence, or None."""
    import mosek

    try:
        with mosek.Env() as env:
            env.checkoutlicense(mosek.feature.pton)
            return None
    except mosek.Error as error:
        return f"MOSEK finds no licence ({str(error).splitlines()[0].rstrip('.: ')})"


def run_cp_sat(model: Model, time_limit: float | None) -> Run:
    """CP-SAT knows whole numbers only: values to 1e-10, costs as fine as its sums allow and rounded down, so
    that no selection within budget is cut off."""
    from ortools.sat.python import cp_model

    cost_units = _CP_SAT_LARGEST_SUM // model.variables
    value = np.rint(model.value * _CP_SAT_VALUE_UNITS).astype(np.int64)
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
    rounding = 0.5 * model.rows / _CP_SAT_VALUE_UNITS
    bound = (
        solver.best_objective_bound / _CP_SAT_VALUE_UNITS + rounding if status != cp_model.UNKNOWN else None
    )
    return Run(chosen, bound, word == "optimal", word)


def run_scip(model: Model, time_limit: float | None) -> Run:
    import pyscipopt

    program = pyscipopt.Model()
    program.hideOutput()
    program.setParam("limits/gap", 0.0)
    program.setParam("numerics/feastol", 1e-9)
    program.setParam("numerics/dualfeastol", 1e-9)
    if time_limit is not None:
        program.setParam("limits/time", time_limit)
    variables = [program.addVar(vtype="B", obj=float(value)) for value in model.value]
    program.setMaximize()
    first = model.first.tolist()
    for row in range(model.rows):
        program.addCons(pyscipopt.quicksum(variables[first[row] : first[row + 1]]) == 1)
    paid = np.flatnonzero(model.cost > 0).tolist()
    if paid:
        money = pyscipopt.quicksum(float(model.cost[i]) * variables[i] for i in paid)
        program.addCons(money <= model.capacity)
    program.optimize()
    word = {"timelimit": "time_limit"}.get(program.getStatus(), program.getStatus())
    chosen = None
    if program.getNSols() > 0:
        best = program.getBestSol()
        chosen = model.chosen(np.array([program.getSolVal(best, variable) for variable in variables]))
    bound = program.getDualbound()
    return Run(chosen, bound if abs(bound) < program.infinity() else None, word == "optimal", word)


def _quiet_gurobi(gurobipy: Any) -> Any:
    env = gurobipy.Env(empty=True)
    env.setParam("OutputFlag", 0)
    env.start()
    return env


def run_gurobi(model: Model, time_limit: float | None) -> Run:
    import gurobipy

    try:
        with _quiet_gurobi(gurobipy) as env, gurobipy.Model(env=env) as program:
            return _gurobi_run(gurobipy, program, model, time_limit)
    except gurobipy.GurobiError as error:
        raise FrugalError(
            f"solve: method 'gurobi' failed on {model.variables} variables ({str(error).rstrip('.')}); "
            "use a full licence, or another method."
        ) from None


def _gurobi_run(gurobipy: Any, program: Any, model: Model, time_limit: float | None) -> Run:
    program.setParam("MIPGap", 0.0)
    program.setParam("MIPGapAbs", 0.0)
    program.setParam("FeasibilityTol", 1e-9)
    program.setParam("IntFeasTol", 1e-9)
    program.setParam("OptimalityTol", 1e-9)
    if time_limit is not None:
        program.setParam("TimeLimit", time_limit)
    variables = program.addMVar(model.variables, vtype=gurobipy.GRB.BINARY)
    program.setObjective(model.value @ variables, gurobipy.GRB.MAXIMIZE)
    from scipy.sparse import csr_matrix

    ones = (np.ones(model.variables), (model.row_of, np.arange(model.variables)))
    program.addConstr(
        csr_matrix(ones, shape=(model.rows, model.variables)) @ variables == np.ones(model.rows)
    )
    program.addConstr(model.cost @ variables <= model.capacity)
    program.optimize()
    words = {gurobipy.GRB.OPTIMAL: "optimal", gurobipy.GRB.TIME_LIMIT: "time_limit"}
    word = words.get(program.Status, f"gurobi_{program.Status}")
    chosen = model.chosen(variables.X) if program.SolCount > 0 else None
    bound = program.ObjBound if abs(program.ObjBound) < 1e90 else None
    return Run(chosen, bound, word == "optimal", word)


def run_mosek(model: Model, time_limit: float | None) -> Run:
    import mosek

    with mosek.Env() as env, env.Task(0, 0) as task:
        _fill_mosek(mosek, task, model)
        if time_limit is not None:
            task.putdouparam(mosek.dparam.mio_max_time, time_limit)
        try:
            ended = task.optimize()
        except mosek.Error as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise FrugalError(f"solve: method 'mosek' failed ({reason}); use another method.") from None
        solution = mosek.soltype.itg
        state = task.getsolsta(solution) if task.solutiondef(solution) else None
        solved = state in (mosek.solsta.integer_optimal, mosek.solsta.prim_feas)
        chosen = model.chosen(np.array(task.getxx(solution))) if solved else None
        optimal, limited = state == mosek.solsta.integer_optimal, ended == mosek.rescode.trm_max_time
        word = "optimal" if optimal else "time_limit" if limited else str(state).rpartition(".")[2]
        bounded = task.getintinf(mosek.iinfitem.mio_obj_bound_defined) > 0
        bound = task.getdouinf(mosek.dinfitem.mio_obj_bound) if bounded else None
        return Run(chosen, bound, optimal, word)


def _fill_mosek(mosek: Any, task: Any, model: Model) -> None:
    n, rows = model.variables, model.rows
    task.appendvars(n)
    task.appendcons(rows + 1)
    task.putvarboundsliceconst(0, n, mosek.boundkey.ra, 0.0, 1.0)
    task.putvartypelist(range(n), [mosek.variabletype.type_int] * n)
    task.putclist(range(n), model.value.tolist())
    task.putaijlist(model.row_of.tolist(), range(n), [1.0] * n)
    task.putaijlist([rows] * n, range(n), model.cost.tolist())
    task.putconboundsliceconst(0, rows, mosek.boundkey.fx, 1.0, 1.0)
    task.putconbound(rows, mosek.boundkey.up, -math.inf, model.capacity)
    task.putobjsense(mosek.objsense.maximize)
    task.putdouparam(mosek.dparam.mio_tol_rel_gap, 0.0)
    task.putdouparam(mosek.dparam.mio_tol_abs_gap, 0.0)
    task.putdouparam(mosek.dparam.mio_tol_feas, 1e-9)
