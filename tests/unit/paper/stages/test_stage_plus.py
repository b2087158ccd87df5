"""What the workflow says of FrugalMCT plus."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers import BLOCKS, random_market

from frugalmct.metrics import set_metric
from frugalmct.model import Learning
from frugalmct.paper.names import PLUS
from frugalmct.paper.stages.plus import plus_learning, sweep_plus
from frugalmct.paper.stages.select import COLUMNS
from frugalmct.strategy import Strategy

BUDGETS = [1.0, 3.5, 6.0]
FAST = Learning(options={"trees": 5, "leaf": 10}, seed=4)


@pytest.fixture(scope="module")
def markets():
    test = random_market(2, items=120)
    return random_market(1, items=160), replace(test, items=np.char.add("new ", test.items))


def test_one_row_per_budget_with_what_the_answers_are_worth(markets):
    train, test = markets
    rows = sweep_plus(train, test, BUDGETS, "auto", FAST, 3)
    assert rows.columns.tolist() == COLUMNS
    assert rows["budget"].tolist() == BUDGETS and set(rows["method"]) == {PLUS}
    assert set(rows["repetition"]) == {3} and set(rows["status"]) == {"ok"}
    strategy = Strategy.fit(train, BUDGETS, method="plus", learning=FAST)
    for row in rows.itertuples():
        asked = strategy.decide(test, row.budget)
        # Money and accuracy counted anew from who was asked and what they said together.
        assert row.cost == pytest.approx((asked @ test.prices).mean()) and row.cost <= row.budget
        assert row.accuracy == pytest.approx(set_metric(test.truth, strategy.answer(test, asked)).mean())
        assert asked[:, train.services.index(row.base)].all()


def test_where_calls_have_their_own_costs_plus_pays_their_means(markets):
    alike = sweep_plus(*markets, BUDGETS, "auto", FAST, 3)
    own = []
    for market in markets:
        costs = np.tile(market.prices, (len(market), 1))
        costs[::2] *= 0.5
        costs[1::2] *= 1.5  # the means are the prices
        own.append(replace(market, extras=replace(market.extras, costs=costs)))
    pd.testing.assert_frame_equal(sweep_plus(*own, BUDGETS, "auto", FAST, 3), alike)


def test_a_market_of_another_kind_is_left_out_and_says_why():
    other = SimpleNamespace(name="chat", kind="qualities")
    rows = sweep_plus(other, other, BUDGETS, "auto", FAST, 0)
    assert rows["budget"].tolist() == BUDGETS and rows["accuracy"].isna().all() and rows["cost"].isna().all()
    assert set(rows["status"]) == {"plus needs answers that are label sets, not qualities"}


def test_plus_learns_in_its_own_way():
    learning = plus_learning("CONLL", 2, BLOCKS["CONLL"] | {"labels_per_item": 3}, 2022)
    assert learning.abstain and learning.summary and not learning.options
    assert learning.features is None and learning.labels_per_item == 3
    other = plus_learning("CONLL", 1, BLOCKS["CONLL"], 2022)
    assert learning.seed != other.seed and np.isscalar(learning.seed)
