"""Two services' answers as one list of labels: merged by structure, whatever the scores.

A label given with score 0 is still a label given.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from frugalmct.errors import FrugalError
from frugalmct.sparse import merged, row_numbers, set_sizes, shared_entries

# A label is kept when score >= θ - TOLERANCE: 0.3 * 0.7 + 0.7 * 0.7 must reach θ = 0.7 although floating
# point makes it slightly less. Services report four to seven digits, far above it.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Union:
    """Two services' answers merged: one entry a label that either gave, in order of item then label."""

    entries: csr_matrix
    rows: NDArray[np.int64]
    base: NDArray[np.float64]
    addon: NDArray[np.float64]
    alone: NDArray[np.bool_]

    @classmethod
    def of(cls, base: csr_matrix, addon: csr_matrix) -> "Union":
        if base.shape != addon.shape:
            raise FrugalError(
                f"The base's answers are {base.shape} but the add-on's {addon.shape}; they must be alike."
            )
        entries, (of_base, of_addon) = merged([base, addon])
        rows = row_numbers(entries)
        one_is_silent = (set_sizes(base) == 0) | (set_sizes(addon) == 0)
        scores = np.append(0.0, base.data)[of_base], np.append(0.0, addon.data)[of_addon]
        return cls(entries, rows, *scores, one_is_silent[rows])

    @property
    def shape(self) -> tuple[int, int]:
        """Items, labels."""
        return self.entries.shape

    def scores(self, weight: float, abstain: bool) -> NDArray[np.float64]:
        mixed = weight * self.base + (1 - weight) * self.addon
        # Where one is silent, its score is 0 and the sum is the other's.
        return np.where(self.alone, self.base + self.addon, mixed) if abstain else mixed

    def kept(
        self, scores: NDArray[np.float64], threshold: float, labels_per_item: int | None
    ) -> NDArray[np.bool_]:
        kept = scores >= threshold - TOLERANCE
        return kept if labels_per_item is None else kept & self.leading(scores, labels_per_item)

    def members(self, truth: csr_matrix) -> NDArray[np.bool_]:
        """Which entries are true."""
        return shared_entries(self.entries, checked_scores("truth", truth))

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
        matrix = csr_matrix((scores[kept], self.entries.indices[kept], starts), shape=self.shape)
        matrix.has_sorted_indices = True
        return matrix


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
