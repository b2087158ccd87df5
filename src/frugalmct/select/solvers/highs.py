"""HiGHS, through highspy, on the whole problem and on the reduced one."""

import math
from typing import Any

import numpy as np

from frugalmct.select.problem import Outcome, Problem
from frugalmct.select.solvers.formulation import solve_with
from frugalmct.select.solvers.model import Model, Run


def solve_highs(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_highs, reduced=False)


def solve_highs_reduced(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_highs, reduced=True)


def run_highs(model: Model, time_limit: float | None) -> Run:
    import highspy

    solver = highspy.Highs()
    solver.silent()
    options: dict[str, Any] = {
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": 1e-9,
        "primal_feasibility_tolerance": 1e-9,
        "dual_feasibility_tolerance": 1e-9,
    }
    if time_limit is not None:
        options["time_limit"] = time_limit
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.passModel(highs_model(highspy, model))
    solver.run()
    status, info = solver.getModelStatus(), solver.getInfo()
    solved = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    chosen = model.chosen(np.array(solver.getSolution().col_value)) if solved else None
    bound = info.mip_dual_bound if math.isfinite(info.mip_dual_bound) else None
    words = {highspy.HighsModelStatus.kOptimal: "optimal", highspy.HighsModelStatus.kTimeLimit: "time_limit"}
    word = words.get(status, solver.modelStatusToString(status).lower().replace(" ", "_"))
    return Run(chosen, bound, word == "optimal", word)


def highs_model(highspy: Any, model: Model) -> Any:
    """Column-wise: each variable has an entry in its row and, if it costs something, one in the last row."""
    n, rows = model.variables, model.rows
    paid = model.cost > 0
    starts = np.append(0, np.cumsum(1 + paid))
    index = np.empty(starts[-1], dtype=np.int32)
    entry = np.ones(starts[-1])
    index[starts[:-1]] = model.row_of
    index[starts[:-1][paid] + 1] = rows
    entry[starts[:-1][paid] + 1] = model.cost[paid]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, rows + 1
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = model.value
    lp.col_lower_, lp.col_upper_ = np.zeros(n), np.ones(n)
    lp.row_lower_ = np.append(np.ones(rows), -np.inf)
    lp.row_upper_ = np.append(np.ones(rows), model.capacity)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = starts.astype(np.int32)
    lp.a_matrix_.index_ = index
    lp.a_matrix_.value_ = entry
    lp.integrality_ = [highspy.HighsVarType.kInteger] * n
    return lp
