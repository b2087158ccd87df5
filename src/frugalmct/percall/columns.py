"""What a model sees of an item: its text and its numbers, and the answers of the services asked first.

Columns are made of a `Known`, which holds nothing of a service that was not asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.arrays import Described, text_array
from frugalmct.checks import MAX_MONEY, MIN_MONEY
from frugalmct.errors import FrugalError, listed
from frugalmct.features import summary_columns
from frugalmct.market import Answered, Known
from frugalmct.sparse import overlap_sizes, set_sizes
from frugalmct.text import TextMap
from frugalmct.values import MAX_SERVICES, Fields

AUTO, TEXT, GIVEN, LABELS = KINDS = ("auto", "text", "given", "labels")
# A label gets a column of its own if a service gives it for this share of the items, up to so many labels.
COMMON, MOST_LABELS = 0.02, 100
MAX_NUMBERS = 100_000

Table = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ItemColumns:
    """Known before anyone is asked: the text's columns, and the numbers that items bring along."""

    text: TextMap | None
    given: int

    @classmethod
    def fit(cls, known: Known, kind: str, seed: int) -> "ItemColumns":
        if kind not in KINDS:
            raise FrugalError(f"Unknown features {kind!r}; known with costs per call: {listed(KINDS)}.")
        if kind == TEXT and known.text is None:
            raise FrugalError("features: 'text' needs a `text` with every item.")
        if kind == GIVEN and known.given is None:
            raise FrugalError("features: 'given' needs a `features` list of numbers with every item.")
        text = TextMap.fit(known.text, seed) if known.text is not None and kind in (AUTO, TEXT) else None
        return cls(text, known.given.shape[1] if known.given is not None and kind in (AUTO, GIVEN) else 0)

    @property
    def columns(self) -> int:
        return (0 if self.text is None else self.text.columns) + self.given

    def table(self, known: Known) -> Table:
        parts = [np.zeros((len(known), 0), dtype=np.float32)]
        if self.text is not None:
            if known.text is None:
                raise FrugalError("The items have no text, which this strategy learnt from; give it.")
            parts.append(self.text.table(known.text))
        if self.given:
            if known.given is None or known.given.shape[1] != self.given:
                raise FrugalError(f"Every item must bring the {self.given} numbers (`features`) learnt from.")
            parts.append(known.given.astype(np.float32))
        return np.hstack(parts)

    def to_arrays(self) -> Described:
        arrays = {} if self.text is None else self.text.arrays()
        return {"text": self.text is not None, "given": self.given}, arrays

    @classmethod
    def from_arrays(cls, described: Any, arrays: Mapping[str, np.ndarray]) -> "ItemColumns":
        fields = Fields("its item columns", described)
        text = TextMap.from_arrays(arrays) if fields.flag("text") else None
        found = cls(text, fields.whole("given", most=MAX_NUMBERS))
        fields.done()
        return found


@dataclass(frozen=True, eq=False)
class ServiceColumns:
    """Of one service that was asked.

    labels: those with a column of their own, None where answers are not labels; numbers: how many
    `answer_features` it has; cost: what the cost of a call is divided by, 1 unless prices have changed since
    it was learnt from, None where there are no costs of single calls.
    """

    service: int
    labels: NDArray[np.str_] | None
    numbers: int
    cost: float | None

    @classmethod
    def fit(cls, service: int, answered: Answered) -> "ServiceColumns":
        labels = None
        if answered.scores is not None:
            given = np.bincount(answered.scores.indices, minlength=len(answered.vocabulary))
            order = np.argsort(-given, kind="stable")[:MOST_LABELS]
            labels = answered.vocabulary[np.sort(order[given[order] >= COMMON * answered.scores.shape[0]])]
        numbers = 0 if answered.numbers is None else answered.numbers.shape[1]
        return cls(service, labels, numbers, None if answered.cost is None else 1.0)

    @property
    def columns(self) -> int:
        return (0 if self.labels is None else 3 + len(self.labels)) + self.numbers + (self.cost is not None)

    def table(self, answered: Answered, items: int) -> Table:
        parts: list[np.ndarray] = [np.zeros((items, 0))]
        if self.labels is not None:
            if answered.scores is None:
                raise FrugalError(f"Service {self.service} must bring label sets, as in training.")
            place = {label: number for number, label in enumerate(answered.vocabulary.tolist())}
            columns = np.array([place.get(label, -1) for label in self.labels.tolist()], dtype=np.int64)
            parts += [summary_columns(answered.scores), _scores_of(answered.scores, columns)]
        if self.numbers:
            if answered.numbers is None or answered.numbers.shape[1] != self.numbers:
                raise FrugalError(f"Service {self.service} must bring {self.numbers} answer_features.")
            parts.append(answered.numbers)
        if self.cost is not None:
            if answered.cost is None:
                raise FrugalError("What a call cost is missing, which this strategy learnt from; give it.")
            parts.append(np.log(np.maximum(answered.cost / self.cost, 1e-12))[:, None])
        return np.hstack(parts).astype(np.float32)

    def to_dict(self) -> dict[str, Any]:
        labels = None if self.labels is None else self.labels.tolist()
        return {"service": self.service, "labels": labels, "numbers": self.numbers, "cost": self.cost}

    @classmethod
    def from_dict(cls, values: Any) -> "ServiceColumns":
        fields = Fields("the columns of a service", values)
        service = fields.whole("service", most=MAX_SERVICES - 1)
        labels = fields.take("labels")
        if labels is not None:
            names = Fields("the columns of a service", {"labels": labels}).names("labels", most=MOST_LABELS)
            labels = text_array("labels", names)
        numbers = fields.whole("numbers", most=MAX_NUMBERS)
        cost = fields.optional_number("cost", least=MIN_MONEY, most=MAX_MONEY)
        found = cls(service, labels, numbers, cost)
        fields.done()
        return found


@dataclass(frozen=True, eq=False)
class AnswerColumns:
    """Of the services asked first: the columns of each, and how far they agree."""

    services: tuple[ServiceColumns, ...]

    @classmethod
    def fit(cls, known: Known, kind: str) -> "AnswerColumns":
        if kind not in (AUTO, LABELS):
            return cls(())
        return cls(tuple(ServiceColumns.fit(k, known.answers[k]) for k in sorted(known.answers)))

    def at_prices(self, factors: NDArray[np.float64]) -> "AnswerColumns":
        """Calls cost so many times what they did: what is learnt from is what they would have cost."""
        return AnswerColumns(
            tuple(
                own if own.cost is None else replace(own, cost=own.cost * float(factors[own.service]))
                for own in self.services
            )
        )

    @property
    def columns(self) -> int:
        labelled = sum(own.labels is not None for own in self.services)
        agreement = labelled * (labelled - 1) // 2 + labelled if labelled > 1 else 0
        return sum(own.columns for own in self.services) + agreement

    def table(self, known: Known) -> Table:
        for own in self.services:
            if own.service not in known.answers:
                raise FrugalError(f"The answer of service {own.service} is missing, which is asked first.")
        parts = [np.zeros((len(known), 0), dtype=np.float32)]
        parts += [own.table(known.answers[own.service], len(known)) for own in self.services]
        labelled = [known.answers[own.service] for own in self.services if own.labels is not None]
        if len(labelled) > 1:
            parts.append(agreement(labelled))
        return np.hstack(parts)


def agreement(answers: Sequence[Answered]) -> Table:
    """(items, pairs + services): the share of labels that each two have in common, and with how many of the
    others each agrees wholly. Two silent services do not agree on anything."""
    sets = _one_vocabulary(answers)
    pairs, equal = [], [np.zeros(sets[0].shape[0]) for _ in sets]
    for i, j in combinations(range(len(sets)), 2):
        shared = overlap_sizes(sets[i], sets[j])
        union = set_sizes(sets[i]) + set_sizes(sets[j]) - shared
        share = np.divide(shared, union, out=np.zeros(len(shared)), where=union > 0)
        pairs.append(share)
        equal[i] += share == 1
        equal[j] += share == 1
    return np.column_stack([*pairs, *equal]).astype(np.float32)


def _scores_of(scores: csr_matrix, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """(items, columns) scores of these columns, 0 for a negative one."""
    table = np.zeros((scores.shape[0], len(columns)))
    if np.any(columns >= 0):
        table[:, columns >= 0] = scores[:, columns[columns >= 0]].toarray()
    return table


def _one_vocabulary(answers: Sequence[Answered]) -> list[csr_matrix]:
    """The label sets over the same columns: live answers come with vocabularies of their own."""
    first = answers[0].labels
    sets: list[csr_matrix] = [answer.scores for answer in answers]
    if all(answer.labels is first for answer in answers):
        return sets
    place: dict[str, int] = {}
    moved = []
    for answer in answers:
        moved.append(
            np.array([place.setdefault(x, len(place)) for x in answer.vocabulary.tolist()], np.int64)
        )
    return [
        csr_matrix(
            (own.data, new[own.indices], own.indptr),
            shape=(own.shape[0], max(len(place), 1)),
        ).sorted_indices()
        for own, new in zip(sets, moved, strict=True)
    ]
