"""The study of robustness: never over budget, and each part against something counted apart from it."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from study_cases import PARTS, case_at

from frugalmct.estimates import Estimates
from frugalmct.paper.names import OFFLINE, ONLINE
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates
from frugalmct.paper.studies import robustness
from frugalmct.paper.studies.robustness import (
    COLUMNS,
    DELTAS,
    by_delta,
    by_items,
    by_mix,
    by_order,
    by_prices,
    draws,
    hardest_first,
    planned_again,
    price_settings,
    run,
    shape,
)

PRICES = np.array([0.5, 3.0, 8.0])
BUDGET = 3.0


def made(seed: int, items: int = 400) -> Estimates:
    """Items of all degrees of hardness: where the base is poor, more money helps more."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.1, 0.9, items)
    gain = (1 - base) * rng.uniform(0, 0.8, items)
    estimated = np.column_stack([base, base + 0.6 * gain, base + gain])
    return Estimates(0, PRICES, estimated, np.clip(estimated + rng.normal(0, 0.1, estimated.shape), 0, 1))


@pytest.fixture
def case(monkeypatch):
    monkeypatch.setattr(robustness, "SIZES", (50, 400, 3000))
    found = RepetitionEstimates(("base", "cheap", "dear"), PRICES, {0: BaseEstimates(made(1), made(2))})
    return replace(case_at(BUDGET), estimates=found)


def test_what_the_dual_price_alone_spends_is_counted_without_the_guard():
    """By hand: argmax of what is estimated less its price, whatever that costs altogether."""
    samples = [made(seed) for seed in range(3, 9)]
    for price in (0.0, 0.05, 0.2):
        spent = [
            PRICES[0] + np.array([0.0, *PRICES[1:]])[
                (sample.estimated - price * np.array([0.0, *PRICES[1:]])).argmax(axis=1)
            ].mean()
            for sample in samples
        ]  # fmt: skip
        budget = float(np.median(spent)) if np.ptp(spent) else spent[0] - 0.01
        share = np.mean(np.array(spent) <= budget)
        assert robustness.kept_by_price(samples, [price] * 6, budget) == pytest.approx(share)


def test_p_hat_alone_is_of_online_rows_and_rises_with_the_buffer(case):
    rows = pd.DataFrame(robustness.by_delta(case)).set_index(["method", "delta"])["kept_by_price"]
    assert rows[OFFLINE].isna().all() and rows[ONLINE].is_monotonic_increasing
    assert rows[ONLINE].iloc[0] < rows[ONLINE].iloc[-1] == 1


def test_no_draw_of_any_setting_is_over_its_budget_or_better_than_offline(monkeypatch):
    monkeypatch.setattr(robustness, "SIZES", (50, 300))
    table = run(case_at(3.0, learning={"predictor": "mean", "options": {}, "silence": "abstain", "seed": 1}))
    assert list(table.columns) == COLUMNS
    assert list(table["part"].unique()) == ["items", "delta", "order", "mix", "prices", "metric"]
    assert (table["highest_cost"] <= table["budget"] * (1 + 1e-12)).all()
    assert (table["cost"] <= table["highest_cost"] * (1 + 1e-12)).all()
    assert (table["regret_low"] >= -1e-12).all() and (table["regret"] <= table["regret_high"] + 1e-12).all()
    settings = ["part", "setting", "items", "budget"]
    assert (table.groupby(settings)["method"].apply(set) == {ONLINE, OFFLINE}).all()
    assert (table.loc[table["method"] == OFFLINE, "regret"] == 0).all()
    assert run(case_at(3.0)).equals(table), "the same again"


def test_the_bound_by_hand():
    each = math.sqrt(math.log(1000 / 0.05) / 1000)
    assert shape(1000, 1000) == pytest.approx(2 * each) and shape(1000, 10**12) == pytest.approx(
        each, rel=1e-3
    )


def test_with_the_theorems_buffer_the_regret_falls_with_the_items(case):
    rows = pd.DataFrame(by_items(case)).query("method == @ONLINE").set_index(["setting", "items"])
    for setting in (robustness.THEOREM, robustness.GROWING):
        own = rows.loc[setting]
        assert own["regret"].is_monotonic_decreasing and (own["regret"] <= own["bound"]).all()
        assert (own["delta"] == own["bound"].clip(upper=1)).all()
    assert (rows.loc[robustness.FIXED, "delta"] == case.plan.delta).all()
    assert rows.loc[robustness.GROWING, "train_items"].tolist() == [50, 400, 3000]


def dual_by_hand(items: Estimates, delta: float) -> float:
    """The paper's problem: the least objective over every dual price at which some item changes its mind."""
    rates = [(items.estimated[:, k] - items.estimated[:, j]) / (items.prices[k] - items.prices[j] * (j > 0))
             for k in (1, 2) for j in range(k)]  # fmt: skip
    tried = np.unique(np.append(0.0, np.concatenate(rates)))
    tried = tried[tried >= 0]
    addon = items.prices * [0, 1, 1]
    values = [
        (1 - delta) * (BUDGET - items.prices[0]) * p + (items.estimated - p * addon).max(axis=1).mean()
        for p in tried
    ]
    return float(tried[np.argmin(values)])


@pytest.mark.parametrize("delta", [-0.1, -0.02, 0.0, 0.2])
def test_a_buffer_below_nothing_gives_the_papers_dual_price_too(delta):
    items = made(3, 61)
    assert items.dual_price(BUDGET, delta) == pytest.approx(dual_by_hand(items, delta), rel=1e-9)


def test_a_larger_buffer_spends_less_and_all_settings_see_the_same_items(case):
    rows = pd.DataFrame(by_delta(case))
    online = rows[rows["method"] == ONLINE]
    assert online["delta"].tolist() == list(DELTAS) and online["cost"].is_monotonic_decreasing
    assert rows.loc[rows["method"] == OFFLINE, "accuracy"].nunique() == 1
    first, again = draws(case, case.own.test), draws(case, case.own.test)
    assert all((one.estimated == two.estimated).all() for one, two in zip(first, again, strict=True))


def test_the_order_matters_only_once_the_money_is_gone(case, monkeypatch):
    monkeypatch.setattr(robustness, "TOO_LOW", -0.5)
    frugal = replace(case, plans=[replace(case.plan, delta=0.2)])
    rows = pd.DataFrame(by_order(frugal)).query("method == @ONLINE").set_index("setting")
    orders = ("random", "hard first", "easy first")
    spared, short = (rows.loc[[f"{order}, δ {delta}" for order in orders]] for delta in ("0.2", "-0.5"))
    assert spared["regret"].to_numpy() == pytest.approx(spared["regret"].iloc[0])
    assert (spared["highest_cost"] < BUDGET * 0.99).all() and (short["cost"] > BUDGET * 0.99).all()
    # What is left out at the end are the items that need it least, or those that need it most.
    assert short["regret"].iloc[1] < short["regret"].iloc[0] < short["regret"].iloc[2]


def test_hard_items_are_those_whose_base_looks_poor(case):
    items = Estimates(1, PRICES, np.array([[0.1, 0.9, 0], [0.2, 0.3, 0], [0.3, 0.6, 0], [0.4, 0.3, 0]]))
    assert hardest_first(items).tolist() == [1, 3, 2, 0]
    rows = pd.DataFrame(by_mix(case)).query("method == @OFFLINE").set_index("setting")["estimated"]
    assert rows["hard half"] < rows["all items"] < rows["easy half"]


def test_prices_are_changed_one_at_a_time(case):
    found = price_settings(case)
    expected = {
        "as configured": [0.5, 3, 8], "base half": [0.25, 3, 8], "base double": [1, 3, 8],
        "cheap half": [0.5, 1.5, 8], "cheap double": [0.5, 6, 8],
        "dear half": [0.5, 3, 4], "dear double": [0.5, 3, 16],
    }  # fmt: skip
    assert {name: prices.tolist() for name, prices in found.items()} == expected


def test_the_papers_free_model_also_has_its_price_of_the_appendix(case):
    services = ("SSD", "Everypixel", "Microsoft")
    named = replace(case, dataset="COCO", estimates=replace(case.estimates, services=services))
    # 0.90 USD an hour, 6 seconds an image.
    assert price_settings(named)["SSD at 15"].tolist() == [0.90 / 3600 * 6 * 10_000, 3, 8]
    assert not any(" at " in name for name in price_settings(replace(named, dataset="mine")))


def test_with_other_prices_another_base_may_be_the_better_one(case):
    train = made(1, 4)
    dearest = Estimates(2, PRICES, np.full((4, 3), 0.99), np.full((4, 3), 0.99))
    both = {0: BaseEstimates(train, train), 2: BaseEstimates(dearest, dearest)}
    two = replace(case, split=PARTS, estimates=replace(case.estimates, by_base=both))
    assert planned_again(two, PRICES, BUDGET).base == 0
    assert planned_again(two, np.array([0.5, 3.0, 2.0]), BUDGET).base == 2
    assert planned_again(two, np.array([4.0, 3.0, 8.0]), BUDGET) is None


def test_a_budget_that_pays_for_no_base_has_no_row(case):
    rows = pd.DataFrame(by_prices(replace(case, settings=case.settings | {"budget": 0.6})))
    assert set(rows.loc[rows["setting"] == "base double", "budget"]) == {1.2}
    assert set(rows.loc[rows["setting"] == "base half", "budget"]) == {0.6, 1.2}


def test_decisions_for_one_metric_are_scored_by_another():
    table = run_metric(case_at(5.0))
    # Base and cheap together are always right; the base alone says one label of two: 1/2, and 2/3 by F1.
    cheap = table.loc["accuracy"]
    assert cheap["accuracy"] == pytest.approx(1) and table.loc["f1", "accuracy"] == pytest.approx(1)
    alone = run_metric(case_at(1.0))
    share = 2 * (1 - alone.loc["accuracy", "accuracy"])
    assert alone.loc["f1", "accuracy"] == pytest.approx(1 - share / 3)
    assert set(table.index) == {"accuracy", "f1", "f1, learnt for it"}


def run_metric(case):
    rows = pd.DataFrame(robustness.by_metric(case))
    return rows[rows["method"] == OFFLINE].set_index("setting")
