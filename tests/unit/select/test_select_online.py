"""Algorithm 1: agreement of its two doors, ties, the budget, and its end."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from select_instances import COST_FAMILIES, NASTY_COSTS, random_problem

from frugalmct.errors import FrugalError
from frugalmct.select import OnlineSelector, Problem, dual_price, frontier, solve


def literal_algorithm(problem: Problem, price: float) -> list[int]:
    """Algorithm 1 item by item, as written, deducting what is really chosen."""
    costs, base = problem.addon_costs, problem.base
    with np.errstate(over="ignore"):
        penalties = [price * c if c > 0 else 0.0 for c in costs.tolist()]
    counts = [0] * problem.services
    chosen = []
    for row in problem.accuracy.tolist():
        value = [a - p for a, p in zip(row, penalties, strict=True)]
        tied = [k for k in range(problem.services) if value[k] == max(value)]
        wanted = min(tied, key=lambda k: (costs[k], k != base, k))
        counts[wanted] += 1
        if math.fsum(n * c for n, c in zip(counts, costs.tolist(), strict=True)) > problem.allowance:
            counts[wanted] -= 1
            wanted = base
            counts[base] += 1
        chosen.append(wanted)
    return chosen


def prices(problem: Problem, number: int) -> float:
    """From far too generous to far too strict."""
    return (0.0, dual_price(problem, 0.0), 0.3 * dual_price(problem), 3 * dual_price(problem), np.inf)[
        number % 5
    ]


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 60), max_size=4), st.booleans())
def test_choose_and_choose_all_agree_and_keep_to_the_budget(number, cuts, nasty):
    problem = random_problem(number, costs=NASTY_COSTS if nasty else COST_FAMILIES)
    price = prices(problem, number)

    def fresh() -> OnlineSelector:
        return OnlineSelector(problem.costs, problem.base, problem.budget, problem.items, price)

    one_by_one, all_at_once, mixed = fresh(), fresh(), fresh()
    single = [one_by_one.choose(row) for row in problem.accuracy]
    together = all_at_once.choose_all(problem.accuracy)
    borders = sorted({0, problem.items, *(min(cut, problem.items) for cut in cuts)})
    pieces = []
    for part, (first, last) in enumerate(pairwise(borders)):
        rows = problem.accuracy[first:last]
        pieces += mixed.choose_all(rows).tolist() if part % 2 else [mixed.choose(row) for row in rows]
    assert single == together.tolist() == pieces == literal_algorithm(problem, price)
    assert one_by_one.spent == all_at_once.spent == mixed.spent
    assert problem.within_budget(together)
    assert problem.mean_cost(together) <= problem.budget * (1 + 1e-12)
    assert all_at_once.spent <= problem.items * problem.budget * (1 + 2e-12)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.just(0.0) | st.floats(1e-300, 1e300), min_size=1, max_size=6),
    st.integers(0, 5),
    st.floats(0, 1e300),
    st.floats(0, allow_nan=False),
    st.integers(1, 40),
    st.integers(0, 10**6),
)
def test_no_costs_whatever_break_the_budget(costs, base, extra, price, items, seed):
    base %= len(costs)
    budget = min(costs[base] + extra, 1e300)
    problem = Problem(np.random.default_rng(seed).random((items, len(costs))), costs, base, budget)
    selector = OnlineSelector(costs, base, budget, items, price)
    chosen = selector.choose_all(problem.accuracy)
    assert problem.within_budget(chosen)
    assert chosen.tolist() == literal_algorithm(problem, price)
    for method in ("exact", "lp"):
        solution = solve(problem, method)
        assert problem.within_budget(solution.choices)
        assert solution.bound >= solution.accuracy
    assert solve(problem).accuracy >= problem.mean_accuracy(chosen) - 1e-12


def test_ties_go_to_the_smallest_cost_then_to_the_base():
    row = [0.5, 0.7, 0.9, 0.5]
    # At price 0.1: 0.5, 0.7 - 0.2, 0.9 - 0.4 and 0.5 - 0 all tie.
    for base, costs, expected in ((0, [1.0, 2.0, 4.0, 0.0], 0), (3, [0.0, 2.0, 4.0, 1.0], 3)):
        selector = OnlineSelector(costs, base, 9.0, 2, 0.1)
        assert selector.choose(row) == expected
        assert selector.choose_all([row]).tolist() == [expected]


def test_once_a_service_is_too_expensive_cheaper_ones_still_go_on():
    # Budget for add-ons: 10. The second expensive call (6) does not fit, the cheap ones (2) do, twice.
    table = np.array(
        [[0.0, 0.9, 0.1], [0.0, 0.9, 0.1], [0.0, 0.1, 0.9], [0.0, 0.9, 0.2], [0.0, 0.1, 0.9], [0.0, 0.1, 0.9]]
    )
    selector = OnlineSelector([1.0, 6.0, 2.0], 0, 1.0 + 10 / 6, 6, 0.0)
    assert selector.choose_all(table).tolist() == [1, 0, 2, 0, 2, 0]
    assert selector.spent == pytest.approx(6 + 10)


def test_free_services_are_chosen_when_the_money_is_gone():
    selector = OnlineSelector([1.0, 0.0, 5.0], 0, 1.0, 3, 0.0)
    assert selector.choose_all([[0.1, 0.5, 0.2], [0.1, 0.05, 0.9], [0.6, 0.5, 0.1]]).tolist() == [1, 0, 0]


def test_more_items_than_the_budget_covers_is_an_error_and_changes_nothing():
    selector = OnlineSelector([1.0, 2.0], 0, 2.0, 3, 0.1)
    selector.choose_all([[0.1, 0.9]] * 2)
    with pytest.raises(FrugalError, match="only 1 are left"):
        selector.choose_all([[0.1, 0.9]] * 2)
    assert selector.seen == 2
    selector.choose([0.1, 0.9])
    with pytest.raises(FrugalError, match="only 0 are left"):
        selector.choose([0.1, 0.9])
    assert selector.choose_all(np.empty((0, 2))).size == 0


def test_whole_budget_is_usable_to_the_last_call():
    items = 61_643
    table = np.tile([0.0, 1.0], (items, 1))
    selector = OnlineSelector([0.01, 6.0], 0, 0.01 + 6.0, items, 0.0)
    assert selector.choose_all(table).sum() == items
    third = OnlineSelector([0.01, 0.1], 0, 0.01 + 0.1 / 3, 30_000, 0.0)
    assert third.choose_all(table[:30_000]).sum() == 10_000


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_order_and_chunks_do_not_matter(order):
    rng = np.random.default_rng(3)
    table = rng.random((40_000, 4))
    problem = Problem(table, [0.01, 6.0, 10.0, 15.0], 0, 2.0)
    price = dual_price(problem, 0.0) * 0.7  # runs out of money on the way
    selector = OnlineSelector(problem.costs, 0, 2.0, 40_000, price)
    chosen = selector.choose_all(np.asarray(table, order=order))
    assert chosen.tolist() == literal_algorithm(problem, price)


@pytest.mark.parametrize("number", range(40))
def test_repricing_agrees_keeps_to_the_budget_and_spends_it(number):
    rng = np.random.default_rng(number)
    costs = [0.01, 6.0, 10.0, 15.0]
    train, test = rng.random((2000, 4)), rng.random((1500, 4))
    history = frontier(train, costs, 0)
    budget = 0.5 + 6 * rng.random()

    def fresh(**extra) -> OnlineSelector:
        return OnlineSelector(costs, 0, budget, 1500, history.dual_price(budget), **extra)

    together = fresh(reprice=history, reprice_every=25).choose_all(test)
    step = fresh(reprice=history, reprice_every=25)
    mixed = [step.choose(row) for row in test[:250]] + step.choose_all(test[250:777]).tolist()
    mixed += [step.choose(row) for row in test[777:]]
    assert together.tolist() == mixed
    problem = Problem(test, costs, 0, budget)
    assert problem.within_budget(together)
    assert problem.mean_cost(together) >= 0.98 * budget
    best = solve(problem).accuracy
    assert best - 0.01 <= problem.mean_accuracy(together) <= best
