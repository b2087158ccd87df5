"""What loaders of recorded answers share: strict JSON, names that are names, label sets in the making."""

import json
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.market import Market
from frugalmct.seeds import generator
from frugalmct.sparse import label_matrix

# numpy pads every text of an array to the longest one: a single endless name would cost gigabytes.
MAX_TEXT = 500
SMALLEST_MARKET = 3


class Malformed(Exception):
    """Not the JSON that is wanted; its text says why."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise Malformed(f"the key {shown(twice)} is given twice in one object; give it once.")
    return record


def _refuse_constant(constant: str) -> Any:
    raise Malformed(f"{constant} is not a JSON number; give a finite number.")


DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


def shown(value: Any) -> str:
    """What was given, short: data can be of any size and nesting, a message can not."""
    match value:
        case None | True | False:
            return json.dumps(value)
        case list():
            return f"a list of {len(value)}"
        case dict():
            return "an object"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"


def text_fault(value: Any) -> str | None:
    """Why a value can not be the name of something, if so."""
    if type(value) is not str:
        return f"is {shown(value)}; it must be a non-empty text."
    if not value:
        return "is empty; it must be a non-empty text."
    if len(value) > MAX_TEXT:
        return f"is {len(value):,} characters long; at most {MAX_TEXT} are allowed."
    if "\0" in value:
        return f"is {shown(value)}; the character NUL is not allowed."
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"is {shown(value)}; half a surrogate pair is not a character."
    return None


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
    return np.array(labels, dtype=np.str_), column


def thinned(market: Market, seed: int, scale: float) -> Market:
    """A random share of the items (three at least), in their order; a smaller share is part of a larger."""
    if scale >= 1:
        return market
    kept = min(max(round(len(market) * scale), SMALLEST_MARKET), len(market))
    order = generator(seed, market.name, "scale").permutation(len(market))
    return market.subset(np.sort(order[:kept]))
