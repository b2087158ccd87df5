"""What each method reaches at each budget: long-format rows, one a method, budget and repetition.

Methods decide from estimates alone; the truth is looked at only here, afterwards.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.accuracy_model import buffered_price
from frugalmct.baselines.frugalml import FrugalML, item_costs, quality_by_label, quality_scores
from frugalmct.baselines.votes import WeightedMajorityVote, majority_vote, vote_cost
from frugalmct.baselines.yardsticks import random_mix
from frugalmct.market import Market, Split
from frugalmct.metrics import pearson, rmse, set_metric
from frugalmct.predictions import BasePredictions, Predictions
from frugalmct.select import Problem, solve
from frugalmct.strategy import Plan, mean_cost, route

COLUMNS = ["dataset", "method", "budget", "seed", "accuracy", "cost", "status", "base", "delta", "price"]

SINGLE = "single:"

Choices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Decision:
    """A method's choices at one budget; `status` says how it got there, or why it could not."""

    choices: Choices
    status: str = "ok"
    price: float = np.nan


def decide_online(predicted: BasePredictions, plan: Plan, seed: int) -> Decision:
    """Algorithm 1 with the price of the training items."""
    price = buffered_price(predicted.frontier, plan.budget, plan.delta)
    return Decision(_route(predicted, plan, price), price=price)


def decide_offline(predicted: BasePredictions, plan: Plan, seed: int) -> Decision:
    """The best choice when all test items are seen at once."""
    return _solved(predicted, predicted.test_estimates, plan)


def decide_dap(predicted: BasePredictions, plan: Plan, seed: int) -> Decision:
    """The dummy predictor: all items look alike, so the best plan is a mixture of two services.

    Algorithm 1 has nothing to tell the items apart by: at p̂ all of them tie. The relaxed optimum, rounded
    as in the paper's proof, is what it stands for.
    """
    problem = Problem(predicted.dummy().test_estimates, predicted.prices, plan.base, plan.budget)
    return Decision(solve(problem, "lp").choices)


def decide_oracle(predicted: BasePredictions, plan: Plan, seed: int) -> Decision:
    """The best choice when the true accuracies are known: what no predictor can beat."""
    return _solved(predicted, predicted.test_accuracy, plan)


def decide_random_mix(predicted: BasePredictions, plan: Plan, seed: int) -> Decision:
    """The same money spent blindly: the best mixture of two combinations, drawn by lot."""
    mean = predicted.train_accuracy.mean(axis=0)
    items = len(predicted.test_accuracy)
    return Decision(random_mix(mean, predicted.prices, plan.base, plan.budget, items, seed))


def _route(predicted: BasePredictions, plan: Plan, price: float) -> Choices:
    return route(predicted.test_estimates, predicted.prices, plan.base, plan.budget, price)


def _solved(predicted: BasePredictions, table: NDArray[np.float64], plan: Plan) -> Decision:
    solution = solve(Problem(table, predicted.prices, plan.base, plan.budget), "exact")
    return Decision(solution.choices, solution.status)


METHODS: dict[str, Callable[[BasePredictions, Plan, int], Decision]] = {
    "frugalmct_online": decide_online,
    "frugalmct_offline": decide_offline,
    "dap": decide_dap,
    "oracle": decide_oracle,
    "random_mix": decide_random_mix,
}


def sweep(
    dataset: str, repetition: int, predictions: Predictions, plans: Sequence[Plan], seed: int = 0
) -> pd.DataFrame:
    """Every method at every budget, on the test items."""
    rows = []
    for plan in plans:
        predicted = predictions.by_base[plan.base]
        for method, decide in METHODS.items():
            decision = decide(predicted, plan, seed)
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


def sweep_baselines(
    market: Market,
    parts: Split,
    budgets: Sequence[float],
    metric: str,
    repetition: int,
    seed: int,
    *,
    labels_per_item: int | None = None,
) -> pd.DataFrame:
    """What one reaches without FrugalMCT: each service alone, FrugalML at every budget, and the votes."""
    train, test = market.subset(parts.whole_train), market.subset(parts.test)
    rows = [*_single_rows(test, metric), *_vote_rows(train, test, metric, labels_per_item)]
    rows += _frugalml_rows(train, test, budgets, metric, seed, labels_per_item)
    table = pd.DataFrame(rows, columns=["method", "budget", "accuracy", "cost", "status"])
    return table.assign(dataset=market.name, seed=repetition).reindex(columns=COLUMNS)


def _single_rows(test: Market, metric: str) -> Iterator[tuple[str, float, float, float, str]]:
    means = test.service_accuracy(metric).mean(axis=0)
    for service, price, accuracy in zip(test.services, test.prices.tolist(), means.tolist(), strict=True):
        yield f"{SINGLE}{service}", price, accuracy, price, "ok"


def _vote_rows(
    train: Market, test: Market, metric: str, labels_per_item: int | None
) -> Iterator[tuple[str, float, float, float, str]]:
    cost = vote_cost(test)
    weighted = WeightedMajorityVote(labels_per_item=labels_per_item).fit(train, metric)
    votes = {
        "majority_vote": majority_vote(test, labels_per_item=labels_per_item),
        "weighted_majority_vote": weighted.answer(test),
    }
    for method, answer in votes.items():
        yield method, cost, float(set_metric(test.truth, answer, metric).mean()), cost, "ok"


def _frugalml_rows(
    train: Market,
    test: Market,
    budgets: Sequence[float],
    metric: str,
    seed: int,
    labels_per_item: int | None,
) -> Iterator[tuple[str, float, float, float, str]]:
    one_label = labels_per_item == 1
    learnt, quality = (
        quality_by_label(train, test) if one_label else (quality_scores(train), quality_scores(test))
    )
    frugalml = FrugalML().fit(learnt, train.service_accuracy(metric), train.prices)
    accuracy = test.service_accuracy(metric)
    for budget in budgets:
        chosen = frugalml.decide(quality, budget, seed, never_over=True)
        reached = accuracy[np.arange(len(test)), chosen.addon].mean()
        cost = item_costs(chosen.base, chosen.addon, test.prices).mean()
        yield "frugalml", float(budget), float(reached), float(cost), "ok"
