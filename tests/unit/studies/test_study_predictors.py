import numpy as np
import pandas as pd
import pytest
import yaml
from helpers import ROOT

from frugalmct.accuracy_model import Learning
from frugalmct.market import split
from frugalmct.metrics import rmse
from frugalmct.predictions import Combination, Predictions
from frugalmct.sources import load_market
from frugalmct.strategy import Plan, Strategy
from frugalmct.studies.predictors import COLUMNS, TABLE_COLUMNS, compare_predictors, predictors_table

BLOCKS = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["datasets"]
BUDGETS = [2.0, 6.0]
FOREST = Learning("random_forest", {"trees": 5, "leaf": 10}, seed=4)
MEAN = Learning("mean", seed=4)
ABSENT = Learning("auto_sklearn", {"seconds": 60}, seed=4)


@pytest.fixture(scope="module")
def learnt():
    market = load_market("PASCAL", BLOCKS["PASCAL"], seed=8, scale=0.05)
    parts = split(len(market), seed=8)
    plans = [Plan(budget, 0, 0.01) for budget in BUDGETS]
    return market, parts, Combination.fit(market, parts, "SSD", FOREST), plans


@pytest.fixture(scope="module")
def table(learnt):
    lacking = {"auto_sklearn": "Predictor 'auto_sklearn' needs this; run that."}
    return compare_predictors(*learnt, BUDGETS, [FOREST, MEAN, ABSENT], lacking, repetition=1)


def test_a_row_is_what_a_strategy_with_that_predictor_reaches(learnt, table):
    market, parts, combination, _ = learnt
    assert list(table.columns) == COLUMNS
    train, test = market.subset(parts.whole_train), market.subset(parts.test)
    for learning in (FOREST, MEAN):
        strategy = Strategy.fit(train, BUDGETS, base="SSD", learning=learning)
        rows = table[table["predictor"] == learning.predictor].set_index("budget")
        for budget in BUDGETS:
            reached = strategy.evaluate(test, budget)
            assert rows.loc[budget, "accuracy"] == pytest.approx(reached.accuracy)
            assert rows.loc[budget, "cost"] == pytest.approx(reached.cost) and reached.cost <= budget
    predicted = Predictions.make(market, parts, combination, FOREST).by_base[0]
    errors = [rmse(*pair) for pair in zip(predicted.test_estimates.T, predicted.test_accuracy.T, strict=True)]
    assert table["rmse"].iloc[0] == pytest.approx(np.mean(errors))
    assert (table["training_seconds"].dropna() > 0).all()


def test_what_is_not_installed_has_a_row_that_says_so(table):
    row = table[table["predictor"] == "auto_sklearn"].iloc[0]
    assert row["status"] == "not installed: Predictor 'auto_sklearn' needs this; run that."
    assert row[["budget", "accuracy", "rmse", "training_seconds"]].isna().all()
    assert (table["predictor"] == "auto_sklearn").sum() == 1


def repetition(seed: int, forest: float, other: float) -> pd.DataFrame:
    shared = {"dataset": "D", "seed": seed, "base": "b", "status": "ok", "data": "recorded", "budget": 1.0}
    measured = {"cost": 1.0, "rmse": 0.2, "pcc": 0.5, "training_seconds": 1.0}
    rows = [
        shared | measured | {"predictor": name, "accuracy": a} for name, a in (("f", forest), ("o", other))
    ]
    rows.append(shared | {"predictor": "gone", "status": "not installed: x", "budget": np.nan})
    return pd.DataFrame(rows, columns=COLUMNS)


def test_gains_are_paired_and_have_intervals():
    found = predictors_table([repetition(0, 0.5, 0.52), repetition(1, 0.7, 0.71), repetition(2, 0.6, 0.63)])
    assert list(found.columns) == TABLE_COLUMNS
    assert found["predictor"].tolist() == ["f", "o", "gone"]
    other = found.iloc[1]
    assert other["repetitions"] == 3 and other["gain"] == pytest.approx(0.02)
    half = 4.302652729911275 * 0.01 / np.sqrt(3)  # Student's t at 97.5 %, two degrees of freedom
    assert other["gain_high"] - other["gain"] == pytest.approx(half, rel=1e-6)
    assert (found.iloc[0][["gain", "gain_low", "gain_high"]] == 0).all()
    assert found.iloc[2]["status"] == "not installed: x" and np.isnan(found.iloc[2]["accuracy"])
