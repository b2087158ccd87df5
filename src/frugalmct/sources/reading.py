"""What loaders of recorded answers share: label sets in the making, vocabularies, a share of the items."""

from array import array
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.arrays import text_array
from frugalmct.market import Market
from frugalmct.seeds import generator
from frugalmct.sparse import label_matrix

SMALLEST_MARKET = 3


class LabelSets:
    """Label sets in the making: rows one after the other in typed arrays, as in a CSR matrix."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.scores = array("d")
        self.ends = array("q", [0])

    def append(self, scores: dict[int, float]) -> None:
        self.codes.extend(scores)
        self.scores.extend(scores.values())
        self.ends.append(len(self.codes))

    def matrix(self, column: NDArray[np.int32]) -> csr_matrix:
        codes = np.asarray(self.codes, dtype=np.int32)
        return label_matrix(self.ends, column[codes], self.scores, len(column))


def sorted_vocabulary(codes: Mapping[str, int]) -> tuple[NDArray[np.str_], NDArray[np.int32]]:
    """Labels sorted by code point, and the place among them of each code."""
    labels = sorted(codes)
    column = np.empty(len(labels), dtype=np.int32)
    column[[codes[label] for label in labels]] = np.arange(len(labels))
    return text_array("the labels", labels), column


def thinned(market: Market, seed: int, scale: float) -> Market:
    """A random share of the items (three at least), in their order; a smaller share is part of a larger."""
    if scale >= 1:
        return market
    kept = min(max(round(len(market) * scale), SMALLEST_MARKET), len(market))
    order = generator(seed, market.name, "scale").permutation(len(market))
    return market.subset(np.sort(order[:kept]))
