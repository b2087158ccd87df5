"""How long training takes, and answering for all test items: computation only, no service is called."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from frugalmct.accuracy_model import Learning
from frugalmct.baselines.frugalml import FrugalML, quality_scores
from frugalmct.baselines.votes import majority_vote
from frugalmct.market import Market
from frugalmct.sparse import take_rows
from frugalmct.strategy import Strategy
from frugalmct.studies.case import Case
from frugalmct.studies.printed import NOTHING, printed_case
from frugalmct.tables import data_kind

COLUMNS = [
    "dataset", "budget", "method", "training_items", "training_seconds", "test_items", "inference_seconds",
    "inference_ms_per_item", "paper_training_seconds", "paper_inference_seconds", "measured", "data",
]  # fmt: skip

MEASURED = "computation for all items on one core; recorded answers, no call of a service"

Result = TypeVar("Result")
Timed = tuple[float | None, float]


def runtime(case: Case, learning: Learning) -> pd.DataFrame:
    """Seconds of training and inference, from the recorded answers to the final label sets."""
    train, test = case.train, case.test
    seconds: dict[str, Timed] = {
        "frugalmct": time_frugalmct(case, learning, train, test),
        "frugalml": time_frugalml(train, test, case.budget, case.metric, learning.seed),
        "majority_vote": (
            None,
            timed(lambda: majority_vote(test, labels_per_item=learning.labels_per_item))[1],
        ),
    }
    return pd.DataFrame([_row(case, method, *pair) for method, pair in seconds.items()], columns=COLUMNS)


def time_frugalmct(case: Case, learning: Learning, train: Market, test: Market) -> Timed:
    """Combiners, forest and price; then estimates, choices and combined answers."""
    base, budget = case.market.services[case.plan.base], case.budget
    strategy, training = timed(
        lambda: Strategy.fit(train, [budget], base=base, delta=case.plan.delta, learning=learning)
    )
    _, inference = timed(lambda: strategy.answer(test, strategy.decide(test, budget), budget))
    return training, inference


def time_frugalml(train: Market, test: Market, budget: float, metric: str, seed: int) -> Timed:
    """All thresholds of all pairs of services; then choices and the answers of the chosen services."""

    def fit() -> FrugalML:
        return FrugalML().fit(quality_scores(train), train.service_accuracy(metric), train.prices)

    def answer() -> list[Any]:
        chosen = model.decide(quality_scores(test), budget, seed, never_over=True).addon
        return [take_rows(scores, np.flatnonzero(chosen == k)) for k, scores in enumerate(test.scores)]

    model, training = timed(fit)
    return training, timed(answer)[1]


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def _row(case: Case, method: str, training: float | None, inference: float) -> dict[str, Any]:
    paper = printed_case(case.market.name, case.budget)["seconds"].get(method, NOTHING)
    items = len(case.test)
    return {
        "dataset": case.market.name,
        "budget": case.budget,
        "method": method,
        "training_items": None if training is None else len(case.train),
        "training_seconds": training,
        "test_items": items,
        "inference_seconds": inference,
        "inference_ms_per_item": 1000 * inference / items,
        "paper_training_seconds": paper[0],
        "paper_inference_seconds": paper[1],
        "measured": MEASURED,
        "data": data_kind(case.market),
    }
