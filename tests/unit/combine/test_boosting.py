"""Boosted trees as plain arrays, against scikit-learn's own."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from frugalmct.combine import boosting
from frugalmct.combine.boosting import BoostedTrees


def rows_of(rows, seed=0):
    draw = np.random.default_rng(seed)
    table = draw.random((rows, 6)).round(2).astype(np.float32)
    return table, draw.random(rows) < 1 / (1 + np.exp(-6 * (table[:, 0] - table[:, 1] * table[:, 2])))


@pytest.mark.parametrize("rows", [30, 400, 5_000])
def test_estimates_are_those_of_scikit_learn(rows):
    table, is_true = rows_of(rows)
    theirs = HistGradientBoostingClassifier(
        learning_rate=boosting.LEARNING_RATE,
        max_iter=boosting.ROUNDS,
        max_depth=boosting.DEPTH,
        max_leaf_nodes=None,
        min_samples_leaf=boosting.LEAST_IN_LEAF,
        l2_regularization=boosting.SHRINKAGE,
        max_bins=boosting.BINS,
        early_stopping=False,
    ).fit(table, is_true)
    new = rows_of(700, seed=1)[0]
    ours = BoostedTrees.fit(table, is_true).probabilities(new)
    np.testing.assert_allclose(ours, theirs.predict_proba(new)[:, 1], atol=1e-6)


def test_a_row_is_judged_alone_as_among_others():
    table, is_true = rows_of(1_000)
    trees = BoostedTrees.fit(table, is_true)
    together = trees.probabilities(table)
    assert [trees.probabilities(row[None])[0] for row in table[:20]] == together[:20].tolist()
    assert trees.probabilities(table[:0]).shape == (0,)


def test_many_rows_are_judged_as_few(monkeypatch):
    table, is_true = rows_of(2 * boosting.MANY_ROWS)
    trees = BoostedTrees.fit(table, is_true)
    many = trees.probabilities(table)
    assert [trees.probabilities(row[None])[0] for row in table[:20]] == many[:20].tolist()
    monkeypatch.setattr(boosting, "MANY_ROWS", len(table) + 1)
    assert many.tobytes() == trees.probabilities(table).tobytes()


@pytest.mark.parametrize(("right", "expected"), [(0, 0.5 / 11), (10, 10.5 / 11)])
def test_rows_that_are_all_alike_give_a_constant(right, expected):
    table = np.zeros((10, 3), np.float32)
    trees = BoostedTrees.fit(table, np.arange(10) < right)
    np.testing.assert_allclose(trees.probabilities(table), expected)
    again = BoostedTrees.from_arrays(trees.offset, trees.arrays(), columns=3)
    np.testing.assert_allclose(again.probabilities(table), expected)
