"""Single items get the numbers and answers that whole markets get."""

from dataclasses import replace

import numpy as np
import pytest
from live_market import answer_of, photos

from frugalmct.errors import FrugalError
from frugalmct.live.answers import Nonsense, checked_answer
from frugalmct.live.single import SingleItems
from frugalmct.strategy import Strategy

OPTIONS = {"trees": 30, "leaf": 3}


def with_features(market):
    return replace(market, features=np.random.default_rng(4).random((len(market), 2)))


@pytest.mark.parametrize("features", ["labels", "embedding", "given"])
@pytest.mark.parametrize("predictor", ["random_forest", "mean"])
@pytest.mark.parametrize(("method", "saved"), [("paper", False), ("plus", False), ("plus", True)])
def test_estimates_and_answers_are_those_of_the_market(tmp_path, features, predictor, method, saved):
    train, test = (with_features(photos(120, seed, name)) for seed, name in ((1, "old"), (2, "new")))
    options = OPTIONS if predictor == "random_forest" else {}
    settings = {"features": features, "predictor": predictor, "options": options}
    strategy = Strategy.fit(train, 16, method=method, base="cheap", **settings)
    if saved:
        strategy.save(tmp_path / "s.npz")
        strategy = Strategy.load(tmp_path / "s.npz")
    known, names = SingleItems(strategy), strategy.answer_labels(test)
    for state in strategy.combiners:
        who = [test.services[k] for k in state]
        asked = np.tile([k in state for k in range(3)], (len(test), 1))
        sets = strategy.answer(test, asked)
        expected = strategy.estimate(test, 16, who) if state in strategy.models else None
        for row in range(0, len(test), 3):
            answers = {k: checked_answer(answer_of(test, test.services[k], row)) for k in state}
            if expected is not None:
                assert np.array_equal(known.estimate(state, answers, test.features[row]), expected[row])
            found = known.combine(state, answers)
            cut = slice(sets.indptr[row], sets.indptr[row + 1])
            assert found == dict(zip(names[sets.indices[cut]].tolist(), sets.data[cut].tolist(), strict=True))
            assert list(found.values()) == sorted(found.values(), reverse=True)


def test_labels_never_seen_in_training():
    strategy = Strategy.fit(photos(120), 5, base="cheap", options=OPTIONS)
    single = SingleItems(strategy)
    known, more = ({0: answer} for answer in ({"car": 0.9}, {"car": 0.9, "submarine": 0.8}))
    assert np.array_equal(single.estimate((0,), known), single.estimate((0,), more))
    assert not single.knows("submarine")
    found = single.combine((0, 2), {0: {"car": 0.9}, 2: {"submarine": 1.0, "car": 1.0, "yeti": 1.0}})
    assert set(found) >= {"car"} and set(found) <= {"car", "submarine", "yeti"}


@pytest.mark.parametrize("given", [None, [1.0], [1.0, np.nan], [1.0, 2.0, 3.0]])
def test_missing_features_get_a_sentence(given):
    strategy = Strategy.fit(with_features(photos(60)), 5, base="cheap", options=OPTIONS)
    single = SingleItems(strategy)
    with pytest.raises(FrugalError, match="trained with 2 finite numbers for each item"):
        single.estimate((0,), {}, given)


@pytest.mark.parametrize(
    "answer",
    [
        "car", 3, {"car"}, ["car"], [["car"]], [["car", 0.5, 1]], [["car", "0.5"]], [["car", 1.2]],
        [[7, 0.5]], [["car", float("nan")]], [["car", True]], [["", 0.5]], [["a" * 501, 0.5]],
        [["car", 0.1]] * 10_001, object(),
    ],
)  # fmt: skip
def test_nonsense_is_refused(answer):
    with pytest.raises(Nonsense):
        checked_answer(answer)


@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        ([], {}),
        ((), {}),
        ([["car", 0.9]], {"car": 0.9}),
        ([("car", 0.3), ("car", 0.9), ("car", 0.5)], {"car": 0.9}),
        ({"car": 1}, {"car": 1.0}),
        ([["car", np.float32(0.5)]], {"car": 0.5}),
    ],
)
def test_answers_that_make_sense(answer, labels):
    assert checked_answer(answer) == labels
