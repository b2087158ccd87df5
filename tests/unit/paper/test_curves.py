import numpy as np
import pytest

from frugalmct.paper.curves import Curve


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
