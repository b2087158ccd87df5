"""What the workflow says of FrugalMCT plus."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers import BLOCKS, random_market

from frugalmct.baselines.frugalml import FrugalML, item_costs
from frugalmct.baselines.quality import quality_scores
from frugalmct.metrics import set_metric
from frugalmct.model import Learning
from frugalmct.paper.names import FRUGALML_LEARNED, PLUS
from frugalmct.paper.stages.plus import plus_learning, sweep_plus
from frugalmct.paper.stages.select import COLUMNS
from frugalmct.plus import Learner
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
    assert set(rows["method"]) == {PLUS, FRUGALML_LEARNED}
    assert set(rows["repetition"]) == {3} and set(rows["status"]) == {"ok"}
    strategy = Strategy.fit(train, BUDGETS, method="plus", learning=FAST)
    rows = rows[rows["method"] == PLUS]
    assert rows["budget"].tolist() == BUDGETS
    for row in rows.itertuples():
        asked = strategy.decide(test, row.budget)
        # Money and accuracy counted anew from who was asked and what they said together.
        assert row.cost == pytest.approx((asked @ test.prices).mean()) and row.cost <= row.budget
        assert row.accuracy == pytest.approx(set_metric(test.truth, strategy.answer(test, asked)).mean())
        assert asked[:, train.services.index(row.base)].all()


def test_frugalml_decides_by_what_the_learned_combiners_are_worth(markets):
    """Worked out anew: combiners of every two services, FrugalML on their accuracies out of fold."""
    train, test = markets
    rows = sweep_plus(train, test, BUDGETS, "auto", FAST, 3).set_index("method").loc[FRUGALML_LEARNED]
    assert rows["budget"].tolist() == BUDGETS and (rows["cost"] <= rows["budget"] * (1 + 1e-12)).all()
    learner, services = Learner(train, FAST), range(len(train.services))
    for base in services:
        learner.learn((base,), [service for service in services if service != base])
    pair = lambda base, service: tuple(sorted({base, service}))  # noqa: E731
    known = {b: np.column_stack([learner.accuracy[pair(b, k)] for k in services]) for b in services}
    model = FrugalML().fit(quality_scores(train), known, train.prices)
    for row in rows.itertuples():
        choice = model.decide(quality_scores(test), row.budget, FAST.seed, never_over=True)
        reached = np.empty(len(test))
        for item, (base, addon) in enumerate(zip(choice.base, choice.addon, strict=True)):
            one, asked = test.subset([item]), pair(base, addon)
            answer = learner.combiners[asked].apply([one.scores[k] for k in asked])
            reached[item] = set_metric(one.truth, answer)[0]
        assert row.accuracy == pytest.approx(reached.mean())
        assert row.cost == pytest.approx(item_costs(choice.base, choice.addon, test.prices).mean())


def test_where_two_are_always_asked_first_there_is_no_frugalml(markets):
    rows = sweep_plus(*markets, [40.0], list(markets[0].services[:2]), FAST, 3)
    assert rows["method"].tolist() == [PLUS]


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
