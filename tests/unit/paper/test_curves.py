import numpy as np
import pytest

from frugalmct.paper.curves import Curve, improvement_in_quality


def test_curve_is_the_running_best():
    curve = Curve.of([3, 1, 2, 2], [0.6, 0.5, 0.4, 0.45])
    assert curve.cost.tolist() == [1, 2, 3]
    assert curve.accuracy.tolist() == [0.5, 0.5, 0.6]
    assert curve.cheapest(0.55) == pytest.approx(2.5), "the running best is flat up to 2"
    assert curve.accuracy_at(2.5) == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("target", "cost"),
    [(0.1, 1.0), (0.5, 1.0), (0.6, 3.0), (0.6 + 1e-12, 3.0), (0.51, 1.2), (0.61, np.nan), (np.nan, np.nan)],
)
def test_cheapest_cost_of_a_target(target, cost):
    assert Curve.of([1, 3], [0.5, 0.6]).cheapest(target) == pytest.approx(cost, nan_ok=True)


def test_of_equal_accuracies_the_cheapest_counts():
    assert Curve.of([1, 2, 5], [0.3, 0.6, 0.6]).cheapest(0.6) == pytest.approx(2)


def test_no_points_reach_nothing():
    empty = Curve.of([], [])
    assert np.isnan([empty.cheapest(0.1), empty.accuracy_at(3), empty.mean_accuracy(0, 1)]).all()


def test_nothing_is_known_below_the_cheapest_point_and_nothing_gained_beyond_the_most_expensive():
    curve = Curve.of([1, 3], [0.5, 0.6])
    assert np.isnan(curve.accuracy_at(0.9))
    assert curve.accuracy_at(50) == 0.6


def test_area_by_hand():
    curve = Curve.of([1, 3], [0.5, 0.7])
    assert curve.mean_accuracy(1, 3) == pytest.approx(0.6)
    # 0.6 on average up to 3, then 0.7 up to 5.
    assert curve.mean_accuracy(1, 5) == pytest.approx(0.65)
    assert curve.mean_accuracy(2, 3) == pytest.approx(0.65)
    assert np.isnan(curve.mean_accuracy(0.5, 3)) and np.isnan(curve.mean_accuracy(3, 3))


def test_improvement_in_quality_by_hand():
    # From nothing to 0.6 at 1, straight to 0.8 at 4, and level up to 5; the point at 2 lies below.
    area = 0.3 * 1 + 0.7 * 3 + 0.8 * 1
    assert improvement_in_quality([1, 2, 4], [0.6, 0.6, 0.8], 5) == pytest.approx(area / 5)
    # What costs more, or is worse for more, does not count.
    assert improvement_in_quality([1, 2, 4, 6], [0.6, 0.6, 0.8, 1.0], 5) == pytest.approx(area / 5)
    assert improvement_in_quality([1, 2, 4, 5], [0.6, 0.6, 0.8, 0.7], 5) == pytest.approx(area / 5)
    assert np.isnan(improvement_in_quality([6], [0.5], 5)) and np.isnan(improvement_in_quality([0], [1], 0))


def test_improvement_in_quality_against_scipys_hull():
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(4)
    for _ in range(20):
        cost, quality = rng.uniform(0, 3, 12), rng.random(12)
        within = cost <= 2
        points = np.vstack([[[0, 0], [2, 0], [2, quality[within].max()]], np.c_[cost, quality][within]])
        assert improvement_in_quality(cost, quality, 2.0) == pytest.approx(ConvexHull(points).volume / 2)
