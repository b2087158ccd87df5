"""What every accuracy predictor is: fit, estimate, out-of-sample estimates of the training items, arrays."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from frugalmct.arrays import Described
from frugalmct.errors import FrugalError

Estimates = NDArray[np.float64]
Matrix: TypeAlias = csr_matrix | NDArray[np.float32]


class Predictor(ABC):
    """Estimates, for each item, the accuracy of the base combined with each service.

    A predictor overrides the four methods with a leading underscore; checks and the clipping to [0, 1]
    are done here, once for all.
    """

    name: ClassVar[str]
    # What is imported on first use: not part of the time that learning takes.
    libraries: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *, jobs: int = 1) -> None:
        self.jobs = whole("jobs", jobs, least=1)
        self._columns: int | None = None
        self._services = 0
        self._training_estimates: Estimates | None = None

    def fit(self, features: Matrix, accuracy: NDArray[np.float64], seed: int = 0) -> Self:
        """Learns from (items, columns) features and (items, services) true accuracies."""
        features = checked_features(features)
        accuracy = checked_accuracy(accuracy, features.shape[0])
        self._columns, self._services = features.shape[1], accuracy.shape[1]
        self._training_estimates = np.clip(self._fit(features, accuracy, whole("seed", seed, least=0)), 0, 1)
        return self

    def estimate(self, features: Matrix) -> Estimates:
        """(items, services) estimates in [0, 1]; an item's row never depends on the items beside it."""
        if self._columns is None:
            raise FrugalError(f"Predictor '{self.name}' has not been fitted; call fit first.")
        features = checked_features(features)
        if features.shape[1] != self._columns:
            raise FrugalError(
                f"Predictor '{self.name}' learnt from {self._columns} features, but was given "
                f"{features.shape[1]}; make them the same way as for training."
            )
        return np.clip(self._estimate(features), 0, 1)

    def estimate_row(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        """(services,): what `estimate` gives for one item, whose features are a dense float32 row."""
        if row.shape != (self._columns,):
            raise FrugalError(
                f"Predictor '{self.name}' learnt from {self._columns} features, but was given a row of shape "
                f"{row.shape}; make it the same way as for training."
            )
        return np.minimum(np.maximum(self._estimate_row(row), 0), 1)  # np.clip takes longer than many a tree

    @property
    def training_estimates(self) -> Estimates:
        """(items, services) estimates of the training items by models that did not see them.

        Prices must come from these: a model's own fit to what it has seen is over-confident.
        """
        if self._training_estimates is None:
            raise FrugalError(f"Predictor '{self.name}' has no training estimates; call fit first.")
        return self._training_estimates

    @property
    def columns(self) -> int:
        """How many features it learnt from; 0 before it was fitted."""
        return self._columns or 0

    @property
    def services(self) -> int:
        return self._services

    def to_arrays(self) -> Described:
        """A JSON-able header and plain arrays, all that `estimate` needs; training estimates stay behind."""
        if self._columns is None:
            raise FrugalError(f"Predictor '{self.name}' has not been fitted; call fit first.")
        details, arrays = self._state()
        header = {"predictor": self.name, "columns": self._columns, "services": self._services}
        return header | {"details": details}, arrays

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], jobs: int = 1) -> Self:
        """Reads what `to_arrays` gave; data that cannot have come from it is refused."""
        predictor = cls(jobs=jobs)
        try:
            if header["predictor"] != cls.name:
                raise FrugalError(f"the header is of a '{header['predictor']}'")
            predictor._columns = whole("columns", header["columns"], least=0)
            predictor._services = whole("services", header["services"], least=1)
            predictor._restore(header["details"], arrays)
        except (FrugalError, KeyError, TypeError, ValueError, IndexError) as error:
            raise FrugalError(
                f"The saved predictor '{cls.name}' is damaged ({error}); train and save it again."
            ) from None
        return predictor

    @abstractmethod
    def _fit(self, features: Matrix, accuracy: Estimates, seed: int) -> Estimates:
        """Fits, and returns the out-of-sample estimates of the training items."""

    @abstractmethod
    def _estimate(self, features: Matrix) -> Estimates: ...

    def _estimate_row(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        """Overridden where there is a faster way to the same numbers."""
        return self._estimate(row[None])[0]

    @abstractmethod
    def _state(self) -> Described:
        """JSON-able details and arrays."""

    @abstractmethod
    def _restore(self, details: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Takes over what `_state` gave, and raises FrugalError unless every value is one it could give."""


def checked_features(given: Any) -> Matrix:
    """CSR or a dense float32 table, finite throughout."""
    features: Matrix = given.tocsr() if issparse(given) else _table("Features", given, np.float32)
    if features.ndim != 2 or not features.shape[1]:
        raise FrugalError(f"Features have shape {features.shape}; they must be items x columns.")
    values = features.data if issparse(features) else features
    if not np.all(np.isfinite(values)):
        raise FrugalError("Features hold values that are not finite numbers; mend or remove them.")
    return features


def checked_accuracy(accuracy: NDArray[np.float64], items: int) -> Estimates:
    accuracy = _table("Accuracies", accuracy, np.float64)
    if accuracy.ndim != 2 or len(accuracy) != items or not accuracy.shape[1]:
        raise FrugalError(
            f"Accuracies have shape {accuracy.shape}; they must be {items} items x services, as the features."
        )
    if not items:
        raise FrugalError("A predictor has no items to learn from; give at least one.")
    if not (accuracy.min() >= 0 and accuracy.max() <= 1):
        raise FrugalError("Accuracies must be numbers in [0, 1], with none missing.")
    return accuracy


def _table(what: str, values: Any, dtype: type) -> np.ndarray:
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError):
        raise FrugalError(f"{what} are not a table of numbers; give rows of equal length.") from None


def whole(what: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise FrugalError(f"{what} is {value!r}; it must be a whole number of at least {least}.")
    return int(value)
