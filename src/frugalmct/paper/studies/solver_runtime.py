"""How long Algorithm 1, the exact method and general solvers take on the same selection, as it grows."""

import logging
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.paper.studies.case import Case
from frugalmct.paper.studies.guarded import GRACE, OutOfTime, guarded
from frugalmct.paper.studies.offline import BothParts, Spent
from frugalmct.select import OnlineSelector, Problem, available_methods, solve
from frugalmct.select.methods import METHODS, PACKAGES

NEEDS = ("market", "plans", "estimates")
SETTINGS = ("budget", "solver_study", "prices")
# Those that can run here; and what says whether they can.
PLUGINS = METHODS.modules()
COLUMNS = [
    "solver", "dataset", "items", "budget", "seconds", "accuracy", "bound", "proven", "status", "stopped",
    "gap", "shortfall", "true_accuracy", "cost", "time_limit", "version", "data",
]  # fmt: skip

ONLINE = "online"
FINISHED = (ONLINE, "optimal", "rounded")
WARM_UP_ITEMS = 20

Found = tuple[dict[str, Any], NDArray[np.int64]]

log = logging.getLogger("frugalmct")


def run(case: Case) -> pd.DataFrame:
    """Every solver on the estimates of the first test items, few to many."""
    study = case.settings["solver_study"]
    table = solver_study(case.own, case.plan, study["items"], study["time_limit"])
    log.info("on the most items: %s", ", ".join(slowest(table)))
    return table.assign(dataset=case.dataset, data=case.market.data)


def solver_study(own: BothParts, plan: Spent, sizes: Sequence[int], time_limit: float) -> pd.DataFrame:
    """accuracy, bound and gap (their difference) are means of the estimates, which is what is maximised.

    shortfall is against the best of all solvers on the same items. A solver that fails has a row saying so.
    One whose time was over before its proof is not tried on more items.
    """
    rows: list[dict[str, Any]] = []
    too_many: dict[str, int] = {}
    for items in sizes_within(sizes, len(own.test)):
        for solver in (ONLINE, *available_methods()):
            if solver in too_many:
                rows.append(_not_tried(solver, items, too_many[solver]))
                continue
            rows.append(_attempt(solver, own, plan, items, time_limit))
            log.info("%s", rows[-1])
            if rows[-1]["stopped"]:
                too_many[solver] = items
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["gap"] = table["bound"] - table["accuracy"]
    table["shortfall"] = table.groupby("items")["accuracy"].transform("max") - table["accuracy"]
    return table.assign(budget=plan.budget, time_limit=time_limit)


def sizes_within(sizes: Sequence[int], available: int) -> list[int]:
    """Those that there are; instead of all larger ones, all there is."""
    return sorted({min(size, available) for size in sizes})


def _not_tried(solver: str, items: int, too_many: int) -> dict[str, Any]:
    return {"solver": solver, "items": items, "version": solver_version(solver)} | {
        "proven": False,
        "stopped": True,
        "status": f"not tried: stopped at {too_many:,} items",
    }


def _attempt(solver: str, own: BothParts, plan: Spent, items: int, time_limit: float) -> dict[str, Any]:
    row = {"solver": solver, "items": items, "version": solver_version(solver)}
    try:
        first = own.test.rows(np.arange(items))
        problem = first.problem(plan.budget)
        if solver == ONLINE:
            found, choices = _run_online(problem, own.train.dual_price(plan.budget, plan.delta))
        else:
            found, choices = _run_method(problem, solver, time_limit)
    except Exception as error:  # one solver's trouble is a gap in the table, not the end of the study
        log.exception("%s on %d items", solver, items)
        return row | {"proven": False, "stopped": False, "status": f"failed: {error or type(error).__name__}"}
    stopped = found["status"] not in FINISHED
    return row | found | {"stopped": stopped, "true_accuracy": first.reached(choices).mean()}


def _run_online(problem: Problem, dual_price: float) -> Found:
    """Algorithm 1 at the dual price that the training items gave; it bounds and proves nothing."""
    started = time.perf_counter()
    selector = OnlineSelector(problem.costs, problem.base, problem.budget, problem.items, dual_price)
    choices = selector.choose_all(problem.accuracy)
    seconds = time.perf_counter() - started
    return _described(problem, choices, seconds, np.nan, ONLINE), choices


def _run_method(problem: Problem, method: str, time_limit: float) -> Found:
    """In a process of its own: memory is given back, and the limit holds."""
    few = _few(problem)

    def warm_up() -> None:  # what it takes to load a solver's libraries is not its runtime
        solve(few, method, time_limit)

    started = time.perf_counter()
    try:
        solution = guarded(warm_up, lambda: solve(problem, method, time_limit), GRACE * time_limit)
    except OutOfTime:
        seconds = time.perf_counter() - started
        log.warning("%s was ended after %.1f s: it did not stop at its limit", method, seconds)
        return _nothing_found(problem, seconds)
    names = ("seconds", "accuracy", "bound", "proven", "status", "cost")
    return {name: getattr(solution, name) for name in names}, solution.choices


def _few(problem: Problem) -> Problem:
    """Of the first items; where they have costs of their own with money enough for all services."""
    accuracy, costs, budget = problem.accuracy[:WARM_UP_ITEMS], problem.costs, problem.budget
    if costs.ndim == 2:
        costs = costs[:WARM_UP_ITEMS]
        budget = float(costs.sum(axis=1).max())
    return Problem(accuracy, costs, problem.base, budget)


def _nothing_found(problem: Problem, seconds: float) -> Found:
    """As `solve` has it for a solver without a solution: the base alone, or without one the cheapest service,
    and the bound of the relaxation."""
    choices = problem.cheapest
    return _described(problem, choices, seconds, solve(problem, "lp").bound, "no_solution"), choices


def _described(
    problem: Problem, choices: NDArray[np.int64], seconds: float, bound: float, status: str
) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "accuracy": problem.mean_accuracy(choices),
        "bound": bound,
        "proven": False,
        "status": status,
        "cost": problem.mean_cost(choices),
    }


def solver_version(solver: str) -> str:
    package = PACKAGES.get(solver, ("", "frugalmct"))[1]
    return f"{package} {version(package)}"


def slowest(table: pd.DataFrame) -> Iterator[str]:
    """For the log: what each solver took on the most items."""
    for row in table[table["items"] == table["items"].max()].itertuples():
        yield (
            f"{row.solver} {row.seconds:.3g} s ({row.status})"
            if row.seconds > 0
            else f"{row.solver} {row.status}"
        )
