"""Texts as numbers: hashed words and character n-grams, weighted by rarity and reduced; and simple counts.

The weights and the reduction are fitted on training items (scikit-learn's TF-IDF and truncated SVD) and kept
as two plain arrays; what a text's columns are depends on that text and on these alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from frugalmct.errors import FrugalError

BUCKETS = 4096
"""Places that words, and as many that character n-grams, are hashed to."""
DIMENSIONS = 50
MOST_CHARACTERS = 4_000
"""Of a longer text the beginning and the end, half each, are looked at: all of it only adds time."""
ENOUGH_TEXTS = 6_000
COUNTS = ("characters", "words", "digits", "lines", "questions", "capitals", "signs")


@dataclass(frozen=True, eq=False)
class TextMap:
    """rarity: (buckets,) the weight of each bucket; axes: (dimensions, buckets) what texts are reduced to."""

    rarity: NDArray[np.float32]
    axes: NDArray[np.float32]

    @classmethod
    def fit(cls, texts: Iterable[str], seed: int = 0) -> "TextMap":
        from sklearn.decomposition import TruncatedSVD

        texts = list(texts)[:ENOUGH_TEXTS]
        grams = _grams(texts)
        having = np.bincount(grams.indices, minlength=grams.shape[1])
        rarity = (np.log((1 + len(texts)) / (1 + having)) + 1).astype(np.float32)
        dimensions = min(DIMENSIONS, max(len(texts) - 1, 1))
        found = TruncatedSVD(dimensions, random_state=seed).fit(_weighted(grams, rarity))
        return cls(rarity, found.components_.astype(np.float32))

    @property
    def columns(self) -> int:
        return len(self.axes) + len(COUNTS)

    def table(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """(texts, columns)."""
        texts = list(texts)
        reduced = np.asarray(_weighted(_grams(texts), self.rarity) @ self.axes.T)
        return np.hstack([reduced, counts(texts)]).astype(np.float32)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"rarity": self.rarity, "axes": self.axes}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "TextMap":
        rarity, axes = _numbers("rarity", arrays, 1), _numbers("axes", arrays, 2)
        if rarity.shape != (2 * BUCKETS,) or axes.shape[1] != 2 * BUCKETS or len(axes) > DIMENSIONS:
            raise FrugalError(f"its texts are reduced from {rarity.shape} to {axes.shape}")
        return cls(rarity, axes)


def _numbers(name: str, arrays: Mapping[str, np.ndarray], dimensions: int) -> NDArray[np.float32]:
    if name not in arrays:
        raise FrugalError(f"the array '{name}' of its texts is missing")
    values = np.asarray(arrays[name])
    if values.dtype != np.float32 or values.ndim != dimensions or not np.all(np.abs(values) < 1e6):
        raise FrugalError(f"{name} of its texts holds {values.dtype} of shape {values.shape}")
    return values


def counts(texts: Sequence[str]) -> NDArray[np.float64]:
    """(texts, 7) logarithms of simple counts, see `COUNTS`."""
    rows = [
        (
            len(text),
            len(text.split()),
            sum(map(str.isdigit, text)),
            text.count("\n") + 1,
            text.count("?"),
            sum(map(str.isupper, text)),
            sum(not sign.isalnum() and not sign.isspace() for sign in text),
        )
        for text in map(shortened, texts)
    ]
    return np.log1p(np.array(rows, dtype=np.float64).reshape(len(rows), len(COUNTS)))


def shortened(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return text[: MOST_CHARACTERS // 2] + " " + text[-MOST_CHARACTERS // 2 :]


def _grams(texts: Sequence[str]) -> csr_matrix:
    """(texts, 2 * buckets) logarithmic counts of words and pairs of words, then of character n-grams."""
    from sklearn.feature_extraction.text import HashingVectorizer

    kinds: list[dict[str, Any]] = [
        {"ngram_range": (1, 2)},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
    ]
    short = [shortened(text) for text in texts]
    if not short:
        return csr_matrix((0, len(kinds) * BUCKETS))
    parts = []
    for kind in kinds:
        plain = HashingVectorizer(n_features=BUCKETS, norm=None, alternate_sign=False, **kind)
        found = plain.transform(short)
        found.data = 1 + np.log(found.data)
        parts.append(found)
    return hstack(parts, format="csr")


def _weighted(grams: csr_matrix, rarity: NDArray[np.float32]) -> csr_matrix:
    """Each half of a row of length 1, so that long texts look like short ones of the same kind."""
    weighted = csr_matrix((grams.data * rarity[grams.indices], grams.indices, grams.indptr), grams.shape)
    return hstack([_unit_rows(weighted[:, :BUCKETS]), _unit_rows(weighted[:, BUCKETS:])], format="csr")


def _unit_rows(matrix: csr_matrix) -> csr_matrix:
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    data = matrix.data * np.repeat(scale, np.diff(matrix.indptr))
    return csr_matrix((data, matrix.indices, matrix.indptr), matrix.shape)
