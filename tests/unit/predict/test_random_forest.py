"""The forest predictor: leaf size, columns, out-of-bag estimates."""

import subprocess
import sys

import numpy as np
import pytest
from helpers import SOURCE_DIR
from scipy.sparse import csr_matrix, random_array

from frugalmct.errors import FrugalError
from frugalmct.metrics import pearson, rmse
from frugalmct.predict import make_predictor, random_forest
from frugalmct.predict.columns import fullest_columns
from frugalmct.predict.random_forest import LEAVES, RandomForest, _leaf_sizes, _least, _Training


def problem(items: int, noise: float, seed: int = 0, services: int = 3):
    """Features of which two matter, and accuracies that are 0 or 1: as noisy as real ones."""
    rng = np.random.default_rng(seed)
    features = rng.random((items, 5)).astype(np.float32)
    chance = 0.5 + (1 - noise) * (features[:, [0]] - features[:, [1]]) / 2 * np.linspace(0.5, 1, services)
    return features, (rng.random((items, services)) < chance).astype(float)


def chosen_leaf(forest: RandomForest) -> int:
    return forest.to_arrays()[0]["details"]["leaf"]


def test_it_learns():
    features, accuracy = problem(1500, noise=0)
    fresh, truth = problem(1500, noise=0, seed=1)
    predictor = RandomForest(trees=40, jobs=2).fit(features, accuracy)
    mean = make_predictor("mean").fit(features, accuracy)
    assert rmse(predictor.estimate(fresh), truth) < 0.97 * rmse(mean.estimate(fresh), truth)
    # What it says of its own training items is as far off as what it says of new ones.
    assert rmse(predictor.training_estimates, accuracy) == pytest.approx(
        rmse(predictor.estimate(fresh), truth), rel=0.03
    )


def test_training_estimates_of_pure_noise_do_not_know_the_answers():
    features, accuracy = problem(1500, noise=1)
    predictor = RandomForest(trees=30, leaf=1).fit(features, accuracy)
    assert abs(pearson(predictor.training_estimates, accuracy)) < 0.05
    assert pearson(predictor.estimate(features), accuracy) > 0.3  # whereas in sample it does


def test_out_of_bag_estimates_are_the_mean_of_the_trees_that_did_not_see_the_item():
    features, accuracy = problem(60, noise=0.3)
    grown = _Training(features, accuracy, RandomForest(), seed=3).grow(7, 2, "forest")
    estimates = grown.out_of_bag()
    for item in range(60):
        unseen = [
            tree for tree, sample in zip(grown.trees, grown.seen, strict=True) if item not in sample.tolist()
        ]
        row = features[[item]].astype(np.float32)
        votes = [tree.predict(row)[0].ravel() for tree in unseen] or [accuracy.mean(axis=0)]
        np.testing.assert_allclose(estimates[item], np.mean(votes, axis=0))


def test_an_item_that_every_tree_saw_gets_the_mean():
    features, accuracy = problem(8, noise=0)
    grown = _Training(features, accuracy, RandomForest(), seed=0).grow(1, 1, "forest")
    seen = grown.seen[0]
    assert len(seen)
    expected = np.tile(accuracy.mean(axis=0), (len(seen), 1))
    np.testing.assert_allclose(grown.out_of_bag()[seen], expected)


def test_noisy_accuracies_get_larger_leaves():
    clear, noisy = (problem(2000, noise) for noise in (0.0, 0.9))
    steep = np.clip(clear[0][:, :3] * 4 % 1, 0, 1)  # no noise at all, much detail
    small = chosen_leaf(RandomForest(trees=20).fit(clear[0], steep))
    large = chosen_leaf(RandomForest(trees=20).fit(*noisy))
    assert small == LEAVES[0] < 50 <= large


def test_a_pilot_foretells_the_error_of_a_whole_forest(monkeypatch):
    features, accuracy = problem(1200, noise=0.2)
    fresh, truth = problem(4000, noise=0.2, seed=1)
    for leaf in (1, 20):
        options = RandomForest(trees=100, leaf=leaf)
        foretold = _Training(features, accuracy, options, seed=0).pilot_error(leaf)
        errors = {
            trees: rmse(RandomForest(trees=trees, leaf=leaf).fit(features, accuracy).estimate(fresh), truth)
            for trees in (random_forest.PILOT_TREES, 100)
        }
        assert np.sqrt(foretold) == pytest.approx(errors[100], rel=0.015)
        if leaf == 1:
            assert errors[random_forest.PILOT_TREES] > 1.02 * errors[100]


def test_the_search_walks_to_the_least_error():
    sizes = [1, 2, 5, 10, 20, 50, 100, 200]
    for best in sizes:
        asked = []
        error = lambda leaf, best=best, asked=asked: asked.append(leaf) or abs(np.log(leaf / best))  # noqa: E731
        assert _least(error, sizes) == best
        assert len(asked) == len(set(asked))
    assert _least(lambda leaf: 1 / leaf, [1]) == 1
    assert _leaf_sizes(10) == [1] and _leaf_sizes(400) == [5, 10, 20] and max(_leaf_sizes(10**6)) == 200


def test_of_a_sparse_table_the_fullest_columns_are_used():
    features = csr_matrix(np.array([[1, 0, 2, 0], [1, 0, 2, 3], [1, 0, 0, 0]], dtype=np.float32))
    features.data[0] = 0  # stored, but still a zero
    columns, table = fullest_columns(features, max_columns=2)
    assert columns.tolist() == [0, 2]
    np.testing.assert_array_equal(table, features.toarray()[:, [0, 2]])


def test_dense_and_sparse_tables_give_the_same_forest(monkeypatch):
    rng = np.random.default_rng(0)
    features = csr_matrix(random_array((300, 20), density=0.2, rng=rng, dtype=np.float32))
    accuracy = np.clip(features.toarray()[:, :2] + rng.random((300, 2)) / 2, 0, 1)
    dense = RandomForest(trees=10, leaf=5).fit(features.toarray(), accuracy)
    made_dense = RandomForest(trees=10, leaf=5).fit(features, accuracy)
    np.testing.assert_array_equal(dense.estimate(features), made_dense.estimate(features))
    monkeypatch.setattr("frugalmct.predict.columns.DENSE_CELLS", 0)
    sparse = RandomForest(trees=10, leaf=5).fit(features, accuracy)
    assert rmse(sparse.estimate(features), dense.estimate(features)) < 0.03
    assert rmse(sparse.training_estimates, dense.training_estimates) < 0.05
    assert sparse.to_arrays()[1]["roots"].shape == (10,)


@pytest.mark.parametrize("items", [1, 2, 3, 10])
@pytest.mark.parametrize("services", [1, 2])
def test_very_few_items_and_services(items, services):
    features, accuracy = problem(items, noise=0, services=services)
    predictor = RandomForest(trees=5).fit(features, accuracy)
    for estimates in (predictor.estimate(features), predictor.training_estimates):
        assert estimates.shape == accuracy.shape and np.all((estimates >= 0) & (estimates <= 1))


def test_importing_predictors_does_not_import_scikit_learn():
    program = (
        "import sys, frugalmct.predict as p, frugalmct.predict.random_forest;"
        "p.make_predictor('random_forest'); assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": str(SOURCE_DIR)})


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"trees": 0}, "trees is 0"),
        ({"leaf": 0}, "leaf is 0"),
        ({"leaf": 2.5}, "leaf is 2.5"),
        ({"max_features": 0}, "max_features is 0"),
        ({"max_features": 1.5}, "max_features is 1.5"),
        ({"max_features": "all"}, "max_features is 'all'"),
        ({"max_features": True}, "max_features is True"),
        ({"share_per_tree": 0}, "share_per_tree is 0"),
        ({"share_per_tree": "1"}, "share_per_tree is '1'"),
        ({"rows_per_tree": -1}, "rows_per_tree is -1"),
        ({"max_columns": None}, "max_columns is None"),
        ({"depth": 3}, "no option depth"),
    ],
)
def test_wrong_options_are_named(options, part):
    with pytest.raises(FrugalError) as caught:
        make_predictor("random_forest", **options)
    assert part in str(caught.value)
