"""Studies where every call has its own cost, each against something counted apart from it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from per_call_markets import FAST, prompts, voters
from scipy.optimize import Bounds, LinearConstraint, milp

from frugalmct.market import Extras
from frugalmct.paper.exhibits.predictor_quality import call_rows
from frugalmct.paper.names import OFFLINE, PER_CALL
from frugalmct.paper.stages.call_estimates import CallEstimates, RepetitionCalls
from frugalmct.paper.stages.per_call import fit_per_call, settings_of, sweep_per_call
from frugalmct.paper.studies import draws
from frugalmct.paper.studies.calls import robustness, solver_agreement, solver_runtime, training_size
from frugalmct.paper.studies.calls.case import Case
from frugalmct.splits import split
from frugalmct.strategy import Strategy

SEED = 4
BUDGETS = [0.6, 1.0, 1.6]
SETTINGS = {"seed": SEED, "solver_study": {"items": [15, 60], "time_limit": 30.0}, "time_limit": 30}


def made(market, base) -> Case:
    parts = split(len(market), seed=SEED)
    learning = settings_of(market.name, 0, SEED) | {"options": FAST}
    found = fit_per_call(market.subset(parts.whole_train), BUDGETS, base, learning)
    return Case(
        market.name, 0, market, parts, RepetitionCalls.of(found, market.subset(parts.test)), settings=SETTINGS
    )


@pytest.fixture(scope="module")
def asked_nobody() -> Case:
    return made(prompts(120, 5), "none")


@pytest.fixture(scope="module")
def asked_two() -> Case:
    return made(voters(120, 5), ["one", "two"])


@pytest.fixture(scope="module")
def priced() -> Case:
    """One price for all calls of a service."""
    market = prompts(120, 5)
    return made(replace(market, extras=Extras(text=market.extras.text)), "none")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(robustness, "SIZES", (30, 60))
    monkeypatch.setattr(draws, "DRAWS", 4)


@pytest.mark.parametrize("which", ["asked_nobody", "asked_two", "priced"])
def test_the_file_holds_what_the_library_estimates(which, request, tmp_path):
    case = request.getfixturevalue(which)
    case.calls.save(tmp_path / "calls.npz")
    loaded = RepetitionCalls.load(tmp_path / "calls.npz")
    assert loaded.services == case.market.services and loaded.plans == case.calls.plans
    learning = settings_of(case.dataset, 0, SEED) | {"options": FAST}
    base = [case.market.services[k] for k in case.plan.first] or "none"
    strategy = Strategy.fit(case.train, BUDGETS, method="per_call", base=base, **learning)
    accuracy, costs = strategy.estimate(case.test, case.budget)
    own = loaded.by_first[case.plan.first].test
    assert np.array_equal(own.accuracy, accuracy) and np.array_equal(own.estimated, costs)
    assert np.array_equal(own.quality, case.test.service_accuracy())
    assert np.array_equal(own.costs, np.broadcast_to(case.test.costs, own.quality.shape))
    assert (own.caps is not None) == (which == "priced")
    reached = strategy.evaluate(case.test, case.budget)
    walked = own.walk(case.budget, loaded.by_first[case.plan.first].train.curve)
    assert np.array_equal(walked.choices, reached.choices) and walked.cost == reached.cost


def best_by_scipy(items: CallEstimates, costs: np.ndarray, budget: float) -> float:
    """The highest mean estimated quality within the budget, those asked first at no further cost."""
    count, services = items.accuracy.shape
    addon = costs.copy()
    addon[:, list(items.first)] = 0.0
    left = count * budget - costs[:, list(items.first)].sum()
    one_each = np.kron(np.eye(count), np.ones(services))
    found = milp(
        -items.accuracy.ravel(),
        integrality=np.ones(count * services),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(one_each, 1, 1), LinearConstraint(addon.reshape(1, -1), ub=left)],
    )
    return -found.fun / count


@pytest.mark.parametrize("which", ["asked_nobody", "asked_two"])
def test_solvers_find_the_optimum_at_the_expected_costs_of_calls(which, request):
    case = request.getfixturevalue(which)
    table = solver_runtime.run(case)
    assert set(table["items"]) == {15, 60} and set(table["dataset"]) == {case.dataset}
    for items, rows in table.groupby("items"):
        first = case.own.test.rows(np.arange(items))
        costs = first.estimated.copy()
        costs[:, list(first.first)] = first.costs[:, list(first.first)]
        proven = rows[rows["proven"].astype(bool)].set_index("solver")["accuracy"]
        assert {"exact", "cbc", "highs"} <= set(proven.index)
        assert proven.to_numpy() == pytest.approx(best_by_scipy(first, costs, case.budget), abs=1e-7)
        assert (rows["cost"] <= case.budget * (1 + 1e-9)).all()


def test_solvers_agree_at_every_budget(asked_nobody):
    table = solver_agreement.run(asked_nobody)
    assert sorted(table["budget"].unique()) == BUDGETS and table["proven"].all()
    assert table["difference"].abs().max() < 1e-9 and set(table["repetition"]) == {0}


def test_a_budget_below_what_the_test_items_cost_is_said(asked_two):
    calls = asked_two.calls
    low = replace(calls, plans=(replace(calls.plans[0], budget=0.01),))
    table = solver_agreement.run(replace(asked_two, calls=low))
    assert table["status"].str.contains("budget 0.01 is below").all() and table["accuracy"].isna().all()


def test_with_all_training_items_it_is_what_the_trade_off_has(asked_nobody, monkeypatch):
    monkeypatch.setattr("frugalmct.paper.studies.training_size.SIZES", 3)
    monkeypatch.setattr("frugalmct.paper.studies.training_size.SMALLEST", 20)
    table = training_size.run(asked_nobody)
    assert table["train_items"].is_monotonic_increasing and len(table) == 3
    assert table["train_items"].iloc[0] == 20 and table["train_items"].iloc[-1] == len(asked_nobody.train)
    learning = settings_of(asked_nobody.dataset, 0, SEED) | {"options": FAST}
    found = fit_per_call(asked_nobody.train, BUDGETS, "none", learning)
    rows = sweep_per_call(found, asked_nobody.test, 0)
    ours = rows[(rows["method"] == PER_CALL) & (rows["budget"] == asked_nobody.budget)]
    assert table["accuracy"].iloc[-1] == ours["accuracy"].iloc[0]
    assert table["cost"].iloc[-1] == ours["cost"].iloc[0]


# ---- robustness


@pytest.mark.parametrize("which", ["asked_nobody", "asked_two", "priced"])
def test_every_setting_keeps_its_budget_and_offline_is_the_best(which, request):
    case = request.getfixturevalue(which)
    table = robustness.run(case)
    parts = ["items", "order", "mix", "prices", *([] if which == "priced" else ["costs"])]
    assert list(table["part"].unique()) == parts
    settings = ["part", "setting", "items", "budget"]
    assert (table.groupby(settings)["method"].apply(set) == {PER_CALL, OFFLINE}).all()
    offline, online = (table[table["method"] == method] for method in (OFFLINE, PER_CALL))
    assert (offline["highest_cost"] <= offline["budget"] * (1 + 1e-9)).all()
    assert (offline["regret_high"] == 0).all()
    # The last call may exceed the budget, and what it gains may be more than offline has.
    last = 0.0 if which == "priced" else 2 * float(case.own.test.costs.max())
    most = online["budget"] + last / online["items"]
    assert (online["highest_cost"] <= most * (1 + 1e-9)).all()
    slack = 0.0 if which == "priced" else 1 / online["items"]
    assert (online["regret_low"] >= -slack - 1e-9).all()


@pytest.mark.parametrize("which", ["asked_nobody", "asked_two"])
def test_offline_is_the_optimum_at_true_costs(which, request):
    case = request.getfixturevalue(which)
    few = case.own.test.rows(np.arange(6))
    budget = 1.2 * robustness.least_cost(few)
    feasible = []
    for choice in product(range(few.accuracy.shape[1]), repeat=6):
        paid = few.costs[:, list(few.first)].sum()
        paid += sum(few.costs[n, k] for n, k in enumerate(choice) if k not in few.first)
        if paid <= 6 * budget:
            feasible.append(few.accuracy[np.arange(6), list(choice)].mean())
    assert robustness.best(few, budget).estimated == pytest.approx(max(feasible))


def test_all_prices_doubled_and_twice_the_money_change_nothing(asked_two):
    own, twice = asked_two.own, robustness.at_prices(asked_two.own, np.full(3, 2.0))
    once = robustness.online(own.test, 1.0, own.train.curve)
    again = robustness.online(twice.test, 2.0, twice.train.curve)
    assert (again.estimated, again.accuracy) == (once.estimated, once.accuracy)
    assert again.cost == pytest.approx(2 * once.cost)


def test_an_order_has_the_same_items_and_a_half_has_half_of_them(asked_nobody):
    test = asked_nobody.own.test
    hard, dear = robustness.hardest_first(test), robustness.expensive_first(test)
    assert sorted(hard) == sorted(dear) == list(range(len(test)))
    assert np.all(np.diff(test.accuracy[hard].mean(axis=1)) >= 0)
    assert np.all(np.diff(test.costs[dear].sum(axis=1)) <= 0)
    table = robustness.run(asked_nobody)
    halves = table[(table["part"] == "mix") & (table["setting"] != "all items")]
    assert set(halves["items"]) == {len(test) // 2}


def test_draws_that_no_selection_could_pay_for_are_left_out(asked_two):
    own, least = asked_two.own, robustness.least_cost(asked_two.own.test)
    rows = list(robustness._compared(asked_two, "items", "-", own.train, 0.9 * least, [own.test]))
    assert rows == []


# ---- predictor quality


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")  # of what does not vary
@pytest.mark.parametrize("which", ["asked_two", "priced"])
def test_quality_of_the_estimates_by_numpy(which, request):
    case = request.getfixturevalue(which)
    ours, dummy = call_rows((case.dataset, 0), case.calls)
    test, columns = case.own.test, range(len(case.market.services))
    pcc = [np.corrcoef(test.accuracy[:, k], test.quality[:, k])[0, 1] for k in columns]
    assert ours["pcc"] == pytest.approx(np.mean(np.nan_to_num(pcc)))
    rmse = [np.sqrt(((test.accuracy - test.quality) ** 2)[:, k].mean()) for k in columns]
    assert ours["rmse"] == pytest.approx(np.mean(rmse)) and ours["predictor"] == "extra_trees"
    assert (dummy["predictor"], dummy["pcc"]) == ("mean", 0.0)
    assert ours["base"] == ("one + two" if which == "asked_two" else "none")
    if which == "priced":
        assert "cost_pcc" not in ours
    else:
        costs = [np.corrcoef(test.estimated[:, k], test.costs[:, k])[0, 1] for k in columns]
        assert ours["cost_pcc"] == pytest.approx(np.mean(np.nan_to_num(costs)))
        assert dummy["cost_pcc"] == 0.0
