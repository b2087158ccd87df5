"""Numbers as float32, in which models keep their tables."""

import numpy as np
from numpy.typing import NDArray


def rounded_down(thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
    """The largest float32 not above: tables are float32, so that every `x <= threshold` stays as it was."""
    rounded = thresholds.astype(np.float32)
    return np.where(rounded > thresholds, np.nextafter(rounded, np.float32(-np.inf)), rounded)
