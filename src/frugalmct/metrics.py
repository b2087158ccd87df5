"""How good a predicted label set is, item by item, and how good estimates of that are."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from frugalmct.errors import FrugalError, listed
from frugalmct.sparse import overlap_sizes, set_sizes

Sizes = NDArray[np.int64]


def _ratio(part: np.ndarray, whole: np.ndarray) -> NDArray[np.float64]:
    """part / whole, and 1 where there was nothing to get wrong (0 / 0)."""
    return np.divide(part, whole, out=np.ones(np.broadcast(part, whole).shape), where=whole > 0)


# Each metric is a function of three counts: shared labels, true labels, predicted labels. Counts are all
# the combiner's search has for every threshold at once, so this form serves both.
def _accuracy(shared: Sizes, true: Sizes, predicted: Sizes) -> NDArray[np.float64]:
    return _ratio(shared, true + predicted - shared)


def _f1(shared: Sizes, true: Sizes, predicted: Sizes) -> NDArray[np.float64]:
    return _ratio(2 * shared, true + predicted)


def _precision(shared: Sizes, true: Sizes, predicted: Sizes) -> NDArray[np.float64]:
    return _ratio(shared, predicted)


def _recall(shared: Sizes, true: Sizes, predicted: Sizes) -> NDArray[np.float64]:
    return _ratio(shared, true)


def _subset(shared: Sizes, true: Sizes, predicted: Sizes) -> NDArray[np.float64]:
    return ((shared == true) & (shared == predicted)).astype(np.float64)


METRICS: dict[str, Callable[[Sizes, Sizes, Sizes], NDArray[np.float64]]] = {
    "accuracy": _accuracy,
    "f1": _f1,
    "precision": _precision,
    "recall": _recall,
    "subset": _subset,
}


def metric_from_counts(
    metric: str, shared: ArrayLike, true: ArrayLike, predicted: ArrayLike
) -> NDArray[np.float64]:
    """The metric from counts of shared, true and predicted labels."""
    if metric not in METRICS:
        raise FrugalError(f"Unknown metric '{metric}'; known: {listed(METRICS)}.")
    return METRICS[metric](np.asarray(shared), np.asarray(true), np.asarray(predicted))


def set_metric(truth: csr_matrix, predicted: csr_matrix, metric: str = "accuracy") -> NDArray[np.float64]:
    """Per-item metric of predicted against true label sets; a stored entry is a member."""
    if truth.shape != predicted.shape:
        raise FrugalError(
            f"Truth is {truth.shape} but predictions are {predicted.shape}; both must be items x labels."
        )
    return metric_from_counts(metric, overlap_sizes(truth, predicted), set_sizes(truth), set_sizes(predicted))


def rmse(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Root mean square error over all entries."""
    return float(np.sqrt(np.mean((np.asarray(estimate) - np.asarray(truth)) ** 2)))


def pearson(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Pearson correlation over all entries; 0 where one of them does not vary."""
    x = np.asarray(estimate, dtype=np.float64).ravel()
    y = np.asarray(truth, dtype=np.float64).ravel()
    # The mean of equal numbers is not always that number: what is left would correlate perfectly.
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale > 0 else 0.0
