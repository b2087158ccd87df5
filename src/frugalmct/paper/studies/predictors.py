"""Accuracy predictors compared by what they are for: the accuracy that routing with them reaches.

All predictors learn from the same items, with the same base and combiners, and spend the same budgets: only
the estimates differ.
"""

import os
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import pandas as pd

from frugalmct.model import AccuracyModel, Learning
from frugalmct.paper.names import OK
from frugalmct.paper.stages.estimate import BaseEstimates
from frugalmct.paper.stages.plans import plan_near
from frugalmct.paper.studies.case import Case
from frugalmct.plans import Plan
from frugalmct.predict import PREDICTORS

NEEDS = ("market", "split", "combination", "plans")
SETTINGS = ("block", "budgets", "learnings", "lacking")
COLUMNS = [
    "dataset", "predictor", "repetition", "budget", "base", "accuracy", "cost", "rmse", "pcc",
    "training_seconds", "status", "data",
]  # fmt: skip


def run(case: Case) -> pd.DataFrame:
    """One row per predictor and budget; one that is not installed has one row, which says so.

    The base is that of the lowest budget, since it has to be paid for at all of them.
    """
    budgets, lacking = case.settings["budgets"], case.settings["lacking"]
    base = plan_near(case.plans, case.market.prices, min(budgets))
    compared = [Plan(float(budget), base.base, base.delta) for budget in budgets]
    rows: list[dict[str, Any]] = []
    for settings in case.settings["learnings"]:
        learning = case.learning_with(settings)
        found = (
            [{"status": f"not installed: {lacking[learning.predictor]}"}]
            if learning.predictor in lacking
            else _outcomes(case, compared, learning)
        )
        rows += [{"predictor": learning.predictor} | row for row in found]
    return pd.DataFrame(rows, columns=COLUMNS).assign(
        dataset=case.dataset,
        repetition=case.repetition,
        base=case.market.services[base.base],
        data=case.market.data,
    )


def _outcomes(case: Case, plans: Sequence[Plan], learning: Learning) -> Iterator[dict[str, Any]]:
    base = plans[0].base
    for library in PREDICTORS.load(learning.predictor).libraries:
        import_module(library)
    started = _processor_seconds()
    model = AccuracyModel.fit(case.train, base, learning, case.combination.combiners[base])
    seconds = _processor_seconds() - started
    own = BaseEstimates.of(model, case.test, learning.metric)
    quality = own.test.quality()
    for plan in plans:
        choices = own.route(plan)
        yield {
            "budget": plan.budget,
            "accuracy": own.test.reached(choices).mean(),
            "cost": own.test.cost(choices),
            "training_seconds": seconds,
            "status": OK,
            **quality,
        }


def _processor_seconds() -> float:
    """Used by this process and those it has waited for: what else the machine is busy with does not count."""
    return time.process_time() + sum(os.times()[2:4])
