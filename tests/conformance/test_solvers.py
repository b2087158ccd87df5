"""Every registered selection method that can run here keeps the same promises."""

from functools import cache

import numpy as np
import pytest

from frugalmct.select import METHODS, Problem, available_methods, frontier, solve


def problems() -> dict[str, Problem]:
    rng = np.random.default_rng(31)
    table = rng.random((40, 4))
    prices = [0.01, 6.0, 10.0, 15.0]
    own = rng.gamma(2, 1, (40, 1)) * [0.1, 0.5, 1.0, 3.0] * rng.uniform(0.5, 1.5, (40, 4))
    return {
        "paper prices": Problem(table, prices, 0, 4.0),
        "expensive base": Problem(table, prices, 3, 18.0),
        "real prices": Problem(table, [0.1, np.pi, np.e, np.sqrt(50)], 0, 2.5),
        "ties": Problem(np.round(table * 4) / 4, [1.0, 2.0, 2.0, 3.0], 0, 2.2),
        "free services": Problem(table, [1.0, 0.0, 0.0, 5.0], 0, 2.0),
        "tiny prices": Problem(table, [0.0, 3.75e-6, 1e-5, 1.5e-5], 0, 4e-6),
        "budget = base price": Problem(table, prices, 1, 6.0),
        "budget beyond need": Problem(table, prices, 0, 100.0),
        "one service": Problem(table[:, :1], [2.0], 0, 2.0),
        "one item": Problem(table[:1], prices, 0, 10.01),
        "no base": Problem(table, prices, None, 8.0),
        "two bases": Problem(table, prices, [0, 2], 14.0),
        "costs per item": Problem(table, own, 1, float(own[:, 1].mean()) + 1.0),
        "costs per item, no base": Problem(table, own, None, 1.2),
        "costs per item in cents, two bases": Problem(table, own.round(2), [0, 1], 3.0),
    }


PROBLEMS = problems()


def test_the_registry_and_what_is_available():
    assert set(available_methods()) <= set(METHODS.names())
    assert {"exact", "lp"} <= set(available_methods())


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", available_methods())
def test_method_keeps_its_promises(method, name):
    problem = PROBLEMS[name]
    solution = solve(problem, method, time_limit=60)
    assert solution.method == method
    assert solution.choices.shape == (problem.items,) and solution.choices.dtype.kind == "i"
    assert solution.choices.min() >= 0 and solution.choices.max() < problem.services
    assert problem.within_budget(solution.choices)
    assert solution.cost == problem.mean_cost(solution.choices) <= problem.budget * (1 + 1e-12)
    assert solution.accuracy == problem.mean_accuracy(solution.choices) <= solution.bound
    assert solution.seconds > 0 and solution.status

    best = solve(problem)
    assert best.proven
    assert best.accuracy - 1e-9 <= solution.bound
    assert solution.accuracy <= best.accuracy + 1e-9
    if solution.proven:
        assert solution.status == "optimal"
        assert solution.accuracy == pytest.approx(best.accuracy, abs=1e-9)
    if method == "lp":
        relaxed = frontier(problem.accuracy, problem.costs, problem.base).accuracy(problem.budget)
        assert solution.bound == pytest.approx(relaxed, abs=1e-10)
        assert solution.accuracy >= relaxed - 1 / problem.items
    else:
        assert solution.proven


@cache
def hard_problem() -> tuple[Problem, float]:
    """Accuracy proportional to real-valued cost, and an accuracy that can be reached."""
    rng = np.random.default_rng(5)
    costs = np.append(0.0, np.sort(1 + 9 * rng.random(5)))
    hard = Problem(np.tile(0.9 * costs / costs.max(), (80, 1)), costs, 0, 0.37 * costs.max())
    return hard, solve(hard, time_limit=1).accuracy


@pytest.mark.parametrize("method", available_methods())
def test_a_time_limit_is_respected_and_reported(method):
    hard, reachable = hard_problem()
    solution = solve(hard, method, time_limit=0.5)
    assert solution.seconds < 10
    assert hard.within_budget(solution.choices)
    assert solution.bound >= max(solution.accuracy, reachable - 1e-12)
    if not solution.proven:
        assert solution.status != "optimal"
        relaxed = frontier(hard.accuracy, hard.costs, 0).accuracy(hard.budget)
        assert solution.bound <= relaxed + 1e-3
