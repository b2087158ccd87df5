"""The offline problem of every budget by several solvers, which must agree."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.errors import FrugalError
from frugalmct.paper.studies.case import Case
from frugalmct.paper.studies.guarded import GRACE, OutOfTime, guarded
from frugalmct.paper.studies.offline import Items
from frugalmct.select import solve
from frugalmct.select.methods import METHODS

NEEDS = ("plans", "estimates")
SETTINGS = ("time_limit", "prices")
STOPPED = ("time_limit", "no_solution")
OUT_OF_TIME = "time_limit"
# What is solved at all is mostly solved at once: a solver that was stopped has this share of its time at the
# budgets to come.
LATER = 0.1
CHECKED_SOLVERS = ("exact", "cbc_reduced", "highs_reduced")
PLUGINS = METHODS.modules(*CHECKED_SOLVERS)
COLUMNS = [
    "dataset", "repetition", "budget", "solver", "accuracy", "bound", "proven", "status", "difference",
]  # fmt: skip


def run(case: Case, solvers: Sequence[str] = CHECKED_SOLVERS) -> pd.DataFrame:
    """One row per budget and solver; `difference` is to the first of them."""
    offline = [(plan.budget, case.estimates.by_base[plan.base].test) for plan in case.plans]
    rows = agreement(offline, solvers, case.settings["time_limit"])
    return rows.assign(dataset=case.dataset, repetition=case.repetition)


def agreement(
    offline: Iterable[tuple[float, Items]], solvers: Sequence[str], time_limit: float
) -> pd.DataFrame:
    """offline: budgets, and the items to choose for; time_limit: in seconds, until a solver is first stopped.

    The first solver, which the others are held against, always has the whole of it.
    """
    rows, limits = [], dict.fromkeys(solvers, time_limit)
    for budget, items in offline:
        solved = [_solved(items, budget, solver, limits[solver]) for solver in solvers]
        for row in solved:
            if row["status"] == OUT_OF_TIME and row is not solved[0]:
                limits[row["solver"]] = LATER * time_limit
            # Rounded, because the last bits of a mean depend on the order of its sum.
            difference = round(row["accuracy"] - solved[0]["accuracy"], 12) + 0.0
            rows.append({"budget": budget, **row, "difference": difference})
    return pd.DataFrame(rows, columns=COLUMNS)


def _solved(items: Items, budget: float, solver: str, time_limit: float) -> dict[str, Any]:
    """What a solver reached; nothing but its status where it failed or was stopped.

    How far a stopped solver came differs from run to run; the solver study is where that is looked at.
    """
    nothing = {"solver": solver, "accuracy": np.nan, "bound": np.nan, "proven": False}
    try:
        problem = items.problem(budget)
        solution = guarded(lambda: None, lambda: solve(problem, solver, time_limit), GRACE * time_limit)
    except OutOfTime:
        return nothing | {"status": OUT_OF_TIME}
    except FrugalError as error:
        return nothing | {"status": str(error)}
    if solution.status in STOPPED:
        return nothing | {"status": OUT_OF_TIME}
    return {
        "solver": solver,
        "accuracy": solution.accuracy,
        "bound": solution.bound,
        "proven": solution.proven,
        "status": solution.status,
    }
