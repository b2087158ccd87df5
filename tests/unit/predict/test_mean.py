"""The dummy predictor: every item is the average one."""

import numpy as np
import pytest

from frugalmct.errors import FrugalError
from frugalmct.predict import make_predictor, predictor_from_arrays
from frugalmct.predict.mean import Mean

FEATURES = np.arange(6, dtype=np.float32).reshape(3, 2)
ACCURACY = np.array([[0.0, 1.0], [0.5, 1.0], [1.0, 0.4]])


def test_estimates_are_the_training_means():
    predictor = make_predictor("mean").fit(FEATURES, ACCURACY)
    np.testing.assert_allclose(predictor.estimate(FEATURES[:2] * 9), [[0.5, 0.8], [0.5, 0.8]])


def test_training_items_are_estimated_as_new_ones():
    predictor = Mean().fit(FEATURES, ACCURACY)
    np.testing.assert_array_equal(predictor.training_estimates, predictor.estimate(FEATURES))


@pytest.mark.parametrize("mean", [[0.5], [0.5, np.nan], [0.5, 2.0]])
def test_damaged_arrays_are_refused(mean):
    header, _ = Mean().fit(FEATURES, ACCURACY).to_arrays()
    with pytest.raises(FrugalError, match="damaged"):
        predictor_from_arrays(header, {"mean": np.array(mean)})
