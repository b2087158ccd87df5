"""How many training items FrugalMCT needs: everything is learnt again from fewer and fewer of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.accuracy_model import AccuracyModel, Learning, buffered_price
from frugalmct.predictions import BasePredictions
from frugalmct.seeds import generator
from frugalmct.strategy import mean_cost, route
from frugalmct.studies.case import Case
from frugalmct.tables import data_kind

SMALLEST = 100
SIZES = 8

COLUMNS = ["dataset", "budget", "seed", "train_items", "accuracy", "cost", "data"]


def training_sizes(items: int) -> list[int]:
    """About evenly spread on a logarithmic scale, from SMALLEST to all items."""
    sizes = np.geomspace(min(SMALLEST, items), items, SIZES).round().astype(int)
    return np.unique(sizes).tolist()


def training_size(case: Case, repetition: int, learning: Learning) -> pd.DataFrame:
    """Test accuracy and cost by number of training items; a smaller set is part of every larger one."""
    rows = [
        {"train_items": items} | _outcome(case, predicted) for items, predicted in _learnt(case, learning)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).assign(
        dataset=case.market.name, budget=case.budget, seed=repetition, data=data_kind(case.market)
    )


def _learnt(case: Case, learning: Learning) -> Iterator[tuple[int, BasePredictions]]:
    *smaller, everything = training_sizes(len(case.train))
    order = generator(learning.seed, "training_size").permutation(len(case.train))
    for items in smaller:
        yield items, _learn(case, np.sort(order[:items]), learning)
    # From all items it has been learnt already, in the same way.
    yield everything, case.predicted


def _learn(case: Case, rows: NDArray[np.int64], learning: Learning) -> BasePredictions:
    train = case.train.subset(rows)
    model = AccuracyModel.fit(train, case.plan.base, learning)
    return BasePredictions.make(model, case.test, learning.metric)


def _outcome(case: Case, predicted: BasePredictions) -> dict[str, Any]:
    plan, prices = case.plan, case.market.prices
    price = buffered_price(predicted.frontier, plan.budget, plan.delta)
    choices = route(predicted.test_estimates, prices, plan.base, plan.budget, price)
    return {
        "accuracy": predicted.test_accuracy[np.arange(len(choices)), choices].mean(),
        "cost": mean_cost(choices, prices, plan.base),
    }
