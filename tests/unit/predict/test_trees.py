"""The forest as arrays: the same estimates as scikit-learn's, and nothing that is not a forest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestRegressor

from frugalmct.errors import FrugalError
from frugalmct.floats import rounded_down
from frugalmct.predict.trees import BLOCK, LEAF, Forest


def tied_table(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Many zeros, and values that tie or lie one float apart, where a rounded threshold could err."""
    rng = np.random.default_rng(seed)
    # Of neighbouring floats scikit-learn only splits those more than 1e-7 apart, hence values above 2.
    table = rng.choice([0, 0.1, 2.5, 10 / 3, 9], size=(rows, columns)).astype(np.float32)
    table[rng.random(table.shape) < 0.5] = 0
    nudged = rng.random(table.shape) < 0.3
    table[nudged] = np.nextafter(table[nudged], np.float32(10))
    return table


def fitted(outputs: int = 3, trees: int = 12, **options):
    table = tied_table(400, 6)
    rng = np.random.default_rng(1)
    target = np.clip(table[:, :outputs] / 9 + rng.normal(0, 0.2, (400, outputs)), 0, 1)
    model = RandomForestRegressor(trees, random_state=0, **options)
    model.fit(table, target if outputs > 1 else target.ravel())
    return model


def loaded(forest: Forest, columns: int = 6) -> Forest:
    """Without scikit-learn's trees, so that the arrays alone decide."""
    return Forest.from_arrays(forest.arrays(), columns, forest.values.shape[1])


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    "options", [{}, {"min_samples_leaf": 7}, {"max_depth": 1}, {"min_samples_leaf": 400}]
)
def test_estimates_are_scikit_learns(outputs, options):
    model = fitted(outputs, **options)
    forest = Forest.of([one.tree_ for one in model.estimators_], np.arange(6))
    table = tied_table(BLOCK + 40, 6, seed=2)
    expected = model.predict(table).reshape(-1, outputs)
    for features in (table, csr_matrix(table)):
        for jobs in (1, 2):
            np.testing.assert_allclose(loaded(forest).estimate(features, jobs), expected, atol=1e-6)
            # Grown trees and loaded arrays give the very same numbers.
            np.testing.assert_array_equal(
                forest.estimate(features, jobs), loaded(forest).estimate(features, jobs)
            )


def test_every_item_ends_in_scikit_learns_leaf():
    model = fitted()
    forest = Forest.of([one.tree_ for one in model.estimators_], np.arange(6))
    table = tied_table(300, 6, seed=3)
    np.testing.assert_array_equal(forest._leaves_walked(table), np.array(list(forest._leaves_found(table))))


def test_columns_say_where_in_the_features_a_node_looks():
    model = fitted()
    wide = np.zeros((50, 20), dtype=np.float32)
    columns = np.array([1, 4, 5, 11, 17, 19])
    wide[:, columns] = tied_table(50, 6, seed=4)
    forest = loaded(Forest.of([one.tree_ for one in model.estimators_], columns), columns=20)
    np.testing.assert_allclose(forest.estimate(wide), model.predict(wide[:, columns]), atol=1e-6)


def test_an_estimate_does_not_depend_on_the_items_beside_it():
    forest = loaded(Forest.of([one.tree_ for one in fitted(outputs=1).estimators_], np.arange(6)))
    table = tied_table(BLOCK + 3, 6, seed=5)
    together = forest.estimate(table)
    for item in (0, BLOCK - 1, BLOCK, BLOCK + 2):
        np.testing.assert_array_equal(forest.estimate(table[item : item + 1]), together[item : item + 1])
    assert forest.estimate(table[:0]).shape == (0, 1)


@given(st.floats(-1e6, 1e6), st.integers(-2, 2))
def test_thresholds_rounded_down_decide_as_before(threshold, steps):
    rounded = rounded_down(np.array([threshold]))
    assert rounded.dtype == np.float32
    near = np.float32(threshold)
    for _ in range(abs(steps)):
        near = np.nextafter(near, np.float32(np.sign(steps) * np.inf))
    assert (np.float64(near) <= threshold) == (near <= rounded[0])


def altered(name, change):
    def alter(arrays):
        arrays[name] = change(arrays[name].copy())
        return arrays

    return alter


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def first_inner(value):
    """Writes into `right` of the root, which is an inner node."""
    return altered("right", put(0, value))


@pytest.mark.parametrize(
    "alter",
    [
        first_inner(0),  # a circle
        first_inner(10**6),
        first_inner(-1),
        altered("feature", put(-1, 0)),  # the walk would run off the end
        altered("feature", put(0, 6)),
        altered("feature", put(0, -5)),
        altered("columns", put(0, 6)),
        altered("columns", put(0, -1)),
        altered("roots", put(1, -1)),
        altered("roots", put(1, 10**6)),
        altered("right", put(-1, 10**6)),
        altered("values", put((0, 0), np.nan)),
        altered("values", put((0, 0), 1.5)),
        altered("values", lambda values: values[:, :2]),
        altered("threshold", put(0, np.nan)),
        altered("threshold", lambda thresholds: thresholds[:-1]),
        altered("threshold", lambda thresholds: thresholds.astype(np.float64)),
        altered("feature", lambda features: features.reshape(1, -1)),
        altered("roots", lambda roots: roots[:0]),
        altered("right", lambda right: np.array([None] * len(right), dtype=object)),
    ],
)
def test_what_is_not_a_forest_is_refused(alter):
    forest = Forest.of([one.tree_ for one in fitted().estimators_], np.arange(6))
    assert forest.feature[0] != LEAF
    with pytest.raises(FrugalError):
        Forest.from_arrays(alter(forest.arrays()), 6, 3)
