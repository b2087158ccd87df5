"""A market small enough to check by hand."""

import numpy as np

from frugalmct.combine import Combiners
from frugalmct.market import LabelMarket
from frugalmct.sparse import label_matrix


def two_services() -> LabelMarket:
    """Two items with one true label each. The base knows the first, the add-on the second; both shout."""
    sets = {"indptr": [0, 1, 2], "columns": 2}
    return LabelMarket(
        name="two",
        task="MIC",
        items=np.array(["a", "b"]),
        labels=np.array(["x", "y"]),
        services=("base", "addon"),
        prices=np.array([1.0, 4.0]),
        truth=label_matrix(sets["indptr"], [0, 1], None, 2),
        scores=(
            label_matrix(sets["indptr"], [0, 0], [1.0, 1.0], 2),
            label_matrix(sets["indptr"], [1, 1], [1.0, 1.0], 2),
        ),
    )


KEEP_ALL = Combiners(0, np.array([1.0, 0.5]), np.array([0.0, 0.0]))
