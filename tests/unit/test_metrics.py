import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from frugalmct.errors import FrugalError
from frugalmct.metrics import METRICS, metric_from_counts, pearson, rmse, set_metric
from frugalmct.sparse import label_matrix

LABELS = 6
label_sets = st.frozensets(st.integers(0, LABELS - 1))


def _matrix(sets: list[frozenset[int]], score: float = 1.0) -> csr_matrix:
    starts = np.cumsum([0, *map(len, sets)])
    indices = [label for labels in sets for label in sorted(labels)]
    return label_matrix(starts, indices, [score] * len(indices), LABELS)


def _or_one(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


BY_SETS = {
    "accuracy": lambda true, given_: _or_one(len(true & given_), len(true | given_)),
    "f1": lambda true, given_: _or_one(2 * len(true & given_), len(true) + len(given_)),
    "precision": lambda true, given_: _or_one(len(true & given_), len(given_)),
    "recall": lambda true, given_: _or_one(len(true & given_), len(true)),
    "subset": lambda true, given_: float(true == given_),
}


def test_every_metric_has_a_definition_by_sets():
    assert set(BY_SETS) == set(METRICS)


@pytest.mark.parametrize("metric", METRICS)
@given(pairs=st.lists(st.tuples(label_sets, label_sets), min_size=1, max_size=12), score=st.floats(0, 1))
def test_metric_equals_its_definition_by_sets(metric, pairs, score):
    true, predicted = (list(sets) for sets in zip(*pairs, strict=True))
    values = set_metric(_matrix(true), _matrix(predicted, score), metric)
    assert values.tolist() == pytest.approx([BY_SETS[metric](*pair) for pair in pairs])
    assert values.dtype == np.float64


PERSON, CAR, BIKE = 0, 1, 2


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("accuracy", 1 / 3), ("f1", 1 / 2), ("precision", 1 / 2), ("recall", 1 / 2), ("subset", 0)],
)
def test_person_car_bike(metric, expected):
    truth, answer = _matrix([frozenset({PERSON, CAR})]), _matrix([frozenset({PERSON, BIKE})], 0.9)
    assert set_metric(truth, answer, metric).tolist() == pytest.approx([expected])


@pytest.mark.parametrize("metric", METRICS)
def test_both_empty_is_perfect(metric):
    assert set_metric(_matrix([frozenset()]), _matrix([frozenset()]), metric).tolist() == [1.0]


@pytest.mark.parametrize("metric", METRICS)
def test_score_zero_is_still_an_answer(metric):
    truth = _matrix([frozenset({CAR}), frozenset({CAR}), frozenset()])
    answer = _matrix([frozenset({CAR}), frozenset({BIKE}), frozenset({BIKE})], 0.0)
    expected = [BY_SETS[metric](*pair) for pair in [({CAR}, {CAR}), ({CAR}, {BIKE}), (set(), {BIKE})]]
    assert set_metric(truth, answer, metric).tolist() == expected


def test_inputs_are_left_alone():
    truth, answer = _matrix([frozenset({1, 2})]), _matrix([frozenset({2, 3})], 0.0)
    set_metric(truth, answer)
    assert (truth.nnz, answer.nnz, answer.data.tolist()) == (2, 2, [0.0, 0.0])


def test_counts_of_any_shape():
    shared, true, predicted = np.array([[1, 0], [2, 0]]), np.array([[1], [2]]), np.array([[2, 0], [2, 3]])
    np.testing.assert_allclose(metric_from_counts("accuracy", shared, true, predicted), [[0.5, 0], [1, 0]])
    assert metric_from_counts("f1", 1, 1, 2) == pytest.approx(2 / 3)


def test_unknown_metric_is_answered_with_the_known_ones():
    with pytest.raises(
        FrugalError, match="Unknown metric 'auc'; known: accuracy, f1, precision, recall, sub"
    ):
        set_metric(_matrix([frozenset()]), _matrix([frozenset()]), "auc")


def test_different_shapes_are_refused():
    with pytest.raises(FrugalError, match="items x labels"):
        set_metric(_matrix([frozenset()]), _matrix([frozenset()] * 2))


def test_rmse_by_hand():
    assert rmse([0, 1, 2], [0, 3, 2]) == pytest.approx(math.sqrt(4 / 3))
    assert rmse(np.ones((2, 2)), np.zeros((2, 2))) == 1.0


def test_pearson_by_hand():
    assert pearson([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert pearson([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert pearson([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=20))
def test_pearson_agrees_with_numpy(pairs):
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    expected = 0.0 if np.ptp(x) == 0 or np.ptp(y) == 0 else np.corrcoef(x, y)[0, 1]
    assert pearson(x, y) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("items", range(1, 12))
def test_pearson_of_what_does_not_vary_is_zero(items):
    assert pearson(np.full(items, 0.1), np.full(items, 0.1)) == 0.0
    assert pearson(np.full(items, 0.1), np.arange(items)) == 0.0
