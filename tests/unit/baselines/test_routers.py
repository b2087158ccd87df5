"""How others route, against plain loops over items, clusters and thresholds."""

import numpy as np
import pytest
from numpy.random import default_rng

from frugalmct.baselines.routers import (
    NEIGHBOURS,
    ClusterMeans,
    NearestNeighbours,
    Scale,
    ThresholdPair,
    all_pairs,
    best_pair,
    cluster_means,
    directions,
    others_means,
)
from frugalmct.errors import FrugalError


def outcomes(items: int, services: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table, accuracies that its first column tells something of, and costs."""
    rng = default_rng(seed)
    table = rng.normal(size=(items, 4))
    accuracy = (rng.random((items, services)) < 0.4 + 0.3 * (table[:, :1] > 0)).astype(float)
    return table, accuracy, rng.uniform(0.5, 1.5, (items, services)) * np.arange(1, services + 1)


def nearest_by_hand(table, target, own, count):
    """The means over the nearest rows, by sorting all distances of every item."""
    found = []
    for number, row in enumerate(target):
        distance = ((table - row) ** 2).sum(axis=1)
        if target is table:
            distance[number] = np.inf
        found.append(own[np.argsort(distance)[:count]].mean(axis=0))
    return np.array(found)


def test_neighbours_are_the_nearest_of_the_training_items_and_never_the_item_itself():
    table, accuracy, costs = outcomes(120)
    new, _, _ = outcomes(15, seed=1)
    model = NearestNeighbours(table, accuracy, costs)
    assert model.known.accuracy == pytest.approx(nearest_by_hand(table, table, accuracy, model.neighbours))
    assert model.known.costs == pytest.approx(nearest_by_hand(table, table, costs, model.neighbours))
    found = model.estimate(new)
    assert found.accuracy == pytest.approx(nearest_by_hand(table, new, accuracy, model.neighbours))
    assert found.costs == pytest.approx(nearest_by_hand(table, new, costs, model.neighbours))


def test_how_many_neighbours_is_decided_by_the_error_on_the_training_items():
    table, accuracy, costs = outcomes(120)
    errors = {
        count: ((nearest_by_hand(table, table, accuracy, count) - accuracy) ** 2).mean()
        for count in NEIGHBOURS
    }
    model = NearestNeighbours(table, accuracy, costs)
    assert model.neighbours == min(errors, key=errors.get)
    assert model.error == pytest.approx(min(errors.values()))


def test_neighbours_need_items():
    with pytest.raises(FrugalError, match="5 items to learn from; give more"):
        NearestNeighbours(*outcomes(5))


def test_a_clusters_means_and_those_without_an_item_itself():
    _, accuracy, _ = outcomes(30)
    labels = default_rng(3).integers(0, 4, 30)
    labels[:5] = [4, 0, 1, 2, 3]  # one alone
    means = cluster_means(accuracy, labels, 6)
    for cluster in range(5):
        assert means[cluster] == pytest.approx(accuracy[labels == cluster].mean(axis=0))
    assert means[5] == pytest.approx(accuracy.mean(axis=0)), "nobody is in it"
    without_itself = others_means(accuracy, labels)
    for item in range(30):
        others = (labels == labels[item]) & (np.arange(30) != item)
        guess = accuracy[others].mean(axis=0) if others.any() else accuracy.mean(axis=0)
        assert without_itself[item] == pytest.approx(guess)


def test_clusters_that_are_far_apart_are_found():
    rng = default_rng(0)
    group = rng.integers(0, 4, 200)
    table = 100.0 * np.eye(4)[group] + rng.normal(size=(200, 4))
    accuracy, costs = np.eye(4)[group], np.eye(4)[group] + 1
    model = ClusterMeans(table, accuracy, costs)
    assert model.clusters >= 4
    found = model.estimate(100.0 * np.eye(4))
    assert found.accuracy == pytest.approx(np.eye(4)) and found.costs == pytest.approx(np.eye(4) + 1)


def test_of_training_items_a_cluster_knows_the_others_alone():
    table, accuracy, costs = outcomes(200)
    model = ClusterMeans(table, accuracy, costs)
    more_expensive = costs.copy()
    more_expensive[7] += 1  # clusters go by accuracy, and stay as they are
    again = ClusterMeans(table, accuracy, more_expensive)
    assert again.known.costs[7] == pytest.approx(model.known.costs[7])
    assert not np.allclose(again.known.costs, model.known.costs), "the others have learnt from it"
    assert model.error == pytest.approx(((model.known.accuracy - accuracy) ** 2).mean())


def test_items_that_all_look_alike_are_one_cluster():
    _, accuracy, costs = outcomes(60)
    model = ClusterMeans(np.zeros((60, 1)), accuracy, costs)
    assert model.clusters == 1
    assert model.estimate(np.zeros((2, 1))).accuracy == pytest.approx(np.tile(accuracy.mean(axis=0), (2, 1)))


@pytest.mark.parametrize("seed", range(20))
def test_thresholds_against_every_threshold_tried(seed):
    """Gains in tenths, so that many are equal: those go together."""
    rng = default_rng(seed)
    estimated = rng.integers(0, 11, (40, 2)) / 10
    accuracy, costs = rng.random((40, 2)), rng.random((40, 2)) * [1, 3]
    pair = ThresholdPair.fit(estimated, accuracy, costs, (0, 1))
    gain = estimated[:, 1] - estimated[:, 0]
    tried = [np.inf, *sorted(set(gain[gain > 0].tolist()), reverse=True)]
    assert pair.thresholds == pytest.approx(tried)
    for place, threshold in enumerate(tried):
        sent = (gain >= threshold).astype(int)
        assert pair.costs[place] == pytest.approx(costs[np.arange(40), sent].mean())
        assert pair.accuracy[place] == pytest.approx(accuracy[np.arange(40), sent].mean())


def test_a_threshold_is_lowered_while_all_before_it_are_paid_for():
    pair = ThresholdPair(0, 1, np.array([1.0, 2.0, 1.5, 3.0]), np.array([np.inf, 0.3, 0.2, 0.1]), np.zeros(4))
    assert [pair.place(budget) for budget in (1.0, 1.6, 2.0, 2.9, 3.0, 9.0)] == [0, 0, 2, 2, 3, 3]


@pytest.mark.parametrize("budget", [0.5, 1.1, 1.3, 2.0, 2.6, 4.0])
def test_the_best_pair_is_the_best_of_all(budget):
    """Every pair and threshold tried, at costs that only rise as it is lowered."""
    _, accuracy, _ = outcomes(80)
    costs = np.tile([1.0, 2.0, 3.0], (80, 1))
    estimated = accuracy * 0.5 + default_rng(2).random(accuracy.shape) * 0.5
    best = best_pair(all_pairs(estimated, accuracy, costs), budget)
    reached = {}
    for weak, strong in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        gain = estimated[:, strong] - estimated[:, weak]
        for threshold in sorted([9.0, *gain[gain > 0]], reverse=True):
            asked = np.where(gain >= threshold, strong, weak)
            if costs[np.arange(80), asked].mean() <= budget + 1e-12:
                reached[weak, strong] = accuracy[np.arange(80), asked].mean()
    if reached:
        assert best.accuracy[best.place(budget)] == pytest.approx(max(reached.values()))
        assert reached[best.weak, best.strong] == pytest.approx(max(reached.values()))
    else:
        assert best.weak == best.strong == 0, "the cheapest"


def test_scale_and_direction():
    table = np.array([[1.0, 5.0, 0.0], [3.0, 5.0, 0.0]])
    assert Scale.of(table).apply(table) == pytest.approx(np.array([[-1, 0, 0], [1, 0, 0]]))
    assert directions(np.array([[3.0, 4.0], [0.0, 0.0]])) == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))
