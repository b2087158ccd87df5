"""Small boosted trees for a probability, as plain arrays.

Trees are complete: node n has the children 2n + 1 and 2n + 2, and all leaves lie at one depth, so that every
row takes the same few steps. scikit-learn grows them; estimates need numpy alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from frugalmct.errors import FrugalError
from frugalmct.floats import rounded_down

ROUNDS = 20
DEPTH = 4
LEARNING_RATE = 0.3
LEAST_IN_LEAF = 20
SHRINKAGE = 1.0
BINS = 63

# Rows judged at once: a few columns of them fit a core's cache.
BLOCK = 32_768
# From so many rows on it is sooner to make every comparison of a tree than to follow each row's own.
MANY_ROWS = 4_096

TYPES: dict[str, type] = {"feature": np.int16, "threshold": np.float32, "leaves": np.float32}

Table = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """feature, threshold: (trees, inner nodes), a row goes left where it is not above the threshold;
    leaves: (trees, leaves), what each tree adds to the log-odds, which start at `offset`."""

    offset: float
    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    leaves: NDArray[np.float32]

    @classmethod
    def fit(cls, table: Table, is_true: NDArray[np.bool_], seed: int = 0, jobs: int = 1) -> "BoostedTrees":
        """From (rows, columns) numbers and what is true; a constant where all rows are alike."""
        right = int(is_true.sum())
        if not 0 < right < len(is_true):
            return cls.constant((right + 0.5) / (len(is_true) + 1))
        from sklearn import config_context
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            learning_rate=LEARNING_RATE,
            max_iter=ROUNDS,
            max_depth=DEPTH,
            max_leaf_nodes=None,
            min_samples_leaf=LEAST_IN_LEAF,
            l2_regularization=SHRINKAGE,
            max_bins=BINS,
            early_stopping=False,
            random_state=seed,
        )
        checked = config_context(assume_finite=True, skip_parameter_validation=True)
        with _threads().limit(limits=jobs, user_api="openmp"), checked:
            grown = model.fit(table, is_true)
        trees = [_complete(stage[0].nodes) for stage in grown._predictors]
        feature, threshold, leaves = (np.array(part) for part in zip(*trees, strict=True))
        offset = float(np.ravel(grown._baseline_prediction)[0])
        return cls(offset, feature.astype(np.int16), rounded_down(threshold), leaves.astype(np.float32))

    @classmethod
    def constant(cls, probability: float) -> "BoostedTrees":
        """The same probability for every row."""
        inner, leaves = np.zeros((0, 2**DEPTH - 1)), np.zeros((0, 2**DEPTH), np.float32)
        offset = float(np.log(probability / (1 - probability)))
        return cls(offset, inner.astype(np.int16), inner.astype(np.float32), leaves)

    def probabilities(self, table: Table) -> NDArray[np.float64]:
        """(rows,): a row's probability never depends on the rows beside it."""
        if len(table) <= BLOCK:
            odds = self._odds(table)
        else:
            starts = range(0, len(table), BLOCK)
            odds = np.concatenate([self._odds(table[start : start + BLOCK]) for start in starts])
        return 1 / (1 + np.exp(-odds))

    def _odds(self, table: Table) -> NDArray[np.float64]:
        """Added tree by tree, so that a sum is the same for one row and for many."""
        if not len(self.feature):
            return np.full(len(table), self.offset)
        if len(table) < MANY_ROWS:
            return self._walked(table)
        total = np.full(len(table), self.offset)
        for added in self._compared(table):
            total += added
        return total

    def _walked(self, table: Table) -> NDArray[np.float64]:
        """The same for a few rows: how all nodes of a tree turn is one number, which says at which leaf a row
        ends."""
        feature, threshold, leaves, first = self._flat
        turns = table.take(feature, axis=1) > threshold
        leaf = _leaf_of_turns().take(np.packbits(turns, axis=1).view(np.uint16))
        added = np.empty((len(table), len(first) + 1))
        added[:, 0] = self.offset
        added[:, 1:] = leaves.take(leaf + first)
        return np.add.accumulate(added, axis=1)[:, -1]

    @cached_property
    def _flat(self) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.float32], NDArray[np.intp]]:
        """Feature and threshold of all nodes in one run, each tree filled up with a node that always turns
        left; the leaves likewise, and where those of each tree start."""
        filled = ((0, 0), (0, 1))
        feature = np.pad(self.feature.astype(np.intp), filled)
        threshold = np.pad(self.threshold, filled, constant_values=np.inf)
        first = np.arange(0, self.leaves.size, 2**DEPTH, dtype=np.intp)
        return feature.ravel(), threshold.ravel(), self.leaves.ravel(), first

    def _compared(self, table: Table) -> Iterable[NDArray[np.float32]]:
        """The same, tree by tree, from the comparisons of every node."""
        columns = np.ascontiguousarray(table.T, dtype=np.float32)
        for feature, threshold, leaves in zip(self.feature, self.threshold, self.leaves, strict=True):
            right = [columns[number] > limit for number, limit in zip(feature, threshold, strict=True)]
            turns: list[NDArray[np.bool_]] = []
            leaf = np.zeros(len(table), dtype=np.uint8)
            for level in range(DEPTH):
                nodes = right[2**level - 1 : 2 ** (level + 1) - 1]
                # Of each pair of nodes the right one where the turn above it was to the right.
                for turn in reversed(turns):
                    nodes = [a ^ (turn & (a ^ b)) for a, b in zip(nodes[::2], nodes[1::2], strict=True)]
                turns.append(nodes[0])
                leaf = 2 * leaf + nodes[0]
            yield leaves[leaf]

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in TYPES}

    @classmethod
    def from_arrays(cls, offset: Any, arrays: Mapping[str, np.ndarray], columns: int) -> "BoostedTrees":
        """Only what is a set of trees: every walk stays inside the arrays and the columns."""
        parts = {name: np.asarray(arrays[name]) for name in TYPES}
        trees = len(parts["leaves"])
        for name, part in parts.items():
            width = 2**DEPTH if name == "leaves" else 2**DEPTH - 1
            if part.dtype != TYPES[name] or part.shape != (trees, width):
                raise FrugalError(f"{name} holds {part.dtype} of shape {part.shape}")
        if trees and not 0 <= parts["feature"].min() <= parts["feature"].max() < columns:
            raise FrugalError(f"its trees look outside the {columns} columns")
        if not np.isfinite(parts["leaves"]).all() or np.isnan(parts["threshold"]).any():
            raise FrugalError("its trees must hold numbers")
        if isinstance(offset, bool) or not isinstance(offset, int | float) or not np.isfinite(offset):
            raise FrugalError(f"its offset is {offset!r}, not a number")
        return cls(float(offset), **parts)


def _complete(nodes: np.ndarray) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """scikit-learn's tree filled up: below an early leaf every row goes left, to the leaf's own value."""
    feature = np.zeros(2**DEPTH - 1, dtype=np.int64)
    threshold = np.full(2**DEPTH - 1, np.inf)
    leaves = np.zeros(2**DEPTH)
    waiting = [(0, 0)]
    while waiting:
        source, target = waiting.pop()
        node = nodes[source]
        if not node["is_leaf"]:
            feature[target], threshold[target] = node["feature_idx"], node["num_threshold"]
            waiting += [(int(node["left"]), 2 * target + 1), (int(node["right"]), 2 * target + 2)]
            continue
        while target < len(feature):
            target = 2 * target + 1
        leaves[target - len(feature)] = node["value"]
    return feature, threshold, leaves


@cache
def _leaf_of_turns() -> NDArray[np.intp]:
    """(65536,): at which leaf a row ends, by the turns of a tree's nodes as bits, in numpy's order."""
    packed = np.arange(2**16, dtype=np.uint16)
    turns = np.unpackbits(packed.view(np.uint8))
    start = np.arange(0, len(turns), 16)
    node = np.zeros(len(packed), dtype=np.intp)
    for _ in range(DEPTH):
        node = 2 * node + 1 + turns.take(start + node)
    return node - (2**DEPTH - 1)


@cache
def _threads() -> ThreadpoolController:
    """Made once, since it looks through all libraries, and only when scikit-learn is loaded: a limit is one
    for the threads of those that it found."""
    return ThreadpoolController()
