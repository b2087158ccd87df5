"""SCIP, through PySCIPOpt, where it is installed."""

import numpy as np

from frugalmct.select.problem import Outcome, Problem
from frugalmct.select.solvers.formulation import solve_with
from frugalmct.select.solvers.model import Model, Run


def solve_scip(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_scip, reduced=False)


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
