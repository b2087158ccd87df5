"""How long training takes, and answering for all test items: computation only, no service is called."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from frugalmct.baselines.votes import majority_vote
from frugalmct.paper.names import FRUGALMCT, FRUGALML, MAJORITY
from frugalmct.paper.printed import NOTHING, printed_case
from frugalmct.paper.stages.baselines import FittedFrugalML
from frugalmct.paper.studies.case import Case
from frugalmct.plans import AUTO
from frugalmct.predict.columns import MAX_COLUMNS
from frugalmct.predict.random_forest import RandomForest
from frugalmct.sparse import take_rows
from frugalmct.strategy import Strategy

NEEDS = ("market", "split", "combination", "plans", "estimates")
SETTINGS = ("budget", "block", "learning", "prices")
COLUMNS = [
    "dataset", "budget", "method", "training_items", "training_seconds", "test_items", "inference_seconds",
    "inference_ms_per_item", "paper_training_seconds", "paper_inference_seconds", "measured", "data",
]  # fmt: skip

MEASURED = "computation for all items on one core; recorded answers, no call of a service"
TREES = f"on at most {RandomForest.most_rows:,} items and {MAX_COLUMNS} columns a tree"
LEARNT = {
    FRUGALMCT: f"every base learnt and one chosen; the random forest grows {TREES}",
    FRUGALML: "every base and add-on, solved exactly",
}
"""What training is, beside what both methods share."""

Result = TypeVar("Result")
Timed = tuple[float | None, float]


def run(case: Case) -> pd.DataFrame:
    """Seconds of training and inference, from the recorded answers to the final label sets."""
    limit = case.settings["block"]["labels_per_item"]
    seconds: dict[str, Timed] = {
        FRUGALMCT: time_frugalmct(case),
        FRUGALML: time_frugalml(case, limit),
        MAJORITY: (None, timed(lambda: majority_vote(case.test, labels_per_item=limit))[1]),
    }
    return pd.DataFrame([_row(case, method, *pair) for method, pair in seconds.items()], columns=COLUMNS)


def time_frugalmct(case: Case) -> Timed:
    """Combiners and forests of every base, the choice of one, as FrugalML chooses, and its dual price; then
    estimates, choices and combined answers."""
    budget, test = case.budget, case.test
    strategy, training = timed(
        lambda: Strategy.fit(
            case.train, [budget], method="paper", base=AUTO, delta=case.plan.delta, learning=case.learning
        )
    )
    assert isinstance(strategy, Strategy)  # not one of costs per call
    _, inference = timed(lambda: strategy.answer(test, strategy.decide(test, budget)))
    return training, inference


def time_frugalml(case: Case, labels_per_item: int | None) -> Timed:
    """All thresholds of all pairs of services; then choices and the answers of the chosen services."""
    train, test = case.train, case.test
    model, training = timed(lambda: FittedFrugalML(train, case.metric, labels_per_item))

    def answer() -> list[Any]:
        choice = next(model.decide(test, [case.budget], case.learning.seed))
        return [take_rows(scores, np.flatnonzero(choice.addon == k)) for k, scores in enumerate(test.scores)]

    return training, timed(answer)[1]


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def _row(case: Case, method: str, training: float | None, inference: float) -> dict[str, Any]:
    paper = printed_case(case.dataset, case.budget)["seconds"].get(method, NOTHING)
    items = len(case.test)
    return {
        "dataset": case.dataset,
        "budget": case.budget,
        "method": method,
        "training_items": None if training is None else len(case.train),
        "training_seconds": training,
        "test_items": items,
        "inference_seconds": inference,
        "inference_ms_per_item": 1000 * inference / items,
        "paper_training_seconds": paper[0],
        "paper_inference_seconds": paper[1],
        "measured": "; ".join([MEASURED, *([LEARNT[method]] if method in LEARNT else [])]),
        "data": case.market.data,
    }
