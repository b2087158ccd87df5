"""What the paper's combiner is worth on new items, to be compared with the learned one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.combine.weight_threshold import (
    GRID,
    WeightThreshold,
    best_of,
    grid_steps,
    mean_metric,
    same_answers,
)
from frugalmct.sparse import take_rows


def fold_choices(
    truth: csr_matrix,
    base_scores: csr_matrix,
    addon_scores: csr_matrix,
    fold: NDArray[np.int64],
    metric: str = "accuracy",
    grid: int = GRID,
    **options: Any,
) -> dict[int, WeightThreshold]:
    """For every fold the (w, θ) that `search` takes on the others; options as there.

    fold: (items,). It takes no longer than one search: the means over folds make up those over their unions.
    """
    weights = np.ones(1) if same_answers(base_scores, addon_scores) else grid_steps(grid)
    matrices, numbers = (truth, base_scores, addon_scores), np.unique(fold).tolist()
    sums = []
    for number in numbers:
        rows = np.flatnonzero(fold == number)
        truly, base, addon = (take_rows(matrix, rows) for matrix in matrices)
        sums.append(len(rows) * mean_metric(truly, base, addon, metric, grid, weights=weights, **options))
    total, thresholds = np.sum(sums, axis=0), grid_steps(grid)
    return {
        number: best_of((total - own).round(9), weights, thresholds)
        for number, own in zip(numbers, sums, strict=True)
    }
