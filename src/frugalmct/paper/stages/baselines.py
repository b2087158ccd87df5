"""What one reaches without FrugalMCT: each service alone, FrugalML and DAP at every budget, and the votes.

In the paper's forms, and in forms that get what FrugalMCT gets: silent services that abstain, a θ per
service, the combiner, a base of one's own at every budget. All is learnt from training items alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.baselines.frugalml import Choices, FrugalML, item_costs
from frugalmct.baselines.mixture import best_base_mix
from frugalmct.baselines.quality import LabelQuality, quality_scores
from frugalmct.baselines.thresholds import fit_thresholds, with_thresholds
from frugalmct.baselines.votes import WeightedMajorityVote, majority_vote, vote_cost
from frugalmct.market import LabelMarket
from frugalmct.metrics import set_metric
from frugalmct.paper.names import (
    DAP_BEST_BASE,
    FRUGALML,
    FRUGALML_COMBINED,
    FRUGALML_THRESHOLDS,
    MAJORITY,
    MAJORITY_ABSTAINING,
    OK,
    WEIGHTED,
    WEIGHTED_ABSTAINING,
    single,
)
from frugalmct.paper.stages.estimate import RepetitionEstimates
from frugalmct.paper.stages.select import COLUMNS
from frugalmct.select import chosen

Row = tuple[str, float, float, float, str]
Accuracies = NDArray[np.float64]


def sweep_baselines(
    train: LabelMarket,
    test: LabelMarket,
    budgets: Sequence[float],
    metric: str,
    repetition: int,
    seed: int,
    *,
    labels_per_item: int | None = None,
) -> pd.DataFrame:
    """The paper's forms: one row per method, and of FrugalML one per budget."""
    rows = [*_single_rows(test, metric), *_vote_rows(train, test, metric, labels_per_item)]
    rows += _frugalml_rows(FRUGALML, train, test, budgets, metric, seed, labels_per_item)
    return _table(rows, test, repetition)


def sweep_fair_baselines(
    train: LabelMarket,
    test: LabelMarket,
    estimates: RepetitionEstimates,
    budgets: Sequence[float],
    metric: str,
    repetition: int,
    seed: int,
    *,
    labels_per_item: int | None = None,
) -> pd.DataFrame:
    """The forms that get what FrugalMCT gets.

    estimates: FrugalMCT's. Only the true accuracies of its combinations are taken from them: of training
    items to learn from, of test items to see what was reached.
    """
    thresholds = fit_thresholds(train, metric, labels_per_item=labels_per_item)
    cut_train, cut_test = (
        with_thresholds(part, thresholds, labels_per_item=labels_per_item) for part in (train, test)
    )
    rows = [*_vote_rows(train, test, metric, labels_per_item, abstain=True)]
    rows += _frugalml_rows(FRUGALML_THRESHOLDS, cut_train, cut_test, budgets, metric, seed, labels_per_item)
    rows += _combined_rows(train, test, estimates, budgets, metric, seed, labels_per_item)
    return _table(rows, test, repetition)


def _table(rows: Sequence[Row], test: LabelMarket, repetition: int) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["method", "budget", "accuracy", "cost", "status"])
    return table.assign(dataset=test.name, repetition=repetition).reindex(columns=COLUMNS)


def _single_rows(test: LabelMarket, metric: str) -> Iterator[Row]:
    means = test.service_accuracy(metric).mean(axis=0)
    for service, price, accuracy in zip(test.services, test.prices.tolist(), means.tolist(), strict=True):
        yield single(service), price, accuracy, price, OK


def _vote_rows(
    train: LabelMarket,
    test: LabelMarket,
    metric: str,
    labels_per_item: int | None,
    *,
    abstain: bool = False,
) -> Iterator[Row]:
    majority, weighted = (MAJORITY_ABSTAINING, WEIGHTED_ABSTAINING) if abstain else (MAJORITY, WEIGHTED)
    options: dict[str, Any] = {"labels_per_item": labels_per_item, "abstain": abstain}
    votes = {
        majority: majority_vote(test, **options),
        weighted: WeightedMajorityVote(**options).fit(train, metric).answer(test),
    }
    cost = vote_cost(test)
    for method, answer in votes.items():
        yield method, cost, float(set_metric(test.truth, answer, metric).mean()), cost, OK


class FittedFrugalML:
    """FrugalML on a dataset: with one label per item, a threshold for every label, as in the original.

    accuracy: of training items, as `FrugalML.fit` takes it; the services' own if it is not given.
    """

    def __init__(
        self,
        train: LabelMarket,
        metric: str,
        labels_per_item: int | None,
        accuracy: Mapping[int, Accuracies] | None = None,
    ) -> None:
        self._quality = LabelQuality(train).scores if labels_per_item == 1 else quality_scores
        known = train.service_accuracy(metric) if accuracy is None else accuracy
        self._model = FrugalML().fit(self._quality(train), known, train.prices)

    def decide(self, test: LabelMarket, budgets: Sequence[float], seed: int) -> Iterator[Choices]:
        """Budget by budget; never over it."""
        quality = self._quality(test)
        return (self._model.decide(quality, budget, seed, never_over=True) for budget in budgets)


def _frugalml_rows(
    method: str,
    train: LabelMarket,
    test: LabelMarket,
    budgets: Sequence[float],
    metric: str,
    seed: int,
    labels_per_item: int | None,
) -> Iterator[Row]:
    accuracy = test.service_accuracy(metric)
    decided = FittedFrugalML(train, metric, labels_per_item).decide(test, budgets, seed)
    for budget, choice in zip(budgets, decided, strict=True):
        yield baseline_row(method, budget, chosen(accuracy, choice.addon), choice, test)


def _combined_rows(
    train: LabelMarket,
    test: LabelMarket,
    estimates: RepetitionEstimates,
    budgets: Sequence[float],
    metric: str,
    seed: int,
    labels_per_item: int | None,
) -> Iterator[Row]:
    """FrugalML with the combiner, and the dummy predictor with the best base for each budget."""
    known = {base: own.train.truth for base, own in estimates.by_base.items()}
    truth = {base: own.test.truth for base, own in estimates.by_base.items()}
    means = {base: table.mean(axis=0) for base, table in known.items()}
    decided = FittedFrugalML(train, metric, labels_per_item, known).decide(test, budgets, seed)
    for budget, choice in zip(budgets, decided, strict=True):
        yield baseline_row(FRUGALML_COMBINED, budget, reached_by(truth, choice), choice, test)
        blind = best_base_mix(means, test.prices, budget, len(test), seed)
        yield baseline_row(DAP_BEST_BASE, budget, reached_by(truth, blind), blind, test)


def reached_by(truth: Mapping[int, Accuracies], choice: Choices) -> Accuracies:
    """(items,): the accuracy of each item's base combined with its add-on."""
    reached = np.empty(choice.base.size)
    for base, table in truth.items():
        own = np.flatnonzero(choice.base == base)
        reached[own] = table[own, choice.addon[own]]
    return reached


def baseline_row(method: str, budget: float, reached: Accuracies, choice: Choices, test: LabelMarket) -> Row:
    cost = item_costs(choice.base, choice.addon, test.prices).mean()
    return method, float(budget), float(reached.mean()), float(cost), OK
