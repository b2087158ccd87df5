"""What every registered predictor must do, whatever it is made of."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from frugalmct.errors import FrugalError
from frugalmct.metrics import pearson
from frugalmct.predict import PREDICTORS, Predictor, make_predictor, predictor_from_arrays
from frugalmct.predict.available import automl_python, missing

AUTOML_PYTHON = automl_python(folder=Path(__file__).parents[2])
QUICK = {
    "random_forest": {"trees": 20},
    "extra_trees": {"trees": 20},
    "flaml": {"trials": 3},
    "auto_sklearn": {"python": AUTOML_PYTHON},
}
# A search that is ended by the clock finds now more, now less; and its models are not plain data.
ENDED_BY_CLOCK = {"auto_sklearn"}
NOT_SAVED = {"auto_sklearn"}


def predictor_named(name: str, **options) -> Predictor:
    return make_predictor(name, **(QUICK.get(name, {}) | options))


def problem(items: int = 300, seed: int = 0, noise: bool = False):
    rng = np.random.default_rng(seed)
    features = rng.random((items, 8)) * (rng.random((items, 8)) < 0.4)
    signal = 0.5 if noise else features[:, :3]
    accuracy = (rng.random((items, 3)) < 0.25 + signal / 2).astype(float)
    return csr_matrix(features.astype(np.float32)), accuracy


def installed(name: str):
    """auto-sklearn takes a minute for every fit; what is not there is skipped, and says what it needs."""
    sentence = missing(name, AUTOML_PYTHON)
    marks = [pytest.mark.slow] if name in ENDED_BY_CLOCK else []
    return pytest.param(name, marks=[*marks, pytest.mark.skipif(bool(sentence), reason=sentence or "")])


@pytest.fixture(params=[installed(name) for name in PREDICTORS.names()])
def name(request):
    return request.param


@cache
def fitted_once(name: str) -> Predictor:
    return predictor_named(name).fit(*problem(), seed=1)


@pytest.fixture
def fitted(name):
    return fitted_once(name)


def test_estimates_are_a_number_in_0_1_for_each_item_and_service(fitted):
    for features in (problem(seed=2)[0], 1e6 * problem(seed=2)[0]):
        estimates = fitted.estimate(features)
        assert estimates.shape == (300, 3) and estimates.dtype == np.float64
        assert np.all((estimates >= 0) & (estimates <= 1))
    assert fitted.training_estimates.shape == (300, 3)
    assert np.all((fitted.training_estimates >= 0) & (fitted.training_estimates <= 1))


def test_dense_and_sparse_features_are_estimated_alike(fitted):
    features = problem(seed=2)[0]
    np.testing.assert_array_equal(fitted.estimate(features), fitted.estimate(features.toarray()))


def test_an_estimate_does_not_depend_on_the_items_beside_it(fitted):
    features = problem(seed=2)[0]
    np.testing.assert_array_equal(fitted.estimate(features)[[7]], fitted.estimate(features[[7]]))
    assert fitted.estimate(features[:0]).shape == (0, 3)


def test_two_fits_and_any_number_of_jobs_give_the_same_numbers(name, fitted):
    if name in ENDED_BY_CLOCK:
        pytest.skip("its search is ended by the clock")
    features = problem(seed=2)[0]
    for jobs in (1, 2):
        again = predictor_named(name, jobs=jobs).fit(*problem(), seed=1)
        np.testing.assert_array_equal(again.estimate(features), fitted.estimate(features))
        np.testing.assert_array_equal(again.training_estimates, fitted.training_estimates)


def test_training_estimates_are_out_of_sample(name):
    features, accuracy = problem(items=1500, noise=True)
    predictor = predictor_named(name).fit(features, accuracy)
    # Of pure noise nothing can be known.
    for estimates, truth in zip(predictor.training_estimates.T, accuracy.T, strict=True):
        assert abs(pearson(estimates, truth)) < 0.1


def test_arrays_are_plain_and_give_the_same_estimates(name, fitted):
    if name in NOT_SAVED:
        with pytest.raises(FrugalError, match="cannot be saved as plain data"):
            fitted.to_arrays()
        return
    header, arrays = fitted.to_arrays()
    header = json.loads(json.dumps(header))
    assert all(array.dtype.kind in "iuf" for array in arrays.values())
    features = problem(seed=2)[0]
    for jobs in (1, 2):
        loaded = predictor_from_arrays(header, arrays, jobs=jobs)
        assert type(loaded) is type(fitted)
        np.testing.assert_array_equal(loaded.estimate(features), fitted.estimate(features))
    again = loaded.to_arrays()
    assert again[0] == header and all(np.array_equal(again[1][key], arrays[key]) for key in arrays)
    with pytest.raises(FrugalError, match="no training estimates"):
        _ = loaded.training_estimates


def test_damaged_descriptions_are_refused_in_one_sentence(name, fitted):
    if name in NOT_SAVED:
        pytest.skip("it is never saved")
    header, arrays = fitted.to_arrays()
    without = [{key: array for key, array in arrays.items() if key != gone} for gone in arrays]
    empty = [arrays | {key: array[:0]} for key, array in arrays.items()]
    cases = [(header, damaged) for damaged in (*without, *empty)]
    cases += [({key: header[key] for key in header if key != gone}, arrays) for gone in header]
    cases += [(header | {"services": 4}, arrays), (header | {"columns": "8"}, arrays), ([], arrays)]
    cases += [(header | {"predictor": "os:system"}, arrays), (header | {"services": 0}, arrays)]
    for damaged_header, damaged_arrays in cases:
        with pytest.raises(FrugalError) as caught:
            predictor_from_arrays(damaged_header, damaged_arrays)
        assert "\n" not in str(caught.value)


def test_the_inputs_stay_as_they_were(name):
    features, accuracy = problem()
    before = features.copy(), accuracy.copy()
    predictor_named(name).fit(features, accuracy).estimate(features)
    assert (features != before[0]).nnz == 0
    np.testing.assert_array_equal(accuracy, before[1])


def test_one_service_and_one_item(name):
    features, accuracy = problem(items=40)
    assert predictor_named(name).fit(features, accuracy[:, :1]).estimate(features).shape == (40, 1)
    lone = predictor_named(name).fit(features[:1], accuracy[:1])
    assert lone.estimate(features).shape == (40, 3) and np.all(np.isfinite(lone.training_estimates))


FEATURES, ACCURACY = problem(items=20)


@pytest.mark.parametrize(
    ("features", "accuracy", "part"),
    [
        (FEATURES, ACCURACY[:5], "20 items"),
        (FEATURES, ACCURACY[:, 0], "20 items"),
        (FEATURES, ACCURACY[:, :0], "20 items"),
        (FEATURES, ACCURACY * 2, "[0, 1]"),
        (FEATURES, np.where(ACCURACY > 0, np.nan, ACCURACY), "[0, 1]"),
        (FEATURES, [["a"]], "table of numbers"),
        (FEATURES * np.inf, ACCURACY, "finite"),
        (FEATURES.toarray() + np.inf, ACCURACY, "finite"),
        (FEATURES.toarray()[0], ACCURACY, "items x columns"),
        (FEATURES[:, :0], ACCURACY, "items x columns"),
        ([[1], [1, 2]], ACCURACY, "table of numbers"),
        (FEATURES[:0], ACCURACY[:0], "no items"),
    ],
)
def test_malformed_training_data_is_answered_in_one_sentence(name, features, accuracy, part):
    with pytest.raises(FrugalError) as caught:
        predictor_named(name).fit(features, accuracy)
    assert part in str(caught.value) and "\n" not in str(caught.value)


def test_misuse_is_answered_in_one_sentence(name, fitted):
    for call, part in [
        (lambda: predictor_named(name).estimate(FEATURES), "not been fitted"),
        (lambda: predictor_named(name).to_arrays(), "not been fitted"),
        (lambda: predictor_named(name).training_estimates, "no training estimates"),
        (lambda: fitted.estimate(FEATURES[:, :3]), "learnt from 8 features"),
        (lambda: predictor_named(name).fit(FEATURES, ACCURACY, seed=-1), "seed is -1"),
        (lambda: predictor_named(name, jobs=0), "jobs is 0"),
        (lambda: predictor_named(name, colour="red"), "no option colour"),
    ]:
        with pytest.raises(FrugalError) as caught:
            call()
        assert part in str(caught.value) and "\n" not in str(caught.value)


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(FrugalError, match="auto_sklearn, extra_trees, flaml, mean, random_forest"):
        make_predictor("oracle")
