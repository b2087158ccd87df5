"""The columns that are worth learning from, as the kind of table on which learning is fastest."""

import numpy as np
from numpy.typing import NDArray

from frugalmct.predict.base import Matrix

# Of thousands of labels the rare ones tell little and crowd out the columns that tell much.
MAX_COLUMNS = 256
# Trees grow several times faster on dense columns, up to this many numbers (512 MB).
DENSE_CELLS = 1 << 27


def fullest_columns(features: Matrix, max_columns: int) -> tuple[NDArray[np.int64], Matrix]:
    """Which columns to learn from, and their table: of a sparse one the fullest, dense where that fits."""
    if isinstance(features, np.ndarray):
        return np.arange(features.shape[1]), features
    filled = np.bincount(features.indices[features.data != 0], minlength=features.shape[1])
    columns = np.sort(np.argsort(-filled, kind="stable")[:max_columns])
    table = features[:, columns].astype(np.float32)
    return columns, table.toarray() if table.shape[0] * table.shape[1] <= DENSE_CELLS else table
