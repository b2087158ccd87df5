"""How many training items FrugalMCT needs: everything is learnt again from fewer and fewer of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.model import AccuracyModel
from frugalmct.paper.stages.estimate import BaseEstimates
from frugalmct.paper.studies.case import Case
from frugalmct.seeds import generator

SMALLEST = 100
SIZES = 8

NEEDS = ("market", "split", "combination", "plans", "estimates")
SETTINGS = ("budget", "block", "learning", "prices")
COLUMNS = ["dataset", "budget", "repetition", "train_items", "accuracy", "cost", "data"]


def training_sizes(items: int) -> list[int]:
    """About evenly spread on a logarithmic scale, from SMALLEST to all items."""
    sizes = np.geomspace(min(SMALLEST, items), items, SIZES).round().astype(int)
    return np.unique(sizes).tolist()


def run(case: Case) -> pd.DataFrame:
    """Test accuracy and cost by number of training items; a smaller set is part of every larger one."""
    rows = [{"train_items": items} | _outcome(case, own) for items, own in _learnt(case)]
    return pd.DataFrame(rows, columns=COLUMNS).assign(
        dataset=case.dataset, budget=case.budget, repetition=case.repetition, data=case.market.data
    )


def _learnt(case: Case) -> Iterator[tuple[int, BaseEstimates]]:
    *smaller, everything = training_sizes(len(case.train))
    order = generator(case.learning.seed, "training_size").permutation(len(case.train))
    for items in smaller:
        yield items, _learn(case, np.sort(order[:items]))
    # From all items it has been learnt already, in the same way.
    yield everything, case.own


def _learn(case: Case, rows: NDArray[np.int64]) -> BaseEstimates:
    model = AccuracyModel.fit(case.train.subset(rows), case.plan.base, case.learning)
    return BaseEstimates.of(model, case.test, case.metric)


def _outcome(case: Case, own: BaseEstimates) -> dict[str, Any]:
    choices = own.route(case.plan)
    return {"accuracy": own.test.reached(choices).mean(), "cost": own.test.cost(choices)}
