"""The paper's predictor, a random forest; its leaf size is chosen by its out-of-bag error unless it is given.

How large leaves are decides whether routing pays: the selector takes the highest of several estimates, and
of noisy ones the highest is too often the luckiest. Leaves that are too small make the estimates noisy,
and routing then does worse than always calling one service.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import Described
from frugalmct.errors import FrugalError
from frugalmct.predict.base import Estimates, Matrix, Predictor, whole
from frugalmct.predict.columns import MAX_COLUMNS, fullest_columns
from frugalmct.predict.trees import GROWN_BLOCK, Forest
from frugalmct.seeds import small_seed

TREES = 100
# Smaller leaves than the first estimate single items better, but make no better choices.
LEAVES = (5, 10, 20, 50, 100, 200)
FIRST_LEAF = 10
PILOT_TREES = 10

LARGEST_SEED = 2**31 - 1

# A tree sees at most this share and this number of the items. Small samples cost little accuracy, save most
# of the time, and leave each item unseen by two trees of three: its out-of-bag estimate is then about as
# steady as a new item's estimate, so that a price learnt from the former spends what it should on the latter.
SHARE_PER_TREE = 0.4


class RandomForest(Predictor):
    """A multi-output forest.

    `leaf` is the least number of items in a leaf, chosen if not given; `max_features` the columns tried at
    each split (a share, a number, or `sqrt`; by default `share_tried` of them, up to `most_tried`);
    `share_per_tree` the share of the items that are drawn for a tree, with replacement, and `rows_per_tree`
    the most there are, by default `most_rows`; `max_columns` the most columns used of a sparse table, the
    fullest ones.
    """

    name = "random_forest"
    libraries = ("sklearn.tree",)
    splitter: ClassVar[Literal["best", "random"]] = "best"
    share_tried: ClassVar[float] = 0.25
    # Of hundreds of columns, to try more takes longer and tells nothing more; nor do more items in a tree.
    most_tried: ClassVar[int] = 16
    most_rows: ClassVar[int] = 1_000

    def __init__(
        self,
        *,
        trees: int = TREES,
        leaf: int | None = None,
        max_features: str | float | int | None = None,
        share_per_tree: float = SHARE_PER_TREE,
        rows_per_tree: int | None = None,
        max_columns: int = MAX_COLUMNS,
        jobs: int = 1,
    ) -> None:
        super().__init__(jobs=jobs)
        self.trees = whole("trees", trees, least=1)
        self.leaf = None if leaf is None else whole("leaf", leaf, least=1)
        self.max_features = None if max_features is None else _checked_max_features(max_features)
        self.share_per_tree = _checked_share(share_per_tree)
        most = self.most_rows if rows_per_tree is None else rows_per_tree
        self.rows_per_tree = whole("rows_per_tree", most, least=1)
        self.max_columns = whole("max_columns", max_columns, least=1)

    def _fit(self, features: Matrix, accuracy: Estimates, seed: int) -> Estimates:
        columns, table = fullest_columns(features, self.max_columns)
        training = _Training(table, accuracy, self, seed)
        leaf = self.leaf or _least(training.pilot_error, _leaf_sizes(len(accuracy)))
        grown = training.grow(self.trees, leaf, "forest")
        self._details = {"leaf": leaf, "trees": self.trees}
        self._forest = Forest.of(grown.trees, columns)
        return grown.out_of_bag()

    @property
    def leaf_found(self) -> int:
        """The leaf size of the fitted forest, given or chosen."""
        return int(self._details["leaf"])

    def _estimate(self, features: Matrix) -> Estimates:
        return self._forest.estimate(features, self.jobs)

    def _estimate_row(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        return self._forest.estimate_row(row)

    def _state(self) -> Described:
        return self._details, self._forest.arrays()

    def _restore(self, details: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        self._details = {name: whole(name, details[name], least=1) for name in ("leaf", "trees")}
        self._forest = Forest.from_arrays(arrays, self._columns or 0, self._services)
        self.trees, self.leaf = self._details["trees"], self._details["leaf"]
        if len(self._forest.roots) != self.trees:
            raise FrugalError(f"it has {len(self._forest.roots)} trees instead of {self.trees}")


@dataclass(frozen=True, eq=False)
class _Training:
    """One training set, on which forests of different leaf sizes are grown."""

    table: Matrix
    accuracy: Estimates
    options: RandomForest
    seed: int

    def grow(self, trees: int, leaf: int, purpose: str) -> "_Grown":
        """The trees of scikit-learn's forest of that kind and seed, grown sooner: each from a small table of
        its own items, which stays in a core's cache, and with nothing checked that was checked."""
        from sklearn import config_context, tree

        options, items = self.options, len(self.accuracy)
        most = max(min(options.rows_per_tree, round(options.share_per_tree * items)), 1)
        columns_tried = options.max_features or self._columns_tried
        draw = np.random.RandomState(small_seed(self.seed, options.name, purpose))

        def grown(seed: int) -> tuple[Any, NDArray[np.int64]]:
            times = np.bincount(np.random.RandomState(seed).randint(0, items, most), minlength=items)
            rows = np.flatnonzero(times)
            own = tree.DecisionTreeRegressor(
                splitter=options.splitter,
                min_samples_leaf=leaf,
                max_features=columns_tried,
                random_state=seed,
            )
            with config_context(assume_finite=True, skip_parameter_validation=True):
                own.fit(self._table_of(rows), self.accuracy[rows], times[rows], check_input=False)
            return own.tree_, rows

        with ThreadPoolExecutor(options.jobs) as pool:
            made = list(pool.map(grown, [draw.randint(LARGEST_SEED) for _ in range(trees)]))
        own_trees, seen = ([pair[part] for pair in made] for part in (0, 1))
        return _Grown(self.table, self.accuracy, own_trees, seen, options.jobs)

    def _table_of(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Column by column, as splits are sought."""
        table = self._by_column
        return table[rows] if isinstance(table, np.ndarray) else np.asfortranarray(table[rows].toarray())

    @cached_property
    def _by_column(self) -> Matrix:
        table = self.table
        return np.asfortranarray(table) if isinstance(table, np.ndarray) else table

    @property
    def _columns_tried(self) -> int:
        share = int(self.options.share_tried * self.table.shape[1])
        return min(max(share, 1), self.options.most_tried)

    def pilot_error(self, leaf: int) -> float:
        """The out-of-bag error that a forest of full size would have, foretold by a small one.

        The mean of m trees errs by A + B / m. One tree errs by A + B, which with the error of the m at hand
        gives A and B. Without this, few trees would favour large leaves, whose B is small.
        """
        counts, sums, squares = self.grow(PILOT_TREES, leaf, "pilot").out_of_bag_errors()
        several = counts > 1
        if not several.any():
            return 0.0
        counts = counts[several, None]
        of_mean = (sums[several] / counts) ** 2
        of_one = squares[several] / counts
        lasting = (counts * of_mean - of_one) / (counts - 1)
        return float(np.mean(lasting + (of_one - lasting) / self.options.trees))


@dataclass(frozen=True, eq=False)
class _Grown:
    """Fitted trees, and the items each was grown on."""

    table: Matrix
    accuracy: Estimates
    trees: list[Any]
    seen: list[NDArray[np.int64]]
    jobs: int

    def out_of_bag(self) -> Estimates:
        """Each item's mean over the trees that did not see it; the mean accuracy if all did."""
        counts, sums, _ = self._sums(np.zeros_like(self.accuracy))
        mean = np.broadcast_to(self.accuracy.mean(axis=0), sums.shape).copy()
        return np.divide(sums, counts[:, None], out=mean, where=counts[:, None] > 0)

    def out_of_bag_errors(self) -> tuple[NDArray[np.int64], Estimates, Estimates]:
        """How many trees did not see each item; the sum of their errors, and of their squares."""
        return self._sums(self.accuracy)

    def _sums(self, truth: Estimates) -> tuple[NDArray[np.int64], Estimates, Estimates]:
        """Over the trees that did not see an item: how many they are, and how far above the truth they
        estimate it, summed, and summed as squares."""
        unseen = np.ones((len(self.trees), len(truth)), dtype=bool)
        for row, items in zip(unseen, self.seen, strict=True):
            row[items] = False

        def of_block(start: int) -> tuple[Estimates, Estimates]:
            block = slice(start, start + GROWN_BLOCK)
            table, own = self.table[block], truth[block]
            sums, squares = np.zeros_like(own), np.zeros_like(own)
            # Of items that a tree saw as well: to pick the others out of the table takes longer.
            for tree, some in zip(self.trees, unseen[:, block], strict=True):
                errors = tree.predict(table).reshape(own.shape) - own
                errors[~some] = 0
                sums += errors
                squares += errors**2
            return sums, squares

        with ThreadPoolExecutor(self.jobs) as pool:
            parts = list(pool.map(of_block, range(0, len(truth), GROWN_BLOCK)))
        sums, squares = (np.concatenate(part) for part in zip(*parts, strict=True))
        return unseen.sum(axis=0), sums, squares


def _leaf_sizes(items: int) -> list[int]:
    """Sizes worth a trial: a tree needs some leaves to tell items apart."""
    return [leaf for leaf in LEAVES if leaf * 20 <= items] or [1]


def _least(error: Callable[[int], float], sizes: list[int]) -> int:
    """The size of least error, sought from FIRST_LEAF in the direction in which the error falls."""
    place = max(i for i, size in enumerate(sizes) if size <= FIRST_LEAF)
    best = error(sizes[place])
    for step in (1, -1):
        start = place
        while 0 <= place + step < len(sizes) and (found := error(sizes[place + step])) < best:
            place, best = place + step, found
        if place != start:
            break
    return sizes[place]


def _checked_max_features(value: Any) -> str | float | int:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value == "sqrt" or (number and (0 < value <= 1 if isinstance(value, float) else value >= 1)):
        return value
    raise FrugalError(
        f"max_features is {value!r}; it must be 'sqrt', a share in (0, 1] or a whole number of columns."
    )


def _checked_share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise FrugalError(f"share_per_tree is {value!r}; it must be a share in (0, 1].")
    return float(value)
