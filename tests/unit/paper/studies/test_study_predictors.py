import numpy as np
import pytest
from helpers import BLOCKS

from frugalmct.metrics import rmse
from frugalmct.model import Learning
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import RepetitionEstimates, learning_for
from frugalmct.paper.studies.case import Case
from frugalmct.paper.studies.predictors import COLUMNS, run
from frugalmct.plans import Plan
from frugalmct.sources import load_market
from frugalmct.splits import split
from frugalmct.strategy import Strategy

BUDGETS = [2.0, 6.0]
SHARED = {"silence": "reject", "seed": 4}
FOREST = {"predictor": "random_forest", "options": {"trees": 5, "leaf": 10}} | SHARED
MEAN = {"predictor": "mean", "options": {}} | SHARED
ABSENT = {"predictor": "auto_sklearn", "options": {"seconds": 60}} | SHARED


def learning(settings: dict) -> Learning:
    return learning_for("PASCAL", 1, BLOCKS["PASCAL"], settings)


@pytest.fixture(scope="module")
def case():
    market = load_market("PASCAL", BLOCKS["PASCAL"], seed=8, scale=0.05)
    parts = split(len(market), seed=8)
    lacking = {"auto_sklearn": "Predictor 'auto_sklearn' needs this; run that."}
    settings = {"block": BLOCKS["PASCAL"], "budgets": BUDGETS, "lacking": lacking}
    return Case(
        "PASCAL",
        1,
        market,
        parts,
        Combination.fit(market, parts, "SSD", learning(FOREST)),
        plans=[Plan(budget, 0, 0.01) for budget in BUDGETS],
        settings=settings | {"learnings": [FOREST, MEAN, ABSENT]},
    )


@pytest.fixture(scope="module")
def table(case):
    return run(case)


def test_a_row_is_what_a_strategy_with_that_predictor_reaches(case, table):
    assert list(table.columns) == COLUMNS
    for settings in (FOREST, MEAN):
        strategy = Strategy.fit(case.train, BUDGETS, method="paper", base="SSD", learning=learning(settings))
        rows = table[table["predictor"] == settings["predictor"]].set_index("budget")
        for budget in BUDGETS:
            reached = strategy.evaluate(case.test, budget)
            assert rows.loc[budget, "accuracy"] == pytest.approx(reached.accuracy)
            assert rows.loc[budget, "cost"] == pytest.approx(reached.cost) and reached.cost <= budget
    fitted = RepetitionEstimates.fit(case.market, case.split, case.combination, learning(FOREST))
    test = fitted.by_base[0].test
    errors = [rmse(*pair) for pair in zip(test.estimated.T, test.actual.T, strict=True)]
    assert table["rmse"].iloc[0] == pytest.approx(np.mean(errors))
    assert (table["training_seconds"].dropna() > 0).all()
    assert set(table["repetition"]) == {1} and set(table["base"]) == {"SSD"}


def test_what_is_not_installed_has_a_row_that_says_so(table):
    row = table[table["predictor"] == "auto_sklearn"].iloc[0]
    assert row["status"] == "not installed: Predictor 'auto_sklearn' needs this; run that."
    assert row[["budget", "accuracy", "rmse", "training_seconds"]].isna().all()
    assert (table["predictor"] == "auto_sklearn").sum() == 1
