import pytest
import yaml
from helpers import ROOT

from frugalmct.accuracy_model import Learning
from frugalmct.market import split
from frugalmct.predictions import Combination, Predictions
from frugalmct.sources import load_market
from frugalmct.strategy import Strategy
from frugalmct.studies.case import Case
from frugalmct.studies.training_size import COLUMNS, training_size, training_sizes

BLOCKS = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["datasets"]
FAST = Learning(options={"trees": 5, "leaf": 10}, seed=4)


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
    combination = Combination.fit(market, parts, "spaCy", FAST)
    predictions = Predictions.make(market, parts, combination, FAST)
    return Case(market, parts, combination, predictions, predictions.plans(parts, [3.0], 0.01), 3.0)


def test_every_size_has_its_row_and_the_last_is_what_a_strategy_does(case):
    table = training_size(case, 1, FAST)
    assert list(table.columns) == COLUMNS
    assert table["train_items"].tolist() == training_sizes(len(case.train))
    assert (table["cost"] <= 3.0 * (1 + 1e-12)).all() and set(table["seed"]) == {1}
    whole = Strategy.fit(case.train, [3.0], base="spaCy", learning=FAST).evaluate(case.test, 3.0)
    assert table["accuracy"].iloc[-1] == pytest.approx(whole.accuracy)
    assert table["cost"].iloc[-1] == pytest.approx(whole.cost)


def test_the_same_again(case):
    assert training_size(case, 0, FAST).equals(training_size(case, 0, FAST))
