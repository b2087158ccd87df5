"""Where calls have costs of their own: our method and the baselines, on markets small enough to check."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from per_call_markets import FAST, prompts, voters

from frugalmct import Strategy
from frugalmct.market import Extras, QualityMarket
from frugalmct.paper.names import CLUSTERS, NEAREST, ORACLE, PER_CALL, RANDOM_MIX, THRESHOLD, WITHOUT
from frugalmct.paper.stages.per_call import default_budgets, fit_per_call, sweep_per_call
from frugalmct.paper.stages.routers import TOO_LITTLE, Field, oracle, sweep_routers

SETTINGS = {"seed": 1, "options": FAST}
BUDGETS = [0.25, 0.6, 1.2]
ROUTERS = (RANDOM_MIX, THRESHOLD, NEAREST, CLUSTERS)


@pytest.fixture(scope="module")
def swept():
    train, test = prompts(200, 1), prompts(100, 2)
    return sweep_routers(train, test, BUDGETS, SETTINGS, 0), train, test


def test_every_method_has_a_row_per_budget_and_no_budget_is_exceeded_by_more_than_the_last_call(swept):
    table, _, test = swept
    for method in (*ROUTERS, ORACLE):
        rows = table[table["method"] == method]
        assert rows["budget"].tolist() == BUDGETS
        assert np.all(rows["cost"] <= rows["budget"] + test.costs.max() / len(test) + 1e-12)
        assert np.all(np.diff(rows["accuracy"]) >= -0.1)


def test_services_alone_have_their_means(swept):
    table, _, test = swept
    alone = table[table["method"].str.startswith("single:")]
    assert alone["method"].tolist() == ["single:mini", "single:big"]
    assert alone["accuracy"].tolist() == pytest.approx(test.quality.mean(axis=0))
    assert alone["cost"].tolist() == pytest.approx(test.costs.mean(axis=0))
    assert alone["budget"].tolist() == pytest.approx(test.prices)


def test_routers_see_that_sums_need_the_big_one_and_the_oracle_is_above_all(swept):
    table, _, _ = swept
    reached = table[table["budget"].isin(BUDGETS)].pivot(index="budget", columns="method", values="accuracy")
    for method in (THRESHOLD, NEAREST, CLUSTERS):
        assert reached[method].iloc[-1] > reached[RANDOM_MIX].iloc[-1] + 0.05
    for method in ROUTERS:
        assert np.all(reached[ORACLE] >= reached[method] - 1e-9)


def test_the_outcome_of_test_items_decides_nothing(swept):
    """With every test quality turned round, the same money goes to the same services."""
    table, train, test = swept
    turned = sweep_routers(train, replace(test, quality=1 - test.quality), BUDGETS, SETTINGS, 0)
    same = table["method"].isin(ROUTERS)
    assert turned.loc[same, "cost"].tolist() == table.loc[same, "cost"].tolist()


def test_the_oracle_is_the_best_of_all_choices():
    rng = np.random.default_rng(5)
    quality, costs = rng.random((5, 3)).round(2), rng.random((5, 3)).round(2)
    test = QualityMarket(
        "tiny",
        "",
        np.array(list("abcde")),
        ("a", "b", "c"),
        costs.mean(axis=0),
        quality,
        extras=Extras(costs),
    )
    train = replace(prompts(20), name="tiny")
    field = Field(train, prompts(10, 2), SETTINGS)
    field.test, field.quality, field.costs = test, quality, costs
    least = costs.min(axis=1).mean()
    for row in oracle(field, [least * 0.9, least * 1.01, 0.4, 0.6]):
        feasible = [
            quality[np.arange(5), list(choice)].mean()
            for choice in product(range(3), repeat=5)
            if costs[np.arange(5), list(choice)].mean() <= row["budget"] + 1e-12
        ]
        if feasible:
            assert row["accuracy"] == pytest.approx(max(feasible)) and row["cost"] <= row["budget"] + 1e-12
        else:
            assert row["status"] == TOO_LITTLE and np.isnan(row["accuracy"])


@pytest.mark.parametrize("market", [prompts, voters])
def test_our_method_is_what_the_library_fits_and_is_tried_without_each_service(market):
    train, test = market(150, 1), market(80, 2)
    budgets = [1.0, 2.0]
    table = sweep_per_call(fit_per_call(train, budgets, "auto", SETTINGS), test, 3)
    strategy = Strategy.fit(train, budgets, method="per_call", **SETTINGS)
    ours = table[table["method"] == PER_CALL]
    for row, budget in zip(ours.itertuples(), budgets, strict=True):
        reached = strategy.evaluate(test, budget)
        assert (row.accuracy, row.cost) == (reached.accuracy, reached.cost)
        assert row.base == strategy.names(strategy.plan(budget).first) and row.repetition == 3
    assert {*table["method"]} - {PER_CALL} <= {f"{WITHOUT}{service}" for service in test.services}
    best = test.services[-1]
    less = table[table["method"] == f"{WITHOUT}{best}"]
    assert less["accuracy"].iloc[-1] < ours["accuracy"].iloc[-1] - 0.05, "nobody else can do it"


def test_budgets_that_are_not_given_lie_between_the_cheapest_and_the_best_service():
    market = prompts(100)
    found = default_budgets(market, "auto", "accuracy")
    assert found == sorted(set(found)) and 8 <= len(found) <= 12
    assert market.prices.min() < found[0] and max(market.prices) <= found[-1] <= 1.3 * max(market.prices)
    assert default_budgets(market, ["mini", "big"], "accuracy")[0] > market.prices.sum()
    free = replace(market, prices=np.array([0.0, 1.0]), extras=Extras(text=market.extras.text))
    assert default_budgets(free, "none", "accuracy")[0] > 0
