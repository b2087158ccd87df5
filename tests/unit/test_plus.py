import json
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers import BLOCKS, small_market, turned_round

from frugalmct import Strategy
from frugalmct import plus as plus_training
from frugalmct.cascade import NEVER, Cascade, joined
from frugalmct.combine.learned import LearnedCombiner
from frugalmct.combine.validation import fold_choices
from frugalmct.combine.weight_threshold import combine, search
from frugalmct.errors import FrugalError
from frugalmct.market import Evidence, Market
from frugalmct.metrics import set_metric
from frugalmct.model import Learning
from frugalmct.sources import load_market
from frugalmct.sparse import label_matrix, take_rows
from frugalmct.splits import split
from frugalmct.states import PaperCombiner, StateModel
from frugalmct.sweep import sweep
from frugalmct.training import folds

FAST = Learning(options={"trees": 10, "leaf": 10}, seed=4)
BUDGETS = [0.01, 3.0, 8.0, 16.0, 40.0]


@pytest.fixture(scope="module")
def markets() -> tuple[Market, Market]:
    market = load_market("PASCAL", BLOCKS["PASCAL"], seed=8, scale=0.1)
    parts = split(len(market), seed=8)
    return market.subset(parts.whole_train), market.subset(parts.test)


@pytest.fixture(scope="module")
def strategy(markets) -> Strategy:
    return Strategy.fit(markets[0], BUDGETS, base="SSD", learning=FAST)


@pytest.fixture(scope="module")
def saved(strategy, tmp_path_factory):
    path = tmp_path_factory.mktemp("plus") / "plus.npz"
    strategy.save(path)
    return path


def test_it_is_what_one_gets_by_default(strategy):
    assert strategy.made.method == "plus" and strategy.steps == 3


@pytest.mark.parametrize("kind", ["labels", "embedding", "given"])
def test_a_sweep_is_an_evaluation_at_each_budget(markets, kind):
    # Numbers of the items' own: how many true labels there are.
    train, test = (replace(part, features=np.asarray(part.truth.sum(axis=1))) for part in markets)
    strategy = Strategy.fit(train, BUDGETS, learning=replace(FAST, features=kind))
    for budget, found in zip(BUDGETS, sweep(strategy, test, BUDGETS), strict=True):
        alone = strategy.evaluate(test, budget)
        assert np.array_equal(found.asked, alone.asked)
        assert (found.accuracy, found.cost) == (alone.accuracy, alone.cost)


def test_never_over_budget_and_better_with_more(strategy, markets):
    found = [strategy.evaluate(markets[1], budget) for budget in BUDGETS]
    for budget, evaluation in zip(BUDGETS, found, strict=True):
        counts = evaluation.asked.sum(axis=0).tolist()
        spent = math.fsum(count * price for count, price in zip(counts, strategy.prices, strict=True))
        assert spent <= len(markets[1]) * budget * (1 + 1e-12)
        assert evaluation.cost == pytest.approx(spent / len(markets[1]))
        assert evaluation.asked[:, 0].all() and evaluation.asked.sum(axis=1).max() <= 4
    assert found[0].asked.sum() == len(markets[1])  # the base alone
    assert found[3].accuracy > found[0].accuracy + 0.1


def test_items_unlike_the_training_items_cannot_break_the_budget(strategy, markets):
    """All items are the one that most is spent on."""
    wanted = strategy.evaluate(markets[1], 40.0).asked @ strategy.prices
    same = markets[1].subset(np.full(200, int(wanted.argmax())))
    for budget in BUDGETS[1:]:
        assert strategy.evaluate(same, budget).cost <= budget * (1 + 1e-12)


def test_a_second_service_is_asked_only_where_it_can_be_paid(strategy, markets):
    assert strategy.decide(markets[1], 3.0).sum(axis=1).min() == 1
    assert {2, 3} <= set(strategy.decide(markets[1], 16.0).sum(axis=1).tolist())


def test_decisions_do_not_look_at_the_truth(strategy, markets):
    test = markets[1]
    blinded = replace(test, truth=test.scores[3])
    assert np.array_equal(strategy.decide(test, 8.0), strategy.decide(blinded, 8.0))


def test_decisions_do_not_look_at_answers_that_were_not_asked_for(strategy, markets):
    test = markets[1]
    asked = strategy.decide(test, 16.0)
    silent = []
    for service, scores in enumerate(test.scores):
        sizes = np.where(asked[:, service], np.diff(scores.indptr), 0)
        kept = np.repeat(asked[:, service], np.diff(scores.indptr))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        silent.append(label_matrix(starts, scores.indices[kept], scores.data[kept], len(test.labels)))
    hidden = replace(test, scores=tuple(silent))
    assert np.array_equal(strategy.decide(hidden, 16.0), asked)
    expected, found = strategy.answer(test, asked), strategy.answer(hidden, asked)
    assert (expected != found).nnz == 0


def test_accuracy_is_that_of_each_items_state(strategy, markets):
    """Item by item: the combiner of who was asked, on that item's answers alone."""
    test = markets[1]
    evaluation = strategy.evaluate(test, 16.0)
    reached = []
    for item in range(len(test)):
        state = tuple(np.flatnonzero(evaluation.asked[item]).tolist())
        kept = strategy.combiners[state].apply([take_rows(test.scores[k], np.array([item])) for k in state])
        true = set(take_rows(test.truth, np.array([item])).indices.tolist())
        given = set(kept.indices.tolist())
        reached.append(len(true & given) / len(true | given) if true | given else 1.0)
    assert evaluation.accuracy == pytest.approx(np.mean(reached))
    answer = strategy.answer(test, evaluation.asked)
    assert set_metric(test.truth, answer).mean() == pytest.approx(evaluation.accuracy)


def test_live_items_are_decided_and_answered_as_in_bulk(strategy, markets):
    """Step by step, with plain answers of the services asked so far."""
    test = markets[1].subset(np.arange(60))
    asked = strategy.decide(test, 16.0)
    bulk = strategy.answer(test, asked)
    selector = strategy.selector(16.0, len(test))
    for item in range(len(test)):
        answers, beside, state = {}, [], selector.begin()
        for service in state:
            answers[test.services[service]] = plain(test, service, item)
        while state in strategy.models:
            service = selector.ask(state, strategy.estimate(answers, 16.0, beside)[0])
            if service is None:
                break
            beside.append(test.services[service])
            answers[beside[-1]] = plain(test, service, item)
            state = joined(state, service)
        assert state == tuple(np.flatnonzero(asked[item]).tolist())
        given = [take_rows(test.scores[k], np.array([item])) for k in state]
        found, own = strategy.combiners[state].apply(given), take_rows(bulk, np.array([item]))
        assert set(found.indices) == set(own.indices)
    assert selector.spent == pytest.approx((asked @ test.prices).sum())


def plain(market, service, item):
    row = take_rows(market.scores[service], np.array([item]))
    return Evidence.of([[(market.labels[k], v) for k, v in zip(row.indices, row.data, strict=True)]])


def test_the_price_spends_the_budget_of_the_training_items(markets):
    """Independently: the walk of the training items at the plan's price, and just below it."""
    learnt, plans = plus_training.learn(markets[0], [8.0], [(0,)], [0.01], FAST)
    cascade = Cascade(markets[0].prices, (0,), learnt.training.estimates)
    target = 0.01 + 0.99 * (8.0 - 0.01)
    assert cascade.walk(plans[0].dual_price).cost.mean() <= target * (1 + 1e-12)
    assert cascade.walk(plans[0].dual_price * (1 - 1e-6)).cost.mean() > target


def test_targets_are_out_of_fold(markets):
    """What the predictors learn is the accuracy by combiners that have not seen the item."""
    learnt, _ = plus_training.learn(markets[0], [8.0], [(0,)], [0.01], FAST)
    for state, combiner in learnt.combiners.items():
        answers = [markets[0].scores[k] for k in state]
        learned = LearnedCombiner.fit(markets[0].truth, answers, seed=4)
        if isinstance(combiner, PaperCombiner):
            folds = fold_choices(markets[0].truth, answers[0], answers[-1], learned.fold, abstain=True)
            expected = np.zeros(len(markets[0]))
            for fold, (weight, threshold) in folds.items():
                kept = combine(answers[0], answers[-1], weight, threshold, abstain=True)
                own = learned.fold == fold
                expected[own] = set_metric(markets[0].truth, kept)[own]
            assert expected.mean() >= learned.out_of_fold.mean()
        else:
            expected = learned.out_of_fold
        np.testing.assert_allclose(learnt.training.accuracy[state], expected)


def test_the_base_is_the_best_over_folds(markets):
    """Independently: the walk of each fold at the dual price of the others, by hand."""
    train, budgets = markets[0], [12.0, 16.0]
    bases = [(service,) for service in range(4)]
    learnt, plans = plus_training.learn(train, budgets, bases, [0.01], FAST)
    training, trials = learnt.training, folds(len(train), 4)
    assert sorted(np.concatenate([tried for _, tried in trials])) == list(range(len(train)))

    def worth(base, budget):
        total = 0.0
        for others, own in trials:
            cascade = Cascade(train.prices, base, training.estimates)
            asked = cascade.rows(own).walk(cascade.rows(others).dual_price(budget, 0.01)).asked
            states = [tuple(np.flatnonzero(row).tolist()) for row in asked]
            total += sum(training.accuracy[s][item] for s, item in zip(states, own.tolist(), strict=True))
        return total / len(train)

    in_use = list(training.given)
    for plan in plans:
        payable = [base for base in in_use if train.prices[base[0]] <= plan.budget]
        best = max(payable, key=lambda base: worth(base, plan.budget))
        # Money that runs out on a fold makes a difference of a few items at most.
        assert worth(plan.base, plan.budget) == pytest.approx(worth(best, plan.budget), abs=0.002)


@pytest.mark.parametrize("names", [["SSD", "Everypixel"], ["Google", "SSD"]])
def test_several_services_first(markets, tmp_path, names):
    train, test = markets
    strategy = Strategy.fit(train, [16.0, 22.0], base=names, learning=FAST)
    base = tuple(sorted(train.service_index(name) for name in names))
    strategy.save(tmp_path / "s.npz")
    loaded = Strategy.load(tmp_path / "s.npz")
    for budget in strategy.plans:
        assert strategy.plan(budget).base == base
        found = strategy.evaluate(test, budget)
        assert found.cost <= budget * (1 + 1e-12) and found.asked[:, list(base)].all()
        assert found.asked.sum(axis=1).max() <= 4
        assert np.array_equal(loaded.evaluate(test, budget).asked, found.asked)
    assert strategy.evaluate(test, 22.0).asked.sum() > strategy.evaluate(test, 16.0).asked.sum()
    rows = strategy.estimate(test, 16.0)
    assert np.array_equal(rows[:, base[0]], rows[:, base[1]]), "stopping is the same for both"
    with pytest.raises(FrugalError, match="does not pay for the base"):
        Strategy.fit(train, [6.0 if 1 in base else 15.0], base=names, learning=FAST)


def mean_metric(truth, base, addon, chosen) -> float:
    return float(set_metric(truth, combine(base, addon, *chosen, abstain=True)).mean())


def test_choices_of_folds_are_those_of_a_search_on_the_others(markets):
    train = markets[0]
    fold = np.arange(len(train)) % 4
    found = fold_choices(train.truth, train.scores[0], train.scores[2], fold, abstain=True)
    assert sorted(found) == [0, 1, 2, 3]
    for number, chosen in found.items():
        others = np.flatnonzero(fold != number)
        matrices = [train.truth, train.scores[0], train.scores[2]]
        learnt = [take_rows(matrix, others) for matrix in matrices]
        searched = search(*learnt, abstain=True)
        # Of several that reach the same on those items, either may have found another one.
        assert mean_metric(*learnt, chosen) == pytest.approx(mean_metric(*learnt, searched), abs=1e-12)


def test_one_service_is_that_service(markets):
    train, test = (market.with_services(["Google"]) for market in markets)
    strategy = Strategy.fit(train, [15.0, 20.0], learning=FAST)
    found = strategy.evaluate(test, 20.0)
    assert found.asked.all() and found.cost == 15.0
    kept = strategy.combiners[0,].apply([test.scores[0]])
    assert found.accuracy == pytest.approx(set_metric(test.truth, kept).mean())
    assert found.accuracy >= set_metric(test.truth, test.scores[0]).mean() - 0.03


def test_one_label_per_item(markets):
    strategy = Strategy.fit(markets[0], [8.0], base="SSD", learning=replace(FAST, labels_per_item=1))
    asked = strategy.decide(markets[1], 8.0)
    assert np.diff(strategy.answer(markets[1], asked).indptr).max() == 1


def test_the_same_seed_gives_the_same_strategy(strategy, markets):
    again = Strategy.fit(markets[0], BUDGETS, base="SSD", learning=FAST)
    assert again.plans == strategy.plans
    for budget in BUDGETS:
        assert np.array_equal(again.decide(markets[1], budget), strategy.decide(markets[1], budget))


def test_a_saved_strategy_is_the_same(strategy, saved, markets):
    loaded = Strategy.load(saved)
    assert loaded.plans == strategy.plans and loaded.services == strategy.services
    assert loaded.combiners.keys() == strategy.combiners.keys()
    for budget in BUDGETS:
        expected, found = strategy.evaluate(markets[1], budget), loaded.evaluate(markets[1], budget)
        assert np.array_equal(found.asked, expected.asked)
        assert (found.accuracy, found.cost) == (expected.accuracy, expected.cost)
        assert (loaded.answer(markets[1], found.asked) != strategy.answer(markets[1], found.asked)).nnz == 0
    with np.load(saved, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays)


def test_another_order_of_labels_and_services_changes_nothing(strategy, markets):
    test = markets[1]
    shuffled = turned_round(test)
    expected, found = strategy.evaluate(test, 8.0), strategy.evaluate(shuffled, 8.0)
    assert np.array_equal(found.asked, expected.asked)
    assert found.accuracy == pytest.approx(expected.accuracy)


def test_only_states_that_a_plan_can_come_to_are_kept(markets):
    strategy = Strategy.fit(markets[0], [8.0], learning=FAST)
    start = strategy.plan(8.0).base
    assert all(set(start) <= set(state) for state in strategy.combiners)
    one = Strategy.fit(markets[0], [16.0], base="SSD", learning=FAST, steps=1)
    assert list(one.models) == [(0,)] and one.decide(markets[1], 16.0).sum(axis=1).max() == 2
    paper = Strategy.fit(markets[0], [16.0], base="SSD", learning=FAST, combiner="weight_threshold")
    assert all(isinstance(combiner, PaperCombiner) for combiner in paper.combiners.values())


def test_with_many_services_few_states_are_learnt(markets, monkeypatch):
    monkeypatch.setattr(plus_training, "FEW_SERVICES", 3)
    monkeypatch.setattr(plus_training, "ENOUGH_ITEMS", 150)
    learnt, plans = plus_training.learn(markets[0], [16.0], [(0,), (1,), (2,), (3,)], [0.01], FAST)
    start = plans[0].base
    assert sum(len(state) == 2 for state in learnt.models) == 2
    assert [state for state in learnt.combiners if len(state) == 3]
    assert all(set(start) <= set(state) for state in learnt.models if len(state) == 2)
    assert all(len(values) == 150 for values in learnt.training.accuracy.values())
    strategy = Strategy.fit(markets[0], [16.0], learning=FAST)
    assert strategy.evaluate(markets[1], 16.0).cost <= 16 * (1 + 1e-12)


def test_of_items_with_many_labels_fewer_are_learnt_from(markets, monkeypatch):
    given = sum(answers.nnz for answers in markets[0].scores)
    monkeypatch.setattr(plus_training, "ENOUGH_LABELS", given // 2)
    learner = plus_training.Learner(markets[0], FAST)
    assert len(learner.rows) == len(learner.part) == len(markets[0]) // 2


def test_what_is_no_choice_is_never_chosen():
    wide = StateModel((1, 3), (1, 2), None, 4).wide(np.array([[0.1, 0.5]]))
    assert wide.tolist() == [[NEVER, 0.1, 0.5, 0.1]]


def test_prices_that_round_up_in_the_mean_do_not_keep_the_search_from_ending():
    estimates = {(0,): np.tile([0.5, 0.9], (18, 1))}
    assert np.full(18, 0.01).mean() > 0.01
    cascade = Cascade(np.array([0.01, 5.0]), (0,), estimates)
    assert cascade.walk(cascade.dual_price(0.01)).asked.sum() == 18


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"budgets": []}, "no budgets were given"),
        ({"budgets": [0.001]}, "does not pay for the base service"),
        ({"budgets": [math.nan]}, "does not pay for the base service"),
        ({"budgets": ["6"]}, "a budget is '6'; give a number"),
        ({"base": "Bing"}, "no service 'Bing'; its services: SSD"),
        ({"steps": 4}, "with combiner 'learned' and steps 4"),
        ({"steps": 2, "combiner": "weight_threshold"}, "plus with combiner 'learned' up to 3"),
        ({"combiner": "magic"}, "unknown combiner 'magic'; known: learned, weight_threshold"),
        ({"learning": Learning(predictor="crystal_ball")}, "Unknown predictor 'crystal_ball'; known"),
        ({"learning": Learning(metric="luck")}, "Unknown metric 'luck'; known"),
        ({"learning": Learning(features="smell")}, "Unknown features 'smell'; known"),
        ({"learning": Learning(labels_per_item=0)}, "labels_per_item is 0"),
    ],
)
def test_mistakes_get_a_sentence(markets, arguments, sentence):
    arguments = {"budgets": [6.0], "base": "SSD", "learning": FAST} | arguments
    with pytest.raises(FrugalError) as error:
        Strategy.fit(markets[0], **arguments)
    assert sentence in str(error.value)


def test_what_was_not_learnt_is_named(strategy, markets):
    with pytest.raises(FrugalError, match=r"not trained for budget 7; it knows 0\.01, 3\.0"):
        strategy.decide(markets[1], 7)
    with pytest.raises(FrugalError, match="has no service 'SSD'"):
        strategy.decide(small_market(), 8.0)
    with pytest.raises(FrugalError, match="never asks nobody together"):
        strategy.answer(markets[1], np.zeros((len(markets[1]), 4), dtype=bool))
    with pytest.raises(FrugalError, match="give what `decide` returns"):
        strategy.answer(markets[1], np.zeros((2, 4), dtype=bool))
    with pytest.raises(FrugalError, match="The answers of SSD are missing"):
        strategy.estimate({}, 8.0)
    with pytest.raises(FrugalError, match="The answers of Google are missing"):
        strategy.estimate(Evidence.of([[]]), 8.0, ["Google"])
    with pytest.raises(FrugalError, match="has no service 'Bing'"):
        strategy.estimate(markets[1], 8.0, ["Bing"])
    with pytest.raises(
        FrugalError, match=r"asks nobody after SSD \+ Everypixel \+ Microsoft \+ Google: it stops there"
    ):
        strategy.estimate(markets[1], 8.0, ["Everypixel", "Microsoft", "Google"])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"\x80\x04K\x01."])
def test_a_damaged_file_is_refused(tmp_path, content):
    path = tmp_path / "plus.npz"
    path.write_bytes(content)
    with pytest.raises(FrugalError, match=r"not a strategy file .* train and save the strategy again"):
        Strategy.load(path)
    with pytest.raises(FrugalError, match="no such strategy file"):
        Strategy.load(tmp_path / "absent.npz")


def _without(state):
    def change(header):
        header["states"] = [row for row in header["states"] if row["state"] != state]

    return change


def _set(*path_and_value):
    *path, last, value = path_and_value

    def change(header):
        for step in path:
            header = header[step]
        header[last] = value

    return change


# The first state is that of the base alone, (0,).
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_set("format", "frugalmct-strategy-2"), "its format is frugalmct-strategy-2"),
        (_set("metric", "luck"), "its metric must be one of"),
        (_set("plans", []), "at least one entry"),
        (_set("plans", 0, "dual_price", -1), "dual_price is -1"),
        (_set("plans", 0, "base", [9]), "not a sorted tuple"),
        (_set("plans", 0, "base", [0, 1, 2, 3]), "a plan's base is a state without a model"),
        (_set("plans", 0, "base", [0, 1, 2]), "a plan's budget does not pay for its base"),
        (_set("plans", 0, "base", "0"), "must be a list of service numbers"),
        (_set("plans", 0, "base", [True]), "must be a list of service numbers"),
        (_set("plans", 1, "budget", 0.01), "two plans for one budget"),
        (_set("plans", 0, "budget", 0.001), "does not pay for its base"),
        (_set("states", 0, "state", [1, 0]), "not a sorted tuple"),
        (_set("states", 0, "model", "outputs", [0, 1, 2]), "does not fit its outputs"),
        (_set("states", 0, "model", "outputs", [1, 2, 3]), "does not fit its outputs"),
        (_set("states", 0, "model", "outputs", [0, 1, 2, 2]), "does not fit its outputs"),
        (_set("states", 0, "model", "outputs", [0, 1, 2, 9]), "does not fit its outputs"),
        (_set("states", 0, "model", None), "a state without a model"),
        (_set("steps", 4), "steps is 4"),
        (_set("steps", 1), "a state that no plan comes to"),
        (_set("made", "method", "magic"), "its method must be one of paper, plus"),
        (_set("states", 0, "model", "predictor", "columns", 7), "damaged|wants 7 columns"),
        (_set("states", 0, "combiner", {"combiner": "pickle"}), "combiner of 1 services is 'pickle'"),
        (_set("states", 0, "combiner", {"combiner": "weight_threshold", "weight": 2}), "weight is 2"),
        (_set("states", 0, "combiner", 5), "combiner of 1 services"),
        (_set("states", 0, "extra", 5), "unknown fields"),
        (_set("extra", 5), "unknown fields"),
        (_set("labels", ["a"]), "columns"),
        (_set("services", ["SSD"]), "prices"),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(saved, tmp_path, change, sentence):
    with pytest.raises(FrugalError, match=sentence) as error:
        Strategy.load(_changed(saved, tmp_path, change))
    assert "\n" not in str(error.value) and str(error.value).endswith("train and save the strategy again.")


def test_a_missing_state_is_refused(strategy, saved, tmp_path):
    last = max(strategy.combiners)
    number = list(strategy.combiners).index(last)
    assert number == len(strategy.combiners) - 1  # so that the other states keep their arrays
    path = _changed(saved, tmp_path, _without(list(last)), drop=f"state{number}.")
    with pytest.raises(FrugalError, match="a state that it can come to is missing"):
        Strategy.load(path)


def test_arrays_that_are_missing_or_too_many_are_refused(saved, tmp_path):
    with pytest.raises(FrugalError, match="damaged"):
        Strategy.load(_changed(saved, tmp_path, lambda header: None, drop="state1.combiner.leaves"))
    for name in ("training.accuracy", "training.estimated0", "training.items0", "ids.hashes"):
        with pytest.raises(FrugalError, match=f"'{name}' is missing"):
            Strategy.load(_changed(saved, tmp_path, lambda header: None, drop=name))
    with pytest.raises(FrugalError, match="do not belong there"):
        Strategy.load(_changed(saved, tmp_path, lambda header: None, extra=np.zeros(2)))


def _changed(path, folder, change, drop=None, **extra):
    """The file with another header, and without the arrays whose names begin so."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file if drop is None or not name.startswith(drop)}
    header = json.loads(arrays["header"].tobytes())
    change(header)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(folder / "changed.npz", **arrays, **extra)
    return folder / "changed.npz"
