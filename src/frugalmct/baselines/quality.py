"""How good an answer looks by its scores: what FrugalML decides by."""

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import FloatArray
from frugalmct.market import LabelMarket
from frugalmct.sparse import row_numbers, set_sizes

IntArray = NDArray[np.int64]


def quality_scores(market: LabelMarket) -> FloatArray:
    """(items, services): the mean score of a service's labels, 0 where it gave none."""
    columns = []
    for scores in market.scores:
        total = np.bincount(row_numbers(scores), weights=scores.data, minlength=len(market))
        columns.append(total / np.maximum(set_sizes(scores), 1))
    return np.column_stack(columns)


class LabelQuality:
    """Quality scores of one-label data: how often the label is right at its score, learnt from a market.

    The original FrugalML has a threshold for every label of the base. The share of right answers at a score,
    rising with it and learnt for each label apart, makes scores of different labels comparable: one
    threshold on it is a threshold of its own for every label.
    """

    def __init__(self, train: LabelMarket) -> None:
        raw, right = quality_scores(train), train.service_accuracy()
        self._shares = {}
        for k in range(len(train.services)):
            given = _only_labels(train, k)
            for label in np.unique(given[given >= 0]).tolist():
                rows = given == label
                self._shares[k, label] = _rising_shares(raw[rows, k], right[rows, k])

    def scores(self, market: LabelMarket) -> FloatArray:
        """(items, services); an answer whose label was never learnt keeps its own score."""
        quality = quality_scores(market)
        answered = [_only_labels(market, k) for k in range(len(market.services))]
        for (k, label), (scores, shares) in self._shares.items():
            rows = answered[k] == label
            quality[rows, k] = np.interp(quality[rows, k], scores, shares)
        return quality


def _only_labels(market: LabelMarket, service: int) -> IntArray:
    """The one label of every item's answer, -1 where there is none."""
    scores = market.scores[service]
    labels = np.full(len(market), -1, dtype=np.int64)
    labels[row_numbers(scores)] = scores.indices
    return labels


def _rising_shares(scores: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distinct scores in order, and the rising shares of right answers nearest to those at each."""
    from scipy.optimize import isotonic_regression

    distinct, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    shares = np.bincount(place, weights=right) / counts
    return distinct, isotonic_regression(shares, weights=counts).x
