import math
from dataclasses import replace

import numpy as np
import pytest
from helpers import BLOCKS, small_market, turned_round

from frugalmct.errors import FrugalError
from frugalmct.market import Market, QualityMarket
from frugalmct.metrics import set_metric
from frugalmct.model import AccuracyModel, Learning
from frugalmct.plans import ALPHAS, DELTA, budget_list, make_plans
from frugalmct.select import OnlineSelector, Problem, dual_price, mean_cost
from frugalmct.sources import load_market
from frugalmct.splits import split
from frugalmct.strategy import Strategy

FAST = Learning(options={"trees": 20, "leaf": 10}, seed=4)
BUDGETS = [0.01, 3.0, 6.0, 10.0]


@pytest.fixture(scope="module")
def markets() -> tuple[Market, Market]:
    market = load_market("PASCAL", BLOCKS["PASCAL"], seed=8, scale=0.2)
    parts = split(len(market), seed=8)
    return market.subset(parts.whole_train), market.subset(parts.test)


@pytest.fixture(scope="module")
def strategy(markets) -> Strategy:
    return Strategy.fit(markets[0], BUDGETS, method="paper", base="SSD", learning=FAST)


def test_never_over_budget_and_better_with_more(strategy, markets):
    found = [strategy.evaluate(markets[1], budget) for budget in BUDGETS]
    for budget, evaluation in zip(BUDGETS, found, strict=True):
        assert evaluation.cost <= budget * (1 + 1e-12)
    assert found[0].cost == pytest.approx(0.01) and found[0].asked.sum() == len(markets[1])
    assert found[-1].accuracy > found[0].accuracy + 0.1


def test_the_price_is_the_papers(strategy, markets):
    model = strategy.models[0,]
    for budget in BUDGETS[1:]:
        problem = Problem(model.predictor.training_estimates, markets[0].prices, 0, budget)
        assert strategy.plan(budget).dual_price == pytest.approx(dual_price(problem, DELTA), rel=1e-9)


def test_decisions_do_not_look_at_the_truth(strategy, markets):
    test = markets[1]
    blinded = replace(test, truth=test.scores[3])
    assert np.array_equal(strategy.decide(test, 6.0), strategy.decide(blinded, 6.0))


def test_answers_are_what_was_evaluated(strategy, markets):
    test = markets[1]
    evaluation = strategy.evaluate(test, 6.0)
    answer = strategy.answer(test, evaluation.asked)
    assert set_metric(test.truth, answer).mean() == pytest.approx(evaluation.accuracy)


def test_choosing_one_by_one_is_choosing_all(strategy, markets):
    test = markets[1]
    selector = strategy.selector(6.0, len(test))
    one_by_one = [selector.ask(selector.begin(), row) for row in strategy.estimate(test, 6.0)]
    asked = np.zeros((len(test), 4), dtype=bool)
    asked[:, 0] = True
    for row, service in enumerate(one_by_one):
        asked[row, service or 0] = True
    assert np.array_equal(asked, strategy.decide(test, 6.0))
    # And both are what the paper's selector chooses.
    price = strategy.plan(6.0).dual_price
    theirs = OnlineSelector(test.prices, 0, 6.0, len(test), price).choose_all(strategy.estimate(test, 6.0))
    assert [service or 0 for service in one_by_one] == theirs.tolist()


def test_a_saved_strategy_decides_the_same(strategy, markets, tmp_path):
    strategy.save(tmp_path / "strategy.npz")
    loaded = Strategy.load(tmp_path / "strategy.npz")
    assert loaded.plans == strategy.plans and loaded.services == strategy.services
    for budget in BUDGETS:
        assert np.array_equal(loaded.decide(markets[1], budget), strategy.decide(markets[1], budget))
    with np.load(tmp_path / "strategy.npz", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays)


def test_another_order_of_labels_and_services_changes_nothing(strategy, markets):
    test = markets[1]
    shuffled = turned_round(test)
    expected, found = strategy.evaluate(test, 6.0), strategy.evaluate(shuffled, 6.0)
    assert np.array_equal(found.asked, expected.asked)
    assert found.accuracy == pytest.approx(expected.accuracy)


def test_labels_never_seen_in_training_can_be_answered_but_not_learnt_from(strategy, markets):
    test = markets[1]
    wider = replace(
        test,
        labels=np.append(test.labels, "submarine"),
        truth=_with_column(test.truth, 1),
        scores=tuple(_with_column(scores, 1) for scores in test.scores),
    )
    found = strategy.evaluate(wider, 6.0)
    assert np.array_equal(found.asked, strategy.evaluate(test, 6.0).asked)
    answer = strategy.answer(wider, found.asked)
    assert strategy.answer_labels(wider)[-1] == "submarine" and answer[:, -1].nnz > 0


def _with_column(matrix, value):
    """The matrix with one more label that every item has."""
    starts = matrix.indptr + np.arange(len(matrix.indptr))
    indices = np.insert(matrix.indices, matrix.indptr[1:], matrix.shape[1])
    data = np.insert(matrix.data, matrix.indptr[1:], value)
    return type(matrix)((data, indices, starts), shape=(matrix.shape[0], matrix.shape[1] + 1))


def test_auto_chooses_base_and_delta_on_held_out_items(markets):
    train = markets[0]
    models = [AccuracyModel.fit(train, base, FAST) for base in range(4)]
    held_out = split(len(train), train_share=0.8, seed=4).test
    plans = make_plans([model.training for model in models], held_out, [0.01, 8.0, 15.0], "auto")
    assert plans[0].base == 0  # nothing else is affordable
    allowed = {alpha * math.log(len(train)) / len(train) for alpha in ALPHAS}
    for plan in plans:
        assert train.prices[plan.base] <= plan.budget and plan.delta in allowed
    # Independently: every base, the price from the other items, choices one by one.
    usual = min(allowed, key=lambda delta: abs(delta - DELTA))
    reached = [
        reached_on(held_out, model.training, 15.0, usual) if model.prices[model.base] <= 15 else 0
        for model in models
    ]
    assert plans[2].base == int(np.argmax(reached))
    best = models[plans[2].base].training
    by_delta = {delta: reached_on(held_out, best, 15.0, delta) for delta in allowed}
    assert by_delta[plans[2].delta] == max(by_delta.values())


def reached_on(held_out, candidate, budget, delta):
    kept = np.setdiff1d(np.arange(len(candidate.estimated)), held_out)
    problem = Problem(candidate.estimated[kept], candidate.prices, candidate.base, budget)
    price = dual_price(problem, delta)
    selector = OnlineSelector(candidate.prices, candidate.base, budget, len(held_out), price)
    return np.mean([candidate.actual[n, selector.choose(candidate.estimated[n])] for n in held_out])


@pytest.mark.parametrize("delta", [DELTA, "auto"])
def test_a_strategy_has_the_plans_of_the_paper(markets, delta):
    """`auto` ends with the bases and δ that `make_plans` chooses, and a model of each base in use only."""
    train, budgets = markets[0], [0.01, 8.0, 15.0]
    strategy = Strategy.fit(train, budgets, method="paper", delta=delta, learning=FAST)
    assert set(strategy.models) == {plan.base for plan in strategy.plans.values()}
    models = [AccuracyModel.fit(train, base, FAST) for base in range(4)]
    held_out = split(len(train), train_share=0.8, seed=4, dataset=train.name).test
    plans = make_plans([model.training for model in models], held_out, budgets, delta)
    for plan in plans:
        own = strategy.plan(plan.budget)
        assert (own.base, own.delta) == ((plan.base,), plan.delta)
        dual_price = models[plan.base].training.dual_price(plan.budget, plan.delta)
        assert own.dual_price == pytest.approx(dual_price, rel=1e-9)


def test_the_papers_method_is_to_the_letter_unless_told_otherwise(markets):
    """A silent service rejects, and leaves are not chosen."""
    strategy = Strategy.fit(markets[0].subset(np.arange(200)), 6.0, method="paper", base="SSD")
    assert strategy.made.method == "paper" and not strategy.made.abstain and strategy.steps == 1
    assert not any(combiner.abstain for combiner in strategy.combiners.values())
    assert not strategy.features.features.summary
    header, _ = strategy.models[0,].predictor.to_arrays()
    assert header["details"]["leaf"] == 1 and header["details"]["trees"] == 100


def test_the_base_is_paid_for_every_item():
    prices = np.array([1.0, 5.0, 7.0])
    assert mean_cost(np.array([0, 1, 1, 2]), prices, 0) == pytest.approx(1 + (5 + 5 + 7) / 4)
    assert mean_cost(np.array([1, 1]), prices, 1) == pytest.approx(5)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"budgets": []}, "no budgets were given"),
        ({"budgets": [0.001]}, "does not pay for the base service"),
        ({"budgets": [math.nan]}, "does not pay for the base service"),
        ({"budgets": ["6"]}, "a budget is '6'; give a number, the mean cost that an item may incur"),
        ({"budgets": {"SSD": 6}}, "a budget is an object; give a number"),
        ({"budgets": np.array([[6.0]])}, "a budget is array([6.]); give a number"),
        ({"budgets": True}, "a budget is true; give a number"),
        ({"base": "Bing"}, "no service 'Bing'; its services: SSD"),
        ({"delta": 2}, "delta is 2; it must be `auto` or a number"),
        ({"delta": "many"}, "delta is 'many'"),
        ({"method": "magic"}, "unknown method 'magic'; known: paper, plus"),
        ({"combiner": "learned"}, "the paper's method has combiner 'weight_threshold' and one step"),
        ({"steps": 2}, "the paper's method has combiner 'weight_threshold' and one step"),
        ({"base": ["SSD", "Google"], "budgets": [16.0]}, "(w, θ) combines the answers of two services"),
        ({"base": []}, "base is []; give a service, several different ones, or 'auto'"),
        ({"base": ["SSD", "SSD"]}, "several different ones"),
        ({"base": None}, "base is None; give a service, several different ones, or 'auto'"),
        ({"budgets": None}, "a budget is null; give a number"),
        ({"learning": Learning(predictor="crystal_ball")}, "Unknown predictor 'crystal_ball'; known"),
        ({"learning": Learning(metric="luck")}, "Unknown metric 'luck'; known"),
        ({"learning": Learning(features="smell")}, "Unknown features 'smell'; known"),
    ],
)
def test_mistakes_get_a_sentence(markets, arguments, sentence):
    arguments = {"budgets": [6.0], "method": "paper", "base": "SSD", "learning": FAST} | arguments
    with pytest.raises(FrugalError) as error:
        Strategy.fit(markets[0], **arguments)
    assert sentence in str(error.value)


def test_an_untrained_budget_is_named(strategy, markets):
    with pytest.raises(FrugalError, match=r"not trained for budget 7; it knows 0\.01, 3\.0"):
        strategy.decide(markets[1], 7)


@pytest.mark.parametrize("budget", [[3.0], "3", None, np.array([3.0])])
def test_one_budget_is_a_number(strategy, markets, budget):
    with pytest.raises(FrugalError, match=r"a budget is .*; give a number"):
        strategy.evaluate(markets[1], budget)
    with pytest.raises(FrugalError, match=r"a budget is .*; give a number"):
        strategy.plan_at(budget)


@pytest.mark.parametrize("budgets", [3, 3.0, np.float32(3), np.array(3.0), np.array([3.0]), (3.0, 3)])
def test_budgets_may_be_one_number(budgets):
    assert budget_list(budgets) == [3.0]


def test_another_market_is_refused(strategy):
    with pytest.raises(FrugalError, match="has no service 'SSD'"):
        strategy.decide(small_market(), 6.0)


def test_a_market_without_labels_is_refused(strategy):
    services = len(strategy.services)
    market = QualityMarket(
        name="judged",
        task="",
        items=np.array(["a"]),
        services=strategy.services,
        prices=strategy.prices,
        quality=np.ones((1, services)),
    )
    with pytest.raises(FrugalError, match="market judged has no label sets, but the quality of answers"):
        strategy.evaluate(market, 6.0)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"\x80\x04K\x01."])
def test_a_damaged_file_is_refused(tmp_path, content):
    path = tmp_path / "strategy.npz"
    path.write_bytes(content)
    with pytest.raises(FrugalError, match=r"not a strategy file .* train and save the strategy again"):
        Strategy.load(path)
    with pytest.raises(FrugalError, match="no such strategy file"):
        Strategy.load(tmp_path / "absent.npz")


def test_a_market_file_is_not_a_strategy(tmp_path):
    small_market().save(tmp_path / "market.npz")
    with pytest.raises(FrugalError, match="its format is frugalmct-market-2"):
        Strategy.load(tmp_path / "market.npz")
