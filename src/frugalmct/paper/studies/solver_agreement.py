"""The offline problem of every budget by several solvers, which must agree."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.errors import FrugalError
from frugalmct.paper.studies.case import Case
from frugalmct.paper.studies.guarded import GRACE, OutOfTime, guarded
from frugalmct.select import Problem, solve

NEEDS = ("plans", "estimates")
SETTINGS = ("time_limit",)
STOPPED = ("time_limit", "no_solution")
CHECKED_SOLVERS = ("exact", "cbc_reduced", "highs_reduced")
COLUMNS = [
    "dataset", "repetition", "budget", "solver", "accuracy", "bound", "proven", "status", "difference",
]  # fmt: skip


def run(case: Case, solvers: Sequence[str] = CHECKED_SOLVERS) -> pd.DataFrame:
    """One row per budget and solver; `difference` is to the first of them."""
    rows = []
    for plan in case.plans:
        problem = case.estimates.by_base[plan.base].test.problem(plan.budget)
        solved = [_solved(problem, solver, case.settings["time_limit"]) for solver in solvers]
        for row in solved:
            # Rounded, because the last bits of a mean depend on the order of its sum.
            difference = round(row["accuracy"] - solved[0]["accuracy"], 12) + 0.0
            rows.append(
                {"dataset": case.dataset, "repetition": case.repetition, "budget": plan.budget}
                | row
                | {"difference": difference}
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def _solved(problem: Problem, solver: str, time_limit: float) -> dict[str, Any]:
    """What a solver reached; nothing but its status where it failed or was stopped.

    How far a stopped solver came differs from run to run; the solver study is where that is looked at.
    """
    nothing = {"solver": solver, "accuracy": np.nan, "bound": np.nan, "proven": False}
    try:
        solution = guarded(lambda: None, lambda: solve(problem, solver, time_limit), GRACE * time_limit)
    except OutOfTime:
        return nothing | {"status": "time_limit"}
    except FrugalError as error:
        return nothing | {"status": str(error)}
    if solution.status in STOPPED:
        return nothing | {"status": "time_limit"}
    return {
        "solver": solver,
        "accuracy": solution.accuracy,
        "bound": solution.bound,
        "proven": solution.proven,
        "status": solution.status,
    }
