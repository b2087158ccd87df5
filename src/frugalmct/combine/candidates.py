"""The labels that at least one of several services gave an item, side by side with who gave them.

One entry a candidate, in order of item then label; nothing here is as wide as the vocabulary, so that it may
have any number of labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.combine.union import checked_scores
from frugalmct.errors import FrugalError
from frugalmct.sparse import entry_keys, set_sizes

# Who gave a label is one bit a service.
MAX_SERVICES = 16
# A label is judged beside at most this many others of its item, the highest scores first: the pairs of a long
# text would otherwise grow with the square of its length.
MAX_CONTEXT = 4

# Values in whole numbers.
VALUE_BITS = 31
VALUE_STEPS = 1 << (VALUE_BITS - 1)

# What stands for a score where a service gave other labels, and where it gave none at all.
NOT_GIVEN, SILENT = -1.0, -2.0


@dataclass(frozen=True, eq=False)
class Candidates:
    """rows, labels: (candidates,) item and label of each; given, scores: (candidates, services);
    sizes: (items, services) how many labels each service gave; shape: items, labels."""

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    given: NDArray[np.bool_]
    scores: NDArray[np.float64]
    sizes: NDArray[np.int64]
    shape: tuple[int, int]

    @classmethod
    def of(cls, answers: Sequence[csr_matrix]) -> "Candidates":
        if not 1 <= len(answers) <= MAX_SERVICES:
            raise FrugalError(
                f"{len(answers)} services' answers cannot be combined; give 1 to {MAX_SERVICES} of them."
            )
        answers = [checked_scores(f"answers[{k}]", matrix) for k, matrix in enumerate(answers)]
        shape = answers[0].shape
        for matrix in answers:
            if matrix.shape != shape:
                raise FrugalError(f"Answers are {shape} and {matrix.shape}; they must be alike.")
        found = [entry_keys(matrix) for matrix in answers]
        keys = np.sort(np.concatenate(found), kind="stable")  # sorted runs: a stable sort merges them
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
        given = np.zeros((len(keys), len(answers)), dtype=bool)
        scores = np.zeros((len(keys), len(answers)))
        for k, (own, matrix) in enumerate(zip(found, answers, strict=True)):
            places = np.searchsorted(keys, own)
            given[places, k] = True
            scores[places, k] = matrix.data
        rows = keys // max(shape[1], 1)
        sizes = np.column_stack([set_sizes(matrix) for matrix in answers])
        return cls(keys, rows, keys - rows * shape[1], given, scores, sizes, shape)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def items(self) -> int:
        return self.shape[0]

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each item's candidates start, and one end more: as in a CSR matrix."""
        return np.searchsorted(self.rows, np.arange(self.items + 1))

    @cached_property
    def givers(self) -> NDArray[np.int64]:
        """Who gave each candidate, as one number."""
        return self.given @ (1 << np.arange(self.given.shape[1]))

    def members(self, truth: csr_matrix) -> NDArray[np.bool_]:
        """Which candidates are true."""
        truth = checked_scores("truth", truth)
        if truth.shape != self.shape:
            raise FrugalError(f"Truth is {truth.shape} but the answers are {self.shape}; they must be alike.")
        return np.isin(self.keys, entry_keys(truth), assume_unique=True)

    def order(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Item by item the candidates from the highest value down; of equal ones the first label leads.

        values: from 0 to 1, told apart to a billionth. Item and value are one whole number: a stable sort
        then has to put right each item's own few only.
        """
        below = VALUE_STEPS - np.rint(values * VALUE_STEPS).astype(np.int64)
        return np.argsort((self.rows << VALUE_BITS) | below, kind="stable")

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """0, 1, 2, ... within each item: the ranks of candidates in any `order`."""
        return np.arange(len(self)) - self.starts[self.rows]

    def highest(self, values: np.ndarray) -> np.ndarray:
        """(items, ...): the highest of each item's values, which lie together; 0 where it has none."""
        highest = np.zeros((self.items, *values.shape[1:]), dtype=values.dtype)
        some = np.diff(self.starts) > 0
        if len(self):
            highest[some] = np.maximum.reduceat(values, self.starts[:-1][some])
        return highest

    def sums(self, values: np.ndarray) -> NDArray[np.float64]:
        """(items,): the sum of a number over each item's candidates."""
        return np.bincount(self.rows, weights=values, minlength=self.items).astype(np.float64, copy=False)

    def columns(self) -> NDArray[np.float32]:
        """What is known of a candidate but which label it is: scores, margins, counts and agreement."""
        highest, sizes = self.highest(self.scores)[self.rows], self.sizes[self.rows]
        shown = np.where(self.given, self.scores, np.where(sizes > 0, NOT_GIVEN, SILENT))
        margin = np.where(self.given, self.scores - highest, NOT_GIVEN)
        several = self.given.sum(axis=1)
        agreed = self.sums(several > 1)[self.rows]
        union = np.diff(self.starts)[self.rows]
        parts = (shown, margin, highest, sizes, several, agreed, union, self.scores.sum(axis=1))
        return float32_columns(parts)

    @cached_property
    def neighbours(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of candidates of one item: each candidate with every other among its item's leading ones."""
        leading = np.sort(self.order(self.scores.max(axis=1))[self.places < MAX_CONTEXT])
        sizes = np.diff(self.starts)
        first = np.cumsum(np.minimum(sizes, MAX_CONTEXT)) - np.minimum(sizes, MAX_CONTEXT)
        who, others = [], []
        for place in range(MAX_CONTEXT):
            # The one at that place of each item that has so many, beside every candidate of the item.
            some = sizes > place
            other = np.repeat(leading[first[some] + place], sizes[some])
            candidate = np.flatnonzero(some[self.rows])
            apart = candidate != other
            who.append(candidate[apart])
            others.append(other[apart])
        return np.concatenate(who), np.concatenate(others)

    def matrix(self, values: NDArray[np.float64], kept: NDArray[np.bool_]) -> csr_matrix:
        """The kept candidates with these values."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.rows[kept], minlength=self.items))])
        matrix = csr_matrix((values[kept], self.labels[kept].astype(np.int32), starts), shape=self.shape)
        matrix.has_sorted_indices = True
        return matrix


def float32_columns(parts: Sequence[np.ndarray]) -> NDArray[np.float32]:
    """(rows,) and (rows, several) numbers side by side, as `np.column_stack`, with no copy between."""
    widths = [1 if part.ndim == 1 else part.shape[1] for part in parts]
    table = np.empty((len(parts[0]), sum(widths)), dtype=np.float32)
    for part, end, width in zip(parts, np.cumsum(widths), widths, strict=True):
        table[:, end - width : end] = part if part.ndim > 1 else part[:, None]
    return table
