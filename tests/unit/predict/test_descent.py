"""One item's descent through a forest gives what the walk of many items gives, to the last digit."""

import numpy as np
import pytest

from frugalmct.predict.trees import LEAF, Forest


def random_forest(rng: np.random.Generator, columns: int, services: int) -> Forest:
    """Trees of any shape; thresholds below, at and above 0, many of them equal."""
    roots, feature, threshold, right, leaves = [], [], [], [], 0
    for _ in range(rng.integers(1, 12)):
        roots.append(len(feature))
        waiting = [(-1, rng.integers(0, 9))]
        while waiting:
            parent, levels = waiting.pop()
            if parent >= 0:
                right[parent] = len(feature)
            if levels == 0 or rng.random() < 0.2:
                feature.append(LEAF), threshold.append(0.0), right.append(leaves)
                leaves += 1
                continue
            waiting += [(len(feature), levels - 1), (-1, levels - 1)]
            feature.append(rng.integers(columns)), right.append(0)
            threshold.append(rng.choice([rng.normal(), 0.0, 0.5, -0.5]))
    arrays = {
        "columns": np.sort(rng.choice(3 * columns, columns, replace=False)).astype(np.int32),
        "roots": np.array(roots, dtype=np.int32),
        "feature": np.array(feature, dtype=np.int32),
        "threshold": np.array(threshold, dtype=np.float32),
        "right": np.array(right, dtype=np.int32),
        "values": rng.random((leaves, services)).astype(np.float32),
    }
    return Forest.from_arrays(arrays, 3 * columns, services)


@pytest.mark.parametrize("seed", range(12))
def test_one_item_as_among_many(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(1, 40))  # few features that are not 0, and more than are worth turning
    forest = random_forest(rng, columns, int(rng.integers(1, 4)))
    rows = rng.choice([0.0, 0.0, 0.5, -0.5, 1.0], (40, 3 * columns)).astype(np.float32)
    rows[::2] = rng.normal(size=(20, 3 * columns))
    rows[:4] = 0
    rows[4, 0], rows[5, -1] = np.inf, -np.inf
    many = forest.estimate(rows)
    for again in range(2):  # what the first pass turned has been turned back
        assert np.array_equal([forest.estimate_row(row) for row in rows], many), again


def test_a_forest_that_is_one_leaf() -> None:
    forest = Forest.constant(np.array([0.25, 0.75]))
    assert forest.estimate_row(np.ones(3, dtype=np.float32)).tolist() == [0.25, 0.75]
