"""MOSEK, where it and a licence are installed."""

import math
from typing import Any

import numpy as np

from frugalmct.errors import FrugalError
from frugalmct.select.problem import Outcome, Problem
from frugalmct.select.solvers.formulation import solve_with
from frugalmct.select.solvers.model import Model, Run


def solve_mosek(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_mosek, reduced=False)


def mosek_problem() -> str | None:
    """What is wrong with MOSEK's licence, or None."""
    import mosek

    try:
        with mosek.Env() as env:
            env.checkoutlicense(mosek.feature.pton)
            return None
    except mosek.Error as error:
        return f"MOSEK finds no licence ({str(error).splitlines()[0].rstrip('.: ')})"


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
