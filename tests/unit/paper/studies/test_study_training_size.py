from dataclasses import replace

import pytest
from helpers import BLOCKS

from frugalmct.paper.stages.baselines import sweep_baselines
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import RepetitionEstimates, learning_for
from frugalmct.paper.studies.case import Case
from frugalmct.paper.studies.training_size import COLUMNS, run, training_sizes
from frugalmct.sources import load_market
from frugalmct.splits import split
from frugalmct.strategy import Strategy

FAST = {"predictor": "random_forest", "options": {"trees": 5, "leaf": 10}, "silence": "reject", "seed": 4}


@pytest.mark.parametrize(("items", "first"), [(5770, 100), (101, 100), (100, 100), (40, 40), (2, 2)])
def test_sizes_rise_to_all_items(items, first):
    sizes = training_sizes(items)
    assert sizes[0] == first and sizes[-1] == items
    assert sizes == sorted(set(sizes)) and len(sizes) <= 8


def test_sizes_of_a_paper_dataset():
    assert training_sizes(5770) == [100, 178, 319, 569, 1015, 1811, 3233, 5770]


@pytest.fixture(scope="module")
def case():
    market = load_market("CONLL", BLOCKS["CONLL"], seed=8, scale=0.05)
    parts = split(len(market), seed=8)
    learning = learning_for("CONLL", 1, BLOCKS["CONLL"], FAST)
    combination = Combination.fit(market, parts, "spaCy", learning)
    estimates = RepetitionEstimates.fit(market, parts, combination, learning)
    plans = estimates.plans(parts, [3.0], 0.01)
    settings = {"budget": 3.0, "block": BLOCKS["CONLL"], "learning": FAST}
    return Case("CONLL", 1, market, parts, combination, estimates, plans, settings=settings)


def test_every_size_has_its_row_and_the_last_is_what_a_strategy_does(case):
    table = run(case)
    assert list(table.columns) == COLUMNS
    assert table["train_items"].tolist() == training_sizes(len(case.train))
    assert (table["cost"] <= 3.0 * (1 + 1e-12)).all() and set(table["repetition"]) == {1}
    strategy = Strategy.fit(case.train, [3.0], method="paper", base="spaCy", learning=case.learning)
    whole = strategy.evaluate(case.test, 3.0)
    assert table["accuracy"].iloc[-1] == pytest.approx(whole.accuracy)
    assert table["cost"].iloc[-1] == pytest.approx(whole.cost)


def test_frugalml_learns_from_the_same_items_and_from_all_as_the_run_does(case):
    table, limit = run(case), BLOCKS["CONLL"]["labels_per_item"]
    rows = sweep_baselines(
        case.train, case.test, [3.0], "accuracy", 1, case.learning.seed, labels_per_item=limit
    )
    whole = rows.loc[rows["method"] == "frugalml", "accuracy"].iloc[0]
    assert table["frugalml_accuracy"].iloc[-1] == pytest.approx(whole)
    assert table["frugalml_accuracy"].nunique() > 1, "fewer items tell less"


def test_the_same_again(case):
    assert run(case).equals(run(replace(case)))
