"""What one reaches without FrugalMCT: each service alone, FrugalML at every budget, and the votes."""

from collections.abc import Iterator, Sequence

import pandas as pd

from frugalmct.baselines.frugalml import Choices, FrugalML, item_costs
from frugalmct.baselines.quality import LabelQuality, quality_scores
from frugalmct.baselines.votes import WeightedMajorityVote, majority_vote, vote_cost
from frugalmct.market import LabelMarket
from frugalmct.metrics import set_metric
from frugalmct.paper.names import FRUGALML, MAJORITY, WEIGHTED, single
from frugalmct.paper.stages.select import COLUMNS
from frugalmct.select import chosen

OK = "ok"
Row = tuple[str, float, float, float, str]


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
    """One row per method, and of FrugalML one per budget."""
    rows = [*_single_rows(test, metric), *_vote_rows(train, test, metric, labels_per_item)]
    rows += _frugalml_rows(train, test, budgets, metric, seed, labels_per_item)
    table = pd.DataFrame(rows, columns=["method", "budget", "accuracy", "cost", "status"])
    return table.assign(dataset=test.name, repetition=repetition).reindex(columns=COLUMNS)


def _single_rows(test: LabelMarket, metric: str) -> Iterator[Row]:
    means = test.service_accuracy(metric).mean(axis=0)
    for service, price, accuracy in zip(test.services, test.prices.tolist(), means.tolist(), strict=True):
        yield single(service), price, accuracy, price, OK


def _vote_rows(
    train: LabelMarket, test: LabelMarket, metric: str, labels_per_item: int | None
) -> Iterator[Row]:
    cost = vote_cost(test)
    weighted = WeightedMajorityVote(labels_per_item=labels_per_item).fit(train, metric)
    votes = {
        MAJORITY: majority_vote(test, labels_per_item=labels_per_item),
        WEIGHTED: weighted.answer(test),
    }
    for method, answer in votes.items():
        yield method, cost, float(set_metric(test.truth, answer, metric).mean()), cost, OK


class FittedFrugalML:
    """FrugalML on a dataset: with one label per item, a threshold for every label, as in the original."""

    def __init__(self, train: LabelMarket, metric: str, labels_per_item: int | None) -> None:
        self._quality = LabelQuality(train).scores if labels_per_item == 1 else quality_scores
        self._model = FrugalML().fit(self._quality(train), train.service_accuracy(metric), train.prices)

    def decide(self, test: LabelMarket, budgets: Sequence[float], seed: int) -> Iterator[Choices]:
        """Budget by budget; never over it."""
        quality = self._quality(test)
        return (self._model.decide(quality, budget, seed, never_over=True) for budget in budgets)


def _frugalml_rows(
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
        cost = item_costs(choice.base, choice.addon, test.prices).mean()
        yield FRUGALML, float(budget), float(chosen(accuracy, choice.addon).mean()), float(cost), OK
