"""Estimates of two services, as arrays that a test writes down."""

import numpy as np

from frugalmct.estimates import Estimates
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates

SERVICES, PRICES = ("base", "addon"), np.array([1.0, 4.0])


def repetition(estimated: np.ndarray, actual: np.ndarray, base: int = 0) -> RepetitionEstimates:
    """The same items for training and test."""
    own = Estimates(base, PRICES, estimated, actual)
    return RepetitionEstimates(SERVICES, PRICES, {base: BaseEstimates(own, own)})
