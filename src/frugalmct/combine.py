"""The label combiner: one answer out of the base service's and an add-on's.

The combined answer is the union of both label sets, each label scored w * base + (1 - w) * add-on (a
label one of them did not give counts there as 0), less the labels whose score is below θ. Sets are merged
by structure, through sorted entry keys, since a label given with score 0 is still a label given.

A service that gives no label at all speaks, in the paper, against every label of the other. With `abstain`
it has no say: the other's scores then count in full, so that a silent add-on does not silence the base.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from frugalmct.errors import FrugalError
from frugalmct.market import Market
from frugalmct.metrics import metric_from_counts
from frugalmct.sparse import entry_keys, set_sizes

GRID = 10

# A label is kept when score >= θ - TOLERANCE: 0.3 * 0.7 + 0.7 * 0.7 must reach θ = 0.7 although floating
# point makes it slightly less. Services report four to seven digits, far above it.
TOLERANCE = 1e-9


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
    _check_share("weight", weight)
    _check_share("threshold", threshold)
    _check_labels_per_item(labels_per_item)
    union = _Union.of(_checked("base_scores", base_scores), _checked("addon_scores", addon_scores))
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
    base_scores, addon_scores = _checked("base_scores", base_scores), _checked("addon_scores", addon_scores)
    weights = np.ones(1) if _same_answers(base_scores, addon_scores) else _steps(grid)
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
    rows, columns = np.nonzero(surface == surface.max())
    thresholds = _steps(grid)[columns]
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
    _check_labels_per_item(labels_per_item)
    thresholds = _steps(grid)
    truth = _checked("truth", truth)
    union = _Union.of(_checked("base_scores", base_scores), _checked("addon_scores", addon_scores))
    if truth.shape != union.shape:
        raise FrugalError(f"Truth is {truth.shape} but the answers are {union.shape}; they must be alike.")
    if not truth.shape[0]:
        raise FrugalError("The combiner has no items to learn from; give at least one.")
    is_true = union.members(entry_keys(truth))
    true_sizes = np.repeat(set_sizes(truth), len(thresholds))
    surface = []
    for weight in thresholds if weights is None else weights:
        _check_share("weight", weight)
        scores = union.scores(weight, abstain)
        survived = np.searchsorted(thresholds - TOLERANCE, scores, side="right")
        if labels_per_item is not None:
            survived[~union.leading(scores, labels_per_item)] = 0
        predicted = _survivors(union.rows, survived, union.shape[0], len(thresholds))
        shared = _survivors(union.rows[is_true], survived[is_true], union.shape[0], len(thresholds))
        values = metric_from_counts(metric, shared.ravel(), true_sizes, predicted.ravel())
        surface.append(values.reshape(predicted.shape).mean(axis=0))
    return np.array(surface)


def _survivors(rows: NDArray, survived: NDArray, items: int, thresholds: int) -> NDArray[np.int64]:
    """(items, thresholds): how many labels pass each; `survived` is how many thresholds each label passes."""
    bins = thresholds + 1
    counts = np.bincount(rows * bins + survived, minlength=items * bins).reshape(items, bins)
    return counts[:, :0:-1].cumsum(axis=1)[:, ::-1]


@dataclass(frozen=True, eq=False)
class _Union:
    """Two services' answers merged: one entry a label that either gave, in order of item then label."""

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]
    base: NDArray[np.float64]
    addon: NDArray[np.float64]
    alone: NDArray[np.bool_]
    shape: tuple[int, int]

    @classmethod
    def of(cls, base: csr_matrix, addon: csr_matrix) -> "_Union":
        if base.shape != addon.shape:
            raise FrugalError(
                f"The base's answers are {base.shape} but the add-on's {addon.shape}; they must be alike."
            )
        base_keys, addon_keys = entry_keys(base), entry_keys(addon)
        keys = np.concatenate([base_keys, addon_keys])
        keys.sort(kind="stable")  # two sorted runs: a stable sort merges them in one pass
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
        rows = keys // max(base.shape[1], 1)
        one_is_silent = (set_sizes(base) == 0) | (set_sizes(addon) == 0)
        return cls(
            keys,
            rows,
            _spread(base.data, np.searchsorted(keys, base_keys), len(keys)),
            _spread(addon.data, np.searchsorted(keys, addon_keys), len(keys)),
            one_is_silent[rows],
            base.shape,
        )

    def scores(self, weight: float, abstain: bool) -> NDArray[np.float64]:
        mixed = weight * self.base + (1 - weight) * self.addon
        # Where one is silent, its score is 0 and the sum is the other's.
        return np.where(self.alone, self.base + self.addon, mixed) if abstain else mixed

    def kept(
        self, scores: NDArray[np.float64], threshold: float, labels_per_item: int | None
    ) -> NDArray[np.bool_]:
        kept = scores >= threshold - TOLERANCE
        return kept if labels_per_item is None else kept & self.leading(scores, labels_per_item)

    def members(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which entries are among these keys."""
        if not len(self.keys):
            return np.zeros(0, dtype=bool)
        places = np.searchsorted(self.keys, keys)
        found = places[self.keys[np.minimum(places, len(self.keys) - 1)] == keys]
        mask = np.zeros(len(self.keys), dtype=bool)
        mask[found] = True
        return mask

    def leading(self, scores: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
        """Which entries are among the `count` highest of their item; of equal ones the first label leads."""
        order = np.lexsort((-scores, self.rows))
        starts = np.searchsorted(self.rows, self.rows)
        mask = np.zeros(len(scores), dtype=bool)
        mask[order] = np.arange(len(scores)) - starts < count
        return mask

    def matrix(self, scores: NDArray[np.float64], kept: NDArray[np.bool_]) -> csr_matrix:
        starts = np.zeros(self.shape[0] + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.rows[kept], minlength=self.shape[0]), out=starts[1:])
        labels = (self.keys[kept] - self.rows[kept] * self.shape[1]).astype(np.int32)
        matrix = csr_matrix((scores[kept], labels, starts), shape=self.shape)
        matrix.has_sorted_indices = True
        return matrix


def _spread(values: NDArray, places: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    out = np.zeros(length)
    out[places] = values
    return out


@dataclass(frozen=True, eq=False)
class Combiners:
    """One base service's combiner with each service, itself included."""

    base: int
    weight: NDArray[np.float64]
    threshold: NDArray[np.float64]
    labels_per_item: int | None = None
    abstain: bool = False

    def __post_init__(self) -> None:
        if self.weight.ndim != 1 or self.weight.shape != self.threshold.shape:
            raise FrugalError(
                f"Combiners have weights {self.weight.shape} and thresholds {self.threshold.shape}; "
                "each must be one number a service."
            )
        if not 0 <= self.base < len(self.weight):
            raise FrugalError(f"Combiners: base {self.base} is not one of the {len(self.weight)} services.")
        for weight, threshold in zip(self.weight, self.threshold, strict=True):
            _check_share("weight", weight)
            _check_share("threshold", threshold)
        _check_labels_per_item(self.labels_per_item)

    def apply(self, market: Market, k: int) -> csr_matrix:
        """The combined answers of the base and service `k` to every item."""
        self._check_services(market)
        if not 0 <= k < len(self.weight):
            raise FrugalError(f"Combiners: {k} is not one of the {len(self.weight)} services.")
        return combine(
            market.scores[self.base],
            market.scores[k],
            self.weight[k],
            self.threshold[k],
            labels_per_item=self.labels_per_item,
            abstain=self.abstain,
        )

    def accuracy_matrix(self, market: Market, metric: str = "accuracy") -> NDArray[np.float64]:
        """(items, services): the true accuracy of each combination, which predictors learn to estimate."""
        self._check_services(market)
        base_scores = _checked("base_scores", market.scores[self.base])
        true_keys, true_sizes = entry_keys(market.truth), set_sizes(market.truth)
        columns = []
        for addon_scores, weight, threshold in zip(market.scores, self.weight, self.threshold, strict=True):
            union = _Union.of(base_scores, _checked("addon_scores", addon_scores))
            kept = union.kept(union.scores(weight, self.abstain), threshold, self.labels_per_item)
            shared = np.bincount(union.rows[kept & union.members(true_keys)], minlength=len(market))
            predicted = np.bincount(union.rows[kept], minlength=len(market))
            columns.append(metric_from_counts(metric, shared, true_sizes, predicted))
        return np.column_stack(columns)

    def _check_services(self, market: Market) -> None:
        if len(market.services) != len(self.weight):
            raise FrugalError(
                f"Market {market.name} has {len(market.services)} services, but these combiners were "
                f"learnt for {len(self.weight)}; give the market they were learnt on, or fit again."
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "base": self.base,
            "weight": self.weight.tolist(),
            "threshold": self.threshold.tolist(),
            "labels_per_item": self.labels_per_item,
            "abstain": self.abstain,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Combiners":
        try:
            return cls(
                base=int(values["base"]),
                weight=np.asarray(values["weight"], dtype=np.float64),
                threshold=np.asarray(values["threshold"], dtype=np.float64),
                labels_per_item=values["labels_per_item"],
                abstain=bool(values["abstain"]),
            )
        except FrugalError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise FrugalError(
                f"Combiners hold base, weight, threshold, labels_per_item and abstain ({error!r}); "
                "save them again."
            ) from None


def fit_combiners(
    market: Market,
    base: int,
    metric: str = "accuracy",
    grid: int = GRID,
    *,
    labels_per_item: int | None = None,
    abstain: bool = False,
) -> Combiners:
    """The best (w, θ) of the base with each service; with itself only θ is searched."""
    if not 0 <= base < len(market.services):
        raise FrugalError(
            f"Market {market.name}: base {base} is not one of its {len(market.services)} services."
        )
    base_scores = market.scores[base]
    options = {"labels_per_item": labels_per_item, "abstain": abstain}
    found = [
        search(market.truth, base_scores, addon_scores, metric, grid, **options)
        for addon_scores in market.scores
    ]
    return Combiners(
        base=base,
        weight=np.array([pair.weight for pair in found]),
        threshold=np.array([pair.threshold for pair in found]),
        **options,
    )


def _steps(grid: int) -> NDArray[np.float64]:
    if isinstance(grid, bool) or not isinstance(grid, int | np.integer) or grid < 1:
        raise FrugalError(f"The combiner's grid is {grid!r}; it must be a whole number of steps, at least 1.")
    return np.arange(grid + 1) / grid


def _same_answers(left: csr_matrix, right: csr_matrix) -> bool:
    return left is right or (
        left.shape == right.shape
        and left.nnz == right.nnz
        and np.array_equal(left.indptr, right.indptr)
        and np.array_equal(left.indices, right.indices)
        and np.array_equal(left.data, right.data)
    )


def _checked(what: str, matrix: csr_matrix) -> csr_matrix:
    """A CSR matrix with sorted, single entries: what the merges rely on."""
    if not issparse(matrix) or matrix.ndim != 2:
        raise FrugalError(f"{what} is a {type(matrix).__name__}; it must be a sparse items x labels matrix.")
    matrix = matrix if matrix.format == "csr" else matrix.tocsr()
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    if not matrix.has_canonical_format:
        raise FrugalError(f"{what} gives a label twice for one item; keep the higher score only.")
    if matrix.nnz and not (matrix.data.min() >= 0 and matrix.data.max() <= 1):
        raise FrugalError(f"{what} has scores outside [0, 1]; rescale them.")
    return matrix


def _check_share(what: str, value: float) -> None:
    if isinstance(value, str) or not 0 <= value <= 1:
        raise FrugalError(f"The combiner's {what} is {value!r}; it must lie in [0, 1].")


def _check_labels_per_item(value: int | None) -> None:
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1
    ):
        raise FrugalError(f"labels_per_item is {value!r}; it must be a whole number of at least 1, or none.")
