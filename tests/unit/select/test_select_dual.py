"""The price and the frontier against scipy's linear programming, and Theorem 1."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from select_instances import NASTY_COSTS, random_problem

from frugalmct.errors import FrugalError
from frugalmct.select import OnlineSelector, Problem, dual_price, frontier, solve
from frugalmct.select import dual as dual_module


def dual_objective(problem: Problem, price: float, delta: float) -> float:
    """What the paper's p-hat minimises, with q eliminated."""
    best = (problem.accuracy - price * problem.addon_costs).max(axis=1).mean()
    return (1 - delta) * (problem.budget - problem.base_cost) * price + best


def linprog_dual(problem: Problem, delta: float) -> float:
    """The paper's dual as it is printed: variables p, q >= 0, one constraint per item and service."""
    items, services = problem.accuracy.shape
    objective = np.append((1 - delta) * (problem.budget - problem.base_cost), np.ones(items))
    price_part = sparse.csr_matrix(np.tile(problem.addon_costs, items)[:, None] / items)
    item_part = sparse.kron(sparse.eye(items), np.ones((services, 1)))
    result = linprog(
        objective,
        A_ub=-sparse.hstack([price_part, item_part]),
        b_ub=-problem.accuracy.ravel() / items,
        bounds=(0, None),
    )
    assert result.status == 0
    return result.fun


def linprog_primal(problem: Problem, budget: float) -> float:
    items, services = problem.accuracy.shape
    result = linprog(
        -problem.accuracy.ravel() / items,
        A_ub=np.tile(problem.addon_costs, items)[None, :] / items,
        b_ub=[budget - problem.base_cost],
        A_eq=sparse.kron(sparse.eye(items), np.ones((1, services))),
        b_eq=np.ones(items),
        bounds=(0, 1),
    )
    assert result.status == 0
    return -result.fun


@pytest.mark.parametrize("number", range(200))
def test_dual_price_minimises_the_papers_dual(number):
    problem = random_problem(number, max_items=30)
    delta = (0.0, 0.01, 0.2, -0.3)[number % 4]
    price = dual_price(problem, delta)
    assert price >= 0
    assert dual_objective(problem, price, delta) == pytest.approx(linprog_dual(problem, delta), abs=1e-9)


@pytest.mark.parametrize("number", range(100))
def test_dual_price_is_the_smallest_minimiser(number):
    problem = random_problem(number, max_items=30)
    price = dual_price(problem, 0.0)
    optimum = dual_objective(problem, price, 0.0)
    assert dual_objective(problem, price * 1.01, 0.0) >= optimum - 1e-12
    if price > 0:
        lower = price * (1 - 1e-6)
        assert not problem.within_budget(pick_at(problem, lower))


def pick_at(problem: Problem, price: float) -> np.ndarray:
    """The paper's s^p: ties to the smallest cost."""
    value = problem.accuracy - price * problem.addon_costs
    tied = value >= value.max(axis=1, keepdims=True)
    return np.where(tied, problem.addon_costs, np.inf).argmin(axis=1)


@pytest.mark.parametrize("number", range(100))
def test_picks_at_the_price_are_within_the_buffered_budget(number):
    problem = random_problem(number)
    for delta in (0.0, 0.05):
        chosen = pick_at(problem, dual_price(problem, delta))
        allowed = (1 - delta) * (problem.budget - problem.base_cost)
        assert problem.mean_cost(chosen) - problem.base_cost <= allowed * (1 + 1e-12) + 1e-14 * problem.budget


def test_dual_price_by_hand():
    table = np.array([[0.0, 0.6], [0.0, 0.4], [0.0, 0.2]])
    # Slopes 0.3, 0.2 and 0.1; money for one call, two calls, all, none.
    assert dual_price(Problem(table, [0.0, 2.0], 0, 2 / 3), 0.0) == pytest.approx(0.2)
    assert dual_price(Problem(table, [0.0, 2.0], 0, 4 / 3), 0.0) == pytest.approx(0.1)
    assert dual_price(Problem(table, [0.0, 2.0], 0, 2.0), 0.0) == 0.0
    assert dual_price(Problem(table, [0.0, 2.0], 0, 0.0), 0.0) == pytest.approx(0.3)
    # A buffer of one percent no longer affords two calls; a negative one affords the third.
    assert dual_price(Problem(table, [0.0, 2.0], 0, 4 / 3)) == pytest.approx(0.2)
    assert dual_price(Problem(table, [0.0, 2.0], 0, 4 / 3), -0.5) == 0.0
    assert dual_price(Problem(table, [0.0, 2.0], 0, 4 / 3), 1.0) == pytest.approx(0.3)


def test_services_below_the_hull_do_not_matter():
    table = np.array([[0.0, 0.1, 0.8], [0.0, 0.1, 0.4]])
    with_middle = Problem(table, [0.0, 1.0, 2.0], 0, 1.0)
    without = Problem(table[:, [0, 2]], [0.0, 2.0], 0, 1.0)
    assert dual_price(with_middle, 0.0) == dual_price(without, 0.0) == pytest.approx(0.2)


@pytest.mark.parametrize("number", range(60))
def test_the_bracketing_sample_does_not_change_the_price(number, monkeypatch):
    """Large inputs bracket the price by a sample first; ties make that delicate."""
    rng = np.random.default_rng(number)
    table = rng.random((3000, 4))
    if number % 3 == 0:
        table = np.round(table, 2)
    elif number % 3 == 1:
        table = np.round(table * 4) / 4
    problem = Problem(table, [0.01, 6.0, 10.0, 15.0], int(rng.integers(4)), 15.0 + 15 * rng.random() ** 3)
    whole = dual_price(problem, 0.0)
    monkeypatch.setattr(dual_module, "SAMPLE", 64)
    assert dual_price(problem, 0.0) == pytest.approx(whole, rel=1e-12)


def test_a_wrong_bracket_is_widened(monkeypatch):
    """Items in an order that makes the sample of every n-th one useless."""
    table = np.zeros((4096, 2))
    table[:, 1] = np.where(np.arange(4096) % 64 == 0, 0.001, 1.0)
    problem = Problem(table, [0.0, 1.0], 0, 0.5)
    monkeypatch.setattr(dual_module, "SAMPLE", 64)
    assert dual_price(problem, 0.0) == pytest.approx(1.0)
    assert dual_price(Problem(table, [0.0, 1.0], 0, 0.99), 0.0) == pytest.approx(0.001)


@pytest.mark.parametrize("number", range(120))
def test_the_frontier_is_the_linear_programme_at_every_budget(number):
    problem = random_problem(number, max_items=25)
    whole = frontier(problem.accuracy, problem.costs, problem.base)
    rng = np.random.default_rng(number)
    top = problem.base_cost + float(problem.addon_costs.max())
    for budget in [*rng.uniform(problem.base_cost, top, 3), problem.budget, problem.base_cost]:
        assert whole.accuracy(budget) == pytest.approx(linprog_primal(problem, budget), abs=1e-9)
        here = Problem(problem.accuracy, problem.costs, problem.base, budget)
        assert whole.dual_price(budget) == pytest.approx(dual_price(here, 0.0), rel=1e-9)


@pytest.mark.parametrize("number", range(100))
def test_frontier_corners_are_what_their_price_selects(number):
    problem = random_problem(number)
    whole = frontier(problem.accuracy, problem.costs, problem.base)
    assert (np.diff(whole.dual_prices) < 0).all() and whole.dual_prices[-1] == 0
    assert (np.diff(whole.budgets) >= 0).all() and (np.diff(whole.accuracies) >= 0).all()
    for price, budget, accuracy in zip(whole.dual_prices, whole.budgets, whole.accuracies, strict=True):
        # At its own price a corner ties with the next; half way to the one before it there is no tie.
        above = whole.dual_prices[whole.dual_prices > price]
        middle = (price + above[-1]) / 2 if above.size else 2 * price + 1
        if above.size and above[-1] - price < 1e-9 * above[-1]:
            continue
        chosen = pick_at(problem, middle)
        assert problem.mean_cost(chosen) == pytest.approx(budget, rel=1e-12)
        assert problem.mean_accuracy(chosen) == pytest.approx(accuracy, abs=1e-12)


@pytest.mark.parametrize("number", range(100))
def test_cheapest_budget_inverts_accuracy(number):
    problem = random_problem(number)
    whole = frontier(problem.accuracy, problem.costs, problem.base)
    lowest, highest = whole.accuracies[0], whole.accuracies[-1]
    for share in (0.0, 0.3, 0.77, 1.0):
        target = lowest + share * (highest - lowest)
        budget = whole.cheapest_budget(min(target, highest))
        assert whole.accuracy(budget) >= target - 1e-12
        if budget > problem.base_cost + 1e-9:
            assert whole.accuracy(problem.base_cost + 0.999 * (budget - problem.base_cost)) < target + 1e-12
    assert whole.cheapest_budget(-1.0) == whole.cheapest_budget(lowest) == problem.base_cost


def test_frontier_takes_arrays_of_budgets():
    whole = frontier([[0.0, 0.6], [0.0, 0.4]], [1.0, 2.0], 0)
    budgets = np.array([[1.0, 2.0], [2.5, 9.0]])
    assert whole.accuracy(budgets) == pytest.approx(np.array([[0.0, 0.3], [0.4, 0.5]]))
    assert whole.dual_price(budgets) == pytest.approx(np.array([[0.3, 0.2], [0.2, 0.0]]))
    assert isinstance(whole.dual_price(2.0), float) and isinstance(whole.accuracy(2.0), float)


@pytest.mark.parametrize("number", range(60))
def test_the_frontier_holds_back_the_buffer_as_the_dual_price_does(number):
    problem = random_problem(number)
    whole = frontier(problem.accuracy, problem.costs, problem.base)
    for delta in (-0.2, 0.0, 0.01, 0.3, 1.0):
        expected = dual_price(problem, delta)
        assert whole.dual_price(problem.budget, delta) == pytest.approx(expected, rel=1e-9)
        assert whole.dual_price([problem.budget], delta) == pytest.approx([expected], rel=1e-9)
    with pytest.raises(FrugalError, match=r"delta is 1\.5"):
        whole.dual_price(problem.budget, 1.5)


def test_a_frontier_without_anything_to_gain_is_one_point():
    flat = frontier([[0.9, 0.2], [0.9, 0.1]], [1.0, 2.0], 0)
    assert (flat.dual_prices.tolist(), flat.budgets.tolist(), flat.accuracies.tolist()) == (
        [0.0],
        [1.0],
        [0.9],
    )
    assert frontier([[0.4]], [3.0], 0).accuracy(5.0) == 0.4


@pytest.mark.parametrize("number", range(150))
def test_theorem_1(number):
    """On continuous estimates, s^p* is within budget and loses at most 1/N against the optimum."""
    rng = np.random.default_rng(number)
    items, services = int(rng.integers(2, 200)), int(rng.integers(2, 6))
    costs = rng.random(services) * 10
    base = int(rng.integers(services))
    problem = Problem(rng.random((items, services)), costs, base, costs[base] + rng.random() * costs.max())
    price = dual_price(problem, delta=0.0)
    chosen = pick_at(problem, price)
    assert problem.within_budget(chosen)
    assert problem.mean_accuracy(chosen) >= solve(problem).accuracy - 1 / items
    online = OnlineSelector(costs, base, problem.budget, items, price)
    assert (online.choose_all(problem.accuracy) == chosen).all()  # it never has to fall back


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(NASTY_COSTS)))
def test_prices_of_nasty_costs_keep_to_the_budget(number, family):
    problem = random_problem(number, max_items=20, costs={family: NASTY_COSTS[family]})
    price = dual_price(problem, 0.0)
    assert price >= 0 and not math.isnan(price)
    online = OnlineSelector(problem.costs, problem.base, problem.budget, problem.items, price)
    chosen = online.choose_all(problem.accuracy)
    assert problem.within_budget(chosen)
    with np.errstate(over="ignore", invalid="ignore"):
        penalty = np.where(problem.addon_costs > 0, price * problem.addon_costs, 0.0)
    value = problem.accuracy - penalty
    assert (value[np.arange(problem.items), chosen] >= value.max(axis=1)).all()  # no fallback was needed
