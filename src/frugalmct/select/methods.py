"""`solve`: one door to every method, and which of them this installation has."""

import math
import time
from importlib import import_module
from importlib.util import find_spec

from frugalmct.checks import real_number
from frugalmct.errors import FrugalError, listed
from frugalmct.registry import Registry
from frugalmct.select.problem import Problem, Solution, checked_problem

METHODS = Registry(
    "selection method",
    {
        "exact": "frugalmct.select.exact:solve_exact",
        "lp": "frugalmct.select.relaxation:solve_lp",
        "cbc": "frugalmct.select.solvers.cbc:solve_cbc",
        "cbc_reduced": "frugalmct.select.solvers.cbc:solve_cbc_reduced",
        "highs": "frugalmct.select.solvers.highs:solve_highs",
        "highs_reduced": "frugalmct.select.solvers.highs:solve_highs_reduced",
        "cp_sat": "frugalmct.select.solvers.cp_sat:solve_cp_sat",
        "scip": "frugalmct.select.solvers.scip:solve_scip",
        "gurobi": "frugalmct.select.solvers.gurobi:solve_gurobi",
        "mosek": "frugalmct.select.solvers.mosek:solve_mosek",
    },
)
"""Name -> function(problem, time_limit) -> Outcome; `METHODS.register` adds one's own."""

PACKAGES = {
    "cbc": ("pulp", "pulp"),
    "cbc_reduced": ("pulp", "pulp"),
    "highs": ("highspy", "highspy"),
    "highs_reduced": ("highspy", "highspy"),
    "cp_sat": ("ortools", "ortools"),
    "scip": ("pyscipopt", "pyscipopt"),
    "gurobi": ("gurobipy", "gurobipy"),
    "mosek": ("mosek", "mosek"),
}
"""Method -> the module it needs and the name to `pip install`."""

LICENSES = {
    "gurobi": "frugalmct.select.solvers.gurobi:gurobi_problem",
    "mosek": "frugalmct.select.solvers.mosek:mosek_problem",
}
"""Method -> function() -> what is wrong with its licence, or None."""


def available_methods() -> list[str]:
    """The methods that can run here: their package is installed and has a licence if it needs one."""
    return [name for name in METHODS.names() if _obstacle(name) is None]


def solve(problem: Problem, method: str = "exact", time_limit: float | None = None) -> Solution:
    """Select services by one method; `time_limit` in seconds applies to the whole call.

    The solution is always within budget. `proven` and `status` say what the method really reached.
    """
    checked_problem("solve", problem)
    if not isinstance(method, str):
        raise FrugalError(f"solve: method is {method!r}; give one of {listed(METHODS.names())}.")
    limit = _checked_limit(time_limit)
    if method in METHODS.names() and (obstacle := _obstacle(method)) is not None:
        raise FrugalError(f"solve: method '{method}' cannot run here: {obstacle}.")
    run = METHODS.load(method)
    started = time.perf_counter()
    try:
        outcome = run(problem, limit)
    except ImportError as error:  # solver packages may carry clashing libraries
        raise FrugalError(
            f"solve: method '{method}' cannot be loaded ({str(error).rstrip('.')}); "
            "try it in a fresh process, or repair its package."
        ) from error
    seconds = time.perf_counter() - started
    if not problem.within_budget(outcome.choices):
        raise AssertionError(f"method '{method}' returned a selection over budget: a defect of that method")
    accuracy = problem.mean_accuracy(outcome.choices)
    return Solution(
        choices=outcome.choices,
        accuracy=accuracy,
        cost=problem.mean_cost(outcome.choices),
        bound=max(outcome.bound, accuracy),
        proven=outcome.proven,
        seconds=seconds,
        method=method,
        status=outcome.status,
    )


def _checked_limit(value: object) -> float | None:
    if value is None:
        return None
    limit = real_number("solve", "time_limit", value, "a positive number of seconds, or None")
    if not (math.isfinite(limit) and limit > 0):
        raise FrugalError(f"solve: time_limit is {limit}; give a positive number of seconds, or None.")
    return limit


def _obstacle(method: str) -> str | None:
    """Why a registered method cannot run here, or None."""
    if method in PACKAGES:
        module, package = PACKAGES[method]
        if find_spec(module) is None:
            return f"it needs the package {package}, install it with `pip install {package}`"
    if method in LICENSES:
        module, function = LICENSES[method].split(":")
        return getattr(import_module(module), function)()
    return None
