"""How others route calls: the nearest items, the best service of a cluster, a threshold between two.

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


def directions(table: Table) -> Table:
    """Rows of length 1: what is near by angle."""
    length = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(length > 0, length, 1)


class NearestNeighbours:
    """The means of the nearest training items; of how many, by the error on each of these without itself.

    known: what is estimated of the training items, each from the others; error: its mean square error.
    """

    def __init__(self, table: Table, accuracy: Outcomes, costs: Outcomes) -> None:
        from sklearn.neighbors import NearestNeighbors

        tried = [count for count in NEIGHBOURS if count < len(table)]
        if not tried:
            raise FrugalError(f"Nearest neighbours: {len(table)} items to learn from; give more than 5.")
        self._accuracy, self._costs = accuracy, costs
        self._searcher = NearestNeighbors(n_neighbors=tried[-1], algorithm="brute").fit(table)
        others = self._searcher.kneighbors(return_distance=False)
        errors = {
            count: float(((_mean_of(accuracy, others[:, :count]) - accuracy) ** 2).mean()) for count in tried
        }
        self.neighbours = min(errors, key=lambda count: errors[count])
        self.error = errors[self.neighbours]
        self.known = self._estimated(others[:, : self.neighbours])

    def estimate(self, table: Table) -> Estimated:
        nearest = self._searcher.kneighbors(table, n_neighbors=self.neighbours, return_distance=False)
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
    a cluster's mean on each of its items without itself. known: what is estimated of the training items so;
    error: its mean square error."""

    def __init__(self, table: Table, accuracy: Outcomes, costs: Outcomes, seed: int = 0) -> None:
        from sklearn.cluster import KMeans

        most = len(np.unique(table, axis=0))
        tried = [k for k in CLUSTERS if k * ITEMS_PER_CLUSTER <= len(table) and k <= most] or [1]
        found = [KMeans(k, n_init=STARTS, random_state=seed).fit(table) for k in tried]
        errors = [float(((others_means(accuracy, m.labels_) - accuracy) ** 2).mean()) for m in found]
        best = int(np.argmin(errors))
        self.error, self.clusters, self._model = errors[best], tried[best], found[best]
        self._accuracy, self._costs = (
            cluster_means(own, self._model.labels_, self.clusters) for own in (accuracy, costs)
        )
        self.known = Estimated(*(others_means(own, self._model.labels_) for own in (accuracy, costs)))

    def estimate(self, table: Table) -> Estimated:
        labels = self._model.predict(table)
        return Estimated(self._accuracy[labels], self._costs[labels])


def cluster_means(outcomes: Outcomes, labels: NDArray[np.int64], clusters: int) -> Outcomes:
    """(clusters, services); the mean of all items where a cluster has none."""
    counts = np.bincount(labels, minlength=clusters)[:, None]
    sums = np.column_stack([np.bincount(labels, weights=own, minlength=clusters) for own in outcomes.T])
    return np.where(counts > 0, sums / np.maximum(counts, 1), outcomes.mean(axis=0))


def others_means(outcomes: Outcomes, labels: NDArray[np.int64]) -> Outcomes:
    """(items, services) the means of the others in an item's cluster; of all items where it is alone."""
    clusters = int(labels.max()) + 1
    counts = np.bincount(labels, minlength=clusters)[labels][:, None]
    means = cluster_means(outcomes, labels, clusters)[labels]
    others = (means * counts - outcomes) / np.maximum(counts - 1, 1)
    return np.where(counts > 1, others, outcomes.mean(axis=0))


@dataclass(frozen=True, eq=False)
class ThresholdPair:
    """Two services: the stronger is asked where its estimated gain over the weaker exceeds a threshold.

    costs: what a training item costs on average, the more the lower the threshold; thresholds: falling, 0 or
    more; accuracy: what training items reach so.
    """

    weak: int
    strong: int
    costs: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    @classmethod
    def fit(
        cls, estimated: Outcomes, accuracy: Outcomes, costs: Outcomes, pair: tuple[int, int]
    ) -> "ThresholdPair":
        """estimated: out of sample; accuracy and costs: what training items' calls really were."""
        weak, strong = pair
        gain = estimated[:, strong] - estimated[:, weak]
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > 0]
        more, better = (own[order, strong] - own[order, weak] for own in (costs, accuracy))
        # A threshold is reached with the last of the items that have it; none is sent before the first.
        last = np.append(np.diff(gain[order]) != 0, np.ones(min(order.size, 1), dtype=bool))
        spent = np.append(0.0, np.cumsum(more)[last]) / len(gain) + costs[:, weak].mean()
        reached = np.append(0.0, np.cumsum(better)[last]) / len(gain) + accuracy[:, weak].mean()
        return cls(weak, strong, spent, np.append(np.inf, gain[order][last]), reached)

    def place(self, budget: float) -> int:
        """The lowest threshold up to which no cost exceeds the budget."""
        over = np.flatnonzero(self.costs > budget * (1 + 1e-12))
        return int(over[0]) - 1 if over.size else len(self.costs) - 1


def best_pair(pairs: Sequence[ThresholdPair], budget: float) -> ThresholdPair:
    """The pair that serves training items best within the budget; the cheapest where none is."""
    payable = [pair for pair in pairs if pair.costs[0] <= budget]
    if not payable:
        return min(pairs, key=lambda pair: pair.costs[0])
    return max(payable, key=lambda pair: pair.accuracy[pair.place(budget)])


def all_pairs(estimated: Outcomes, accuracy: Outcomes, costs: Outcomes) -> list[ThresholdPair]:
    """Every two services, that with the lower mean cost as the weaker; one service alone is a pair too."""
    order = [int(k) for k in np.argsort(costs.mean(axis=0), kind="stable")]
    chosen = [(k, k) for k in order] + list(combinations(order, 2))
    return [ThresholdPair.fit(estimated, accuracy, costs, pair) for pair in chosen]
