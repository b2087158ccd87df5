"""How many training items FrugalMCT needs: combiners and forest are learnt again from fewer and fewer, with
the base that was chosen with all; beside it FrugalML, which chooses its bases again."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.model import AccuracyModel
from frugalmct.paper.stages.baselines import FittedFrugalML
from frugalmct.paper.stages.estimate import BaseEstimates
from frugalmct.paper.studies.case import Case
from frugalmct.seeds import generator
from frugalmct.select import chosen

SMALLEST = 100
SIZES = 8

NEEDS = ("market", "split", "combination", "plans", "estimates")
SETTINGS = ("budget", "block", "learning", "prices")
COLUMNS = ["dataset", "budget", "repetition", "train_items", "accuracy", "cost", "frugalml_accuracy", "data"]


def training_sizes(items: int) -> list[int]:
    """About evenly spread on a logarithmic scale, from SMALLEST to all items."""
    sizes = np.geomspace(min(SMALLEST, items), items, SIZES).round().astype(int)
    return np.unique(sizes).tolist()


def run(case: Case) -> pd.DataFrame:
    """Test accuracy and cost by number of training items; a smaller set is part of every larger one."""
    rows = [
        {"train_items": len(kept), "frugalml_accuracy": frugalml_accuracy(case, kept)} | _outcome(case, own)
        for kept, own in _learnt(case)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).assign(
        dataset=case.dataset, budget=case.budget, repetition=case.repetition, data=case.market.data
    )


def frugalml_accuracy(case: Case, kept: NDArray[np.int64]) -> float:
    """What FrugalML reaches on the test items, learnt from these training items."""
    model = FittedFrugalML(case.train.subset(kept), case.metric, case.combiners.labels_per_item)
    choice = next(model.decide(case.test, [case.budget], case.learning.seed))
    return float(chosen(case.test.service_accuracy(case.metric), choice.addon).mean())


def _learnt(case: Case) -> Iterator[tuple[NDArray[np.int64], BaseEstimates]]:
    """The training items kept, and what is learnt from them."""
    *smaller, everything = training_sizes(len(case.train))
    order = generator(case.learning.seed, "training_size").permutation(len(case.train))
    for items in smaller:
        kept = np.sort(order[:items])
        yield kept, _learn(case, kept)
    # From all items it has been learnt already, in the same way.
    yield np.arange(everything), case.own


def _learn(case: Case, rows: NDArray[np.int64]) -> BaseEstimates:
    model = AccuracyModel.fit(case.train.subset(rows), case.plan.base, case.learning)
    return BaseEstimates.of(model, case.test, case.metric)


def _outcome(case: Case, own: BaseEstimates) -> dict[str, Any]:
    choices = own.route(case.plan)
    return {"accuracy": own.test.reached(choices).mean(), "cost": own.test.cost(choices)}
