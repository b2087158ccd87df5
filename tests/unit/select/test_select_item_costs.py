"""Costs per item, and one, several or no base services, against scipy's programmes and worked examples."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from select_instances import (
    NASTY_ITEM_COSTS,
    addon_table,
    milp_reference,
    pareto_reference,
    random_item_problem,
    random_problem,
)

from frugalmct.errors import FrugalError
from frugalmct.select import OnlineSelector, Problem, dual_price, frontier, mean_cost, solve
from frugalmct.select.problem import base_list

FEW, SOME, MANY = 100, 400, 6000


def linprog_relaxed(problem: Problem, budget: float) -> float:
    """The relaxed optimum: one weight per item and service."""
    items, services = problem.accuracy.shape
    scale = float(problem.addon_costs.max()) or 1.0
    result = linprog(
        -problem.accuracy.ravel() / items,
        A_ub=addon_table(problem).ravel()[None, :] / scale,
        b_ub=[items * (budget - problem.base_cost) / scale * (1 + 1e-12)],
        A_eq=sparse.kron(sparse.eye(items), np.ones((1, services))),
        b_eq=np.ones(items),
        bounds=(0, 1),
    )
    assert result.status == 0
    return -result.fun


def exact_mean_cost(problem: Problem, choices: np.ndarray) -> Fraction:
    """In exact arithmetic of the costs as they were given: all bases, and the choice unless it is one."""
    costs, bases = np.broadcast_to(problem.costs, problem.accuracy.shape), base_list(problem.base)
    total = Fraction(0)
    for row, choice in zip(costs.tolist(), choices.tolist(), strict=True):
        total += sum(Fraction(row[k]) for k in {*bases, choice})
    return total / problem.items


def check_exact(number: int) -> None:
    problem = random_item_problem(number)
    best = solve(problem)
    assert best.proven and best.status == "optimal", number
    assert best.accuracy == pytest.approx(milp_reference(problem), abs=1e-9), number
    assert best.accuracy <= best.bound <= best.accuracy * (1 + 1e-12), number
    assert problem.within_budget(best.choices), number
    assert exact_mean_cost(problem, best.choices) <= Fraction(problem.budget) * (1 + Fraction(1, 10**12))
    assert best.cost == pytest.approx(float(exact_mean_cost(problem, best.choices)), rel=1e-12), number


def check_relaxation(number: int) -> None:
    problem = random_item_problem(number, max_items=25)
    whole = frontier(problem.accuracy, problem.costs, problem.base)
    relaxed = linprog_relaxed(problem, problem.budget)
    assert whole.accuracy(problem.budget) == pytest.approx(relaxed, abs=1e-8), number
    rounded = solve(problem, "lp")
    assert rounded.bound == pytest.approx(relaxed, abs=1e-8), number
    assert rounded.accuracy >= relaxed - 1 / problem.items - 1e-9, number
    price = dual_price(problem, 0.0)
    dual = (problem.accuracy - price * addon_table(problem)).max(axis=1).mean()
    dual += price * (problem.budget - problem.base_cost)
    assert dual == pytest.approx(relaxed, abs=1e-8), number
    assert whole.dual_price(problem.budget) == pytest.approx(price, rel=1e-9), number
    assert whole.accuracy(problem.budget) >= solve(problem).accuracy, number


@pytest.mark.parametrize("first", range(0, SOME, 50))
def test_exact_equals_scipy_milp(first):
    for number in range(first, first + 50):
        check_exact(number)


@pytest.mark.parametrize("first", range(0, SOME, 50))
def test_relaxed_problem_equals_scipy_linprog(first):
    for number in range(first, first + 50):
        check_relaxation(number)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_exact_equals_a_list_of_all_undominated_selections(first):
    """In exact arithmetic, at costs that a general solver cannot tell apart."""
    for number in range(first, first + 50):
        problem = random_item_problem(number, max_items=9, max_services=4, costs_of=NASTY_ITEM_COSTS)
        best = solve(problem)
        reference = pareto_reference(problem)
        assert best.bound >= reference * (1 - 1e-12), number
        assert best.proven == (best.status == "optimal"), number
        assert not best.proven or best.accuracy >= reference * (1 - 1e-12), number
        assert best.proven or best.status == "rounding_limit", number
        assert best.accuracy <= reference * (1 + 1e-12) or not problem.within_budget(best.choices), number
        assert solve(problem, "lp").bound >= reference * (1 - 1e-12), number
        assert exact_mean_cost(problem, best.choices) <= Fraction(problem.budget) * (1 + Fraction(1, 10**12))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SOME, MANY, 200))
def test_exact_and_relaxed_equal_scipy_on_thousands(first):
    for number in range(first, min(first + 200, MANY)):
        check_exact(number)
        check_relaxation(number)


@pytest.mark.parametrize("method", ["highs", "highs_reduced", "cbc", "cbc_reduced"])
def test_general_solvers_agree(method):
    for number in range(FEW if "highs" in method else FEW // 4):
        problem = random_item_problem(number)
        found, best = solve(problem, method, time_limit=60), solve(problem)
        assert found.proven and found.status == "optimal", number
        assert found.accuracy == pytest.approx(best.accuracy, abs=1e-9), number
        assert problem.within_budget(found.choices), number


def test_one_price_list_for_all_is_the_same_as_prices_per_service():
    for number in range(150):
        shared = random_problem(number, max_items=25)
        table = np.tile(shared.costs, (shared.items, 1))
        own = Problem(shared.accuracy, table, shared.base, shared.budget)
        assert solve(own).accuracy == pytest.approx(solve(shared).accuracy, abs=1e-12), number
        assert dual_price(own, 0.05) == pytest.approx(dual_price(shared, 0.05), rel=1e-9), number
        ours, theirs = (frontier(p.accuracy, p.costs, p.base) for p in (own, shared))
        assert ours.accuracy(shared.budget) == pytest.approx(theirs.accuracy(shared.budget), abs=1e-12)
        assert own.base_cost == pytest.approx(shared.base_cost, rel=1e-15)


def test_a_worked_example_without_a_base():
    """Three items; the cheapest choices cost 1 + 2 + 1 = 4, and a budget of 2 leaves 2 for one upgrade."""
    accuracy = [[0.2, 0.9], [0.8, 0.3], [0.1, 0.5]]
    costs = [[1.0, 3.0], [4.0, 2.0], [1.0, 3.0]]
    problem = Problem(accuracy, costs, None, 2.0)
    assert (problem.base_cost, problem.least_cost) == (0.0, pytest.approx(4 / 3))
    best = solve(problem)
    assert best.choices.tolist() == [1, 1, 0]  # 0.7 for 2, rather than 0.5 or 0.4
    assert (best.accuracy, best.cost) == (pytest.approx(1.3 / 3), pytest.approx(2.0))
    # Slopes are 0.35, 0.25 and 0.2: money for exactly one makes the second the smallest that stays within.
    assert dual_price(problem, 0.0) == pytest.approx(0.25)
    assert mean_cost(best.choices, np.array(costs), None) == pytest.approx(2.0)


def test_a_worked_example_with_two_bases():
    """Both bases are paid by all, and either is chosen for nothing more."""
    accuracy = [[0.2, 0.6, 0.9], [0.7, 0.1, 0.75]]
    problem = Problem(accuracy, [1.0, 2.0, 5.0], [0, 1], 5.5)
    assert problem.base_cost == problem.least_cost == 3.0
    assert problem.addon_costs.tolist() == [0.0, 0.0, 5.0]
    best = solve(problem)
    assert best.choices.tolist() == [2, 0]
    assert best.cost == pytest.approx(3 + 5 / 2) and best.proven
    assert solve(Problem(accuracy, [1.0, 2.0, 5.0], [0, 1], 3.0)).choices.tolist() == [1, 0]
    assert mean_cost(np.array([2, 0]), np.array([1.0, 2.0, 5.0]), [0, 1]) == 5.5


def test_a_list_of_one_base_is_that_base():
    for number in range(40):
        problem = random_problem(number)
        listed = Problem(problem.accuracy, problem.costs, [problem.base], problem.budget)
        assert solve(listed).accuracy == solve(problem).accuracy
        assert dual_price(listed) == dual_price(problem)


def test_a_budget_that_covers_no_selection_says_what_does():
    with pytest.raises(FrugalError, match=r"budget 1 is below what the cheapest choice .* costs .* 1\.5"):
        Problem([[0.1, 0.2], [0.3, 0.4]], [[1.0, 2.0], [3.0, 2.0]], None, 1.0)
    with pytest.raises(FrugalError, match=r"budget 1 is below the base service's price 2"):
        Problem([[0.1, 0.2], [0.3, 0.4]], [[1.0, 2.0], [3.0, 2.0]], 0, 1.0)
    with pytest.raises(FrugalError, match="costs has shape"):
        Problem([[0.1, 0.2], [0.3, 0.4]], [[1.0, 2.0]], 0, 5.0)


@pytest.mark.parametrize("short", [0.0, 2e-13, 4e-13, 8e-13, 2e-12])
@pytest.mark.parametrize("base", [None, 0], ids=str)
def test_a_budget_a_breath_below_the_cheapest_selection_is_enough_or_refused(short, base):
    costs = np.array([[0.1, 0.7], [0.3, 0.9], [0.7, 0.8]])
    budget = float(costs[:, 0].mean()) * (1 - short)
    try:
        problem = Problem([[0.1, 0.2]] * 3, costs, base, budget)
    except FrugalError:
        assert short > 1e-13
        return
    for method in ("exact", "lp", "highs"):
        assert solve(problem, method).choices.tolist() == [0, 0, 0]
    online = OnlineSelector(costs, base, budget, 3, 0.0)
    assert online.choose_all(problem.accuracy).tolist() == [0, 0, 0]


def test_what_is_not_proven_has_an_honest_bound():
    rng = np.random.default_rng(3)
    costs = np.sqrt(rng.integers(2, 500, (60, 8)))
    hard = Problem(0.9 * costs / costs.max() + 1e-9 * rng.random((60, 8)), costs, None, 10.0)
    stopped, best = solve(hard, time_limit=0.02), solve(hard, time_limit=2)
    assert hard.within_budget(stopped.choices)
    assert stopped.accuracy <= best.bound and best.accuracy <= stopped.bound
    assert stopped.proven == (stopped.status == "optimal")


def literal_algorithm(problem: Problem, price: float) -> list[int]:
    """Algorithm 1 item by item, in exact arithmetic, setting aside what the items to come cost at least."""
    bases, addon = base_list(problem.base), addon_table(problem).tolist()
    left = Fraction(problem.allowance) - sum(Fraction(min(row)) for row in addon)
    chosen = []
    for row, costs in zip(problem.accuracy.tolist(), addon, strict=True):
        value = [a - price * c for a, c in zip(row, costs, strict=True)]
        tied = [k for k in range(problem.services) if value[k] == max(value)]
        wanted = min(tied, key=lambda k: (costs[k], k not in bases, k))
        extra = Fraction(costs[wanted]) - Fraction(min(costs))
        if extra > left:
            wanted = max(bases, key=lambda k: row[k]) if bases else costs.index(min(costs))
            extra = Fraction(0)
        left -= extra
        chosen.append(wanted)
    return chosen


def test_online_choices_are_the_literal_algorithms_and_within_budget():
    for number in range(SOME):
        problem = random_item_problem(number)
        price = (0.0, dual_price(problem, 0.0), 0.3 * dual_price(problem), 3 * dual_price(problem))[
            number % 4
        ]

        def fresh(problem=problem, price=price) -> OnlineSelector:
            return OnlineSelector(problem.costs, problem.base, problem.budget, problem.items, price)

        one_by_one, together = fresh(), fresh()
        single = [one_by_one.choose(row) for row in problem.accuracy]
        choices = together.choose_all(problem.accuracy)
        assert single == choices.tolist() == literal_algorithm(problem, price), number
        assert one_by_one.spent == together.spent
        exact = exact_mean_cost(problem, choices)
        assert exact <= Fraction(problem.budget) * (1 + Fraction(1, 10**12)), number
        assert together.spent == pytest.approx(float(exact) * problem.items, rel=1e-12), number


@pytest.mark.parametrize("base", [0, [0, 1], None], ids=str)
def test_costs_that_are_known_only_when_the_item_comes(base):
    rng = np.random.default_rng(7)
    accuracy, costs = rng.random((300, 4)), rng.gamma(2, 1, (300, 4)) * [0.2, 0.5, 1, 2]
    expected = costs.mean(axis=0)
    least = sum(expected[k] for k in base_list(base)) or expected.min()
    budget = 1.2 * float(least) + 0.3
    for price in (0.0, 0.1, 0.5):
        selectors = [OnlineSelector(expected, base, budget, 300, price) for _ in range(2)]
        single = [selectors[0].choose(row, own) for row, own in zip(accuracy, costs, strict=True)]
        together = selectors[1].choose_all(accuracy, costs)
        assert single == together.tolist()
        problem = Problem(accuracy, costs, base, 100.0)
        total = exact_mean_cost(problem, together) * 300
        assert total <= 300 * Fraction(budget) * (1 + Fraction(1, 10**12))
        assert selectors[1].spent == pytest.approx(float(total), rel=1e-12)
        assert selectors[0].spent == selectors[1].spent


def test_an_item_that_no_money_is_left_for_is_refused_and_changes_nothing():
    selector = OnlineSelector([1.0, 3.0], 0, 1.5, 4, 0.0)
    assert selector.choose([0.1, 0.9], [5.5, 0.2]) == 0  # its base alone takes what was set aside for others
    with pytest.raises(FrugalError, match=r"item 2 costs at least 2, more than the 0\.5 that is left"):
        selector.choose([0.1, 0.9], [2.0, 0.2])
    assert (selector.seen, selector.spent) == (1, 5.5)
    assert selector.choose([0.1, 0.9], [0.25, 0.5]) == 0
    assert selector.spent == 5.75


def test_items_with_and_without_costs_of_their_own_share_one_budget():
    selector = OnlineSelector([1.0, 3.0], 0, 2.0, 4, 0.0)  # 8 in all, 4 of it for bases
    assert selector.choose([0.1, 0.9], [5.5, 0.2]) == 0
    # 2.5 are left for three items: no more add-ons, and money for two bases only.
    assert selector.choose_all([[0.1, 0.9], [0.1, 0.9]]).tolist() == [0, 0]
    assert selector.spent == 7.5
    with pytest.raises(FrugalError, match=r"cost at least 1, more than the 0\.5 that is left"):
        selector.choose([0.1, 0.9])
    assert selector.seen == 3


def test_costs_of_the_wrong_shape_are_refused():
    selector = OnlineSelector([1.0, 3.0], 0, 2.0, 4, 0.0)
    for call in (
        lambda: selector.choose([0.1, 0.9], [1.0]),
        lambda: selector.choose([0.1, 0.9], [1.0, -2.0]),
        lambda: selector.choose_all([[0.1, 0.9]], [1.0, 2.0]),
        lambda: selector.choose_all([[0.1, 0.9]], [[1.0, math.nan]]),
        lambda: OnlineSelector(np.ones((3, 2)), 0, 2.0, 4, 0.0),
    ):
        with pytest.raises(FrugalError, match="costs"):
            call()
    assert selector.seen == 0


def test_a_large_problem_is_proven_in_seconds():
    rng = np.random.default_rng(0)
    items, services = 20_000, 11
    costs = (
        rng.gamma(2, 1, (items, 1)) * np.linspace(0.1, 3, services) * rng.uniform(0.7, 1.3, (items, services))
    )
    accuracy = np.clip(rng.normal(np.linspace(0.5, 0.75, services), 0.15, (items, services)), 0, 1)
    for table in (accuracy, accuracy.round(3)):
        found = solve(Problem(table, costs, None, 1.5), time_limit=60)
        assert found.proven and found.seconds < 20
