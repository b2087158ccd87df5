"""A forest of regression trees as plain arrays, and its estimates without scikit-learn.

All trees lie in one run of nodes, each tree in depth-first order: the left child of an inner node is the
node after it, `right` names the other. In a leaf `feature` is -1 and `right` is the leaf's row of `values`.
A node takes 12 bytes, a leaf 4 more for each service: 100 trees of 5,000 leaves and 4 services, 20 MB.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.errors import FrugalError
from frugalmct.floats import rounded_down
from frugalmct.predict.base import Estimates, Matrix
from frugalmct.predict.descent import Descent

# Rows in flight at once: with a hundred trees their places fit a core's cache. scikit-learn's own trees go
# one after the other instead, each fetched anew for every block: there larger blocks are faster.
BLOCK = 512
GROWN_BLOCK = 4096
LEAF = -1
# Items descend all trees together: what a block of them takes grows with the trees, 400 MB at this many.
MAX_TREES = 20_000

TYPES: dict[str, type] = {
    "columns": np.int32,
    "roots": np.int32,
    "feature": np.int32,
    "threshold": np.float32,
    "right": np.int32,
    "values": np.float32,
}


@dataclass(frozen=True, eq=False)
class Forest:
    """`columns` of the features are looked at; a node's `feature` is a place among them.

    `roots` is where each tree starts. `grown` are scikit-learn's own trees, as long as they are at hand: they
    find the same leaves faster.
    """

    columns: NDArray[np.int32]
    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    right: NDArray[np.int32]
    values: NDArray[np.float32]
    grown: tuple[Any, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, trees: Iterable[Any], columns: NDArray[np.int64]) -> "Forest":
        """From scikit-learn's fitted trees, grown on these columns of the features."""
        grown, parts, nodes, leaves = tuple(trees), [], 0, 0
        for tree in grown:
            leaf = tree.children_left == LEAF
            inner = np.flatnonzero(~leaf)
            if np.any(tree.children_left[inner] != inner + 1):
                raise AssertionError("scikit-learn no longer stores trees in depth-first order")
            after = np.where(leaf, leaves + np.cumsum(leaf) - 1, nodes + tree.children_right)
            parts.append((nodes, np.where(leaf, LEAF, tree.feature), tree.threshold, after, tree.value[leaf]))
            nodes, leaves = nodes + len(leaf), leaves + int(leaf.sum())
        roots, feature, threshold, right, values = zip(*parts, strict=True)
        return cls(
            columns.astype(np.int32),
            np.array(roots, dtype=np.int32),
            np.concatenate(feature).astype(np.int32),
            rounded_down(np.concatenate(threshold)),
            np.concatenate(right).astype(np.int32),
            np.concatenate(values)[:, :, 0].astype(np.float32),
            grown,
        )

    @classmethod
    def of_boosters(cls, boosters: Sequence[Any], columns: NDArray[np.int64]) -> "Forest":
        """From LightGBM's fitted boosters, one a service, grown on these columns of the features.

        Boosted trees add up where a forest's are averaged: each leaf holds its value times the number of
        trees, for its own service, and 0 for the others.
        """
        roots: list[int] = []
        nodes: list[tuple[int, float, int]] = []
        values: list[tuple[int, float]] = []
        for service, booster in enumerate(boosters):
            for tree in booster.dump_model()["tree_info"]:
                roots.append(len(nodes))
                _add_tree(tree["tree_structure"], service, nodes, values)
        feature, threshold, right = zip(*nodes, strict=True)
        table = np.zeros((len(values), len(boosters)), dtype=np.float32)
        services, leaf_values = zip(*values, strict=True)
        table[np.arange(len(values)), services] = np.multiply(leaf_values, len(roots))
        return cls(
            columns.astype(np.int32),
            np.array(roots, dtype=np.int32),
            np.array(feature, dtype=np.int32),
            rounded_down(np.array(threshold)),
            np.array(right, dtype=np.int32),
            table,
        )

    @classmethod
    def constant(cls, values: NDArray[np.float64]) -> "Forest":
        """One tree that is one leaf."""
        one = np.zeros(1, dtype=np.int32)
        return cls(one, one, one + LEAF, one.astype(np.float32), one, values[None].astype(np.float32))

    def estimate(self, features: Matrix, jobs: int = 1) -> Estimates:
        """(items, services): the mean of the trees."""
        features = features[:, self.columns]
        size = GROWN_BLOCK if self.grown else BLOCK
        blocks = [features[start : start + size] for start in range(0, features.shape[0], size)]
        if jobs == 1 or len(blocks) < 2:
            parts = [self._estimate_block(block) for block in blocks]
        else:
            with ThreadPoolExecutor(jobs) as pool:
                parts = list(pool.map(self._estimate_block, blocks))
        return np.concatenate(parts) if parts else np.zeros((0, self.values.shape[1]))

    def _estimate_block(self, block: Matrix) -> Estimates:
        table = np.ascontiguousarray(
            block if isinstance(block, np.ndarray) else block.toarray(), dtype=np.float32
        )
        total = np.zeros((len(table), self.values.shape[1]))
        # One tree after the other, so that an item's sum is the same whichever items are beside it.
        for leaves in self._leaves_found(table) if self.grown else self._leaves_walked(table):
            total += self.values[leaves]
        return total / len(self.roots)

    def _leaves_found(self, table: NDArray[np.float32]) -> Iterable[NDArray[np.int32]]:
        """Tree by tree, the row of `values` where each item ends."""
        return (
            self.right[root + tree.apply(table)] for root, tree in zip(self.roots, self.grown, strict=True)
        )

    def _leaves_walked(self, table: NDArray[np.float32]) -> NDArray[np.int32]:
        """The same from the arrays: items descend all trees together, one level at a time."""
        items, width = table.shape
        cells = table.ravel()
        node = np.repeat(self.roots, items)
        offset = np.tile(np.arange(items) * width, len(self.roots))
        ends = np.empty(len(node), dtype=np.int32)
        going = np.arange(len(node))
        while len(going):
            column = self.feature[node]
            inner = column != LEAF
            if not inner.all():
                ends[going[~inner]] = self.right[node[~inner]]
                going, node, offset, column = going[inner], node[inner], offset[inner], column[inner]
            goes_left = cells[offset + column] <= self.threshold[node]
            node = np.where(goes_left, node + 1, self.right[node])
        return ends.reshape(len(self.roots), items)

    def estimate_row(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        """(services,): what `estimate` gives for one item, whose features are a dense row, only sooner."""
        return self._descent.estimate(row)

    @cached_property
    def _descent(self) -> Descent:
        return Descent(self)

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in TYPES}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], columns: int, services: int, *, boosted: bool = False
    ) -> "Forest":
        """Only what is a forest: every walk stays inside the arrays and comes to a leaf.

        Leaves hold accuracies, unless the trees are `boosted`: then they hold parts of them.
        """
        parts: dict[str, Any] = {name: np.asarray(arrays[name]) for name in TYPES}
        for name, part in parts.items():
            if part.dtype != TYPES[name] or part.ndim != (2 if name == "values" else 1) or not part.size:
                raise FrugalError(f"{name} holds {part.dtype} of shape {part.shape}")
        forest = cls(**parts)
        forest._check(columns, services, -np.inf if boosted else 0, np.inf if boosted else 1)
        return forest

    def _check(self, columns: int, services: int, least: float, most: float) -> None:
        nodes = len(self.feature)
        if not len(self.threshold) == len(self.right) == nodes:
            raise FrugalError("its nodes are not all described")
        leaf = self.feature == LEAF
        inner = np.flatnonzero(~leaf)
        in_range = least <= self.values.min() <= self.values.max() <= most
        # Children come later and the last node is a leaf: no walk can leave the nodes or turn in a circle.
        onward = leaf[-1] and np.all(self.right[inner] > inner) and _within(self.right[inner], nodes)
        checks = {
            f"it has more than {MAX_TREES:,} trees": len(self.roots) <= MAX_TREES,
            "its columns are not in rising order": bool(np.all(np.diff(self.columns.astype(np.int64)) > 0)),
            f"it looks outside the {columns} features": _within(self.columns, columns),
            "its trees start outside its nodes": _within(self.roots, nodes),
            "its nodes look outside its columns": _within(self.feature[inner], len(self.columns)),
            "its nodes do not lead to leaves": onward,
            "its leaves have no values": _within(self.right[leaf], len(self.values)),
            f"its leaves must hold {services} values": self.values.shape[1] == services,
            "its values must be numbers": np.isfinite(self.values).all(),
            f"its values must lie in [{least}, {most}]": in_range,
            "its thresholds must be numbers": not np.isnan(self.threshold).any(),
        }
        for sentence, holds in checks.items():
            if not holds:
                raise FrugalError(sentence)


def _add_tree(
    top: dict[str, Any], service: int, nodes: list[tuple[int, float, int]], values: list[tuple[int, float]]
) -> None:
    """A booster's tree, appended in depth-first order to the nodes and leaf values of those before it."""
    waiting = [(top, -1)]
    while waiting:
        node, parent = waiting.pop()
        if parent >= 0:
            nodes[parent] = (*nodes[parent][:2], len(nodes))
        if "leaf_value" in node:
            nodes.append((LEAF, 0.0, len(values)))
            values.append((service, node["leaf_value"]))
        else:
            if node["decision_type"] != "<=" or node["missing_type"] != "None":
                raise AssertionError("LightGBM split by something else than a threshold")
            waiting += [(node["right_child"], len(nodes)), (node["left_child"], -1)]
            nodes.append((node["split_feature"], node["threshold"], 0))


def _within(numbers: NDArray[np.int32], limit: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < limit)
