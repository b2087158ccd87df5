"""What is known of items once some services have answered: nothing of a service that was not asked.

A learner of choices made before or after asking sees a market only through this: `Market.known(asked)` holds
the items' own texts and numbers, and of the services asked their answers. Truth, qualities and the answers of
all others are not in it, so that no feature can come from them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from frugalmct.errors import FrugalError
from frugalmct.sparse import Rows, label_matrix, take_rows


@dataclass(frozen=True, eq=False)
class Answered:
    """What one service that was asked gave for every item.

    scores: (items, labels) of its label sets, columns named by `labels`, or None where answers are not
    labels; numbers: (items, n) its `answer_features`, or None; cost: (items,) what the calls cost, or None
    where a price is the same for all.
    """

    scores: csr_matrix | None = None
    labels: NDArray[np.str_] | None = None
    numbers: NDArray[np.float64] | None = None
    cost: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        answers: Sequence[Sequence[tuple[str, float]]] | None = None,
        numbers: ArrayLike | None = None,
        cost: ArrayLike | None = None,
    ) -> "Answered":
        """From plain values, one entry per item."""
        scores, labels = (None, None) if answers is None else label_sets(answers)
        return cls(
            scores,
            labels,
            None if numbers is None else np.asarray(numbers, dtype=np.float64),
            None if cost is None else np.asarray(cost, dtype=np.float64),
        )

    @property
    def vocabulary(self) -> NDArray[np.str_]:
        """The names of the columns of `scores`; none where answers are not labels."""
        return np.zeros(0, dtype=np.str_) if self.labels is None else self.labels

    def rows(self, rows: Rows) -> "Answered":
        return Answered(
            None if self.scores is None else take_rows(self.scores, rows),
            self.labels,
            None if self.numbers is None else self.numbers[rows],
            None if self.cost is None else self.cost[rows],
        )


@dataclass(frozen=True, eq=False)
class Known:
    """items: how many; text: (items,) of Python's texts, or None; given: (items, numbers) or None; answers:
    by service number, of those that were asked."""

    items: int
    text: NDArray[np.object_] | None = None
    given: NDArray[np.float64] | None = None
    answers: Mapping[int, Answered] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.items

    def rows(self, rows: NDArray[Any]) -> "Known":
        """Of some of the items."""
        rows = np.arange(self.items)[rows]
        return Known(
            len(rows),
            None if self.text is None else self.text[rows],
            None if self.given is None else self.given[rows],
            {service: answered.rows(rows) for service, answered in self.answers.items()},
        )


def text_column(texts: Sequence[str]) -> NDArray[np.object_]:
    """Texts of any length, each as long as it is: numpy's own would all be padded to the longest."""
    column = np.empty(len(texts), dtype=object)
    column[:] = list(texts)
    return column


def label_sets(answers: Sequence[Sequence[tuple[str, float]]]) -> tuple[csr_matrix, NDArray[np.str_]]:
    """Plain answers, `[[("car", 0.9)], []]`, as a matrix and the names of its columns; a label given twice
    counts with its highest score."""
    columns: dict[str, int] = {}
    starts: list[int] = [0]
    indices: list[int] = []
    scores: list[float] = []
    for answer in answers:
        best: dict[int, float] = {}
        for label, score in answer:
            if not 0 <= score <= 1:
                raise FrugalError(f"The answer {label!r} has the score {score!r}; give a number in [0, 1].")
            column = columns.setdefault(str(label), len(columns))
            best[column] = max(float(score), best.get(column, 0.0))
        indices += best.keys()
        scores += best.values()
        starts.append(len(indices))
    return label_matrix(starts, indices, scores, len(columns)), np.array(list(columns), np.str_)
