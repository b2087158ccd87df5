"""The label market: what every service answered is a set of labels with scores, and the true sets are known.

Everything is sparse (CSR, items x labels). A stored entry is a label that was given; its value is the score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, vstack

from frugalmct.arrays import ArrayFile
from frugalmct.errors import FrugalError
from frugalmct.market.extras import Extras
from frugalmct.market.interface import Evidence, Market, joint_vocabulary, moved_columns
from frugalmct.market.known import Answered
from frugalmct.market.packing import pack_sets, pack_text
from frugalmct.market.settings import NOTHING_SAID, MarketSettings
from frugalmct.metrics import set_metric
from frugalmct.sparse import set_sizes, sorted_labels, take_rows
from frugalmct.values import MAX_SERVICES, Fields

if TYPE_CHECKING:
    from frugalmct.combine import Combiners


@dataclass(frozen=True, eq=False)
class LabelMarket(Market):
    """Items, label vocabulary, truth, and each service's scores, with prices in the unit of budgets.

    features: (items, numbers) that the items bring along, known before any service is asked, or None; data:
    one of `DATA_KINDS`; settings: what it was made with, which `Strategy.fit` goes by.
    """

    kind = "labels"

    name: str
    task: str
    items: NDArray[np.str_]
    labels: NDArray[np.str_]
    services: tuple[str, ...]
    prices: NDArray[np.float64]
    truth: csr_matrix
    scores: tuple[csr_matrix, ...]
    features: NDArray[np.float64] | None = None
    data: str = "recorded"
    extras: Extras = field(default_factory=Extras)
    settings: MarketSettings = NOTHING_SAID

    def __post_init__(self) -> None:
        object.__setattr__(self, "truth", sorted_labels(self.truth))
        object.__setattr__(self, "scores", tuple(sorted_labels(scores) for scores in self.scores))
        self.check_services()
        if len(self.scores) != len(self.services) or len(self.prices) != len(self.services):
            raise FrugalError(
                f"Market {self.name} has {len(self.services)} services, {len(self.scores)} answers and "
                f"{len(self.prices)} prices; there must be one of each per service."
            )
        for what, matrix in [("truth", self.truth), *zip(self.services, self.scores, strict=True)]:
            self._check_sets(what, matrix)
        if self.features is not None and (self.features.ndim != 2 or len(self.features) != len(self)):
            raise FrugalError(
                f"Market {self.name}: features are {self.features.shape}; they must be one row per item."
            )

    def _check_sets(self, what: str, matrix: csr_matrix) -> None:
        shape = (len(self), len(self.labels))
        if matrix.shape != shape:
            raise FrugalError(
                f"Market {self.name}: {what} is {matrix.shape[0]} x {matrix.shape[1]}, "
                f"but there are {shape[0]} items and {shape[1]} labels."
            )
        if matrix.nnz and not (matrix.data.min() >= 0 and matrix.data.max() <= 1):
            raise FrugalError(f"Market {self.name}: {what} has scores outside [0, 1]; rescale them.")
        if not matrix.has_canonical_format:
            raise FrugalError(f"Market {self.name}: {what} has a label twice in one item; keep one.")

    # ---- what a learner asks

    def evidence(self, base: int) -> Evidence:
        return Evidence(self.scores[base], self.labels, self.features)

    def answered(self, service: int) -> Answered:
        return Answered(self.scores[service], self.labels)

    def choice_accuracy(self, combiners: "Combiners", metric: str = "accuracy") -> NDArray[np.float64]:
        return combiners.accuracy(self.truth, self.scores, metric)

    def combined(self, combiners: "Combiners", choices: NDArray[np.int64]) -> csr_matrix:
        """(items, labels) each item's answer: the base's combined with that of the service it chose."""
        if not len(self):
            return self.truth
        rows = [np.flatnonzero(choices == k) for k in range(len(self.services))]
        answers = [
            combiners.apply(take_rows(self.scores[combiners.base], own), take_rows(self.scores[k], own), k)
            for k, own in enumerate(rows)
            if len(own)
        ]
        return take_rows(vstack(answers, format="csr"), np.argsort(np.concatenate(rows)))

    @cached_property
    def _single_accuracy(self) -> dict[str, NDArray[np.float64]]:
        return {}

    def service_accuracy(self, metric: str = "accuracy") -> NDArray[np.float64]:
        if metric not in self._single_accuracy:
            columns = [set_metric(self.truth, scores, metric) for scores in self.scores]
            self._single_accuracy[metric] = np.column_stack(columns)
        return self._single_accuracy[metric]

    def subset(self, rows: ArrayLike) -> "LabelMarket":
        rows = np.asarray(rows)
        if not rows.size:
            rows = rows.astype(np.int64)
        return replace(
            self,
            items=self.items[rows],
            truth=take_rows(self.truth, rows),
            scores=tuple(take_rows(scores, rows) for scores in self.scores),
            features=None if self.features is None else self.features[rows],
            extras=self.extras.subset(rows),
        )

    def with_services(self, services: Sequence[str]) -> "LabelMarket":
        keep = [self.service_index(service) for service in services]
        return replace(
            self,
            services=tuple(services),
            prices=self.prices[keep],
            scores=tuple(self.scores[k] for k in keep),
            extras=self.extras.with_services(keep),
        )

    def with_prices(self, prices: NDArray[np.float64]) -> "LabelMarket":
        return replace(self, prices=prices)

    def true_label_counts(self) -> tuple[int, int, int]:
        """Items, true labels over all of them, and the most of any."""
        return len(self), int(self.truth.nnz), int(set_sizes(self.truth).max(initial=0))

    def statistics(self) -> dict[str, Any]:
        """What the paper's table of datasets shows, and what each service achieves alone."""
        items, occurrences, largest = self.true_label_counts()
        seen = int(np.count_nonzero(np.bincount(self.truth.indices, minlength=len(self.labels))))
        accuracy = self.service_accuracy()
        return {
            "items": items,
            "label_occurrences": occurrences,
            "distinct_labels": seen,
            "labels_per_item": occurrences / items if items else 0.0,
            "largest_label_set": largest,
            "service_accuracy": dict(zip(self.services, accuracy.mean(axis=0).tolist(), strict=True)),
        }

    def over(self, labels: NDArray[np.str_]) -> "LabelMarket":
        """The market with these labels first in its vocabulary; labels beyond them come after."""
        if np.array_equal(self.labels, labels):
            return self
        names, columns = joint_vocabulary(labels, self.labels)
        return replace(
            self,
            labels=names,
            truth=moved_columns(self.truth, columns, len(names)),
            scores=tuple(moved_columns(scores, columns, len(names)) for scores in self.scores),
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        arrays = pack_text("items", self.items) | pack_text("labels", self.labels)
        arrays |= pack_sets("truth", self.truth)
        for k, scores in enumerate(self.scores):
            arrays |= pack_sets(f"service{k}", scores)
            arrays[f"service{k}.scores"] = scores.data.astype(np.float64)
        if self.features is not None:
            arrays["features"] = np.asarray(self.features, dtype=np.float64)
        return arrays

    @classmethod
    def read(cls, header: Fields, file: ArrayFile) -> "LabelMarket":
        services = tuple(header.names("services", most=MAX_SERVICES))
        items, labels = file.text("items"), file.text("labels", unique=True)
        size = (len(items), len(labels))
        return cls(
            name=header.text("name"),
            task=header.text("task"),
            items=items,
            labels=labels,
            services=services,
            prices=file.prices(len(services)),
            truth=file.sets("truth", *size),
            scores=tuple(file.sets(f"service{k}", *size, scored=True) for k in range(len(services))),
            features=file.floats("features", (len(items), None)) if "features" in file else None,
            data=header.text("data"),
            extras=Extras.read(file, len(items), len(services)),
        )
