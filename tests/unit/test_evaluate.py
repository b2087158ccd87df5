import numpy as np
import pytest
import yaml
from helpers import ROOT

from frugalmct.accuracy_model import Learning
from frugalmct.evaluate import METHODS, predictor_quality, sweep
from frugalmct.market import split
from frugalmct.predictions import BasePredictions, Combination, Predictions
from frugalmct.select import Problem, solve
from frugalmct.sources import load_market
from frugalmct.strategy import Plan, Strategy, load_plans, save_plans

BLOCKS = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["datasets"]
FAST = Learning(options={"trees": 15, "leaf": 10}, seed=4)
BUDGETS = [0.01, 1.51, 3.01, 30.0]


@pytest.fixture(scope="module")
def made():
    market = load_market("CONLL", BLOCKS["CONLL"], seed=8, scale=0.1)
    parts = split(len(market), seed=8)
    combination = Combination.fit(market, parts, "spaCy", FAST)
    predictions = Predictions.make(market, parts, combination, FAST)
    return market, parts, predictions, predictions.plans(parts, BUDGETS, 0.01)


@pytest.fixture(scope="module")
def rows(made):
    _, _, predictions, plans = made
    return sweep("CONLL", 3, predictions, plans)


def test_a_row_for_every_method_and_budget(rows):
    assert len(rows) == len(BUDGETS) * len(METHODS)
    assert set(rows["seed"]) == {3} and set(rows["dataset"]) == {"CONLL"}


def test_nothing_is_ever_over_budget(rows):
    assert np.all(rows["cost"] <= rows["budget"] * (1 + 1e-12))


def test_nobody_beats_the_oracle_and_all_begin_at_the_base(rows):
    by_budget = rows.pivot(index="budget", columns="method", values="accuracy")
    for method in METHODS:
        assert np.all(by_budget[method] <= by_budget["oracle"] + 1e-12)
    assert by_budget.loc[0.01].nunique() == 1


def test_offline_is_proven_optimal_on_its_estimates(made, rows):
    _, _, predictions, plans = made
    assert set(rows.loc[rows["method"] == "frugalmct_offline", "status"]) == {"optimal"}
    for plan in plans:
        problem = Problem(
            predictions.by_base[plan.base].test_estimates, predictions.prices, plan.base, plan.budget
        )
        assert solve(problem, "exact").accuracy == pytest.approx(solve(problem, "highs").accuracy, abs=1e-9)


def test_online_rows_are_what_a_strategy_does(made, rows):
    market, parts, _, _ = made
    strategy = Strategy.fit(market.subset(parts.whole_train), BUDGETS, base="spaCy", learning=FAST)
    online = rows[rows["method"] == "frugalmct_online"].set_index("budget")
    for budget in BUDGETS:
        evaluation = strategy.evaluate(market.subset(parts.test), budget)
        assert online.loc[budget, "accuracy"] == pytest.approx(evaluation.accuracy)
        assert online.loc[budget, "cost"] == pytest.approx(evaluation.cost)


def test_the_dummy_spends_its_budget_blindly():
    """Two services, equal estimates for all: the add-on is called for as many items as it can be paid."""
    truth = np.tile([0.2, 0.8], (10, 1))
    predicted = BasePredictions(0, np.array([1.0, 4.0]), truth, truth, truth, truth)
    decision = METHODS["dap"](predicted, Plan(3.0, 0, 0.01), 0)
    assert np.bincount(decision.choices).tolist() == [5, 5]


def test_quality_by_hand():
    truth = np.array([[0.0, 1.0], [1.0, 0.0]])
    estimates = np.array([[0.5, 1.0], [0.5, 0.5]])
    found = predictor_quality(BasePredictions(0, np.ones(2), truth, truth, estimates, truth))
    assert found["rmse"] == pytest.approx((0.5 + np.sqrt(0.125)) / 2)
    assert found["pcc"] == pytest.approx((0 + 1) / 2)


def test_files_bring_everything_back(made, tmp_path):
    market, parts, predictions, plans = made
    combination = Combination.fit(market, parts, "spaCy", FAST)
    combination.save(tmp_path / "combination.json")
    predictions.save(tmp_path / "predictions.npz")
    save_plans(plans, tmp_path / "plans.json")
    again = Combination.load(tmp_path / "combination.json").combiners
    assert {base: found.to_dict() for base, found in again.items()} == {
        base: found.to_dict() for base, found in combination.combiners.items()
    }
    loaded = Predictions.load(tmp_path / "predictions.npz")
    loaded_plans = load_plans(tmp_path / "plans.json")
    assert sweep("CONLL", 3, loaded, loaded_plans).equals(sweep("CONLL", 3, predictions, plans))
