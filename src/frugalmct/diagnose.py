"""Looks into one repetition: how good the estimates are, whether solvers agree, what combining leaves."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.combine import Combiners
from frugalmct.errors import FrugalError
from frugalmct.evaluate import COLUMNS, predictor_quality, sweep_baselines
from frugalmct.market import Market, Split
from frugalmct.paper import figures_of
from frugalmct.predictions import BasePredictions, Combination, Predictions
from frugalmct.results import IDEAL
from frugalmct.select import Frontier, Problem, solve
from frugalmct.strategy import Plan
from frugalmct.studies.guarded import GRACE, OutOfTime, guarded

DUMMY = "mean"
# The paper's words for the predictors it measures.
PAPER_PREDICTORS = {"random_forest": "random_forest", DUMMY: "dummy"}
QUALITY_COLUMNS = ["dataset", "predictor", "seed", "rmse", "pcc", "paper_rmse", "paper_pcc", "base"]

STOPPED = ("time_limit", "no_solution")
CHECKED_SOLVERS = ("exact", "cbc_reduced", "highs_reduced")
AGREEMENT_COLUMNS = [
    "dataset", "seed", "budget", "solver", "accuracy", "bound", "proven", "status", "difference",
]  # fmt: skip


def sweep_beside(
    market: Market,
    parts: Split,
    combination: Combination,
    plans: Sequence[Plan],
    metric: str,
    repetition: int,
    seed: int,
) -> pd.DataFrame:
    """What stands beside FrugalMCT in the long table: the baselines, and the ideal combiner as a limit."""
    budgets = [plan.budget for plan in plans]
    baselines = sweep_baselines(
        market, parts, budgets, metric, repetition, seed, labels_per_item=combination.labels_per_item
    )
    limits = sweep_ideal(market, parts, combination, plans, metric, repetition)
    return pd.DataFrame([*baselines.to_dict("records"), *limits.to_dict("records")], columns=COLUMNS)


def sweep_ideal(
    market: Market,
    parts: Split,
    combination: Combination,
    plans: Sequence[Plan],
    metric: str,
    repetition: int,
) -> pd.DataFrame:
    """The oracle once more, with a combiner that gives the best of its three candidates for every item."""
    test = market.subset(parts.test)
    tables = {
        base: ideal_accuracy(test, combination.combiners[base], metric)
        for base in {plan.base for plan in plans}
    }
    rows = []
    for plan in plans:
        solution = solve(Problem(tables[plan.base], test.prices, plan.base, plan.budget), "exact")
        rows.append(
            {
                "dataset": market.name,
                "method": IDEAL,
                "budget": plan.budget,
                "seed": repetition,
                "accuracy": solution.accuracy,
                "cost": solution.cost,
                "status": solution.status,
                "base": market.services[plan.base],
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def ideal_accuracy(market: Market, combiners: Combiners, metric: str) -> NDArray[np.float64]:
    """(items, services): the best of the base's answer, the add-on's, and the two combined."""
    alone = market.service_accuracy(metric)
    combined = combiners.accuracy_matrix(market, metric)
    return np.maximum(np.maximum(combined, alone), alone[:, [combiners.base]])


def quality_table(
    cells: Iterable[tuple[str, int, Predictions, Sequence[Plan]]], predictor: str
) -> pd.DataFrame:
    """RMSE and correlation of the predictor and of the dummy, for every base that a plan uses."""
    rows = [row for cell in cells for row in _quality_rows(*cell, predictor)]
    return pd.DataFrame(rows, columns=QUALITY_COLUMNS)


def _quality_rows(
    dataset: str, repetition: int, predictions: Predictions, plans: Sequence[Plan], predictor: str
) -> Iterator[dict[str, Any]]:
    for base in sorted({plan.base for plan in plans}):
        for name, estimates in _predictors(predictions.by_base[base], predictor).items():
            yield (
                {"dataset": dataset, "predictor": name, "seed": repetition}
                | predictor_quality(estimates)
                | _paper_quality(dataset, name)
                | {"base": predictions.services[base]}
            )


def _predictors(predicted: BasePredictions, predictor: str) -> Mapping[str, BasePredictions]:
    return {predictor: predicted} | ({} if predictor == DUMMY else {DUMMY: predicted.dummy()})


def _paper_quality(dataset: str, predictor: str) -> dict[str, float]:
    printed = figures_of(dataset).get("paper", {}).get("predictor", {})
    word = PAPER_PREDICTORS.get(predictor)
    return {f"paper_{measure}": printed.get(f"{measure}_{word}") for measure in ("rmse", "pcc")}


def solver_agreement(
    dataset: str,
    repetition: int,
    predictions: Predictions,
    plans: Sequence[Plan],
    time_limit: float,
    solvers: Sequence[str] = CHECKED_SOLVERS,
) -> pd.DataFrame:
    """The offline problem of every budget by every solver; `difference` is to the first of them."""
    rows = []
    for plan in plans:
        estimates = predictions.by_base[plan.base].test_estimates
        problem = Problem(estimates, predictions.prices, plan.base, plan.budget)
        solved = [_solved(problem, solver, time_limit) for solver in solvers]
        for row in solved:
            # Rounded, because the last bits of a mean depend on the order of its sum.
            difference = round(row["accuracy"] - solved[0]["accuracy"], 12) + 0.0
            rows.append(
                {"dataset": dataset, "seed": repetition, "budget": plan.budget}
                | row
                | {"difference": difference}
            )
    return pd.DataFrame(rows, columns=AGREEMENT_COLUMNS)


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


def foreseen_budget(predictions: Predictions) -> Callable[[float], float]:
    """Target accuracy -> the budget it takes by the training estimates, with the cheapest of the bases."""
    frontiers = [predicted.frontier for predicted in predictions.by_base.values()]
    return partial(_cheapest_budget, frontiers)


def _cheapest_budget(frontiers: Sequence[Frontier], target: float) -> float:
    found = [frontier.cheapest_budget(target) for frontier in frontiers if target <= frontier.accuracies[-1]]
    return min(found, default=np.nan)
