"""What each method reaches at each budget: long-format rows, one a method, budget and repetition.

Methods decide from estimates alone; the truth is looked at only here, afterwards.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.accuracy_model import buffered_price
from frugalmct.metrics import pearson, rmse
from frugalmct.predictions import BasePredictions, Predictions
from frugalmct.select import Problem, solve
from frugalmct.strategy import Plan, mean_cost, route

COLUMNS = ["dataset", "method", "budget", "seed", "accuracy", "cost", "status", "base", "delta", "price"]

Choices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Decision:
    """A method's choices at one budget; `status` says how it got there, or why it could not."""

    choices: Choices
    status: str = "ok"
    price: float = np.nan


def decide_online(predicted: BasePredictions, plan: Plan) -> Decision:
    """Algorithm 1 with the price of the training items."""
    price = buffered_price(predicted.frontier, plan.budget, plan.delta)
    return Decision(_route(predicted, plan, price), price=price)


def decide_offline(predicted: BasePredictions, plan: Plan) -> Decision:
    """The best choice when all test items are seen at once."""
    return _solved(predicted, predicted.test_estimates, plan)


def decide_dap(predicted: BasePredictions, plan: Plan) -> Decision:
    """Algorithm 1 with the dummy predictor.

    All items tie at p̂, where ties go to the cheapest service and nothing would ever be called. Just below
    it the add-on is called until the budget is spent, which is what the algorithm's guard is for.
    """
    dummy = predicted.dummy()
    price = buffered_price(dummy.frontier, plan.budget, 0.0) * (1 - 1e-9)
    return Decision(_route(dummy, plan, price), price=price)


def decide_oracle(predicted: BasePredictions, plan: Plan) -> Decision:
    """The best choice when the true accuracies are known: what no predictor can beat."""
    return _solved(predicted, predicted.test_accuracy, plan)


def _route(predicted: BasePredictions, plan: Plan, price: float) -> Choices:
    return route(predicted.test_estimates, predicted.prices, plan.base, plan.budget, price)


def _solved(predicted: BasePredictions, table: NDArray[np.float64], plan: Plan) -> Decision:
    solution = solve(Problem(table, predicted.prices, plan.base, plan.budget), "exact")
    return Decision(solution.choices, solution.status)


METHODS: dict[str, Callable[[BasePredictions, Plan], Decision]] = {
    "frugalmct_online": decide_online,
    "frugalmct_offline": decide_offline,
    "dap": decide_dap,
    "oracle": decide_oracle,
}


def sweep(dataset: str, repetition: int, predictions: Predictions, plans: Sequence[Plan]) -> pd.DataFrame:
    """Every method at every budget, on the test items."""
    rows = []
    for plan in plans:
        predicted = predictions.by_base[plan.base]
        for method, decide in METHODS.items():
            decision = decide(predicted, plan)
            rows.append(_row(dataset, method, repetition, predictions, plan, decision))
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(
    dataset: str, method: str, repetition: int, predictions: Predictions, plan: Plan, decision: Decision
) -> dict[str, Any]:
    accuracy = predictions.by_base[plan.base].test_accuracy
    choices = decision.choices
    return {
        "dataset": dataset,
        "method": method,
        "budget": plan.budget,
        "seed": repetition,
        "accuracy": accuracy[np.arange(len(choices)), choices].mean(),
        "cost": mean_cost(choices, predictions.prices, plan.base),
        "status": decision.status,
        "base": predictions.services[plan.base],
        "delta": plan.delta,
        "price": decision.price,
    }


def predictor_quality(predicted: BasePredictions) -> dict[str, float]:
    """RMSE and correlation of the estimates on test items, mean over services as in the paper's table."""
    pairs = list(zip(predicted.test_estimates.T, predicted.test_accuracy.T, strict=True))
    return {
        "rmse": float(np.mean([rmse(estimate, truth) for estimate, truth in pairs])),
        "pcc": float(np.mean([pearson(estimate, truth) for estimate, truth in pairs])),
    }
