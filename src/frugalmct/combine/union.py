"""Two services' answers as one list of labels: merged by structure, through sorted entry keys.

scipy's own arithmetic drops stored zeros, but a label given with score 0 is still a label given.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from frugalmct.errors import FrugalError
from frugalmct.sparse import entry_keys, set_sizes

# A label is kept when score >= θ - TOLERANCE: 0.3 * 0.7 + 0.7 * 0.7 must reach θ = 0.7 although floating
# point makes it slightly less. Services report four to seven digits, far above it.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Union:
    """Two services' answers merged: one entry a label that either gave, in order of item then label."""

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]
    base: NDArray[np.float64]
    addon: NDArray[np.float64]
    alone: NDArray[np.bool_]
    shape: tuple[int, int]

    @classmethod
    def of(cls, base: csr_matrix, addon: csr_matrix) -> "Union":
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


def _spread(values: np.ndarray, places: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    out = np.zeros(length)
    out[places] = values
    return out


def checked_scores(what: str, matrix: csr_matrix) -> csr_matrix:
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
