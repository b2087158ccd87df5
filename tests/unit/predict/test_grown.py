"""The trees that are grown here are those of scikit-learn's forests."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from frugalmct.predict import make_predictor
from frugalmct.seeds import small_seed

THEIRS = {"random_forest": RandomForestRegressor, "extra_trees": ExtraTreesRegressor}


def items(number=400, columns=12, services=3):
    draw = np.random.default_rng(5)
    table = (draw.random((number, columns)) * (draw.random((number, columns)) < 0.3)).astype(np.float32)
    return table, np.clip(table[:, :services] + 0.2 * draw.random((number, services)), 0, 1)


@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
@pytest.mark.parametrize("services", [1, 3])
def test_trees_and_out_of_bag_estimates_are_those_of_scikit_learn(name, kind, services):
    table, accuracy = items(services=services)
    ours = make_predictor(name, trees=9, leaf=4, max_features=5, rows_per_tree=90, jobs=2)
    ours.fit(kind(table), accuracy, seed=3)
    theirs = THEIRS[name](
        9,
        min_samples_leaf=4,
        max_features=5,
        bootstrap=True,
        max_samples=90,
        random_state=small_seed(3, name, "forest"),
    ).fit(table, accuracy if services > 1 else accuracy.ravel())
    expected = theirs.predict(table).reshape(accuracy.shape)
    np.testing.assert_allclose(ours.estimate(kind(table)), expected, rtol=1e-6)
    unseen = np.array([np.bincount(rows, minlength=len(table)) == 0 for rows in theirs.estimators_samples_])
    each = np.array([tree.predict(table).reshape(accuracy.shape) for tree in theirs.estimators_])
    assert unseen.any(axis=0).all()
    out_of_bag = (each * unseen[:, :, None]).sum(axis=0) / unseen.sum(axis=0)[:, None]
    np.testing.assert_allclose(ours.training_estimates, out_of_bag, rtol=1e-9)
