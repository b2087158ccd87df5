"""How others route calls: the nearest prompts, the best service of a cluster, a threshold between two services.

Each is reduced to what it knows of an item: how good every service's answer will be, and what it will cost.
All are learnt from a table of what is known of training items before anyone is asked, the outcomes of their
calls, and nothing else. Whom to ask within a budget is decided by whoever has these estimates, for all alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from frugalmct.errors import FrugalError

Table = NDArray[np.floating]
Outcomes = NDArray[np.float64]

NEIGHBOURS = (5, 10, 20, 40, 80)
CLUSTERS = (4, 8, 16, 32, 64)
# A cluster's mean is of so many items at least, on average.
ITEMS_PER_CLUSTER = 10
STARTS = 3


@dataclass(frozen=True, eq=False)
class Estimated:
    """accuracy, costs: (items, services) as a router expects them."""

    accuracy: Outcomes
    costs: Outcomes


@dataclass(frozen=True, eq=False)
class Scale:
    """Columns at a mean of 0 and a spread of 1, as training items have them; a constant column is 0."""

    mean: Table
    spread: Table

    @classmethod
    def of(cls, table: Table) -> "Scale":
        spread = table.std(axis=0)
        return cls(table.mean(axis=0), np.where(spread > 0, spread, np.inf))

    def apply(self, table: Table) -> Table:
        return (table - self.mean) / self.spread


class NearestNeighbours:
    """The means of the nearest training items; of how many, by the error on each of these without itself.

    known: what is estimated of the training items, each from the others.
    """

    def __init__(self, table: Table, accuracy: Outcomes, costs: Outcomes) -> None:
        from sklearn.neighbors import NearestNeighbors

        tried = [count for count in NEIGHBOURS if count < len(table)]
        if not tried:
            raise FrugalError(f"Nearest neighbours: {len(table)} items to learn from; give more than 5.")
        self._scale, self._accuracy, self._costs = Scale.of(table), accuracy, costs
        self._searcher = NearestNeighbors(n_neighbors=tried[-1], algorithm="brute")
        self._searcher.fit(self._scale.apply(table))
        others = self._searcher.kneighbors(return_distance=False)
        errors = {
            count: float(((_mean_of(accuracy, others[:, :count]) - accuracy) ** 2).mean()) for count in tried
        }
        self.neighbours = min(errors, key=lambda count: errors[count])
        self.known = self._estimated(others[:, : self.neighbours])

    def estimate(self, table: Table) -> Estimated:
        nearest = self._searcher.kneighbors(
            self._scale.apply(table), n_neighbors=self.neighbours, return_distance=False
        )
        return self._estimated(nearest)

    def _estimated(self, nearest: NDArray[np.int64]) -> Estimated:
        return Estimated(_mean_of(self._accuracy, nearest), _mean_of(self._costs, nearest))


def _mean_of(outcomes: Outcomes, nearest: NDArray[np.int64]) -> Outcomes:
    """Neighbour by neighbour: all at once would be items x neighbours x services."""
    total = np.zeros((len(nearest), outcomes.shape[1]))
    for column in nearest.T:
        total += outcomes[column]
    return total / nearest.shape[1]


class ClusterMeans:
    """k-means of the items, and every service's means in each cluster; how many clusters, by the error of
    a cluster's mean on each of its items without itself. known: of the training items."""

    def __init__(self, table: Table, accuracy: Outcomes, costs: Outcomes, seed: int = 0) -> None:
        from sklearn.cluster import KMeans

        self._scale = Scale.of(table)
        scaled = self._scale.apply(table)
        most = len(np.unique(scaled, axis=0))
        tried = [k for k in CLUSTERS if k * ITEMS_PER_CLUSTER <= len(table) and k <= most] or [1]
        found = [KMeans(k, n_init=STARTS, random_state=seed).fit(scaled) for k in tried]
        errors = [without_itself_error(accuracy, model.labels_) for model in found]
        self._model = found[int(np.argmin(errors))]
        self.clusters = tried[int(np.argmin(errors))]
        self._accuracy, self._costs = (
            cluster_means(own, self._model.labels_, self.clusters) for own in (accuracy, costs)
        )
        self.known = self._estimated(self._model.labels_)

    def estimate(self, table: Table) -> Estimated:
        return self._estimated(self._model.predict(self._scale.apply(table)))

    def _estimated(self, labels: NDArray[np.int64]) -> Estimated:
        return Estimated(self._accuracy[labels], self._costs[labels])


def cluster_means(outcomes: Outcomes, labels: NDArray[np.int64], clusters: int) -> Outcomes:
    """(clusters, services); the mean of all items where a cluster has none."""
    counts = np.bincount(labels, minlength=clusters)[:, None]
    sums = np.column_stack([np.bincount(labels, weights=own, minlength=clusters) for own in outcomes.T])
    return np.where(counts > 0, sums / np.maximum(counts, 1), outcomes.mean(axis=0))


def without_itself_error(outcomes: Outcomes, labels: NDArray[np.int64]) -> float:
    """The mean square error of the mean of the others in an item's cluster; of all where it is alone."""
    clusters = int(labels.max()) + 1
    counts = np.bincount(labels, minlength=clusters)[labels][:, None]
    means = cluster_means(outcomes, labels, clusters)[labels]
    others = (means * counts - outcomes) / np.maximum(counts - 1, 1)
    guess = np.where(counts > 1, others, outcomes.mean(axis=0))
    return float(((guess - outcomes) ** 2).mean())


def best_pair(estimated: Outcomes, accuracy: Outcomes, costs: Sequence[float], budget: float) -> list[int]:
    """The two services between which a threshold on the estimated gain serves training items best.

    estimated: out of sample; accuracy: the truth; costs: (services,) means. Those items go to the more
    expensive one, whose estimated gain is highest and above 0, as many as the budget pays for. One service
    alone is a pair too, [k, k]; where no budget pays for any, the cheapest.
    """
    money = np.asarray(costs, dtype=np.float64)
    payable = [int(k) for k in np.argsort(money, kind="stable") if money[k] <= budget]
    if not payable:
        return [int(money.argmin())] * 2
    order = [int(k) for k in np.argsort(money, kind="stable")]
    pairs = [[k, k] for k in payable] + [
        [weak, strong] for weak, strong in combinations(order, 2) if weak in payable
    ]
    reached = [_reached(estimated[:, pair], accuracy[:, pair], money[pair], budget) for pair in pairs]
    return pairs[int(np.argmax(reached))]


def _reached(estimated: Outcomes, accuracy: Outcomes, costs: Outcomes, budget: float) -> float:
    """The mean accuracy of a pair, the cheaper first."""
    more = costs[1] - costs[0]
    share = 1.0 if more <= 0 else min((budget - costs[0]) / more, 1.0)
    gain = estimated[:, 1] - estimated[:, 0]
    first = np.argsort(-gain, kind="stable")[: int(share * len(gain) + 1e-9)]
    sent = first[gain[first] > 0]
    return float(accuracy[:, 0].mean() + (accuracy[sent, 1] - accuracy[sent, 0]).sum() / len(gain))
