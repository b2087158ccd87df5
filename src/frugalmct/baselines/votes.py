"""Votes of all services: every one is asked and paid, and labels enough of them agree on are accepted.

A service that gives no label at all votes, in the paper, against every label. With `abstain` it has no say:
the others alone decide, as with a silent service in the combiner.
"""

from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.combine import combine, search
from frugalmct.errors import FrugalError
from frugalmct.market import LabelMarket
from frugalmct.sparse import entry_keys, label_matrix, set_sizes

HALF = 0.5

UNFITTED = "The weighted majority vote has not been fitted; call fit first."

GRID = 100
"""Steps of the weighted vote's threshold: sums of scores spread finer than the combiner's tenths."""


def vote_cost(market: LabelMarket) -> float:
    """What an item's vote costs: the prices of all services."""
    return float(market.prices.sum())


def majority_vote(
    market: LabelMarket, *, labels_per_item: int | None = None, abstain: bool = False
) -> csr_matrix:
    """The labels that at least half of the services give, each scored by its share of the votes.

    `labels_per_item` keeps at most that many of an item, as in `combine`: half can be two halves. With
    `abstain` half of those count that give any label.
    """
    tally = _tally(market, np.ones(len(market.services)), scored=False, abstain=abstain)
    return _accepted(tally, HALF, labels_per_item)


class WeightedMajorityVote:
    """A label's score is the mean of all services' scores, weighted by their training accuracy.

    A service that does not give the label counts as 0; with `abstain` one that gives none at all does not
    count. Labels that reach the threshold are accepted; it is the one of {0, 1/grid, ..., 1} with the highest
    mean training metric, the smallest of equals.
    """

    def __init__(
        self, *, grid: int = GRID, labels_per_item: int | None = None, abstain: bool = False
    ) -> None:
        self.grid = grid
        self.labels_per_item = labels_per_item
        self.abstain = abstain
        self.weights: NDArray[np.float64] | None = None
        self.threshold: float | None = None

    def fit(self, market: LabelMarket, metric: str = "accuracy") -> Self:
        if not len(market):
            raise FrugalError(f"Market {market.name} has no items for the weighted vote to learn from.")
        weights = market.service_accuracy(metric).mean(axis=0)
        # Services that are all always wrong tell nothing about whom to trust.
        self.weights = weights if weights.sum() > 0 else np.ones_like(weights)
        scores = self.label_scores(market)
        found = search(market.truth, scores, scores, metric, self.grid, labels_per_item=self.labels_per_item)
        self.threshold = found.threshold
        return self

    def answer(self, market: LabelMarket) -> csr_matrix:
        """The accepted labels with their scores; the market's truth is not looked at."""
        scores = self.label_scores(market)
        if self.threshold is None:
            raise FrugalError(UNFITTED)
        return _accepted(scores, self.threshold, self.labels_per_item)

    def label_scores(self, market: LabelMarket) -> csr_matrix:
        """Every label that any service gives, with its weighted mean score."""
        if self.weights is None:
            raise FrugalError(UNFITTED)
        if len(market.services) != self.weights.size:
            raise FrugalError(
                f"Market {market.name} has {len(market.services)} services, but the weighted vote learnt "
                f"from {self.weights.size}; give the services it learnt from, or fit again."
            )
        return _tally(market, self.weights, scored=True, abstain=self.abstain)


def _tally(market: LabelMarket, weights: NDArray[np.float64], *, scored: bool, abstain: bool) -> csr_matrix:
    """The union of all answers, each label with the sum of its ballots as a share of what they could be.

    A ballot weighs as its service does, times the label's score where it is `scored`.
    """
    pairs = list(zip(weights.tolist(), market.scores, strict=True))
    ballots = [weight * scores.data if scored else np.full(scores.nnz, weight) for weight, scores in pairs]
    keys = np.concatenate([entry_keys(scores) for scores in market.scores])
    order = np.argsort(keys, kind="stable")  # sorted runs: a stable sort merges them, and keeps their order
    keys, cast = keys[order], np.concatenate(ballots)[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if keys.size else order
    total = np.add.reduceat(cast, starts) if keys.size else cast
    rows, labels = np.divmod(keys[starts], max(len(market.labels), 1))
    whole = np.full(len(market), weights.sum())
    if abstain:
        whole = np.sum([weight * (set_sizes(scores) > 0) for weight, scores in pairs], axis=0)
        # Who alone speaks may weigh nothing: no label of an item has more to say than another then.
        whole = np.where(whole > 0, whole, 1.0)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(market)))])
    # Rounding must not lift a unanimous vote above 1, where no score may be.
    return label_matrix(indptr, labels, np.minimum(total / whole[rows], 1.0), len(market.labels))


def _accepted(scores: csr_matrix, threshold: float, labels_per_item: int | None) -> csr_matrix:
    return combine(scores, scores, 1.0, threshold, labels_per_item=labels_per_item)
