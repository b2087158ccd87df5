"""Estimates to choices: what each method that plans reaches at each budget, one row each.

Methods decide from estimates alone; the truth is looked at only here, afterwards.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.baselines.mixture import random_mix
from frugalmct.combine import Combiners
from frugalmct.estimates import Choices, Estimates
from frugalmct.market import Market
from frugalmct.paper.names import DAP, IDEAL, OFFLINE, ONLINE, ORACLE, RANDOM_MIX
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates
from frugalmct.plans import Plan
from frugalmct.select import Problem, solve

COLUMNS = [
    "dataset", "method", "budget", "repetition", "accuracy", "cost", "status", "base", "delta", "dual_price",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Decision:
    """A method's choices at one budget; `status` says how it got there, or why it could not."""

    choices: Choices
    status: str = "ok"
    dual_price: float = np.nan


def decide_online(estimates: BaseEstimates, plan: Plan, seed: int) -> Decision:
    """Algorithm 1 with the dual price of the training items."""
    dual_price = estimates.train.dual_price(plan.budget, plan.delta)
    return Decision(estimates.test.route(plan.budget, dual_price), dual_price=dual_price)


def decide_offline(estimates: BaseEstimates, plan: Plan, seed: int) -> Decision:
    """The best choice when all test items are seen at once."""
    return _solved(estimates.test, estimates.test.estimated, plan)


def decide_dap(estimates: BaseEstimates, plan: Plan, seed: int) -> Decision:
    """The dummy predictor: all items look alike, so the best plan is a mixture of two services.

    Algorithm 1 cannot tell the items apart: at p̂ all of them tie. The relaxed optimum, rounded as in the
    paper's proof, is what it stands for.
    """
    return Decision(solve(estimates.dummy().test.problem(plan.budget), "lp").choices)


def decide_oracle(estimates: BaseEstimates, plan: Plan, seed: int) -> Decision:
    """The best choice when the true accuracies are known: what no predictor can beat."""
    return _solved(estimates.test, estimates.test.truth, plan)


def decide_random_mix(estimates: BaseEstimates, plan: Plan, seed: int) -> Decision:
    """The same money spent blindly: the best mixture of two combinations, drawn at random."""
    means, test = estimates.train.truth.mean(axis=0), estimates.test
    return Decision(random_mix(means, test.prices, test.base, plan.budget, len(test), seed))


def _solved(test: Estimates, accuracies: NDArray[np.float64], plan: Plan) -> Decision:
    solution = solve(Problem(accuracies, test.prices, test.base, plan.budget), "exact")
    return Decision(solution.choices, solution.status)


METHODS: dict[str, Callable[[BaseEstimates, Plan, int], Decision]] = {
    ONLINE: decide_online,
    OFFLINE: decide_offline,
    DAP: decide_dap,
    ORACLE: decide_oracle,
    RANDOM_MIX: decide_random_mix,
}


def sweep(
    dataset: str, repetition: int, estimates: RepetitionEstimates, plans: Sequence[Plan], seed: int
) -> pd.DataFrame:
    """Every method at every budget, on the test items."""
    rows = []
    for plan in plans:
        own = estimates.by_base[plan.base]
        for method, decide in METHODS.items():
            decision = decide(own, plan, seed)
            rows.append(
                {
                    "dataset": dataset,
                    "method": method,
                    "budget": plan.budget,
                    "repetition": repetition,
                    "accuracy": own.test.reached(decision.choices).mean(),
                    "cost": own.test.cost(decision.choices),
                    "status": decision.status,
                    "base": estimates.services[plan.base],
                    "delta": plan.delta,
                    "dual_price": decision.dual_price,
                }
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def sweep_ideal(
    test: Market, combination: Combination, plans: Sequence[Plan], metric: str, repetition: int
) -> pd.DataFrame:
    """The oracle once more, with a combiner that gives the best of its three candidates for every item."""
    bases = {plan.base for plan in plans}
    ideal = {base: ideal_accuracy(test, combination.combiners[base], metric) for base in bases}
    rows = [_ideal_row(test, ideal, plan, repetition) for plan in plans]
    return pd.DataFrame(rows, columns=COLUMNS)


def _ideal_row(
    test: Market, ideal: Mapping[int, NDArray[np.float64]], plan: Plan, repetition: int
) -> dict[str, Any]:
    solution = solve(Problem(ideal[plan.base], test.prices, plan.base, plan.budget), "exact")
    return {
        "dataset": test.name,
        "method": IDEAL,
        "budget": plan.budget,
        "repetition": repetition,
        "accuracy": solution.accuracy,
        "cost": solution.cost,
        "status": solution.status,
        "base": test.services[plan.base],
    }


def ideal_accuracy(market: Market, combiners: Combiners, metric: str) -> NDArray[np.float64]:
    """(items, services): the best of the base's answer, the add-on's, and the two combined."""
    alone = market.service_accuracy(metric)
    combined = market.choice_accuracy(combiners, metric)
    return np.maximum(np.maximum(combined, alone), alone[:, [combiners.base]])


def sweep_all(
    test: Market,
    combination: Combination,
    estimates: RepetitionEstimates,
    plans: Sequence[Plan],
    metric: str,
    repetition: int,
    seed: int,
) -> pd.DataFrame:
    """Everything that goes by plans: the methods, and the ideal combiner as a limit."""
    methods = sweep(test.name, repetition, estimates, plans, seed)
    limits = sweep_ideal(test, combination, plans, metric, repetition)
    return pd.DataFrame([*methods.to_dict("records"), *limits.to_dict("records")], columns=COLUMNS)
