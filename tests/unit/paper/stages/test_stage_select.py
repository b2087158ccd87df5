import numpy as np
import pytest
from helpers import BLOCKS, small_market
from two_services import KEEP_ALL, two_services

from frugalmct.combine import Combiners
from frugalmct.errors import FrugalError
from frugalmct.estimates import Estimates
from frugalmct.model import Learning
from frugalmct.paper import names
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates
from frugalmct.paper.stages.plans import load_plans, save_plans
from frugalmct.paper.stages.select import COLUMNS, METHODS, ideal_accuracy, sweep, sweep_all, sweep_ideal
from frugalmct.plans import Plan
from frugalmct.select import Problem, solve
from frugalmct.sources import load_market
from frugalmct.splits import split
from frugalmct.strategy import Strategy

FAST = Learning(options={"trees": 15, "leaf": 10}, seed=4)
BUDGETS = [0.01, 1.51, 3.01, 30.0]


@pytest.fixture(scope="module")
def made():
    market = load_market("CONLL", BLOCKS["CONLL"], seed=8, scale=0.1)
    parts = split(len(market), seed=8)
    combination = Combination.fit(market, parts, "spaCy", FAST)
    estimates = RepetitionEstimates.fit(market, parts, combination, FAST)
    return market, parts, estimates, estimates.plans(parts, BUDGETS, 0.01)


@pytest.fixture(scope="module")
def rows(made):
    _, _, estimates, plans = made
    return sweep("CONLL", 3, estimates, plans, seed=1)


def test_a_row_for_every_method_and_budget(rows):
    assert len(rows) == len(BUDGETS) * len(METHODS)
    assert set(rows["repetition"]) == {3} and set(rows["dataset"]) == {"CONLL"}


def test_nothing_is_ever_over_budget(rows):
    assert np.all(rows["cost"] <= rows["budget"] * (1 + 1e-12))


def test_nobody_beats_the_oracle_and_all_begin_at_the_base(rows):
    by_budget = rows.pivot(index="budget", columns="method", values="accuracy")
    for method in METHODS:
        assert np.all(by_budget[method] <= by_budget["oracle"] + 1e-12)
    assert by_budget.loc[0.01].nunique() == 1


def test_offline_is_proven_optimal_on_its_estimates(made, rows):
    _, _, estimates, plans = made
    assert set(rows.loc[rows["method"] == "frugalmct_offline", "status"]) == {"optimal"}
    for plan in plans:
        estimated = estimates.by_base[plan.base].test.estimated
        problem = Problem(estimated, estimates.prices, plan.base, plan.budget)
        assert solve(problem, "exact").accuracy == pytest.approx(solve(problem, "highs").accuracy, abs=1e-9)


def test_online_rows_are_what_a_strategy_does(made, rows):
    market, parts, _, _ = made
    strategy = Strategy.fit(
        market.subset(parts.whole_train), BUDGETS, method="paper", base="spaCy", learning=FAST
    )
    online = rows[rows["method"] == "frugalmct_online"].set_index("budget")
    for budget in BUDGETS:
        evaluation = strategy.evaluate(market.subset(parts.test), budget)
        assert online.loc[budget, "accuracy"] == pytest.approx(evaluation.accuracy)
        assert online.loc[budget, "cost"] == pytest.approx(evaluation.cost)


def test_the_dummy_spends_its_budget_blindly():
    """Two services, equal estimates for all: the add-on is called for as many items as it can be paid."""
    truth = np.tile([0.2, 0.8], (10, 1))
    same = Estimates(0, np.array([1.0, 4.0]), truth, truth)
    decision = METHODS["dap"](BaseEstimates(same, same), Plan(3.0, 0, 0.01), 0)
    assert np.bincount(decision.choices).tolist() == [5, 5]


def test_quality_by_hand():
    truth = np.array([[0.0, 1.0], [1.0, 0.0]])
    estimates = np.array([[0.5, 1.0], [0.5, 0.5]])
    found = Estimates(0, np.ones(2), estimates, truth).quality()
    assert found["rmse"] == pytest.approx((0.5 + np.sqrt(0.125)) / 2)
    assert found["pcc"] == pytest.approx((0 + 1) / 2)


def test_files_bring_everything_back(made, tmp_path):
    market, parts, estimates, plans = made
    combination = Combination.fit(market, parts, "spaCy", FAST)
    combination.save(tmp_path / "combination.json")
    estimates.save(tmp_path / "estimates.npz")
    save_plans(plans, tmp_path / "plans.json")
    again = Combination.load(tmp_path / "combination.json").combiners
    assert {base: found.to_dict() for base, found in again.items()} == {
        base: found.to_dict() for base, found in combination.combiners.items()
    }
    loaded = RepetitionEstimates.load(tmp_path / "estimates.npz", market.price_list)
    loaded_plans = load_plans(tmp_path / "plans.json")
    assert sweep("CONLL", 3, loaded, loaded_plans, 1).equals(sweep("CONLL", 3, estimates, plans, 1))


def test_estimates_are_read_at_the_prices_of_the_run(made, tmp_path):
    market, _, estimates, _ = made
    estimates.save(tmp_path / "estimates.npz")
    prices = {name: 2 * price for name, price in market.price_list.items()}
    loaded = RepetitionEstimates.load(tmp_path / "estimates.npz", prices)
    for base, own in estimates.by_base.items():
        for part in ("train", "test"):
            again, before = getattr(loaded.by_base[base], part), getattr(own, part)
            assert again.prices.tolist() == (2 * before.prices).tolist()
            assert again.estimated.tolist() == before.estimated.tolist()
    with pytest.raises(FrugalError, match="which have no price"):
        RepetitionEstimates.load(tmp_path / "estimates.npz", {"spaCy": 1.0})


def test_names_are_those_of_the_sweep(rows):
    assert rows.columns.tolist() == COLUMNS
    assert COLUMNS[:7] == ["dataset", "method", "budget", "repetition", "accuracy", "cost", "status"]
    known = {names.ONLINE, names.OFFLINE, names.ORACLE, names.DAP, names.RANDOM_MIX}
    assert known == set(METHODS) == set(rows["method"])


def test_the_random_mix_is_drawn_anew_for_every_seed(made):
    """Repetitions and datasets must not share their luck."""
    _, _, estimates, plans = made
    draws = [METHODS[names.RANDOM_MIX](estimates.by_base[0], plans[1], seed).choices for seed in (1, 1, 2)]
    assert np.array_equal(draws[0], draws[1]) and not np.array_equal(draws[0], draws[2])


def test_the_ideal_combiner_takes_the_best_of_three():
    market = two_services()
    # Both labels kept: half right on both items; the ideal takes the one answer that is right.
    assert market.choice_accuracy(KEEP_ALL, "accuracy").tolist() == [[1.0, 0.5], [0.0, 0.5]]
    assert ideal_accuracy(market, KEEP_ALL, "accuracy").tolist() == [[1.0, 1.0], [0.0, 1.0]]


def test_the_ideal_combiner_is_swept_over_the_budgets():
    plans = [Plan(1.0, 0, 0.01), Plan(3.0, 0, 0.01)]
    rows = sweep_ideal(two_services(), Combination({0: KEEP_ALL}), plans, "accuracy", 7)
    assert rows.columns.tolist() == COLUMNS
    assert set(rows["repetition"]) == {7} and set(rows["dataset"]) == {"two"}
    ideal = rows[rows["method"] == "ideal_combiner"].set_index("budget")
    # With 3 a call of 4 beside the base's 1 is paid for one of the two items: the one that needs it.
    assert ideal["accuracy"].tolist() == [0.5, 1.0] and ideal["cost"].tolist() == [1.0, 3.0]


def test_all_that_goes_by_plans_is_in_one_table(made, rows):
    market, parts, estimates, plans = made
    test, combination = market.subset(parts.test), Combination.fit(market, parts, "spaCy", FAST)
    table = sweep_all(test, combination, estimates, plans, "accuracy", 3, 1)
    assert table.columns.tolist() == COLUMNS
    assert table.head(len(rows)).equals(rows), "the methods first, as they are alone"
    limits = table.tail(len(plans))
    assert set(limits["method"]) == {names.IDEAL} and limits["budget"].tolist() == BUDGETS
    oracle = rows[rows["method"] == names.ORACLE]["accuracy"].to_numpy()
    assert np.all(limits["accuracy"].to_numpy() >= oracle - 1e-12), "a better combiner, the same truth"


def test_names_beyond_ascii_survive():
    market = small_market()
    combiners = Combiners(1, np.array([0.5, 1.0]), np.array([0.0, 0.0]))
    assert ideal_accuracy(market, combiners, "accuracy").shape == (4, 2)
