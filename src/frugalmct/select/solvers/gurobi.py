"""Gurobi, where it and a licence are installed."""

from typing import Any

import numpy as np

from frugalmct.errors import FrugalError
from frugalmct.select.problem import Outcome, Problem
from frugalmct.select.solvers.formulation import solve_with
from frugalmct.select.solvers.model import Model, Run


def solve_gurobi(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_gurobi, reduced=False)


def gurobi_problem() -> str | None:
    """What is wrong with Gurobi's licence, or None; the one that pip brings serves small models only."""
    import gurobipy

    try:
        with _quiet_gurobi(gurobipy):
            return None
    except gurobipy.GurobiError as error:
        return f"Gurobi finds no licence ({str(error).rstrip('.: ')})"


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
