"""The exact method against brute force, exact fractions and HiGHS; its parts; its limits."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from select_instances import COST_FAMILIES, NASTY_COSTS, brute_force, pareto_reference, random_problem

from frugalmct.select import Problem, exact, frontier, solve
from frugalmct.select.moves import bundle_sizes
from frugalmct.select.relaxation import relax, working_units

REASONABLE_NASTY = {name: NASTY_COSTS[name] for name in NASTY_COSTS if name != "subnormal to huge"}


def check(problem: Problem, optimum: float, tolerance: float = 1e-12) -> None:
    solution = solve(problem)
    assert solution.proven and solution.status == "optimal"
    assert solution.accuracy == pytest.approx(optimum, rel=tolerance, abs=1e-300)
    assert solution.accuracy <= solution.bound <= solution.accuracy * (1 + 1e-12) + 1e-300
    assert problem.within_budget(solution.choices)
    assert solution.accuracy == problem.mean_accuracy(solution.choices)
    assert solution.cost == problem.mean_cost(solution.choices)


@pytest.mark.parametrize("number", range(150))
def test_brute_force(number):
    costs = (COST_FAMILIES, NASTY_COSTS)[number % 2]
    problem = random_problem(number, max_items=5, max_services=4, costs=costs)
    check(problem, brute_force(problem))


@pytest.mark.parametrize("number", range(150))
def test_exact_fractions_with_nasty_costs(number):
    """Mixed magnitudes, where general solvers drown the small prices in their tolerances."""
    problem = random_problem(number, max_items=16, max_services=4, costs=REASONABLE_NASTY)
    check(problem, pareto_reference(problem))


@pytest.mark.parametrize("budget", [0.5, 1.3, 2.2, 4.1, 5.9, 7.3])
def test_highs_on_what_fixing_leaves_of_five_thousand_items(budget):
    rng = np.random.default_rng(int(10 * budget))
    table = np.clip(rng.normal([0.6, 0.65, 0.7, 0.75], 0.1, (5000, 4)) + rng.normal(0, 0.15, (5000, 1)), 0, 1)
    problem = Problem(table, [0.01, 6.0, 10.0, 15.0], 0, budget)
    ours, theirs = solve(problem), solve(problem, "highs_reduced", time_limit=60)
    assert ours.proven and theirs.proven
    assert ours.accuracy == pytest.approx(theirs.accuracy, abs=1e-9)


@pytest.mark.slow
def test_highs_on_the_whole_model_of_five_thousand_items():
    rng = np.random.default_rng(7)
    table = np.round(np.clip(rng.normal([0.6, 0.65, 0.7, 0.75], 0.15, (5000, 4)), 0, 1), 3)
    problem = Problem(table, [0.01, 6.0, 10.0, 15.0], 0, 3.0)
    ours, theirs = solve(problem), solve(problem, "highs", time_limit=120)
    assert ours.proven
    assert ours.accuracy >= theirs.accuracy - 1e-9
    assert theirs.bound >= ours.accuracy - 1e-9
    assert theirs.proven and ours.accuracy == pytest.approx(theirs.accuracy, abs=1e-9)


@pytest.mark.parametrize("base", range(4))
@pytest.mark.parametrize("kind", ["continuous", "percent", "alike", "irrational", "mixed magnitudes"])
def test_every_base_and_budget_is_proven_at_scale(kind, base):
    rng = np.random.default_rng(base)
    table = np.clip(
        rng.normal([0.6, 0.65, 0.7, 0.75], 0.1, (20_000, 4)) + rng.normal(0, 0.15, (20_000, 1)), 0, 1
    )
    costs = np.array([0.01, 6.0, 10.0, 15.0])
    if kind == "percent":
        table = np.round(table, 2)
    elif kind == "alike":
        table[:] = [0.5, 0.6, 0.65, 0.66]
    elif kind == "irrational":
        costs = np.array([0.013, 6.2831853071, 10.0498756211, 15.1234567891])
    elif kind == "mixed magnitudes":
        costs = np.array([3.75e-6, 0.01, 6.0, 15.0])
    whole = frontier(table, costs, base)
    for share in (0.02, 0.2, 0.5, 0.8, 0.999):
        budget = costs[base] + share * (whole.budgets[-1] - costs[base])
        problem = Problem(table, costs, base, budget)
        solution = solve(problem, time_limit=60)
        assert solution.proven
        assert problem.within_budget(solution.choices)
        lp = whole.accuracy(budget)
        assert lp - 1 / problem.items <= solution.accuracy <= lp + 1e-12
        assert solution.accuracy >= solve(problem, "lp").accuracy - 1e-12


@pytest.mark.parametrize("number", range(150))
def test_an_optimum_stays_one_when_its_cost_becomes_the_budget(number):
    """With real-valued costs the selection then uses all money, to the last bit."""
    families = {"real": COST_FAMILIES["real"], "irrational": COST_FAMILIES["irrational"]} | REASONABLE_NASTY
    problem = random_problem(number, costs=families)
    best = solve(problem)
    again = solve(Problem(problem.accuracy, problem.costs, problem.base, best.cost))
    assert again.proven
    assert again.accuracy == pytest.approx(best.accuracy, rel=1e-12)


def test_easy_corners():
    table = np.array([[0.3, 0.9], [0.4, 0.8]])
    check(Problem(table[:, :1], [5.0], 0, 5.0), 0.35)
    check(Problem(table, [1.0, 0.0], 0, 1.0), 0.85)  # a free service at the base's price
    check(Problem(table, [0.0, 0.0], 0, 0.0), 0.85)  # everything is free
    check(Problem(table, [1.0, 1.0], 0, 1.0), 0.35)  # budget = base price
    check(Problem(table, [1.0, 1.0], 0, 99.0), 0.85)  # money to burn
    check(Problem(table, [1.0, 2.0], 0, 2.0), 0.65)  # one call, to the item that gains most
    check(Problem(table, [9.0, 1.0], 0, 9.5), 0.65)  # the base costs most
    check(Problem(np.zeros((3, 2)), [1.0, 2.0], 0, 1.5), 0.0)
    check(Problem([[0.5, 0.9]], [0.0, 1e-300], 0, 1e-300), 0.9)
    check(Problem([[0.5, 0.9]], [0.0, 3.75e-6], 0, 3.7e-6), 0.5)


def test_services_of_equal_cost_give_each_item_its_better_one():
    table = np.array([[0.1, 0.9, 0.5], [0.1, 0.5, 0.9], [0.1, 0.2, 0.2]])
    solution = solve(Problem(table, [1.0, 2.0, 2.0], 0, 1 + 4 / 3))
    assert solution.choices.tolist() == [1, 2, 0]


def test_a_service_above_the_whole_budget_is_left_out():
    table = np.array([[0.1, 0.3, 1.0], [0.1, 0.2, 1.0]])
    check(Problem(table, [0.0, 1.0, 50.0], 0, 0.5), 0.2)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(COST_FAMILIES | NASTY_COSTS)))
def test_never_over_budget_nor_below_its_rivals(number, family):
    problem = random_problem(number, costs={family: (COST_FAMILIES | NASTY_COSTS)[family]})
    best = solve(problem)
    rounded = solve(problem, "lp")
    for solution in (best, rounded):
        assert problem.within_budget(solution.choices)
        assert solution.cost <= problem.budget * (1 + 1e-12)
        assert solution.bound >= best.accuracy * (1 - 1e-15)
    assert best.proven
    assert best.accuracy >= rounded.accuracy - 1e-15
    assert rounded.accuracy >= best.accuracy - 1 / problem.items - 1e-12
    if rounded.proven:
        assert rounded.accuracy == pytest.approx(best.accuracy, rel=1e-12)


def test_lp_sends_the_split_item_to_the_base():
    """The relaxed optimum halves the one item between the second and the third service."""
    solution = solve(Problem([[0.0, 0.6, 0.9]], [0.0, 1.0, 2.0], 0, 1.5), "lp")
    assert solution.choices.tolist() == [0]
    assert (solution.status, solution.proven) == ("rounded", False)
    assert solution.bound == pytest.approx(0.75)


def test_lp_is_proven_where_nothing_is_split():
    table = [[0.0, 0.6], [0.0, 0.4], [0.0, 0.2]]
    solution = solve(Problem(table, [0.0, 2.0], 0, 4 / 3), "lp")
    assert solution.choices.tolist() == [1, 1, 0]
    assert (solution.status, solution.proven) == ("optimal", True)
    tied = solve(Problem(np.tile([0.0, 0.5], (10, 1)), [0.0, 1.0], 0, 0.3), "lp")
    assert (tied.choices.sum(), tied.proven) == (3, True)
    split = solve(Problem(np.tile([0.0, 0.5], (10, 1)), [0.0, 1.0], 0, 0.35), "lp")
    assert (split.choices.sum(), split.proven) == (3, False)
    assert split.bound == pytest.approx(0.175)


def hard_problem(items: int = 60, services: int = 6, noise: float = 0.0) -> Problem:
    """Accuracy proportional to real-valued cost: as hard as summing irrational numbers to a target."""
    rng = np.random.default_rng(11)
    costs = np.append(0.0, np.sort(1 + 9 * rng.random(services - 1)))
    table = 0.9 * costs / costs.max() + noise * rng.random((items, services))
    return Problem(table, costs, 0, 0.37 * costs.max())


def test_a_time_limit_gives_the_best_so_far_and_an_honest_bound():
    problem = hard_problem()
    quick = solve(problem, time_limit=0.4)
    assert not quick.proven
    assert quick.status == "time_limit"
    assert quick.seconds < 5
    assert problem.within_budget(quick.choices)
    assert (
        quick.accuracy
        < quick.bound
        <= frontier(problem.accuracy, problem.costs, 0).accuracy(problem.budget) + 1e-12
    )
    assert quick.bound - quick.accuracy < 1e-6


def test_the_bound_of_a_stopped_run_holds():
    problem = hard_problem(items=300, noise=1e-3)
    proven = solve(problem, time_limit=120)
    assert proven.proven
    for limit in (1e-6, 0.02, 0.05):
        stopped = solve(problem, time_limit=limit)
        assert stopped.bound >= proven.accuracy * (1 - 1e-15)
        assert stopped.accuracy <= proven.accuracy * (1 + 1e-12)
        assert stopped.proven == (stopped.status == "optimal")


def test_a_cap_on_states_is_reported_with_a_valid_bound(monkeypatch):
    problem = hard_problem(items=300, noise=1e-3)
    best = solve(problem)
    monkeypatch.setattr(exact, "PROOF_STATES", 20)
    monkeypatch.setattr(exact, "TRIAL_STATES", 5)
    monkeypatch.setattr(exact, "MORE_STATES", 1)
    capped = solve(problem)
    assert not capped.proven and capped.status == "state_limit"
    assert capped.accuracy <= best.accuracy <= capped.bound
    monkeypatch.setattr(exact, "WORK_LIMIT", 10)
    assert solve(problem).status == "state_limit"


@pytest.mark.parametrize("ways", [2, 3, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 8, 9, 10, 13, 17, 24])
def test_every_split_of_alike_items_is_a_split_of_bundles(count, ways):
    sizes = bundle_sizes(count, ways)
    assert sum(sizes) == count
    reachable = {tuple([0] * ways)}
    for size in sizes:
        reachable = {
            tuple(n + size * (i == way) for i, n in enumerate(split))
            for split in reachable
            for way in range(ways)
        }
    assert reachable == {split for split in product(range(count + 1), repeat=ways) if sum(split) == count}


def test_bundles_of_many_items_are_few():
    sizes = bundle_sizes(10_000_000, 4)
    assert sum(sizes) == 10_000_000
    assert len(sizes) < 130
    assert min(Counter(sizes).values()) >= 4


def test_common_units_are_found_and_cut_unusable_money():
    units = working_units(np.array([0.0, 6.0, 10.0, 15.0]), 100.9, 50)
    assert units.whole and units.costs.tolist() == [0, 6, 10, 15] and units.capacity == 100
    units = working_units(np.array([0.0, 0.01, 0.05]), 0.189, 50)
    assert units.whole and units.costs.tolist() == [0, 1, 5] and units.capacity == 18
    units = working_units(np.array([0.0, 3.75e-6, 7.5e-6]), 1e-5, 50)
    assert units.whole and units.costs.tolist() == [0, 1, 2] and units.capacity == 2
    units = working_units(np.array([0.0, 4.0, 10.0]), 15.0, 50)
    assert units.costs.tolist() == [0, 2, 5] and units.capacity == 7
    assert not working_units(np.array([0.0, np.sqrt(2), np.sqrt(3)]), 10.0, 50).whole
    assert working_units(np.array([0.0, np.pi]), 10.0, 50).capacity == 3


def test_two_tiers_need_no_search():
    """With one price the rounded-down capacity makes the relaxed optimum whole, whatever the budget."""
    rng = np.random.default_rng(0)
    problem = Problem(rng.random((1000, 2)), [0.3, np.pi], 0, 0.3 + 1.2345)
    assert relax(problem).gap == pytest.approx(0, abs=1e-9)


def test_choices_are_the_same_every_time():
    problem = random_problem(5)
    first, second = solve(problem), solve(problem)
    assert first.choices.tolist() == second.choices.tolist()
    assert first.choices.dtype == np.int64
