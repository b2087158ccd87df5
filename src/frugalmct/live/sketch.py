"""A sketch of traffic: counts of fixed size, of training or of live items, that can be added up.

It holds histograms of the estimates, how often the base gave each frequent label, one that training never saw
or none at all, and the sums behind the mean accuracy expected. Plain arrays: they live in a strategy's file
(`to_arrays`) and as a note in the ledger (`to_text`).
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from frugalmct.errors import FrugalError

BINS = 20
MOST_LABELS = 64
SUMS = ("items", "silent", "unseen", "expected", "expected_squares", "cost", "judged", "reached")


class Sketch:
    """Counts over items. `labels` are those counted one by one: the most frequent ones of training."""

    def __init__(self, choices: int, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self.estimates: NDArray[np.int64] = np.zeros((choices, BINS), dtype=np.int64)
        self.given: NDArray[np.int64] = np.zeros(len(self.labels), dtype=np.int64)
        self.items = self.silent = self.unseen = self.judged = 0
        self.expected = self.expected_squares = self.cost = self.reached = 0.0
        self._place = {label: number for number, label in enumerate(self.labels)}

    @classmethod
    def of_training(
        cls, estimates: ArrayLike, answers: csr_matrix | None, labels: Sequence[str], expected: ArrayLike
    ) -> "Sketch":
        """estimates: (N, K), out of sample; expected: (N,) those of the plan's choices.

        answers: (N, L) of the base, whose columns are named by `labels`; None where no base is asked first.
        """
        rows = np.asarray(estimates, dtype=np.float64)
        if answers is None:
            answers = csr_matrix((len(rows), 0))
        counts = np.bincount(answers.indices, minlength=answers.shape[1])
        return cls.of_counts(rows, counts, int((np.diff(answers.indptr) == 0).sum()), labels, expected)

    @classmethod
    def of_counts(
        cls,
        estimates: ArrayLike,
        counts: NDArray[np.int64],
        silent: int,
        labels: Sequence[str],
        expected: ArrayLike,
    ) -> "Sketch":
        """The same from how often each label was given, and how often none, to as many items."""
        rows = np.asarray(estimates, dtype=np.float64)
        frequent = np.argsort(-counts, kind="stable")[:MOST_LABELS]
        sketch = cls(rows.shape[1], [str(labels[k]) for k in frequent if counts[k]])
        for choice, column in enumerate(rows.T):
            sketch.estimates[choice] = np.bincount(_bins(column), minlength=BINS)
        sketch.given[:] = counts[frequent][: len(sketch.labels)]
        values = np.asarray(expected, dtype=np.float64)
        sketch.items, sketch.silent = len(rows), silent
        sketch.expected, sketch.expected_squares = float(values.sum()), float(values @ values)
        return sketch

    def like(self) -> "Sketch":
        """An empty one that can be compared with this and added to it."""
        return Sketch(len(self.estimates), self.labels)

    def add(
        self, row: ArrayLike, labels: Iterable[str], expected: float, cost: float = 0.0, unseen: bool = False
    ) -> None:
        """One item: its (K,) estimates, the base's labels, the accuracy expected of what was chosen.

        unseen: whether a label among them was never seen in training.
        """
        # One by one: for a handful of services that is sooner done than by arrays.
        for choice, value in enumerate(np.asarray(row, dtype=np.float64).tolist()):
            self.estimates[choice, min(int(value * BINS), BINS - 1) if value > 0 else 0] += 1
        names = set(labels)
        for name in names:
            if (place := self._place.get(name)) is not None:
                self.given[place] += 1
        self.items += 1
        self.silent += not names
        self.unseen += bool(unseen)
        self.expected += expected
        self.expected_squares += expected * expected
        self.cost += cost

    def judge(self, accuracy: float) -> None:
        """The accuracy that a true label, come in later, showed for one item."""
        self.judged += 1
        self.reached += accuracy

    def merge(self, other: "Sketch") -> "Sketch":
        """Both together, as a new one."""
        if self.labels != other.labels or self.estimates.shape != other.estimates.shape:
            raise FrugalError(
                "Sketch.merge: the sketches are of different strategies; start the second anew."
            )
        both = self.like()
        both.estimates = self.estimates + other.estimates
        both.given = self.given + other.given
        for name in SUMS:
            setattr(both, name, getattr(self, name) + getattr(other, name))
        return both

    @property
    def expected_accuracy(self) -> float:
        """The mean accuracy expected of what was chosen; NaN without items."""
        return self.expected / self.items if self.items else math.nan

    @property
    def expected_error(self) -> float:
        """The standard error of that mean."""
        if self.items < 2:
            return math.inf
        variance = max(self.expected_squares / self.items - self.expected_accuracy**2, 0.0)
        return math.sqrt(variance / (self.items - 1))

    @property
    def reached_accuracy(self) -> float:
        """The mean accuracy by true labels that came in; NaN without any."""
        return self.reached / self.judged if self.judged else math.nan

    def to_arrays(self, prefix: str = "") -> dict[str, np.ndarray]:
        arrays = {
            "labels": np.array(self.labels, dtype=np.str_),
            "estimates": self.estimates,
            "given": self.given,
            "sums": np.array([getattr(self, name) for name in SUMS], dtype=np.float64),
        }
        return {prefix + name: array for name, array in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], prefix: str = "") -> "Sketch":
        estimates = np.asarray(arrays[prefix + "estimates"], dtype=np.int64)
        sketch = cls(len(estimates), [str(label) for label in arrays[prefix + "labels"]])
        sketch.estimates = estimates.copy()
        sketch.given = np.array(arrays[prefix + "given"], dtype=np.int64)
        for name, value in zip(SUMS, arrays[prefix + "sums"], strict=True):
            setattr(sketch, name, type(getattr(sketch, name))(value))
        return sketch

    def to_text(self) -> str:
        """JSON, for a note in the ledger."""
        return json.dumps({name: array.tolist() for name, array in self.to_arrays().items()})

    @classmethod
    def from_text(cls, text: str) -> "Sketch":
        values: dict[str, Any] = json.loads(text)
        return cls.from_arrays({name: np.array(value) for name, value in values.items()})


class Recent:
    """The last `size` to twice `size` items: a full sketch is put aside until the next one is full."""

    def __init__(self, current: Sketch, before: Sketch | None = None, size: int = 2_000) -> None:
        self.current, self.before, self.size = current, before, size

    def absorb(self, part: Sketch) -> None:
        """Adds what a process has seen since it last did so."""
        self.current = self.current.merge(part)
        if self.current.items >= self.size:
            self.before, self.current = self.current, self.current.like()

    @property
    def sketch(self) -> Sketch:
        return self.current if self.before is None else self.before.merge(self.current)

    def to_text(self) -> str:
        before = None if self.before is None else self.before.to_text()
        return json.dumps({"current": self.current.to_text(), "before": before, "size": self.size})

    @classmethod
    def from_text(cls, text: str) -> "Recent":
        values = json.loads(text)
        before = None if values["before"] is None else Sketch.from_text(values["before"])
        return cls(Sketch.from_text(values["current"]), before, values["size"])


def _bins(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.minimum(np.maximum((values * BINS).astype(np.int64), 0), BINS - 1)
