"""The labels that at least one of several services gave an item, side by side with who gave them.

One entry a candidate, in order of item then label; nothing here is as wide as the vocabulary, so that it may
have any number of labels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.combine.union import checked_scores
from frugalmct.errors import FrugalError
from frugalmct.sparse import merged, row_numbers, set_sizes, shared_entries, take_rows

# Who gave a label is one bit a service.
MOST_COMBINED = 16
# A label is judged beside at most this many others of its item, the highest scores first: the pairs of a long
# text would otherwise grow with the square of its length.
MAX_CONTEXT = 4
# Candidates whose pairs are found at once: as many as a core's cache holds.
BLOCK = 16_384

# Values in whole numbers.
VALUE_BITS = 31
VALUE_STEPS = 1 << (VALUE_BITS - 1)
KEY_BITS = 63

# What stands for a score where a service gave other labels, and where it gave none at all.
NOT_GIVEN, SILENT = -1.0, -2.0


@dataclass(frozen=True, eq=False)
class Candidates:
    """rows, labels: (candidates,) item and label of each; given, scores: (candidates, services);
    sizes: (items, services) how many labels each service gave."""

    entries: csr_matrix
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    given: NDArray[np.bool_]
    scores: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, answers: Sequence[csr_matrix]) -> "Candidates":
        if not 1 <= len(answers) <= MOST_COMBINED:
            raise FrugalError(
                f"{len(answers)} services' answers cannot be combined; give 1 to {MOST_COMBINED} of them."
            )
        answers = [checked_scores(f"answers[{k}]", matrix) for k, matrix in enumerate(answers)]
        shape = answers[0].shape
        for matrix in answers:
            if matrix.shape != shape:
                raise FrugalError(f"Answers are {shape} and {matrix.shape}; they must be alike.")
        entries, numbers = merged(answers)
        given, scores = (np.empty((entries.nnz, len(answers)), dtype, "F") for dtype in (bool, np.float64))
        for k, (number, matrix) in enumerate(zip(numbers, answers, strict=True)):
            given[:, k] = number > 0
            scores[:, k] = np.append(0.0, matrix.data)[number]
        sizes = np.column_stack([set_sizes(matrix) for matrix in answers])
        return cls(entries, row_numbers(entries), entries.indices.astype(np.int64), given, scores, sizes)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Items, labels."""
        return self.entries.shape

    @property
    def items(self) -> int:
        return self.shape[0]

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each item's candidates start, and one end more: as in a CSR matrix."""
        return self.entries.indptr.astype(np.int64)

    @cached_property
    def givers(self) -> NDArray[np.int64]:
        """Who gave each candidate, as one number."""
        return self.given @ (1 << np.arange(self.given.shape[1]))

    def every(self, step: int) -> tuple["Candidates", NDArray[np.bool_]]:
        """Those of every `step`-th item, and which of these candidates they are."""
        some = self.rows % step == 0
        entries = take_rows(self.entries, np.arange(0, self.items, step))
        return (
            Candidates(
                entries,
                row_numbers(entries),
                self.labels[some],
                self.given[some],
                self.scores[some],
                self.sizes[::step],
            ),
            some,
        )

    def members(self, truth: csr_matrix) -> NDArray[np.bool_]:
        """Which candidates are true."""
        truth = checked_scores("truth", truth)
        if truth.shape != self.shape:
            raise FrugalError(f"Truth is {truth.shape} but the answers are {self.shape}; they must be alike.")
        return shared_entries(self.entries, truth)

    def order(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Item by item the candidates from the highest value down; of equal ones the first label leads.

        values: from 0 to 1, told apart to a billionth. Item and value are one whole number, and so is the
        place within the item where there is room for it: plain numbers are sorted far sooner than places by
        their numbers.
        """
        below = VALUE_STEPS - np.rint(values * VALUE_STEPS).astype(np.int64)
        keys = (self.rows << VALUE_BITS) | below
        bits = int(self.places.max(initial=0)).bit_length()
        if self.items.bit_length() + VALUE_BITS + bits > KEY_BITS:
            return np.argsort(keys, kind="stable")
        keys = (keys << bits) | self.places
        keys.sort()
        # Items stay where they are.
        return self.starts[self.rows] + (keys & ((1 << bits) - 1))

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
    def leading(self) -> NDArray[np.int64]:
        """(items, MAX_CONTEXT): each item's candidates of the highest scores, by label; -1 for none."""
        found = np.sort(self.order(self.scores.max(axis=1))[self.places < MAX_CONTEXT])
        sizes = np.minimum(np.diff(self.starts), MAX_CONTEXT)
        leading = np.full((self.items, MAX_CONTEXT), -1, dtype=np.int64)
        leading[np.arange(MAX_CONTEXT) < sizes[:, None]] = found
        return leading

    def neighbours(
        self, some: NDArray[np.bool_] | None = None, beside: NDArray[np.bool_] | None = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Pairs of candidates of one item: each candidate with every other among its item's leading ones.

        some, beside: (candidates,), which are wanted in the first and in the second place, if not all. They
        come block by block: together they are many times as many as the candidates.
        """
        leading = self.leading
        if beside is not None:
            leading = np.where(np.append(beside, False)[leading], leading, -1)
        candidates = np.arange(len(self)) if some is None else np.flatnonzero(some)
        for start in range(0, len(candidates), BLOCK):
            who = candidates[start : start + BLOCK]
            others = leading[self.rows[who]]
            places, apart = np.nonzero(((others >= 0) & (others != who[:, None])).T)
            yield who[apart], others[apart, places]

    def matrix(self, values: NDArray[np.float64], kept: NDArray[np.bool_]) -> csr_matrix:
        """The kept candidates with these values."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.rows[kept], minlength=self.items))])
        matrix = csr_matrix((values[kept], self.labels[kept].astype(np.int32), starts), shape=self.shape)
        matrix.has_sorted_indices = True
        return matrix


def float32_columns(parts: Sequence[np.ndarray]) -> NDArray[np.float32]:
    """(rows,) and (rows, several) numbers side by side, as `np.column_stack`; column by column in memory, as
    trees are grown and followed."""
    widths = [1 if part.ndim == 1 else part.shape[1] for part in parts]
    table = np.empty((len(parts[0]), sum(widths)), dtype=np.float32, order="F")
    for part, end, width in zip(parts, np.cumsum(widths), widths, strict=True):
        table[:, end - width : end] = part if part.ndim > 1 else part[:, None]
    return table
