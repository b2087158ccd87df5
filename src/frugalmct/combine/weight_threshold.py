"""The label combiner: one answer out of the base service's and an add-on's.

The combined answer is the union of both label sets, each label scored w * base + (1 - w) * add-on (a
label one of them did not give counts there as 0), less the labels whose score is below θ. Sets are merged
by structure, through sorted entry keys, since a label given with score 0 is still a label given.

A service that gives no label at all speaks, in the paper, against every label of the other. With `abstain`
it has no say: the other's scores then count in full, so that a silent add-on does not silence the base.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.combine.union import TOLERANCE, Union, checked_scores
from frugalmct.errors import FrugalError
from frugalmct.metrics import metric_from_counts
from frugalmct.sparse import set_sizes

GRID = 10
# Items that are looked at together; of more, the tables would neither fit a core's cache nor small memories.
BLOCK = 100_000


class WeightThreshold(NamedTuple):
    """A combiner's two parameters: the base's weight w, and θ."""

    weight: float
    threshold: float


def combine(
    base_scores: csr_matrix,
    addon_scores: csr_matrix,
    weight: float,
    threshold: float,
    *,
    labels_per_item: int | None = None,
    abstain: bool = False,
) -> csr_matrix:
    """The kept labels with their combined scores.

    `labels_per_item` keeps at most that many labels of an item, the highest scores first and of equal ones
    the label that comes first in the vocabulary: for data whose items have one label, 1.
    """
    check_share("weight", weight)
    check_share("threshold", threshold)
    check_labels_per_item(labels_per_item)
    union = Union.of(checked_scores("base_scores", base_scores), checked_scores("addon_scores", addon_scores))
    scores = union.scores(weight, abstain)
    return union.matrix(scores, union.kept(scores, threshold, labels_per_item))


def search(
    truth: csr_matrix,
    base_scores: csr_matrix,
    addon_scores: csr_matrix,
    metric: str = "accuracy",
    grid: int = GRID,
    *,
    labels_per_item: int | None = None,
    abstain: bool = False,
) -> WeightThreshold:
    """The (w, θ) out of {0, 1/grid, ..., 1}² with the highest mean metric.

    Of equally good ones the smallest θ is taken, then the weight nearest to 0.5, then the smaller weight.
    For a service combined with itself (the same answers) w has no effect: only θ is searched, and w is 1.
    """
    base_scores, addon_scores = (
        checked_scores("base_scores", base_scores),
        checked_scores("addon_scores", addon_scores),
    )
    weights = np.ones(1) if same_answers(base_scores, addon_scores) else grid_steps(grid)
    surface = mean_metric(
        truth,
        base_scores,
        addon_scores,
        metric,
        grid,
        weights=weights,
        labels_per_item=labels_per_item,
        abstain=abstain,
    )
    return best_of(surface, weights, grid_steps(grid))


def best_of(
    surface: NDArray[np.float64], weights: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> WeightThreshold:
    """Of the highest values the one that `search` takes."""
    rows, columns = np.nonzero(surface == surface.max())
    thresholds = thresholds[columns]
    order = np.lexsort((weights[rows], np.abs(weights[rows] - 0.5).round(12), thresholds))
    return WeightThreshold(float(weights[rows[order[0]]]), float(thresholds[order[0]]))


def mean_metric(
    truth: csr_matrix,
    base_scores: csr_matrix,
    addon_scores: csr_matrix,
    metric: str = "accuracy",
    grid: int = GRID,
    *,
    weights: NDArray[np.float64] | None = None,
    labels_per_item: int | None = None,
    abstain: bool = False,
) -> NDArray[np.float64]:
    """(weights, thresholds): the mean metric over the grid, all thresholds of a weight in one pass."""
    check_labels_per_item(labels_per_item)
    thresholds = grid_steps(grid)
    weights = thresholds if weights is None else weights
    given = {"truth": truth, "base_scores": base_scores, "addon_scores": addon_scores}
    tables = [checked_scores(what, table) for what, table in given.items()]
    items = tables[0].shape[0]
    if items <= BLOCK or len({table.shape for table in tables}) > 1:
        return _surface(tables, metric, thresholds, weights, labels_per_item, abstain)
    starts = range(0, items, BLOCK)
    blocks = ([table[start : start + BLOCK] for table in tables] for start in starts)
    means = [_surface(block, metric, thresholds, weights, labels_per_item, abstain) for block in blocks]
    return np.average(means, axis=0, weights=[min(BLOCK, items - start) for start in starts])


def _surface(
    tables: Sequence[csr_matrix],
    metric: str,
    thresholds: NDArray[np.float64],
    weights: NDArray[np.float64],
    labels_per_item: int | None,
    abstain: bool,
) -> NDArray[np.float64]:
    """`mean_metric` of items that are looked at together; tables: truth, and two services' answers."""
    truth, base_scores, addon_scores = tables
    union = Union.of(base_scores, addon_scores)
    if truth.shape != union.shape:
        raise FrugalError(f"Truth is {truth.shape} but the answers are {union.shape}; they must be alike.")
    if not truth.shape[0]:
        raise FrugalError("The combiner has no items to learn from; give at least one.")
    is_true = union.members(truth)
    true_sizes = np.repeat(set_sizes(truth), len(thresholds))
    surface = []
    for weight in weights:
        check_share("weight", weight)
        scores = union.scores(weight, abstain)
        survived = _passed(scores, thresholds)
        if labels_per_item is not None:
            survived[~union.leading(scores, labels_per_item)] = 0
        predicted = _survivors(union.rows, survived, union.shape[0], len(thresholds))
        shared = _survivors(union.rows[is_true], survived[is_true], union.shape[0], len(thresholds))
        values = metric_from_counts(metric, shared.ravel(), true_sizes, predicted.ravel())
        surface.append(values.reshape(predicted.shape).mean(axis=0))
    return np.array(surface)


def _passed(scores: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many thresholds each score from 0 to 1 passes: from the even grid, far sooner than by a search,
    but for scores that are within the tolerance of the next threshold."""
    limits = np.append(thresholds - TOLERANCE, np.inf)
    passed = (scores * (len(thresholds) - 1)).astype(np.int64) + 1
    return passed + (scores >= limits.take(passed))


def _survivors(rows: np.ndarray, survived: np.ndarray, items: int, thresholds: int) -> NDArray[np.int64]:
    """(items, thresholds): how many labels pass each; `survived` is how many thresholds each label passes."""
    bins = thresholds + 1
    counts = np.bincount(rows * bins + survived, minlength=items * bins).reshape(items, bins)
    return counts[:, :0:-1].cumsum(axis=1)[:, ::-1]


def grid_steps(grid: int) -> NDArray[np.float64]:
    if isinstance(grid, bool) or not isinstance(grid, int | np.integer) or grid < 1:
        raise FrugalError(f"The combiner's grid is {grid!r}; it must be a whole number of steps, at least 1.")
    return np.arange(grid + 1) / grid


def same_answers(left: csr_matrix, right: csr_matrix) -> bool:
    return left is right or (
        left.shape == right.shape
        and left.nnz == right.nnz
        and np.array_equal(left.indptr, right.indptr)
        and np.array_equal(left.indices, right.indices)
        and np.array_equal(left.data, right.data)
    )


def check_share(what: str, value: float) -> None:
    if isinstance(value, str) or not 0 <= value <= 1:
        raise FrugalError(f"The combiner's {what} is {value!r}; it must lie in [0, 1].")


def check_labels_per_item(value: int | None) -> None:
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1
    ):
        raise FrugalError(f"labels_per_item is {value!r}; it must be a whole number of at least 1, or none.")
