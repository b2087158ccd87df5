"""Sets and text as plain arrays, the form in which markets are stored."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.errors import FrugalError
from frugalmct.values import MAX_LONG_TEXT, MAX_TEXT


def pack_sets(name: str, matrix: csr_matrix) -> dict[str, np.ndarray]:
    """Where each item's labels start, and the labels."""
    return {
        f"{name}.starts": matrix.indptr.astype(np.int64),
        f"{name}.labels": matrix.indices.astype(np.int32),
    }


# Text is one UTF-8 run with its cut points: numpy's fixed-width text would pad every name to the longest.
def pack_text(name: str, values: NDArray[np.str_]) -> dict[str, np.ndarray]:
    if max((len(value) for value in values), default=0) > MAX_TEXT:
        raise FrugalError(f"Market.save: {name} hold a text of more than {MAX_TEXT} characters; shorten it.")
    encoded = [str(value).encode() for value in values]
    ends = np.cumsum([len(value) for value in encoded], dtype=np.int64)
    return {f"{name}.text": pack_bytes(b"".join(encoded)), f"{name}.ends": ends}


def pack_bytes(text: str | bytes) -> np.ndarray:
    return np.frombuffer(text.encode() if isinstance(text, str) else text, dtype=np.uint8)


def pack_long_text(name: str, values: NDArray[np.object_]) -> dict[str, np.ndarray]:
    """Texts of any length up to that of a line."""
    encoded = [value.encode() for value in values]
    if max(map(len, encoded), default=0) > MAX_LONG_TEXT:
        raise FrugalError(f"Market.save: {name} hold a text of over {MAX_LONG_TEXT:,} bytes; shorten it.")
    ends = np.cumsum([len(value) for value in encoded], dtype=np.int64)
    return {f"{name}.text": pack_bytes(b"".join(encoded)), f"{name}.ends": ends}
