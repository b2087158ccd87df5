"""Problem: what it accepts, what it refuses, and the rounding policy on money."""

import re
import subprocess
import sys

import numpy as np
import pytest

from frugalmct.errors import FrugalError
from frugalmct.select import (
    METHODS,
    Frontier,
    OnlineSelector,
    Problem,
    available_methods,
    chosen,
    dual_price,
    frontier,
    mean_cost,
    solve,
)
from frugalmct.select.problem import allowance, spend

TABLE = np.array([[0.5, 0.7, 0.9], [0.4, 0.8, 0.6]])
COSTS = [1.0, 2.0, 4.0]


def problem(budget: float = 3.0) -> Problem:
    return Problem(TABLE, COSTS, 0, budget)


def one_sentence(error: pytest.ExceptionInfo[FrugalError]) -> bool:
    text = str(error.value)
    return text.endswith(".") and "\n" not in text and not re.search(r"\. [A-Z]", text)


BAD_TABLES = {
    "one row only": [0.5, 0.7, 0.9],
    "too many columns": np.ones((2, 4)),
    "no services": np.ones((2, 0)),
    "three dimensions": np.ones((2, 3, 1)),
    "not a number": [[0.5, np.nan, 0.9]],
    "infinite": [[0.5, np.inf, 0.9]],
    "negative": [[0.5, -0.1, 0.9]],
    "above one": [[0.5, 1.1, 0.9]],
    "text": [["a", "b", "c"]],
    "boolean": [[True, False, True]],
    "complex": [[0.5j, 0.1, 0.2]],
    "objects": [[None, 0.1, 0.2]],
    "ragged": [[0.5, 0.7, 0.9], [0.4]],
    "nothing": None,
}
BAD_COSTS = {
    "too few": [1.0, 2.0],
    "none": [],
    "a table": [[1.0, 2.0, 4.0]],
    "negative": [1.0, -2.0, 4.0],
    "not a number": [1.0, np.nan, 4.0],
    "infinite": [1.0, np.inf, 4.0],
    "text": ["a", "b", "c"],
    "boolean": [True, False, True],
    "scalar": 1.0,
}
BAD_BASES = [-1, 3, 0.0, "0", True, np.float64(1), [], [0, 0], [0, 3], [[0]], ["0"]]
BAD_BUDGETS = [0.5, -1.0, np.nan, np.inf, "3", None, True, 1j, [3.0]]


@pytest.mark.parametrize("table", BAD_TABLES.values(), ids=BAD_TABLES)
def test_malformed_accuracy_is_refused_everywhere(table):
    for call in (
        lambda: Problem(table, COSTS, 0, 3.0),
        lambda: frontier(table, COSTS, 0),
        lambda: OnlineSelector(COSTS, 0, 3.0, 10, 0.1).choose_all(table),
    ):
        with pytest.raises(FrugalError) as error:
            call()
        assert one_sentence(error)


@pytest.mark.parametrize("costs", BAD_COSTS.values(), ids=BAD_COSTS)
def test_malformed_costs_are_refused_everywhere(costs):
    for call in (
        lambda: Problem(TABLE, costs, 0, 3.0),
        lambda: frontier(TABLE, costs, 0),
        lambda: OnlineSelector(costs, 0, 3.0, 10, 0.1).choose_all(TABLE),
    ):
        with pytest.raises(FrugalError) as error:
            call()
        assert one_sentence(error)


@pytest.mark.parametrize("base", BAD_BASES, ids=repr)
def test_malformed_base_is_refused_everywhere(base):
    for call in (
        lambda: Problem(TABLE, COSTS, base, 3.0),
        lambda: frontier(TABLE, COSTS, base),
        lambda: OnlineSelector(COSTS, base, 3.0, 10, 0.1),
    ):
        with pytest.raises(FrugalError) as error:
            call()
        assert one_sentence(error)


@pytest.mark.parametrize("budget", BAD_BUDGETS, ids=repr)
def test_malformed_or_infeasible_budget_is_refused_everywhere(budget):
    for call in (
        lambda: Problem(TABLE, COSTS, 0, budget),
        lambda: OnlineSelector(COSTS, 0, budget, 10, 0.1),
    ):
        with pytest.raises(FrugalError) as error:
            call()
        assert one_sentence(error)


def test_a_budget_below_the_base_price_says_so():
    with pytest.raises(FrugalError, match=r"budget 0\.5 is below the base service's price 1"):
        problem(budget=0.5)


def test_a_problem_without_items_is_refused():
    for call in (
        lambda: Problem(np.ones((0, 3)), COSTS, 0, 3.0),
        lambda: frontier(np.ones((0, 3)), COSTS, 0),
    ):
        with pytest.raises(FrugalError, match="no items") as error:
            call()
        assert one_sentence(error)


@pytest.mark.parametrize("limit", [0, -1.0, np.nan, np.inf, "5", True, [1]], ids=repr)
def test_solve_refuses_a_malformed_time_limit(limit):
    with pytest.raises(FrugalError, match="time_limit") as error:
        solve(problem(), time_limit=limit)
    assert one_sentence(error)


@pytest.mark.parametrize("method", ["nonsense", "", None, 3, ["exact"]], ids=repr)
def test_solve_refuses_an_unknown_method_and_lists_the_known(method):
    with pytest.raises(FrugalError, match="exact") as error:
        solve(problem(), method)
    assert one_sentence(error)


@pytest.mark.parametrize("value", [None, TABLE, "problem"], ids=["None", "array", "text"])
def test_solve_and_dual_price_want_a_problem(value):
    for call in (solve, dual_price):
        with pytest.raises(FrugalError, match="Problem") as error:
            call(value)
        assert one_sentence(error)


@pytest.mark.parametrize("delta", [1.5, np.nan, np.inf, -np.inf, "0.01", None, True], ids=repr)
def test_dual_price_refuses_a_malformed_delta(delta):
    with pytest.raises(FrugalError, match="delta") as error:
        dual_price(problem(), delta)
    assert one_sentence(error)


@pytest.mark.parametrize("budget", [0.5, np.nan, np.inf, "3", [2.0, 0.5], [[2.0], [1.0, 3.0]]], ids=repr)
def test_frontier_refuses_malformed_budgets(budget):
    whole = frontier(TABLE, COSTS, 0)
    for call in (whole.dual_price, whole.accuracy):
        with pytest.raises(FrugalError, match="budget") as error:
            call(budget)
        assert one_sentence(error)


@pytest.mark.parametrize("target", [1.0, np.nan, "0.5", None, True], ids=repr)
def test_cheapest_budget_refuses_what_it_can_not_reach(target):
    with pytest.raises(FrugalError, match="target_accuracy") as error:
        frontier(TABLE, COSTS, 0).cheapest_budget(target)
    assert one_sentence(error)


@pytest.mark.parametrize(
    "changed",
    [
        {"items": 0},
        {"items": 2.0},
        {"items": True},
        {"price": -1.0},
        {"price": np.nan},
        {"price": "a"},
        {"reprice": 3},
        {"reprice_every": 0},
    ],
    ids=repr,
)
def test_online_selector_refuses_malformed_arguments(changed):
    arguments = {"costs": COSTS, "base": 0, "budget": 3.0, "items": 5, "price": 0.1} | changed
    with pytest.raises(FrugalError) as error:
        OnlineSelector(**arguments)
    assert one_sentence(error)


@pytest.mark.parametrize(
    "row",
    [[0.5, 0.7], [[0.5, 0.7, 0.9]], [0.5, np.nan, 0.9], [0.5, 2.0, 0.9], ["a", "b", "c"], None],
    ids=repr,
)
def test_online_selector_refuses_a_malformed_row_and_stays_as_it_was(row):
    selector = OnlineSelector(COSTS, 0, 3.0, 5, 0.1)
    with pytest.raises(FrugalError) as error:
        selector.choose(row)
    assert one_sentence(error)
    assert selector.seen == 0


def test_a_problem_is_frozen_and_its_arrays_read_only():
    table, costs = TABLE.copy(), np.array(COSTS)
    frozen = Problem(table, costs, 0, 3.0)
    with pytest.raises(AttributeError):
        frozen.budget = 9.0
    with pytest.raises(ValueError, match="read-only"):
        frozen.accuracy[0, 0] = 1.0
    table[0, 0] = 0.0  # the caller's own array stays writable
    costs[1] = 99.0
    assert frozen.costs[1] == 2.0


def test_numpy_and_plain_input_give_the_same_problem():
    plain = Problem(TABLE.tolist(), (1, 2, 4), np.int32(0), np.float32(3))
    assert plain.accuracy.dtype == np.float64
    assert plain.accuracy.tolist() == TABLE.tolist()
    assert (plain.base, plain.budget, plain.items, plain.services) == (0, 3.0, 2, 3)


def test_choosing_the_base_costs_nothing_extra():
    assert problem().addon_costs.tolist() == [0.0, 2.0, 4.0]
    assert problem().addon_budget == 4.0
    assert problem().mean_cost(np.array([0, 2])) == 1.0 + 4.0 / 2
    assert Problem(TABLE, COSTS, 2, 5.0).addon_costs.tolist() == [1.0, 2.0, 0.0]


def test_the_mean_cost_of_choices_and_what_they_chose():
    choices, costs = np.array([0, 1, 1, 2]), np.array([1.0, 5.0, 7.0])
    assert mean_cost(choices, costs, 0) == pytest.approx(1 + (5 + 5 + 7) / 4)
    assert mean_cost(np.array([1, 1]), costs, 1) == 5
    assert chosen(TABLE, np.array([2, 0])).tolist() == [0.9, 0.4]


@pytest.mark.parametrize(
    "base_cost, addon", [(0.01, 6.0), (0.1, 0.2), (0.7, 0.1), (1 / 3, 1 / 7), (1e6, 3.75e-6)]
)
@pytest.mark.parametrize("items", [1, 3, 7, 61_643])
def test_a_budget_of_base_plus_service_affords_it_for_every_item(base_cost, addon, items):
    """0.01 + 6 - 0.01 is less than 6 in floating point; the policy must not notice."""
    every = np.ones(items, dtype=np.int64)
    generous = Problem(np.tile([0.1, 0.9], (items, 1)), [base_cost, addon], 0, base_cost + addon)
    assert generous.within_budget(every)
    assert solve(generous).accuracy == pytest.approx(0.9)


def test_a_budget_that_is_a_running_sum_affords_what_it_sums():
    """Adding 0.1 twenty thousand times loses 4e-13 of the sum."""
    total = 0.0
    for _ in range(20_000):
        total += 0.1
    assert total < 20_000 * 0.1
    summed = Problem(np.tile([0.2, 0.8], (40_000, 1)), [0.0, 0.1], 0, total / 40_000)
    assert int((solve(summed).choices == 1).sum()) == 20_000
    selector = OnlineSelector([0.0, 0.1], 0, total / 40_000, 40_000, 0.0)
    assert selector.choose_all(summed.accuracy).sum() == 20_000


def test_one_call_too_many_is_over_budget_even_among_many_items():
    items = 61_643
    table = np.tile([0.1, 0.9], (items, 1))
    paid = 20_000
    tight = Problem(table, [0.01, 6.0], 0, 0.01 + 6.0 * paid / items)
    choices = np.zeros(items, dtype=np.int64)
    choices[:paid] = 1
    assert tight.within_budget(choices)
    choices[paid] = 1
    assert not tight.within_budget(choices)
    assert int((solve(tight).choices == 1).sum()) == paid


def test_the_slack_is_a_trillionth_of_the_budget_at_most():
    for budget, base_cost in ((6.01, 0.01), (5.0, 0.0), (15.005, 15.0), (1e-6, 1e-9)):
        mean = base_cost + allowance(1000, budget, base_cost) / 1000
        assert budget <= mean <= budget * (1 + 1e-12)


def test_spend_does_not_drift_with_the_number_of_items():
    assert spend([10_000_000, 3], [0.1, 0.0]) == 10_000_000 * 0.1


def test_public_names():
    assert {"exact", "lp", "cbc", "highs", "cbc_reduced", "highs_reduced"} <= set(available_methods())
    assert {"cp_sat", "scip", "gurobi", "mosek"} <= set(METHODS.names())
    assert isinstance(frontier(TABLE, COSTS, 0), Frontier)


def test_importing_the_package_loads_numpy_only():
    code = "import frugalmct.select, sys; print(' '.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "numpy" in loaded
    heavy = {
        "scipy",
        "pandas",
        "sklearn",
        "pulp",
        "highspy",
        "matplotlib",
        "ortools",
        "pyscipopt",
        "gurobipy",
    }
    assert not heavy & set(loaded)


def test_solving_exactly_loads_no_solver_either():
    code = (
        "import sys; from frugalmct.select import *; import numpy as np\n"
        "p = Problem(np.linspace(0, 1, 12).reshape(4, 3), [1, 2, 3], 0, 2.0)\n"
        "solve(p); solve(p, 'lp'); dual_price(p); frontier(p.accuracy, p.costs, 0)\n"
        "print(' '.join(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"scipy", "pandas", "sklearn", "pulp", "highspy"} & set(loaded)
