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
@pytest.mark.parametrize("saved", [False, True])
def test_estimates_and_answers_are_those_of_the_market(tmp_path, features, predictor, saved):
    train, test = (with_features(photos(120, seed, name)) for seed, name in ((1, "old"), (2, "new")))
    options = OPTIONS if predictor == "random_forest" else {}
    strategy = Strategy.fit(train, 5, base="cheap", features=features, predictor=predictor, options=options)
    if saved:
        strategy.save(tmp_path / "s.npz")
        strategy = Strategy.load(tmp_path / "s.npz")
    # Fewer labels are known than the new items have.
    known = SingleItems(strategy.models[0], strategy.labels)
    expected = strategy.estimate(test, 5)
    choices = np.arange(len(test)) % 3
    sets = strategy.answer(test, choices, 5)
    names = strategy.answer_labels(test)
    for row, choice in enumerate(choices.tolist()):
        base, addon = (checked_answer(answer_of(test, s, row)) for s in ("cheap", test.services[choice]))
        assert np.array_equal(known.estimate(base, test.features[row]), expected[row])
        found = known.combine(base, addon if choice else None, choice)
        cut = slice(sets.indptr[row], sets.indptr[row + 1])
        assert found == dict(zip(names[sets.indices[cut]].tolist(), sets.data[cut].tolist(), strict=True))
        assert list(found.values()) == sorted(found.values(), reverse=True)


def test_labels_never_seen_in_training():
    strategy = Strategy.fit(photos(120), 5, base="cheap", options=OPTIONS)
    single = SingleItems(strategy.models[0], strategy.labels)
    assert np.array_equal(single.estimate({"car": 0.9}), single.estimate({"car": 0.9, "submarine": 0.8}))
    assert not single.knows("submarine")
    found = single.combine({"car": 0.9}, {"submarine": 1.0, "car": 1.0, "yeti": 1.0}, 2)
    assert set(found) >= {"car"} and set(found) <= {"car", "submarine", "yeti"}


@pytest.mark.parametrize("given", [None, [1.0], [1.0, np.nan], [1.0, 2.0, 3.0]])
def test_missing_features_get_a_sentence(given):
    strategy = Strategy.fit(with_features(photos(60)), 5, base="cheap", options=OPTIONS)
    single = SingleItems(strategy.models[0], strategy.labels)
    with pytest.raises(FrugalError, match="trained with 2 finite numbers for each item"):
        single.estimate({}, given)


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
