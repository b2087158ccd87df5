"""What an accuracy predictor sees of an item: the base service's answer, as numbers.

Kinds: `labels`, the base's score for every label (0 where it did not give it), as in the paper;
`embedding`, the sum of the labels' text vectors weighted by score, for vocabularies without bound;
`spacy:<model>`, the same with the vectors of an installed spaCy model; `given`, only the numbers that the
data brings along. To all but `given` the summary columns are added unless they are unwanted, and the item's
own numbers, as they are, when the market has some. Nothing is fitted: the columns of an item depend on that
item alone.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse

from frugalmct.errors import FrugalError, listed
from frugalmct.market import Evidence
from frugalmct.sparse import set_sizes
from frugalmct.values import Fields, one_line, shown

KINDS = ("labels", "embedding", "given", "spacy:<model>")
SUMMARY = ("count", "max", "mean")
DIMENSIONS = 96
# Language and name, as spaCy calls every model that it packs. A path would let a strategy file choose the
# folder that is loaded from, and with it the code that is run.
SPACY_MODEL = re.compile(r"spacy:[a-z]{2,3}(_[a-z0-9]+){1,6}")
MAX_DIMENSIONS = 10_000

# Of an entity such as `Jordan_loc` the type says more about a service than the spelling does, so that it
# has coordinates of its own instead of being a few n-grams among many.
TYPE_DIMENSIONS = 16
NGRAM_SIZES = (2, 3, 4)
BLOCK = 4096
# Labels whose vectors are kept at hand, about half a kilobyte each.
MAX_REMEMBERED = 50_000

Matrix: TypeAlias = csr_matrix | NDArray[np.float32]


@dataclass(frozen=True)
class FeatureMap:
    """How items become rows of numbers.

    given: how many numbers of their own the items bring along; summary: whether the summary columns are
    added, which the paper does not have.
    """

    kind: str
    given: int = 0
    summary: bool = True

    def __post_init__(self) -> None:
        if self.kind not in KINDS[:-1] and not SPACY_MODEL.fullmatch(self.kind):
            raise FrugalError(
                f"Unknown features {shown(self.kind)}; known: {listed(KINDS)}, where <model> is the name of "
                "an installed one, such as en_core_web_md."
            )
        if self.kind == "given" and not self.given:
            raise FrugalError("features: 'given' needs a `features` list of numbers with every item.")

    @classmethod
    def of(cls, evidence: Evidence, task: str, kind: str | None = None, summary: bool = True) -> "FeatureMap":
        """The map for such evidence; the default kind goes by the task."""
        given = 0 if evidence.given is None else evidence.given.shape[1]
        return cls(kind or default_features(task), given, summary)

    def transform(self, evidence: Evidence) -> Matrix:
        """One float32 row per item, from the base's answers: CSR for `labels`, else dense."""
        return side_by_side([*self.of_answer(evidence), *self.of_item(evidence)])

    def of_item(self, evidence: Evidence) -> list[Matrix]:
        """The item's own numbers, where it brings some."""
        own = 0 if evidence.given is None else evidence.given.shape[1]
        if own != self.given:
            raise FrugalError(
                f"The items bring {own} numbers each, but {self.given} are expected; "
                "give every item the same `features`."
            )
        return [] if evidence.given is None else [evidence.given.astype(np.float32)]

    def of_answer(self, evidence: Evidence) -> list[Matrix]:
        """What is seen of the answer itself: nothing where the item's own numbers are all."""
        scores, labels = evidence.scores, evidence.labels
        if scores.shape[1] != len(labels):
            raise FrugalError(
                f"The base's answers have {scores.shape[1]} columns, but there are {len(labels)} labels."
            )
        if self.kind == "given":
            return []
        extra = [summary_columns(scores)] if self.summary else []
        sparse = self.kind == "labels"
        return [
            side_by_side([scores.astype(np.float32) if sparse else self._embedded(scores, labels), *extra])
        ]

    def names(self, labels: Iterable[str]) -> list[str]:
        """What each column is, for people."""
        own = [f"given {number}" for number in range(self.given)]
        if self.kind == "given":
            return own
        first = list(labels) if self.kind == "labels" else [f"{self.kind} {d}" for d in range(self._width())]
        return [*first, *self._summary, *own]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "given": self.given, "summary": self.summary}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "FeatureMap":
        try:
            fields = Fields("a feature map", values)
            found = cls(fields.text("kind"), fields.whole("given"), fields.flag("summary"))
            fields.done()
        except FrugalError as error:
            raise FrugalError(f"{one_line(error)}; save the feature map again.") from None
        return found

    def can_give(self, columns: int, labels: int) -> bool:
        """Whether rows over that many labels have so many columns; no spaCy model is loaded to find out."""
        if self.kind == "given":
            return columns == self.given
        rest = columns - self.given - len(self._summary)
        if self.kind == "labels":
            return rest == labels
        return rest == DIMENSIONS if self.kind == "embedding" else 0 < rest <= MAX_DIMENSIONS

    @property
    def _summary(self) -> tuple[str, ...]:
        return SUMMARY if self.summary else ()

    def _embedded(self, base_scores: csr_matrix, labels: NDArray[np.str_]) -> NDArray[np.float32]:
        # Only labels that were given need a vector: one live item must not cost a whole vocabulary.
        used, places = np.unique(base_scores.indices, return_inverse=True)
        if not len(used):
            return np.zeros((base_scores.shape[0], self._width()), dtype=np.float32)
        parts = (base_scores.data.astype(np.float32), places, base_scores.indptr)
        weights = csr_matrix(parts, shape=(base_scores.shape[0], len(used)))
        return weights @ self._label_vectors()(np.asarray(labels)[used])

    def _label_vectors(self) -> Callable[[NDArray[np.str_]], NDArray[np.float32]]:
        if self.kind == "embedding":
            return _REMEMBERED.of
        model = self.kind.removeprefix("spacy:")
        return lambda labels: spacy_vectors(model, labels)

    def _width(self) -> int:
        return DIMENSIONS if self.kind == "embedding" else self._label_vectors()(np.array(["a"])).shape[1]


def side_by_side(parts: Sequence[Matrix]) -> Matrix:
    """All columns of some tables, sparse where the first is."""
    if len(parts) == 1:
        return parts[0]
    if issparse(parts[0]):
        return hstack([csr_matrix(part) for part in parts], format="csr", dtype=np.float32)
    return np.hstack(parts)


def default_features(task: str) -> str:
    """`embedding` for entities, whose vocabulary has no bound; else `labels`."""
    return "embedding" if task.upper() == "NER" else "labels"


def summary_columns(scores: csr_matrix) -> NDArray[np.float32]:
    """(items, 3): how many labels were given, their highest score and their mean one; 0 where none was."""
    counts = set_sizes(scores)
    answered = counts > 0
    columns = np.zeros((len(counts), len(SUMMARY)))
    columns[:, 0] = counts
    if answered.any():
        starts = scores.indptr[:-1][answered]
        columns[answered, 1] = np.maximum.reduceat(scores.data, starts)
        columns[answered, 2] = np.add.reduceat(scores.data, starts) / counts[answered]
    return columns.astype(np.float32)


def text_vectors(labels: Iterable[str]) -> NDArray[np.float32]:
    """(labels, 96): unit vectors by spelling; labels alike in spelling or in type point alike.

    Each character n-gram stands for a fixed vector of signs, the bits of its hash: the random projection of
    n-gram counts, with no table to keep. The type, what follows the last `_`, is hashed by itself.
    """
    parts = [_parts(str(label)) for label in labels]
    spelling = _signed_sums([_ngrams(text) for text, _ in parts])[:, : DIMENSIONS - TYPE_DIMENSIONS]
    types = _signed_sums([[f"type {kind}"] for _, kind in parts])[:, :TYPE_DIMENSIONS]
    return np.hstack([_unit(spelling), _unit(types)]) / np.float32(np.sqrt(2))


class _Remembered:
    """Text vectors by label: many items, bases and tables share a vocabulary, and each label costs a hundred
    hashes. Threads may share it: what one has taken up is never emptied."""

    def __init__(self) -> None:
        self._known: dict[str, NDArray[np.float32]] = {}

    def of(self, labels: NDArray[np.str_]) -> NDArray[np.float32]:
        names = labels.tolist()
        known = self._known
        missing = [name for name in dict.fromkeys(names) if name not in known]
        if len(known) + len(missing) > MAX_REMEMBERED:
            self._known = known = {}
            missing = list(dict.fromkeys(names))
        if len(missing) > MAX_REMEMBERED:
            return text_vectors(names)
        known.update(zip(missing, text_vectors(missing), strict=True))
        return np.array([known[name] for name in names], dtype=np.float32)


_REMEMBERED = _Remembered()


def _parts(label: str) -> tuple[str, str]:
    """Text and type of a label such as `New York_loc`; no type when there is no `_`."""
    text, _, kind = label.rpartition("_")
    return (text, kind) if text else (label, "")


def _ngrams(text: str) -> list[str]:
    marked = f"<{text}>"
    return [marked, *(marked[i : i + n] for n in NGRAM_SIZES for i in range(len(marked) - n + 1))]


def _signed_sums(bags: list[list[str]]) -> NDArray[np.float32]:
    """The sum of the sign vectors of each bag's members, a block of bags at a time to bound memory."""
    sums = np.zeros((len(bags), DIMENSIONS), dtype=np.float32)
    for start in range(0, len(bags), BLOCK):
        block = bags[start : start + BLOCK]
        number: dict[str, int] = {}
        members = [number.setdefault(gram, len(number)) for bag in block for gram in bag]
        starts = np.cumsum([0, *map(len, block)])
        counts = csr_matrix((np.ones(len(members), np.float32), members, starts), (len(block), len(number)))
        sums[start : start + BLOCK] = counts @ _signs(number)
    return sums


def _signs(texts: Iterable[str]) -> NDArray[np.float32]:
    hashes = (hashlib.blake2b(text.encode(), digest_size=DIMENSIONS // 8).digest() for text in texts)
    bits = np.unpackbits(np.frombuffer(b"".join(hashes), np.uint8)).reshape(-1, DIMENSIONS)
    return bits.astype(np.float32) * 2 - 1


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def spacy_vectors(model: str, labels: Iterable[str]) -> NDArray[np.float32]:
    """The model's vector of each label, its type (after the last `_`) read as a word."""
    pipeline = _spacy_pipeline(model)
    texts = [str(label).replace("_", " ") for label in labels]
    vectors = np.array([document.vector for document in pipeline.pipe(texts)], dtype=np.float32)
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise FrugalError(f"The spaCy model '{model}' has no word vectors; use one that has, or 'embedding'.")
    return vectors


@lru_cache(maxsize=2)
def _spacy_pipeline(model: str) -> Any:
    try:
        import spacy

        # A folder of that name would be loaded as well, and may lie anywhere.
        if not spacy.util.is_package(model):
            raise OSError(model)
        return spacy.load(model)
    except (ImportError, OSError):
        raise FrugalError(
            f"features: the spaCy model '{model}' is not installed; run `pip install spacy` and "
            f"`python -m spacy download {model}`, or use features: embedding."
        ) from None
