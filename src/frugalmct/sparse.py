"""Label sets as CSR matrices (items x labels).

An entry that is stored is a label that was given, whatever its score: a label answered with score 0
is still an answer. scipy's own arithmetic drops stored zeros, so sets are handled here by structure.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

# An entry's number takes no more of 64 bits.
NUMBER_BITS = 32

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


def with_data(matrix: csr_matrix, data: np.ndarray) -> csr_matrix:
    """The same entries, which are sorted and single, with other numbers."""
    other = csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    other.has_canonical_format = True
    return other


def overlap_sizes(left: csr_matrix, right: csr_matrix) -> NDArray[np.int64]:
    """How many labels two sets share, item by item."""
    ones_left, ones_right = (with_data(each, np.ones(each.nnz, np.int32)) for each in (left, right))
    return np.asarray(ones_left.multiply(ones_right).sum(axis=1)).ravel().astype(np.int64)


def merged(matrices: Sequence[csr_matrix]) -> tuple[csr_matrix, list[NDArray[np.int64]]]:
    """The entries that any of them has; and for each of them which of its own entries, counted from 1, is
    there, 0 for none."""
    union, found = matrices[0], [_numbers(matrices[0])]
    for matrix in matrices[1:]:
        # Two numbers in one: no sum of them is 0, so that scipy's merge drops nothing.
        both = with_data(union, _numbers(union)) + with_data(matrix, _numbers(matrix) << NUMBER_BITS)
        before = both.data & ((1 << NUMBER_BITS) - 1)
        found = [np.append(0, own)[before] for own in found] + [both.data >> NUMBER_BITS]
        union = both
    return union, found


def shared_entries(matrix: csr_matrix, other: csr_matrix) -> NDArray[np.bool_]:
    """(entries,): which of a matrix's entries the other has as well."""
    shared = with_data(matrix, _numbers(matrix)).multiply(with_data(other, np.ones(other.nnz, np.int64)))
    found = np.zeros(matrix.nnz, dtype=bool)
    found[shared.tocsr().data - 1] = True
    return found


def _numbers(matrix: csr_matrix) -> NDArray[np.int64]:
    return np.arange(1, matrix.nnz + 1, dtype=np.int64)


def take_rows(matrix: csr_matrix, rows: Rows) -> csr_matrix:
    """Rows in the given order, stored zeros kept."""
    return sorted_labels(matrix[rows])
