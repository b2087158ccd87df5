"""Label sets as CSR matrices (items x labels).

An entry that is stored is a label that was given, whatever its score: a label answered with score 0
is still an answer. scipy's own arithmetic drops stored zeros, so sets are handled here by structure.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

Rows = Sequence[int] | NDArray[np.int64]
"""Which items, by number."""


def label_matrix(indptr: ArrayLike, indices: ArrayLike, scores: ArrayLike | None, labels: int) -> csr_matrix:
    """A CSR matrix with sorted indices; scores default to 1."""
    indices = np.asarray(indices, dtype=np.int32)
    data = np.ones(len(indices)) if scores is None else np.asarray(scores, dtype=np.float64)
    indptr = np.asarray(indptr, dtype=np.int64)
    return sorted_labels(csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, labels)))


def sorted_labels(matrix: csr_matrix) -> csr_matrix:
    """The matrix with each item's labels in order; a copy if they were not, for its arrays may be shared."""
    return matrix if matrix.has_sorted_indices else matrix.sorted_indices()


def set_sizes(matrix: csr_matrix) -> NDArray[np.int64]:
    """How many labels each item has."""
    return np.diff(matrix.indptr).astype(np.int64)


def row_numbers(matrix: csr_matrix) -> NDArray[np.int64]:
    """The item of every stored entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def entry_keys(matrix: csr_matrix) -> NDArray[np.int64]:
    """One sorted integer an entry, item * labels + label: sets become merges of sorted arrays."""
    return row_numbers(matrix) * np.int64(matrix.shape[1]) + matrix.indices


def overlap_sizes(left: csr_matrix, right: csr_matrix) -> NDArray[np.int64]:
    """How many labels two sets share, item by item."""
    ones_left = csr_matrix((np.ones(left.nnz, np.int32), left.indices, left.indptr), shape=left.shape)
    ones_right = csr_matrix((np.ones(right.nnz, np.int32), right.indices, right.indptr), shape=right.shape)
    return np.asarray(ones_left.multiply(ones_right).sum(axis=1)).ravel().astype(np.int64)


def take_rows(matrix: csr_matrix, rows: Rows) -> csr_matrix:
    """Rows in the given order, stored zeros kept."""
    return sorted_labels(matrix[rows])
