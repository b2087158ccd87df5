"""FrugalMCT plus at every budget: learnt from the same items as the paper's method, tested on the same.

Beside it FrugalML with the combiners that plus learnt: what plus gains by more than its combiner.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.cascade import State
from frugalmct.fitting import Wanted, learnt_parts
from frugalmct.made import PLUS as PLUS_METHOD
from frugalmct.market import LabelMarket, Market
from frugalmct.metrics import set_metric
from frugalmct.model import Learning
from frugalmct.paper.names import FRUGALML_LEARNED, OK, PLUS
from frugalmct.paper.stages.baselines import Accuracies, FittedFrugalML, baseline_row, reached_by
from frugalmct.paper.stages.select import COLUMNS
from frugalmct.plans import DELTA
from frugalmct.plus import items_judged
from frugalmct.seeds import small_seed
from frugalmct.strategy import Strategy
from frugalmct.sweep import sweep
from frugalmct.training import Learnt


def plus_learning(
    dataset: str, repetition: int, block: Mapping[str, Any], seed: int, threads: int = 1
) -> Learning:
    """How plus learns in a repetition: with its own forest, whatever predicts for the paper's method."""
    features = block["features"]
    return Learning(
        features=None if features == "auto" else features,
        metric=block["metric"],
        labels_per_item=block["labels_per_item"],
        seed=small_seed(seed, dataset, repetition),
        jobs=threads,
    )


def sweep_plus(
    train: Market, test: Market, budgets: Sequence[float], base: str, learning: Learning, repetition: int
) -> pd.DataFrame:
    """One row per budget and method; a market that plus cannot learn from has rows that say so."""
    head = {"dataset": test.name, "repetition": repetition}
    if isinstance(train, LabelMarket):
        rows = _reached(train, test, budgets, base, learning)
    else:
        status = f"plus needs answers that are label sets, not {train.kind}"
        head["method"] = PLUS
        rows = ({"budget": float(budget), "accuracy": np.nan, "status": status} for budget in budgets)
    return pd.DataFrame([head | row for row in rows], columns=COLUMNS)


def _reached(
    train: LabelMarket, test: Market, budgets: Sequence[float], base: str, learning: Learning
) -> Iterator[dict[str, Any]]:
    # Also where every call has its own cost: at their means, as the other methods.
    wanted = Wanted(budgets, PLUS_METHOD, base, DELTA, None, None, learning, "", {})
    parts, learnt = learnt_parts(train, wanted)
    strategy = Strategy(parts)
    for budget, found in zip(budgets, sweep(strategy, test, budgets), strict=True):
        plan = strategy.plan(budget)
        yield {
            "method": PLUS,
            "budget": float(budget),
            "accuracy": found.accuracy,
            "cost": found.cost,
            "status": OK,
            "base": strategy.plan_names(plan),
            "delta": plan.delta,
            "dual_price": plan.dual_price,
        }
    yield from _frugalml(train, strategy.aligned(test), budgets, learnt, learning)


def _frugalml(
    train: LabelMarket, test: LabelMarket, budgets: Sequence[float], learnt: Learnt, learning: Learning
) -> Iterator[dict[str, Any]]:
    """FrugalML with the learned combiner of every two services: it learns from accuracies out of fold. None
    where several services are always asked first, which FrugalML cannot do."""
    known = _by_base(len(train.services), learnt.training.accuracy)
    if not known:
        return
    judged = train.subset(items_judged(train, learning.seed))
    model = FittedFrugalML(judged, learning.metric, learning.labels_per_item, known)
    worth = {pair: _worth(test, pair, learnt, learning.metric) for pair in _pairs(known, len(train.services))}
    truth = _by_base(len(train.services), worth)
    for budget, choice in zip(budgets, model.decide(test, budgets, learning.seed), strict=True):
        row = baseline_row(FRUGALML_LEARNED, budget, reached_by(truth, choice), choice, test)
        yield dict(zip(("method", "budget", "accuracy", "cost", "status"), row, strict=True))


def _pair(base: int, service: int) -> State:
    """Of a base with itself the base alone."""
    return tuple(sorted({base, service}))


def _pairs(bases: Iterable[int], services: int) -> set[State]:
    return {_pair(base, service) for base in bases for service in range(services)}


def _by_base(services: int, accuracy: Mapping[State, Accuracies]) -> dict[int, Accuracies]:
    """(items, services) of each base that is known with every service."""
    return {
        base: np.column_stack([accuracy[_pair(base, service)] for service in range(services)])
        for base in range(services)
        if _pairs([base], services) <= accuracy.keys()
    }


def _worth(test: LabelMarket, pair: State, learnt: Learnt, metric: str) -> Accuracies:
    """(items,): what the two answers are worth together."""
    answer = learnt.combiners[pair].apply([test.scores[service] for service in pair])
    return set_metric(test.truth, answer, metric)
