"""How many training items are needed where calls have costs of their own: all is learnt again from fewer."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.paper.stages.call_estimates import FirstEstimates
from frugalmct.paper.stages.per_call import settings_of
from frugalmct.paper.studies.calls.case import Case
from frugalmct.paper.studies.training_size import COLUMNS, training_sizes
from frugalmct.percall.fitting import per_call_learning
from frugalmct.percall.model import Learner
from frugalmct.predict import PREDICTORS
from frugalmct.seeds import generator

NEEDS = ("market", "split", "call_estimates")
SETTINGS = ("seed",)
PLUGINS = PREDICTORS.modules("extra_trees", "random_forest")


def run(case: Case) -> pd.DataFrame:
    """Test quality and cost by number of training items; who is asked first is as with all of them."""
    rows = [{"train_items": items} | _outcome(case, own) for items, own in _learnt(case)]
    return pd.DataFrame(rows, columns=COLUMNS).assign(
        dataset=case.dataset, budget=case.budget, repetition=case.repetition, data=case.market.data
    )


def _learnt(case: Case) -> Iterator[tuple[int, FirstEstimates]]:
    *smaller, everything = training_sizes(len(case.own.train))
    settings = settings_of(
        case.dataset, case.repetition, case.settings["seed"], case.settings.get("threads", 1)
    )
    learning = per_call_learning(case.train, **settings)
    order = generator(learning.seed, "training_size").permutation(len(case.train))
    for items in smaller:
        learner = Learner(case.train.subset(np.sort(order[:items])), learning)
        yield items, FirstEstimates.of(learner, learner.learn(case.plan.first), case.test)
    # From all items it has been learnt already, in the same way.
    yield everything, case.own


def _outcome(case: Case, own: FirstEstimates) -> dict[str, Any]:
    walked = own.test.walk(case.budget, own.train.curve)
    return {"accuracy": walked.reached(own.test.quality).mean(), "cost": walked.cost}
