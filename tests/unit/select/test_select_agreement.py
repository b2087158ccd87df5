"""All proven methods agree on two thousand random problems with every awkward feature."""

from functools import cache

import pytest
from select_instances import milp_reference, random_problem

from frugalmct.select import Solution, solve

ALL, BATCH = 2000, 100
CLOSE = 1e-9


@cache
def optimum(number: int) -> Solution:
    return solve(random_problem(number))


def check_method(method: str, numbers: range) -> None:
    for number in numbers:
        problem, best = random_problem(number), optimum(number)
        solution = solve(problem, method, time_limit=120)
        assert solution.accuracy == pytest.approx(best.accuracy, abs=CLOSE), number
        assert solution.proven and solution.status == "optimal", number
        assert solution.bound >= max(solution.accuracy, best.accuracy - CLOSE), number
        assert problem.within_budget(solution.choices), number


def batches(count: int) -> list[range]:
    return [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]


@pytest.mark.parametrize("numbers", batches(ALL), ids=str)
def test_exact_equals_scipy_milp(numbers):
    for number in numbers:
        best = optimum(number)
        assert best.proven, number
        assert best.accuracy == pytest.approx(milp_reference(random_problem(number)), abs=CLOSE), number


@pytest.mark.parametrize("numbers", batches(ALL), ids=str)
def test_highs_agrees(numbers):
    check_method("highs", numbers)


@pytest.mark.parametrize("numbers", batches(ALL), ids=str)
def test_highs_reduced_agrees(numbers):
    check_method("highs_reduced", numbers)


@pytest.mark.parametrize("method", ["cbc", "cbc_reduced"])
def test_cbc_agrees_on_some(method):
    check_method(method, range(150))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cbc", "cbc_reduced"])
@pytest.mark.parametrize("numbers", batches(ALL), ids=str)
def test_cbc_agrees_on_all(numbers, method):
    check_method(method, numbers)
