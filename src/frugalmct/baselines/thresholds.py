"""A θ for every service: what its answers are worth once labels of low score are left out."""

from collections.abc import Sequence
from dataclasses import replace

from frugalmct.combine import combine, search
from frugalmct.errors import FrugalError
from frugalmct.market import LabelMarket


def fit_thresholds(
    market: LabelMarket, metric: str = "accuracy", *, labels_per_item: int | None = None
) -> list[float]:
    """Per service the θ of {0, 0.1, ..., 1} with the highest mean training metric, the smallest of equals."""
    return [
        search(market.truth, scores, scores, metric, labels_per_item=labels_per_item).threshold
        for scores in market.scores
    ]


def with_thresholds(
    market: LabelMarket, thresholds: Sequence[float], *, labels_per_item: int | None = None
) -> LabelMarket:
    """The same market, every service's labels below its θ left out; its truth is not looked at."""
    if len(thresholds) != len(market.services):
        raise FrugalError(
            f"Market {market.name} has {len(market.services)} services, but there are {len(thresholds)} "
            "thresholds; give one for each."
        )
    kept = [
        combine(scores, scores, 1.0, threshold, labels_per_item=labels_per_item)
        for scores, threshold in zip(market.scores, thresholds, strict=True)
    ]
    return replace(market, scores=tuple(kept))
