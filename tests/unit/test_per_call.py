"""Costs per call: what is seen, estimated costs, money on true costs, whom to ask first."""

import numpy as np
import pytest
from numpy.random import default_rng
from per_call_markets import FAST, prompts, voters

from frugalmct import PerCallStrategy, Strategy
from frugalmct.errors import FrugalError
from frugalmct.market import Answered, Extras, Known, QualityMarket, text_column
from frugalmct.percall import Spending, fitting
from frugalmct.percall.columns import AnswerColumns, ItemColumns, agreement
from frugalmct.percall.costs import CostModel
from frugalmct.percall.model import Learner, walk
from frugalmct.percall.search import best_firsts
from frugalmct.percall.spending import DualPriceCurve
from frugalmct.text import TextMap

# ---- what is seen


def test_text_decides_before_anyone_is_asked():
    strategy = PerCallStrategy.fit(prompts(600), [0.6, 1.0], base="none", options=FAST)
    found = strategy.evaluate(prompts(400, 1), 1.0)
    # Half of the prompts need the expensive service: about 0.9 for all of them, with 5 % noise.
    assert found.accuracy > 0.9
    assert found.cost <= 1.0
    assert found.asked.sum(axis=1).tolist() == [1] * 400
    blind = strategy.evaluate(prompts(400, 1, telling=False), 1.0)
    assert blind.accuracy < 0.85


def test_nothing_is_learnt_where_only_the_outcome_tells():
    """Qualities and labels are random but for each other: nothing that may be seen tells anything."""
    rng = default_rng(5)
    outcome = (rng.random((800, 3)) < 0.5) * 1.0
    market = QualityMarket(
        name="blind",
        task="",
        items=np.arange(800).astype(str),
        services=("a", "b", "c"),
        prices=np.array([1.0, 1.0, 1.0]),
        quality=outcome,
        features=rng.random((800, 3)),
        extras=Extras(
            text=text_column([f"prompt {n % 7}" for n in range(800)]),
            # What a service's answer tells is its own outcome: known only if it was asked.
            answer_numbers=tuple(outcome[:, [k]] for k in range(3)),
        ),
    )
    train, test = market.subset(np.arange(400)), market.subset(np.arange(400, 800))
    strategy = PerCallStrategy.fit(train, [1.0, 3.0], base="none", options=FAST)
    assert abs(strategy.evaluate(test, 3.0).accuracy - 0.5) < 0.1
    # Changing every answer that was not asked for changes no decision.
    first = PerCallStrategy.fit(train, [2.0], base="a", options=FAST)
    chosen = first.decide(test, 2.0)
    others = (outcome[400:, [0]], *(1 - outcome[400:, [k]] for k in (1, 2)))
    changed = QualityMarket(
        **{name: getattr(test, name) for name in ("name", "task", "items", "services", "prices")},
        quality=1 - test.quality,
        features=test.features,
        extras=Extras(text=test.extras.text, answer_numbers=others),
    )
    assert first.decide(changed, 2.0).tolist() == chosen.tolist()
    # Whereas the one that was asked does tell: where it is good, nobody else is asked.
    assert first.evaluate(test, 2.0).accuracy > 0.65


def test_columns_refuse_what_is_missing():
    known = prompts(50).known()
    columns = ItemColumns.fit(known, "auto", 0)
    assert columns.table(known).shape == (50, columns.columns)
    with pytest.raises(FrugalError, match="have no text"):
        columns.table(Known(50))
    for kind, sentence in (("given", "needs a `features` list"), ("nonsense", "Unknown features")):
        with pytest.raises(FrugalError, match=sentence):
            ItemColumns.fit(known, kind, 0)
    asked = voters(50)
    answers = AnswerColumns.fit(asked.known((0, 1)), "auto")
    assert answers.table(asked.known((0, 1))).shape == (50, answers.columns)
    with pytest.raises(FrugalError, match="The answer of service 1 is missing"):
        answers.table(asked.known((0,)))


def test_agreement_by_hand():
    sets = [
        Answered.of([[("a", 1)], [("a", 1), ("b", 1)], []]),
        Answered.of([[("a", 0.5)], [("b", 1)], []]),
        Answered.of([[("c", 1)], [("a", 1), ("b", 0.2)], []]),
    ]
    # Pairs (0, 1), (0, 2), (1, 2), then with how many others each agrees wholly.
    assert agreement(sets).tolist() == [[1, 0, 0, 1, 1, 0], [0.5, 1, 0.5, 1, 0, 1], [0, 0, 0, 0, 0, 0]]


def test_text_columns_depend_on_the_text_alone():
    texts = prompts(80).known().text
    fitted = TextMap.fit(texts)
    whole = fitted.table(texts)
    assert np.array_equal(fitted.table(texts[17:18]), whole[17:18])
    assert np.array_equal(TextMap.from_arrays(fitted.arrays()).table(texts), whole)
    assert fitted.table([]).shape == (0, fitted.columns)
    assert np.isfinite(fitted.table(["", "\n", "猫" * 9000])).all()


@pytest.mark.parametrize(
    "damage",
    [
        lambda a: a | {"axes": a["axes"].astype(np.float64)},
        lambda a: a | {"axes": a["axes"][:, :-1]},
        lambda a: a | {"rarity": a["rarity"][None]},
        lambda a: a | {"rarity": np.where(np.arange(len(a["rarity"])), a["rarity"], np.float32(np.nan))},
        lambda a: {"rarity": a["rarity"]},
    ],
)
def test_damaged_arrays_of_texts_are_refused(damage):
    with pytest.raises(FrugalError, match="its texts"):
        TextMap.from_arrays(damage(TextMap.fit(["a b", "c"]).arrays()))


# ---- costs


def test_costs_are_foretold_where_that_helps():
    market = prompts(400)
    table = np.array([[len(text)] for text in market.known().text], dtype=np.float32)
    model, training = CostModel.fit(table, market.costs, seed=0)
    assert model.foretold.all()
    spread = np.abs(market.costs - market.costs.mean(axis=0)).mean()
    assert np.abs(training - market.costs).mean() < spread / 3
    noise = default_rng(0).random((400, 1)).astype(np.float32)
    fallback, plain = CostModel.fit(noise, default_rng(1).random((400, 2)), seed=0)
    assert not fallback.foretold.any() and fallback.predictor is None
    assert np.allclose(plain, fallback.mean)


# ---- money


CURVE = DualPriceCurve(np.array([0.1, 1.0, 2.0]), np.array([5.0, 1.0, 0.0]), 0.1, 0.02)


def trusting(items: int, seed: int, first: tuple[int, ...], caps=None, error: float = 1.0):
    """A walk on estimates that may be far too low."""
    rng = default_rng(seed)
    accuracy, true = rng.random((items, 4)), rng.uniform(0.05, 2.0, (items, 4))
    budget = float(rng.uniform(0.2, 2.5))
    spending = Spending(CURVE, budget, items, first, caps=caps)
    return walk(spending, accuracy, true * error, true), true, budget, spending


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("first", [(), (1,), (0, 2)])
def test_over_by_less_than_the_last_call_whatever_was_estimated(seed, first):
    for error in (0.0, 0.3, 1.0, 2.0):
        walked, true, budget, spending = trusting(60, seed, first, error=error)
        paid = (walked.asked * true).sum()
        assert spending.spent == pytest.approx(paid)
        assert paid < 60 * budget + true.max()
        # Once the budget was spent no further call was made: without the last one it was not exceeded.
        last = np.flatnonzero(walked.asked.any(axis=1))
        if len(last):
            assert paid - (walked.asked * true)[last[-1]].sum() <= 60 * budget
        stands = walked.choices >= 0
        assert walked.asked[stands, walked.choices[stands]].all()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("first", [(), (1,), (0, 2)])
def test_never_over_with_a_cap_per_call(seed, first):
    for error in (0.0, 1.0):
        walked, true, budget, _ = trusting(60, seed, first, caps=[2.0] * 4, error=error)
        assert (walked.asked * true).sum() <= 60 * budget * (1 + 1e-12)


def test_a_call_above_its_cap_is_told():
    spending = Spending(CURVE, 1.0, 10, caps=[0.5, 0.5])
    with pytest.raises(FrugalError, match=r"more than the cap of 0\.5"):
        spending.pay(0, 0.6)


def test_enough_money_is_kept_for_the_items_to_come():
    """Everyone is answered although every item would like the expensive service."""
    rng = default_rng(3)
    true = rng.uniform(0.5, 1.5, (500, 2)) * [0.1, 4.0]
    accuracy = np.tile([0.1, 0.9], (500, 1))
    curve = DualPriceCurve(np.array([0.1]), np.array([0.0]), 0.1, 0.03)
    walked = walk(Spending(curve, 0.5, 500), accuracy, np.tile([0.1, 4.0], (500, 1)), true)
    assert (walked.choices >= 0).all()
    assert 0.4 < walked.cost <= 0.5 * (1 + 1e-12)


def test_prices_that_are_the_same_for_all_are_never_exceeded():
    market = prompts(300)
    priced = QualityMarket(
        name="priced",
        task="",
        items=market.items,
        services=market.services,
        prices=np.array([0.1, 1.0]),
        quality=market.quality,
        extras=Extras(text=market.extras.text),
    )
    strategy = Strategy.fit(priced.subset(np.arange(150)), [0.3], options=FAST)
    found = strategy.evaluate(priced.subset(np.arange(150, 300)), 0.3)
    assert found.cost <= 0.3 * (1 + 1e-12)
    assert found.cost == pytest.approx(float((found.asked * [0.1, 1.0]).sum(axis=1).mean()))


# ---- whom to ask first


def test_search_finds_the_pair_that_pays_and_is_bounded():
    tried = []

    def trial(first):
        tried.append(first)
        worth = 0.5 + 0.3 * ({1, 3} <= set(first)) + 0.001 * (3 in first) - 0.01 * len(first)
        return {2.0: worth, 1.0: 0.6} if first == () else {2.0: worth}

    found = best_firsts(trial, list(range(6)), [1.0, 2.0])
    assert found == {1.0: (), 2.0: (1, 3)}
    assert len(tried) == len(set(tried)) <= 1 + 6 + 2 * 5 + 2 * 4


def test_two_cheap_ones_that_agree_save_the_expert():
    strategy = Strategy.fit(voters(500), [2.5], options=FAST)
    assert isinstance(strategy, PerCallStrategy)
    assert strategy.plan(2.5).first == (0, 1)
    found = strategy.evaluate(voters(400, 1), 2.5)
    assert found.accuracy > 0.95  # the expert alone has 0.97 at 4, one alone 0.6
    assert found.cost <= 2.5


@pytest.mark.parametrize("base", ["none", None, "one", ["one", "two"]])
def test_base_as_given(base):
    strategy = Strategy.fit(voters(200), [1.0], method="per_call", base=base, options=FAST)
    names = [] if base in ("none", None) else [base] if isinstance(base, str) else base
    assert [strategy.services[k] for k in strategy.plan(1.0).first] == names
    asked = strategy.evaluate(voters(100, 1), 1.0).asked
    assert all(asked[:, strategy.services.index(name)].all() for name in names)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"budgets": []}, "no budgets were given"),
        ({"budgets": [0.001]}, "does not pay for the cheapest service"),
        ({"budgets": [0.15], "base": ["one", "two"]}, "does not pay for whom every item is sent to first"),
        ({"budgets": [1], "base": "three"}, "has no service 'three'"),
        ({"budgets": [1], "base": ["one", "one"], "method": "per_call"}, "base is \\['one', 'one'\\]; give"),
        ({"budgets": [1], "base": [], "method": "per_call"}, "base is \\[\\]; give a service"),
        ({"budgets": [1], "metric": "luck"}, "Unknown metric 'luck'"),
        ({"budgets": [1], "features": "spacy:en_core"}, "Unknown features"),
        ({"budgets": [1], "steps": 2}, "are not settings of method"),
    ],
)
def test_mistakes_are_told(arguments, sentence):
    with pytest.raises(FrugalError, match=sentence):
        Strategy.fit(voters(60), **arguments)


@pytest.mark.parametrize("price", [0.21, 0.1, 0.7])
def test_the_cheapest_price_is_a_budget(price):
    """The mean of as many equal prices may be rounded to above the price."""
    items = 5000
    market = QualityMarket(
        name="flat",
        task="",
        items=np.arange(items).astype(str),
        services=("mini", "big"),
        prices=np.array([price, 1.0]),
        quality=default_rng(0).random((items, 2)),
        features=default_rng(1).random((items, 1)),
    )
    assert fitting.checked_budgets(market, price) == [price]
    with pytest.raises(FrugalError, match=f"give a number of at least {price:g}"):
        fitting.checked_budgets(market, price * (1 - 1e-11))


def test_whom_the_budget_just_pays_for_is_tried(monkeypatch):
    """It is weighed against others, whatever the mean of equal prices is rounded to."""
    tried = []
    monkeypatch.setattr(fitting, "trial_score", lambda learnt, small, budget: tried.append(budget) or 0.5)
    market = QualityMarket(
        name="flat",
        task="",
        items=np.arange(1000).astype(str),
        services=("mini", "big"),
        prices=np.array([0.1, 1.0]),
        quality=default_rng(0).random((1000, 2)),
        features=default_rng(1).random((1000, 1)),
    )
    learner = Learner(market, fitting.per_call_learning(market, options={"trees": 3}))
    assert learner.learn(()).model.curve.least > 0.1, "rounded up"
    assert fitting.chosen_firsts(learner, [0.1]) == {0.1: ()}
    assert tried == [0.1]


def test_what_suits_labels_is_offered_to_quality_in_a_sentence():
    with pytest.raises(FrugalError, match="has no label sets, but the quality of answers"):
        Strategy.fit(prompts(60), [1.0], method="plus")


# ---- the file


@pytest.mark.parametrize("market", [prompts(120), voters(120)], ids=lambda market: market.name)
def test_saved_and_loaded_decides_the_same(tmp_path, market):
    budgets = [0.5, 1.0]
    strategy = Strategy.fit(market, budgets, options=FAST, unit="USD")
    strategy.save(tmp_path / "strategy.npz")
    again = Strategy.load(tmp_path / "strategy.npz")
    assert isinstance(again, PerCallStrategy)
    assert again.made == strategy.made and again.plans == strategy.plans
    new = type(market).subset(market, np.arange(60))
    for budget in budgets:
        assert again.decide(new, budget).tolist() == strategy.decide(new, budget).tolist()
    with pytest.warns(UserWarning, match="100 % of the items") as warned:
        again.evaluate(new, 1.0)
    assert [own.filename for own in warned] == [__file__], "the line to look at is the user's"


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        Strategy.fit(prompts(120), [1.0], options=FAST, seed=3).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
