"""Numbers at the edge: tiny accuracies, prices far apart, alike items, and budgets in exact arithmetic."""

import time
from fractions import Fraction

import numpy as np
import pytest
from select_instances import COST_FAMILIES, NASTY_COSTS, random_problem

from frugalmct.errors import FrugalError
from frugalmct.select import OnlineSelector, Problem, dual_price, frontier, solve
from frugalmct.select.problem import PROOF_TOLERANCE, spend

BUDGET_TOLERANCE = Fraction(1, 10**12)


def correlated(seed: int) -> Problem:
    """Large enough that most moves are fixed, which is where a wrong tie misleads."""
    rng = np.random.default_rng(seed)
    items = int(rng.integers(50, 3000))
    table = (
        rng.random((items, 4)),
        np.round(rng.random((items, 4)), 2),
        0.05 * np.array([0, 6, 10, 15]) + 0.1 * rng.random((items, 4)),
    )[seed % 3]
    costs = ([0.01, 6.0, 10.0, 15.0], [0.0, np.pi, 2 * np.e, np.sqrt(50)])[seed % 2]
    return Problem(table, costs, 0, costs[0] + 8 * rng.random())


@pytest.mark.parametrize("power", [-33, -43, -47, -53, -100, -300, -900])
@pytest.mark.parametrize("seed", range(12))
def test_what_is_proven_does_not_depend_on_the_magnitude_of_accuracies(seed, power):
    """A power of two changes no digit, so the optimum is the same one, scaled."""
    problem = correlated(seed)
    tiny = Problem(problem.accuracy * 2.0**power, problem.costs, problem.base, problem.budget)
    best, found = solve(problem), solve(tiny)
    assert best.proven and found.proven
    assert found.accuracy == pytest.approx(best.accuracy * 2.0**power, rel=2 * PROOF_TOLERANCE, abs=0)
    assert found.bound <= found.accuracy * (1 + PROOF_TOLERANCE)
    rounded = solve(tiny, "lp")
    assert rounded.bound >= found.accuracy * (1 - 1e-15)
    if rounded.proven:
        assert rounded.accuracy >= found.accuracy * (1 - PROOF_TOLERANCE)


@pytest.mark.parametrize("power", [0, -40, -200])
def test_general_solvers_prove_at_every_magnitude_too(power):
    problem = random_problem(11)
    tiny = Problem(problem.accuracy * 2.0**power, problem.costs, problem.base, problem.budget)
    for method in ("highs", "highs_reduced", "cbc"):
        found = solve(tiny, method)
        assert found.proven
        assert found.accuracy == pytest.approx(solve(tiny).accuracy, rel=1e-9, abs=0)


@pytest.mark.parametrize("price", [1e-300, 1e-200, 1.0, 1e200, 1e299])
@pytest.mark.parametrize("method", ["lp", "exact", "highs", "cbc_reduced"])
def test_bounds_are_numbers_at_every_magnitude_of_prices(price, method):
    problem = Problem([[0.1, 0.9], [0.2, 0.5]], [0.0, price], 0, price / 2)
    found = solve(problem, method)
    assert found.accuracy == pytest.approx(0.55)
    assert found.accuracy <= found.bound <= 0.55 + 1e-9
    assert 0 <= dual_price(problem, 0.0) < np.inf
    assert frontier(problem.accuracy, problem.costs, 0).accuracy(problem.budget) == pytest.approx(0.55)


@pytest.mark.parametrize("price", [5e-324, 1e-309, 9e-301, 1.1e300, 1e308])
def test_prices_beyond_the_range_are_refused_with_it(price):
    for call in (
        lambda: Problem([[0.1, 0.9]], [0.0, price], 0, 1.0),
        lambda: frontier([[0.1, 0.9]], [0.0, price], 0),
        lambda: OnlineSelector([0.0, price], 0, 1.0, 5, 0.1),
    ):
        with pytest.raises(FrugalError, match=r"0 or a number from 1e-300 to 1e\+300"):
            call()


@pytest.mark.parametrize("nasty", [False, True])
def test_a_solution_is_called_optimal_when_and_only_when_it_is_proven(nasty):
    for number in range(150):
        problem = random_problem(number, max_items=20, costs=NASTY_COSTS if nasty else COST_FAMILIES)
        for method in ("exact", "lp", "highs", "highs_reduced"):
            found = solve(problem, method)
            assert found.proven == (found.status == "optimal"), (number, method)
            tolerance = 1e-12 * found.accuracy if method in ("exact", "lp") else 1e-9
            assert not found.proven or found.bound - found.accuracy <= tolerance, (number, method)
            assert np.isfinite(found.bound), (number, method)


@pytest.mark.parametrize("nasty", [False, True])
def test_no_selection_within_budget_exceeds_the_frontier(nasty):
    for number in range(400):
        problem = random_problem(number, costs=NASTY_COSTS if nasty else COST_FAMILIES)
        whole = frontier(problem.accuracy, problem.costs, problem.base)
        assert whole.accuracy(problem.budget) >= solve(problem).accuracy, number


def test_the_frontier_counts_the_slack_that_a_selection_may_use():
    """Beside a base this expensive, the slack for rounding alone pays for all add-ons."""
    problem = Problem(np.tile([0.1, 0.9], (4, 1)), [1e12, 1e-4], 0, 1e12)
    assert solve(problem).accuracy == pytest.approx(0.9)
    assert frontier(problem.accuracy, problem.costs, 0).accuracy(1e12) >= solve(problem).accuracy
    one = Problem([[0.0, 1.0]], [0.0, 1.0], 0, 1 - 4e-13)
    assert solve(one).accuracy == 1.0 == frontier(one.accuracy, one.costs, 0).accuracy(one.budget)


@pytest.mark.parametrize("seed", [37, 187])
def test_equal_items_with_prices_far_apart_end_soon_with_an_honest_bound(seed):
    """Accuracy in proportion to prices from 1e-7 to 1e4: no choice is dominated, and sums are endless."""
    rng = np.random.default_rng(seed)
    costs = np.sort(10 ** rng.uniform(-7, 4, 12))
    problem = Problem(
        np.tile(0.9 * costs / costs.max(), (200, 1)), costs, 0, costs[0] + rng.random() * costs.max()
    )
    started = time.perf_counter()
    found = solve(problem)
    assert time.perf_counter() - started < 40
    greedy = OnlineSelector(costs, 0, problem.budget, 200, dual_price(problem, 0.0))
    assert found.accuracy >= problem.mean_accuracy(greedy.choose_all(problem.accuracy))
    assert found.accuracy <= found.bound <= solve(problem, "lp").bound * (1 + 1e-12)
    assert found.proven or found.status == "state_limit"


def exact_mean_cost(problem: Problem, choices: np.ndarray) -> Fraction:
    """In exact arithmetic of the prices as they were given."""
    base = Fraction(float(problem.costs[problem.base]))
    addons = [Fraction(float(problem.costs[k])) for k in choices.tolist() if k != problem.base]
    return base + sum(addons, Fraction(0)) / problem.items


@pytest.mark.parametrize("nasty", [False, True])
def test_no_method_is_over_the_budget_by_more_than_a_trillionth(nasty):
    for number in range(150):
        problem = random_problem(number, costs=NASTY_COSTS if nasty else COST_FAMILIES)
        allowed = Fraction(problem.budget) * (1 + BUDGET_TOLERANCE)
        online = OnlineSelector(problem.costs, problem.base, problem.budget, problem.items, 0.0)
        selections = [solve(problem, method).choices for method in ("exact", "lp", "highs")]
        for choices in [*selections, online.choose_all(problem.accuracy)]:
            assert exact_mean_cost(problem, choices) <= allowed, number


@pytest.mark.parametrize("budget", [0.3, 1 / 3, 6.01, 4.7])
def test_many_items_are_not_over_the_budget_either(budget):
    rng = np.random.default_rng(1)
    problem = Problem(rng.random((50_000, 5)), [0.01, 0.1, 1 / 3, 0.7, 6.0], 0, budget)
    online = OnlineSelector(problem.costs, 0, budget, problem.items, 0.0).choose_all(problem.accuracy)
    for choices in (solve(problem).choices, online):
        assert exact_mean_cost(problem, choices) <= Fraction(budget) * (1 + BUDGET_TOLERANCE)


def test_spend_does_not_drift_with_the_number_of_services():
    rng = np.random.default_rng(0)
    counts, prices = rng.integers(1, 1000, 20_000).tolist(), (10 * rng.random(20_000)).tolist()
    exact = sum((n * Fraction(c) for n, c in zip(counts, prices, strict=True)), Fraction(0))
    assert abs(Fraction(spend(counts, prices)) - exact) <= exact / 2**52
