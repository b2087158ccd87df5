import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frugalmct.errors import FrugalError
from frugalmct.hull import (
    TOLERANCE,
    Mixture,
    affordable_budget,
    concave_vertices,
    mixture_at,
    rising_hull,
)

points = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=25).map(
    lambda pairs: np.array(pairs, dtype=float)
)


def reachable(cost, accuracy, budget):
    """The best mixture of any two points, by trying them all."""
    best = -math.inf
    for c0, a0 in zip(cost, accuracy, strict=True):
        if c0 > budget:
            continue
        best = max(best, a0)
        for c1, a1 in zip(cost, accuracy, strict=True):
            if c1 > budget:
                share = (budget - c0) / (c1 - c0)
                best = max(best, (1 - share) * a0 + share * a1)
    return best


@given(points)
def test_hull_reaches_what_the_best_pair_of_points_reaches_at_every_budget(pairs):
    cost, accuracy = pairs.T / 12
    hull = rising_hull(cost, accuracy)
    for budget in np.linspace(cost.min(), cost.max() + 0.1, 23):
        low, high, share = mixture_at(cost[hull], budget)
        assert (1 - share) * cost[hull[low]] + share * cost[hull[high]] <= budget + 1e-12
        mixed = (1 - share) * accuracy[hull[low]] + share * accuracy[hull[high]]
        assert mixed == pytest.approx(reachable(cost, accuracy, budget), abs=1e-11)


@given(points)
def test_hull_rises_and_bends_down(pairs):
    cost, accuracy = pairs.T / 12
    hull = rising_hull(cost, accuracy)
    assert np.all(np.diff(cost[hull]) > 0)
    assert np.all(np.diff(accuracy[hull]) > 0)
    slopes = np.diff(accuracy[hull]) / np.diff(cost[hull])
    assert np.all(np.diff(slopes) < 0)
    assert cost[hull[0]] == cost.min()
    assert accuracy[hull[-1]] == accuracy.max()


def test_no_point_of_a_long_walk_lies_above_its_hull():
    rng = np.random.default_rng(1)
    x, y = np.linspace(0, 1, 20_001), np.cumsum(rng.normal(size=20_001)) / 20_001
    vertices = concave_vertices(x, y)
    assert vertices[0] == 0
    assert vertices[-1] == x.size - 1
    assert np.all(y <= np.interp(x, x[vertices], y[vertices]) + TOLERANCE)
    assert vertices.size < 200


def test_points_on_one_line_are_two_vertices():
    x = np.linspace(0, 1, 50_001)
    assert concave_vertices(x, 0.1 + 0.3 * x).tolist() == [0, 50_000]


def test_of_alike_points_the_first_is_taken():
    assert rising_hull(np.array([2.0, 1.0, 1.0, 2.0]), np.array([0.7, 0.5, 0.5, 0.7])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("budget", "mixture"),
    [
        (1.0, Mixture(0, 0, 0.0)),
        (1.5, Mixture(0, 1, 0.25)),
        (3.0, Mixture(1, 1, 0.0)),
        (4.0, Mixture(1, 2, 0.5)),
        (5.0, Mixture(2, 2, 0.0)),
        (math.inf, Mixture(2, 2, 0.0)),
    ],
)
def test_mixture_of_neighbours(budget, mixture):
    assert mixture_at(np.array([1.0, 3.0, 5.0]), budget) == mixture


def test_budget_must_pay_for_the_cheapest():
    assert affordable_budget("here", 6, 6.0) == 6
    assert affordable_budget("here", np.nextafter(6.0, 0), 6.0) < 6
    for budget in (5.999, math.nan, -1):
        with pytest.raises(FrugalError, match=r"here: budget .* does not pay for the cheapest"):
            affordable_budget("here", budget, 6.0)
    for budget in ("7", None, True, [7]):
        with pytest.raises(FrugalError, match="here: budget is"):
            affordable_budget("here", budget, 6.0)
