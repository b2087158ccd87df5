"""What a strategy carries: how it was made, prices anew without refitting, warnings of training items."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from live_market import photos
from released import real_folder

from frugalmct.errors import FrugalError
from frugalmct.made import MOST_IDS, ItemIds
from frugalmct.market import LabelMarket
from frugalmct.model import Learning
from frugalmct.planning import Planner
from frugalmct.select import Problem, dual_price
from frugalmct.sources import load_market
from frugalmct.sparse import label_matrix
from frugalmct.strategy import Strategy
from frugalmct.sweep import sweep
from frugalmct.training import Given, Training, folds

FAST = Learning(options={"trees": 10, "leaf": 5}, seed=3)


def fitted(method: str) -> Strategy:
    return Strategy.fit(
        photos(), [0.5, 6.5, 11.0], method=method, base="cheap", learning=FAST, unit="USD per 1,000"
    )


@pytest.fixture(scope="module")
def paper() -> Strategy:
    return fitted("paper")


@pytest.fixture(scope="module", params=["paper", "plus"])
def strategy(request, paper) -> Strategy:
    """By either method."""
    return paper if request.param == "paper" else fitted(request.param)


def one_label_market() -> LabelMarket:
    rng = np.random.default_rng(5)
    items, labels = 60, 4
    truth = rng.integers(0, labels, items)

    def answers(share: float):
        said = np.where(rng.random(items) < share, truth, rng.integers(0, labels, items))
        return label_matrix(np.arange(items + 1), said, rng.random(items), labels)

    return LabelMarket(
        name="faces",
        task="FER",
        items=np.array([f"f{n}" for n in range(items)]),
        labels=np.array(["glad", "sad", "calm", "angry"]),
        services=("cheap", "good"),
        prices=np.array([1.0, 5.0]),
        truth=label_matrix(np.arange(items + 1), truth, None, labels),
        scores=(answers(0.6), answers(0.9)),
    )


def test_what_it_was_made_with_comes_back(strategy, tmp_path):
    strategy.save(tmp_path / "s.npz")
    loaded = Strategy.load(tmp_path / "s.npz")
    assert loaded.made == strategy.made
    assert (loaded.made.unit, loaded.made.predictor, loaded.made.seed) == (
        "USD per 1,000",
        "extra_trees",
        3,
    )
    own, kept = strategy.training, loaded.training
    for part in ("estimates", "accuracy"):
        before, after = getattr(own, part), getattr(kept, part)
        assert before.keys() == after.keys()
        for state, values in before.items():
            assert np.array_equal(after[state], values.astype(np.float32))
    before, after = own.given[0,], kept.given[0,]
    assert np.array_equal(after.counts, before.counts)
    assert (after.silent, after.items) == (before.silent, before.items)


def test_labels_given_are_counted_over_the_services_of_a_base():
    market = photos()
    own = Given.of(market, (0, 2))
    answers = [market.scores[service].toarray() > 0 for service in (0, 2)]
    said = answers[0] | answers[1]
    assert own.counts.tolist() == said.sum(axis=0).tolist() and own.items == len(market)
    assert own.silent == int((~said.any(axis=1)).sum())


def test_new_prices_are_those_of_the_papers_formula(paper, tmp_path):
    strategy = paper
    strategy.save(tmp_path / "s.npz")
    cheaper = Strategy.load(tmp_path / "s.npz").with_prices({"good": 2})
    assert cheaper.prices.tolist() == [0.5, 2.0, 10.0] and strategy.prices.tolist() == [0.5, 6.0, 10.0]
    estimates = strategy.training.estimates[0,].astype(np.float32)
    for budget in (6.5, 11.0):
        problem = Problem(estimates, [0.5, 2.0, 10.0], 0, budget)
        assert cheaper.plan(budget).dual_price == pytest.approx(dual_price(problem, 0.01), rel=1e-9)
    market = replace(photos(), prices=np.array([0.5, 2.0, 10.0]))
    with pytest.warns(UserWarning, match="100 % of the items"):
        assert cheaper.evaluate(market, 6.5).cost <= 6.5
    cheaper.save(tmp_path / "again.npz")
    assert Strategy.load(tmp_path / "again.npz").plans == cheaper.plans


def test_new_prices_of_plus_spend_the_budget_of_the_training_items(tmp_path):
    plus = fitted("plus")
    cheaper = plus.with_prices({"good": 2})
    for budget, plan in cheaper.plans.items():
        walk = cheaper.training.cascade(plan.base).walk(plan.dual_price)
        assert walk.cost.mean() <= budget * (1 + 1e-12)
    market = replace(photos(200, 5, "new"), prices=np.array([0.5, 2.0, 10.0]))
    assert cheaper.evaluate(market, 11.0).cost <= 11
    assert (
        cheaper.evaluate(market, 6.5).asked[:, 1].sum()
        > plus.evaluate(photos(200, 5, "new"), 6.5).asked[:, 1].sum()
    ), "what is cheaper is asked more often"
    cheaper.save(tmp_path / "again.npz")
    assert Strategy.load(tmp_path / "again.npz").plans == cheaper.plans


def test_the_same_prices_change_nothing(strategy):
    again = strategy.with_prices({})
    for budget, plan in strategy.plans.items():
        assert again.plan(budget).base == plan.base
        assert again.plan(budget).dual_price == pytest.approx(plan.dual_price, rel=1e-5)


def test_other_budgets_need_no_refitting(paper):
    strategy = paper
    estimates = strategy.training.estimates[0,]
    expected = dual_price(Problem(estimates, strategy.prices, 0, 4.0), 0.01)
    assert strategy.with_prices({}, budgets=[4.0]).plan(4.0).dual_price == pytest.approx(expected)
    assert strategy.plan_at(4.0).dual_price == pytest.approx(expected)
    assert strategy.plan_at(6.5) == strategy.plan(6.5)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: s.with_prices({"Bing": 3}), "no service 'Bing'; its services: cheap, good"),
        (lambda s: s.with_prices({"good": -1}), "the price of good is -1; give a number, 0 or more"),
        (lambda s: s.with_prices({"good": math.nan}), "the price of good is nan"),
        (lambda s: s.with_prices({"cheap": 7}), "the budget 0.5 does not pay for the base"),
        (lambda s: s.plan_at(0.1), "the budget 0.1 does not pay for the base"),
        (lambda s: s.with_prices({}, budgets=[]), "no budgets were given"),
    ],
)
def test_mistakes_get_a_sentence(strategy, call, sentence):
    with pytest.raises(FrugalError) as error:
        call(strategy)
    assert sentence in str(error.value)


@pytest.mark.parametrize("call", ["evaluate", "decide", "estimate"])
def test_other_prices_are_named(strategy, call):
    market = replace(photos(), prices=np.array([0.5, 26.0, 10.0]))
    with pytest.raises(FrugalError) as error:
        getattr(strategy, call)(market, 6.5)
    assert "has the prices cheap 0.5, good 26" in str(error.value)
    assert "made for cheap 0.5, good 6," in str(error.value) and "with_prices" in str(error.value)


def test_only_training_items_are_warned_of(strategy):
    market = photos()
    fresh = replace(market, items=np.array([f"new {n}" for n in range(len(market))]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strategy.evaluate(fresh, 6.5)
    mixed = replace(market, items=np.array([*market.items[:75], *fresh.items[75:]]))
    with pytest.warns(UserWarning, match="25 % of the items of market photos have ids") as warned:
        strategy.evaluate(mixed, 6.5)
        sweep(strategy, mixed, [6.5])
    assert [own.filename for own in warned] == [__file__, __file__], "the line to look at is the user's"


def test_the_ids_kept_are_bounded_and_still_tell():
    ids = ItemIds.of(str(n) for n in range(3 * MOST_IDS))
    assert len(ids.hashes) == MOST_IDS and not ids.complete
    assert ids.known([str(n) for n in range(3000)]) == 1.0
    assert ids.known([f"x{n}" for n in range(3000)]) == 0.0
    assert ids.known([*(str(n) for n in range(2000)), *(f"x{n}" for n in range(2000))]) == pytest.approx(
        0.5, abs=0.1
    )


@pytest.mark.parametrize("method", ["paper", "plus"])
def test_one_label_data_is_seen_as_such(method):
    market = one_label_market()
    settings = {"method": method, "options": {"trees": 10, "leaf": 5}}
    default = Strategy.fit(market, 6, **settings)
    named = Strategy.fit(market, [6], labels_per_item=1, **settings)
    free = Strategy.fit(market, [6], labels_per_item=None, **settings)
    assert default.made.labels_per_item == 1 and free.made.labels_per_item is None
    assert default.plans == named.plans
    both = np.ones((len(market), 2), dtype=bool)
    assert np.diff(default.answer(market, both).indptr).max() == 1
    assert Strategy.fit(photos(), 11, method=method, learning=FAST).made.labels_per_item is None


@pytest.mark.parametrize("method", ["paper", "plus"])
def test_settings_by_name_change_those_of_learning(method):
    settings = {"metric": "f1", "predictor": "mean", "options": {}}
    found = Strategy.fit(photos(), 11, method=method, learning=FAST, **settings)
    assert (found.metric, found.made.predictor, found.made.seed) == ("f1", "mean", 3)
    with pytest.raises(FrugalError, match="no setting 'forest'; known: abstain, features"):
        Strategy.fit(photos(), 11, forest=3)


@pytest.mark.slow
def test_the_strategy_of_real_answers_is_small(tmp_path):
    source = {"kind": "frugalmct", "path": str(real_folder("FrugalMCT", "PASCAL"))}
    prices = {"Everypixel": 6.0, "Microsoft": 10.0, "Google": 15.0}
    market = load_market("PASCAL", {"task": "MIC", "source": source, "prices": prices})
    Strategy.fit(market, [8, 12]).save(tmp_path / "s.npz")
    assert (tmp_path / "s.npz").stat().st_size < 5_000_000


def test_a_lower_budgets_plan_is_followed_where_it_did_better_on_trial():
    """A base that looks good and is not: the plan that spends on it does worse than the one that cannot."""
    items = 200
    estimates = {(0,): np.tile([0.5, 0.9], (items, 1))}
    worse = {(0,): np.full(items, 0.5), (0, 1): np.full(items, 0.2)}
    trials = folds(items, 1)
    for accuracy, taken in ((worse, 1.0), (worse | {(0, 1): np.full(items, 0.8)}, 4.0)):
        training = Training(np.array([1.0, 3.0]), 1, estimates, accuracy, {})
        planner = Planner(training, trials, [0.0])
        plans = [planner.single(budget, [(0,)]) for budget in (4.0, 1.0)]
        found = planner.plans([4.0, 1.0], [(0,)])
        assert [plan.budget for plan in found] == [4.0, 1.0]
        assert found[0].dual_price == {4.0: plans[0], 1.0: plans[1]}[taken].dual_price
        reached = [
            training.reached(training.cascade((0,)).route(p.budget, p.dual_price)).mean() for p in found
        ]
        assert reached[0] >= reached[1]
