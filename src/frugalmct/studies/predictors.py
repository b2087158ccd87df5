"""Accuracy predictors compared by what they are for: the accuracy that routing with them reaches.

All predictors learn from the same items, with the same base and combiners, and spend the same budgets: only
the estimates differ.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.accuracy_model import AccuracyModel, Learning
from frugalmct.evaluate import decide_online, predictor_quality
from frugalmct.market import Market, Split
from frugalmct.predict import PREDICTORS
from frugalmct.predictions import BasePredictions, Combination
from frugalmct.results import interval
from frugalmct.strategy import Plan, mean_cost
from frugalmct.studies.case import plan_at
from frugalmct.tables import data_kind, stacked

OK = "ok"
LIMITS = {"accuracy": (0, 1), "rmse": (0, 1), "pcc": (-1, 1), "training_seconds": (0, np.inf)}
COLUMNS = [
    "dataset", "predictor", "seed", "budget", "base", "accuracy", "cost", "rmse", "pcc", "training_seconds",
    "status", "data",
]  # fmt: skip
TABLE_COLUMNS = [
    "dataset", "predictor", "budget", "base", "repetitions",
    "accuracy", "accuracy_low", "accuracy_high", "gain", "gain_low", "gain_high", "cost",
    "rmse", "rmse_low", "rmse_high", "pcc", "pcc_low", "pcc_high",
    "training_seconds", "training_seconds_low", "training_seconds_high", "status", "data",
]  # fmt: skip


def compare_predictors(
    market: Market,
    parts: Split,
    combination: Combination,
    plans: Sequence[Plan],
    budgets: Sequence[float],
    learnings: Iterable[Learning],
    lacking: Mapping[str, str],
    repetition: int,
) -> pd.DataFrame:
    """A row a predictor and budget; one that is not installed has one row, which says so.

    The base is that of the lowest budget, since it has to be paid for at all of them.
    """
    base = plan_at(plans, market.prices, min(budgets))
    compared = [Plan(float(budget), base.base, base.delta) for budget in budgets]
    rows: list[dict[str, Any]] = []
    for learning in learnings:
        found = (
            [{"status": f"not installed: {lacking[learning.predictor]}"}]
            if learning.predictor in lacking
            else _outcomes(market, parts, combination, compared, learning)
        )
        rows += [{"predictor": learning.predictor} | row for row in found]
    return pd.DataFrame(rows, columns=COLUMNS).assign(
        dataset=market.name, seed=repetition, base=market.services[base.base], data=data_kind(market)
    )


def _outcomes(
    market: Market, parts: Split, combination: Combination, plans: Sequence[Plan], learning: Learning
) -> Iterator[dict[str, Any]]:
    train, test = market.subset(parts.whole_train), market.subset(parts.test)
    base = plans[0].base
    combiners = combination.combiners[base]
    for library in PREDICTORS.load(learning.predictor).libraries:
        import_module(library)
    started = _processor_seconds()
    model = AccuracyModel.fit(train, base, learning, combiners)
    seconds = _processor_seconds() - started
    predicted = BasePredictions.make(model, test, learning.metric)
    quality = predictor_quality(predicted)
    for plan in plans:
        choices = decide_online(predicted, plan, learning.seed).choices
        yield {
            "budget": plan.budget,
            "accuracy": predicted.test_accuracy[np.arange(len(choices)), choices].mean(),
            "cost": mean_cost(choices, market.prices, base),
            "training_seconds": seconds,
            "status": OK,
            **quality,
        }


def _processor_seconds() -> float:
    """Used by this process and those it has waited for: what else the machine is busy with does not count."""
    return time.process_time() + sum(os.times()[2:4])


def predictors_table(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Means over repetitions with 95 % intervals; `gain` is over the first predictor, run by run."""
    rows = stacked(parts)
    first = rows[rows["predictor"] == rows["predictor"].iloc[0]]
    cell = ["dataset", "seed", "budget"]
    reference = first.set_index(cell)["accuracy"].rename("reference")
    rows = rows.join(reference, on=cell)
    rows["gain"] = rows["accuracy"] - rows["reference"]
    groups = rows.groupby(["dataset", "predictor", "budget"], sort=False, dropna=False)
    return pd.DataFrame([_table_row(group) for _, group in groups], columns=TABLE_COLUMNS)


def _table_row(group: pd.DataFrame) -> dict[str, Any]:
    row = {key: group[key].iloc[0] for key in ("dataset", "predictor", "budget", "status", "data")}
    row |= {"base": " or ".join(group["base"].unique()), "repetitions": len(group)}
    row |= {"cost": group["cost"].mean()} | interval(group["gain"]).columns("gain")
    for measure, limits in LIMITS.items():
        row |= interval(group[measure]).within(*limits).columns(measure)
    return row
