"""A forest laid out for one item at a time.

Inner nodes are numbered by feature and then by threshold. Of one feature those that send an item to the right
are then the first few, so that a single search says how all of them turn; and most features of an item are 0,
for which it is known beforehand. An item then descends all trees together with one look-up a level.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from frugalmct.predict.trees import Forest

LEVELS_AT_ONCE = 8
# With more features than this that are not 0, it is sooner to compare at the nodes that the item comes to.
MOST_TURNED = 24


class Descent:
    """May be used by several threads at a time."""

    def __init__(self, forest: "Forest") -> None:
        nodes = np.arange(len(forest.feature), dtype=np.intp)
        leaf = forest.feature < 0
        feature = np.where(leaf, len(forest.columns), forest.feature)
        order = np.lexsort((forest.threshold, feature))
        number = np.empty_like(nodes)
        number[order] = nodes
        # A leaf is its own child, on both sides.
        left, right = np.where(leaf, nodes, nodes + 1), np.where(leaf, nodes, forest.right)
        # All left children, then all right ones: whoever goes to the right is that much further on.
        self._children = np.concatenate([number[left[order]], number[right[order]]])
        self._further = len(nodes)
        self._roots = number[forest.roots]
        self._inner = int(np.count_nonzero(~leaf))
        self._columns = forest.columns
        self._feature = np.minimum(feature[order], len(forest.columns) - 1).astype(np.intp)
        self._threshold = forest.threshold[order]
        buffer: Any = self._threshold
        self._thresholds = memoryview(buffer)
        self._leaves, self._values = forest.right[order], forest.values
        self._start = np.searchsorted(feature[order], np.arange(len(forest.columns) + 1)).tolist()
        self._zero = [self._first_not_below(place, 0.0) for place in range(len(forest.columns))]
        self._at_zero = np.zeros(len(nodes), dtype=np.intp)
        for start, end in zip(self._start, self._zero, strict=False):
            self._at_zero[start:end] = self._further
        self._spare: list[NDArray[np.intp]] = []

    def estimate(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        """(services,): the mean of the trees for an item whose features are a dense row."""
        cells = row.take(self._columns)
        given = cells.nonzero()[0].tolist()
        if len(given) > MOST_TURNED:
            node = self._compared(cells)
        else:
            node = self._turned(
                [(place, value) for place, value in zip(given, cells[given].tolist(), strict=True)]
            )
        # Tree after tree, as for many items: a sum in another order may differ in its last digit.
        leaves = self._values.take(self._leaves.take(node), axis=0)
        return np.add.accumulate(leaves, axis=0, dtype=np.float64)[-1] / len(self._roots)

    def _turned(self, given: Iterable[tuple[int, float]]) -> NDArray[np.intp]:
        """The leaves where an item ends that has these features, by their places, and 0 for all others."""
        changes = [(self._zero[place], self._first_not_below(place, value)) for place, value in given]
        try:
            turns = self._spare.pop()
        except IndexError:  # at first, or another thread has it
            turns = self._at_zero.copy()
        for zero, end in changes:
            turns[zero:end] = self._further
            turns[end:zero] = 0
        node = self._descend(turns.take)
        for zero, end in changes:
            turns[zero:end] = 0
            turns[end:zero] = self._further
        self._spare.append(turns)
        return node

    def _compared(self, cells: NDArray[np.float32]) -> NDArray[np.intp]:
        """The same for any item."""
        feature, threshold, further = self._feature, self._threshold, self._further
        return self._descend(lambda node: (cells.take(feature.take(node)) > threshold.take(node)) * further)

    def _descend(self, turns: Callable[[NDArray[np.intp]], NDArray[np.intp]]) -> NDArray[np.intp]:
        """turns: how much further on than its left child each of some nodes sends the item."""
        node, children = self._roots, self._children
        while True:
            for _ in range(LEVELS_AT_ONCE):
                node = children.take(node + turns(node))
            if node.min() >= self._inner:
                return node

    def _first_not_below(self, place: int, value: float) -> int:
        """The first node of a feature at which an item of this value goes to the left."""
        return bisect_left(self._thresholds, value, self._start[place], self._start[place + 1])
