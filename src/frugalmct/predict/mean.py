"""The paper's dummy accuracy predictor (DAP): every item is like the average one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from frugalmct.arrays import Described
from frugalmct.errors import FrugalError
from frugalmct.predict.base import Estimates, Matrix, Predictor


class Mean(Predictor):
    """Estimates each service's mean training accuracy, whatever the item."""

    name = "mean"

    def _fit(self, features: Matrix, accuracy: Estimates, seed: int) -> Estimates:
        self._mean = accuracy.mean(axis=0)
        # Leaving the item itself out would change its estimate by less than 1 / items, but would make the
        # training items differ where new ones do not: a dual price between them would mean nothing.
        return self._repeated(len(accuracy))

    def _estimate(self, features: Matrix) -> Estimates:
        return self._repeated(features.shape[0])

    def _repeated(self, items: int) -> Estimates:
        return np.tile(self._mean, (items, 1))

    def _state(self) -> Described:
        return {}, {"mean": self._mean}

    def _restore(self, details: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        mean = np.asarray(arrays["mean"])
        if (
            mean.dtype != np.float64
            or mean.shape != (self._services,)
            or not (mean.min() >= 0 and mean.max() <= 1)
        ):
            raise FrugalError(f"its mean must be {self._services} numbers in [0, 1]")
        self._mean = mean
