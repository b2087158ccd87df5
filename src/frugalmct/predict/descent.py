"""A forest laid out for one item at a time.

Inner nodes are numbered by feature and then by threshold. Of one feature those that send an item to the right
are then the first few, so that a single search says how all of them turn; and most features of an item are 0,
for which it is known beforehand. Where every node sends an item is thus one array, which differs from that of
the item before in a few stretches; an item descends all trees together with one look-up a level.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from frugalmct.predict.trees import Forest

LEVELS_AT_ONCE = 8
# With more features than this that are not 0, it is sooner to compare at the nodes that the item comes to.
MOST_TURNED = 24


class _Signposts:
    """Where every node sends an item: one that has these features, and 0 for all others.

    ends: of each feature, the first node that sends it to the left.
    """

    def __init__(self, goes_to: NDArray[np.intp], ends: list[int]) -> None:
        self.goes_to, self.ends = goes_to, ends
        self.given: dict[int, float] = {}


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
        self._left, self._right = number[left[order]], number[right[order]]
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
        self._at_zero = self._left.copy()
        for start, end in zip(self._start, self._zero, strict=False):
            self._at_zero[start:end] = self._right[start:end]
        self._spare: list[_Signposts] = []

    def estimate(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        """(services,): the mean of the trees for an item whose features are a dense row."""
        cells = row.take(self._columns)
        given = cells.nonzero()[0].tolist()
        if len(given) > MOST_TURNED:
            node = self._compared(cells)
        else:
            node = self._turned(dict(zip(given, cells[given].tolist(), strict=True)))
        # Tree after tree, as for many items: a sum in another order may differ in its last digit.
        leaves = self._values.take(self._leaves[node], axis=0)
        return np.add.accumulate(leaves, axis=0, dtype=np.float64)[-1] / len(self._roots)

    def _turned(self, given: dict[int, float]) -> NDArray[np.intp]:
        """The leaves where an item ends that has these features, by their places, and 0 for all others."""
        try:
            posts = self._spare.pop()
        except IndexError:  # at first, or another thread has it
            posts = _Signposts(self._at_zero.copy(), self._zero.copy())
        goes_to, ends = posts.goes_to, posts.ends
        new = {place: self._zero[place] for place in posts.given}
        new |= {place: self._first_not_below(place, value) for place, value in given.items()}
        for place, end in new.items():
            old, ends[place] = ends[place], end
            if old < end:  # these nodes send the item to the right from now on
                goes_to[old:end] = self._right[old:end]
            elif end < old:
                goes_to[end:old] = self._left[end:old]
        posts.given = given
        node = self._descend(goes_to.__getitem__)
        self._spare.append(posts)
        return node

    def _compared(self, cells: NDArray[np.float32]) -> NDArray[np.intp]:
        """The same for any item."""
        feature, threshold, left, right = self._feature, self._threshold, self._left, self._right

        def goes_to(node: NDArray[np.intp]) -> NDArray[np.intp]:
            above = cells[feature[node]] > threshold[node]
            return np.where(above, right[node], left[node])

        return self._descend(goes_to)

    def _descend(self, goes_to: Callable[[NDArray[np.intp]], NDArray[np.intp]]) -> NDArray[np.intp]:
        """goes_to: where each of some nodes sends the item."""
        node = self._roots
        while True:
            for _ in range(LEVELS_AT_ONCE):
                node = goes_to(node)
            if np.minimum.reduce(node) >= self._inner:
                return node

    def _first_not_below(self, place: int, value: float) -> int:
        """The first node of a feature at which an item of this value goes to the left."""
        return bisect_left(self._thresholds, value, self._start[place], self._start[place + 1])
