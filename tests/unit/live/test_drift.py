"""Sketches add up; drift is found soon, and hardly ever where there is none."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from released import real_folder
from scipy.sparse import csr_matrix
from scipy.stats import ks_2samp

from frugalmct.errors import FrugalError
from frugalmct.live.drift import compare
from frugalmct.live.sketch import BINS, Recent, Sketch
from frugalmct.model import AccuracyModel, Learning
from frugalmct.sources import load_market
from frugalmct.splits import split

LABELS = ["car", "dog", "cat", "bus"]
SHARES = np.array([0.5, 0.2, 0.05, 0.01])


def traffic(chance: np.random.Generator, items: int, shares: np.ndarray = SHARES, harder: float = 0.0):
    """Estimates of three choices, the base's answers, and the accuracy expected of what is chosen."""
    estimates = np.clip(chance.beta(5, 2, (items, 3)) - harder, 0, 1)
    answers = csr_matrix((chance.random((items, len(shares))) < shares).astype(float))
    return estimates, answers, estimates.max(axis=1)


def sketch_of(training: Sketch, estimates: np.ndarray, answers: csr_matrix, expected: np.ndarray) -> Sketch:
    live = training.like()
    for number, row in enumerate(estimates):
        labels = [LABELS[k] for k in answers[number].indices]
        live.add(row, labels, expected[number], cost=2.0)
    return live


def quick_sketch(
    training: Sketch, estimates: np.ndarray, answers: csr_matrix, expected: np.ndarray
) -> Sketch:
    """The same for many items at once, in the training sketch's order of labels."""
    made = Sketch.of_training(estimates, answers, LABELS, expected)
    live = training.like()
    live.estimates, live.items, live.silent = made.estimates, made.items, made.silent
    live.expected, live.expected_squares = made.expected, made.expected_squares
    counted = dict(zip(made.labels, made.given, strict=True))
    live.given = np.array([counted.get(label, 0) for label in training.labels])
    return live


@pytest.fixture
def chance() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture
def training(chance: np.random.Generator) -> Sketch:
    estimates, answers, expected = traffic(chance, 5_000)
    return Sketch.of_training(estimates, answers, LABELS, expected)


def test_counts_by_hand() -> None:
    answers = csr_matrix(np.array([[0, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=float))
    sketch = Sketch.of_training(
        [[0.0, 1.0], [0.05, 0.51], [0.99, 0.5]], answers, ["a", "b", "c"], [1, 0.5, 0]
    )
    assert sketch.labels == ("b", "c")
    assert (sketch.given.tolist(), sketch.items, sketch.silent) == ([2, 1], 3, 1)
    assert sketch.estimates[0, [0, 1, BINS - 1]].tolist() == [1, 1, 1]
    assert sketch.expected_accuracy == 0.5
    assert sketch.expected_error == pytest.approx(np.std([1, 0.5, 0], ddof=1) / np.sqrt(3))


def test_one_by_one_or_all_at_once(training: Sketch, chance: np.random.Generator) -> None:
    live = traffic(chance, 200)
    slow, quick = sketch_of(training, *live), quick_sketch(training, *live)
    quick.cost = slow.cost
    assert json.loads(slow.to_text())["estimates"] == json.loads(quick.to_text())["estimates"]
    assert slow.given.tolist() == quick.given.tolist()
    assert slow.expected == pytest.approx(quick.expected)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([*LABELS, "new"]), st.booleans()), max_size=30),
    st.data(),
)
def test_parts_add_up_in_any_order(items: list[tuple[float, str, bool]], data: st.DataObject) -> None:
    whole, parts = Sketch(2, LABELS), [Sketch(2, LABELS) for _ in range(3)]
    for value, label, silent in items:
        for sketch in (whole, data.draw(st.sampled_from(parts))):
            sketch.add([value, 1 - value], [] if silent else [label], value, unseen=label == "new")
    merged = parts[2].merge(parts[0]).merge(parts[1])
    for again in (
        merged,
        Sketch.from_text(merged.to_text()),
        Sketch.from_arrays(merged.to_arrays("x."), "x."),
    ):
        assert again.estimates.tolist() == whole.estimates.tolist()
        assert again.given.tolist() == whole.given.tolist()
        assert (again.items, again.silent, again.unseen) == (whole.items, whole.silent, whole.unseen)
        assert again.expected == pytest.approx(whole.expected)


def test_recent_items_only(training: Sketch) -> None:
    recent = Recent(training.like(), size=100)
    for number in range(35):
        part = training.like()
        for _ in range(10):
            part.add([number / 35] * 3, ["car"], number)
        recent.absorb(part)
        recent = Recent.from_text(recent.to_text())
        assert min(10 * (number + 1), 100) <= recent.sketch.items <= 200
    assert recent.sketch.expected_accuracy > 25  # what came first is forgotten


def test_distances_are_those_of_scipy(training: Sketch, chance: np.random.Generator) -> None:
    """With all values in the middle of bins the histogram loses nothing."""
    then = (chance.integers(0, BINS, 2_000) + 0.5) / BINS
    now = (chance.integers(0, BINS // 2, 500) + 0.5) / BINS
    nothing = [csr_matrix((size, 1)) for size in (2_000, 500)]
    sketches = [
        Sketch.of_training(values[:, None], answers, ["a"], values)
        for values, answers in zip((then, now), nothing, strict=True)
    ]
    drift = compare(*sketches)
    found = next(entry for entry in drift.distances if "estimates" in entry.about)
    assert found.distance == pytest.approx(ks_2samp(then, now).statistic)


@pytest.mark.parametrize("items", [100, 400, 2_000])
def test_false_alarms_are_rarer_than_alpha(items: int) -> None:
    """Without any tolerance, chance alone: at most `alpha` of the looks raise an alarm."""
    chance, alarms, looks = np.random.default_rng(items), 0, 400
    for _ in range(looks):
        estimates, answers, expected = traffic(chance, 3_000)
        training = Sketch.of_training(estimates, answers, LABELS, expected)
        live = quick_sketch(training, *traffic(chance, items))
        alarms += compare(training, live, alpha=0.05, tolerance=(0, 0)).drifted
        assert not compare(training, live).drifted
    assert alarms <= 0.05 * looks


def test_drift_is_found(training: Sketch, chance: np.random.Generator) -> None:
    harder = quick_sketch(training, *traffic(chance, 500, harder=0.15))
    drift = compare(training, harder, choices=("A", "A and B", "A and C"))
    assert drift.drifted and drift.below_promise and drift.gap < -0.1
    assert "the estimates of A" in str(drift)
    other = quick_sketch(training, *traffic(chance, 500, shares=np.array([0.5, 0.2, 0.05, 0.3])))
    drift = compare(training, other)
    assert drift.drifted and drift.distances[0].about == "label bus"
    assert not drift.below_promise
    silent = quick_sketch(training, *traffic(chance, 500, shares=SHARES * 0.4))
    assert "silence" in {entry.about for entry in compare(training, silent).distances if entry.drifted}


def test_new_labels_are_drift(training: Sketch, chance: np.random.Generator) -> None:
    live = sketch_of(training, *traffic(chance, 300))
    live.unseen = 90
    assert compare(training, live).distances[0].about == "labels never seen"


def test_truth_that_comes_later(training: Sketch) -> None:
    live = training.like()
    for accuracy in (1.0, 0.5):
        live.judge(accuracy)
    assert (compare(training, live).reached, compare(training, live).judged) == (0.75, 2)


def test_few_items_give_no_verdict(training: Sketch, chance: np.random.Generator) -> None:
    live = quick_sketch(training, *traffic(chance, 99, harder=0.5))
    drift = compare(training, live)
    assert not drift.drifted and not drift.below_promise
    assert str(drift).startswith("no verdict yet: 99 items")


def test_sketches_of_different_strategies(training: Sketch) -> None:
    with pytest.raises(FrugalError, match="different strategies"):
        compare(training, Sketch(3, ["other"]))
    with pytest.raises(FrugalError, match="different strategies"):
        training.merge(Sketch(2, training.labels))


@pytest.mark.slow
def test_on_recorded_answers() -> None:
    """The usual mix raises no alarm; of the harder half, 500 items do."""
    source = {"kind": "frugalmct", "path": str(real_folder("FrugalMCT", "PASCAL"))}
    prices = {"Everypixel": 6.0, "Microsoft": 10.0, "Google": 15.0}
    market = load_market("PASCAL", {"task": "MIC", "source": source, "prices": prices})
    parts = split(len(market), seed=2022, dataset=market.name, repetition=0)
    learnt, test = market.subset(parts.whole_train), market.subset(parts.test)
    model = AccuracyModel.fit(learnt, 0, Learning())
    known, estimates = model.predictor.training_estimates, model.estimate(test.evidence(0))
    training = Sketch.of_training(known, learnt.scores[0], market.labels, known.max(axis=1))

    def live(rows: np.ndarray) -> Sketch:
        sketch, answers = training.like(), test.scores[0]
        for row in rows:
            labels = market.labels[answers.indices[answers.indptr[row] : answers.indptr[row + 1]]]
            sketch.add(estimates[row], labels.tolist(), float(estimates[row].max()))
        return sketch

    chance = np.random.default_rng(0)
    for items in (100, 500, 2_000):
        assert not any(
            compare(training, live(chance.choice(len(test), items, replace=False))).drifted for _ in range(20)
        )
    assert not compare(training, live(np.arange(len(test)))).drifted
    hard = np.argsort(test.choice_accuracy(model.combiners).mean(axis=1), kind="stable")[: len(test) // 2]
    for _ in range(10):
        drift = compare(training, live(chance.choice(hard, 500, replace=False)))
        assert drift.drifted and drift.below_promise
