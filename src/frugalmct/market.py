"""The market: items, their true labels, and what every service answered at what price.

Everything is sparse (CSR, items x labels). A stored entry is a label that was given; its value is the
score. One market is one `.npz` file of plain arrays: loading it never executes anything.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from frugalmct.errors import FrugalError, listed
from frugalmct.files import arrays_in, replacing
from frugalmct.metrics import set_metric
from frugalmct.seeds import generator
from frugalmct.sparse import set_sizes, sorted_labels, take_rows

FORMAT = "frugalmct-market-1"


@dataclass(frozen=True, eq=False)
class Market:
    """Items, label vocabulary, truth, and each service's scores, with prices in USD per 10,000 calls."""

    name: str
    task: str
    items: NDArray[np.str_]
    labels: NDArray[np.str_]
    services: tuple[str, ...]
    prices: NDArray[np.float64]
    truth: csr_matrix
    scores: tuple[csr_matrix, ...]
    features: NDArray[np.float64] | None = None
    simulated: bool = False
    released: bool = False

    def __post_init__(self) -> None:
        shape = (len(self.items), len(self.labels))
        object.__setattr__(self, "truth", sorted_labels(self.truth))
        object.__setattr__(self, "scores", tuple(sorted_labels(scores) for scores in self.scores))
        if not self.services:
            raise FrugalError(f"Market {self.name} has no services; it needs at least one.")
        if len(set(self.services)) != len(self.services):
            raise FrugalError(f"Market {self.name} names a service twice: {listed(self.services)}.")
        if len(self.scores) != len(self.services) or len(self.prices) != len(self.services):
            raise FrugalError(
                f"Market {self.name} has {len(self.services)} services, {len(self.scores)} answers and "
                f"{len(self.prices)} prices; there must be one of each a service."
            )
        if not np.all(np.isfinite(self.prices)) or np.any(self.prices < 0):
            raise FrugalError(
                f"Market {self.name} has prices {listed(self.prices)}; each must be a finite number >= 0."
            )
        for what, matrix in [("truth", self.truth), *zip(self.services, self.scores, strict=True)]:
            if matrix.shape != shape:
                raise FrugalError(
                    f"Market {self.name}: {what} is {matrix.shape[0]} x {matrix.shape[1]}, "
                    f"but there are {shape[0]} items and {shape[1]} labels."
                )
            if matrix.nnz and not (matrix.data.min() >= 0 and matrix.data.max() <= 1):
                raise FrugalError(f"Market {self.name}: {what} has scores outside [0, 1]; rescale them.")
            if not matrix.has_canonical_format:
                raise FrugalError(f"Market {self.name}: {what} has a label twice in one item; keep one.")
        if self.features is not None and (self.features.ndim != 2 or len(self.features) != shape[0]):
            raise FrugalError(
                f"Market {self.name}: features are {self.features.shape}; they must be one row an item."
            )

    def __len__(self) -> int:
        return len(self.items)

    def service_index(self, service: str) -> int:
        if service not in self.services:
            raise FrugalError(
                f"Market {self.name} has no service '{service}'; its services: {listed(self.services)}."
            )
        return self.services.index(service)

    @cached_property
    def _single_accuracy(self) -> dict[str, NDArray[np.float64]]:
        return {}

    def service_accuracy(self, metric: str = "accuracy") -> NDArray[np.float64]:
        """(items, services): how good each service's whole answer is on its own."""
        if metric not in self._single_accuracy:
            columns = [set_metric(self.truth, scores, metric) for scores in self.scores]
            self._single_accuracy[metric] = np.column_stack(columns)
        return self._single_accuracy[metric]

    def subset(self, rows: ArrayLike) -> "Market":
        """The market of some of its items, in the order given."""
        rows = np.asarray(rows)
        if not rows.size:
            rows = rows.astype(np.int64)
        return replace(
            self,
            items=self.items[rows],
            truth=take_rows(self.truth, rows),
            scores=tuple(take_rows(scores, rows) for scores in self.scores),
            features=None if self.features is None else self.features[rows],
        )

    def with_services(self, services: Sequence[str]) -> "Market":
        """The market with only these services, in this order."""
        keep = [self.service_index(service) for service in services]
        return replace(
            self,
            services=tuple(services),
            prices=self.prices[keep],
            scores=tuple(self.scores[k] for k in keep),
        )

    def statistics(self) -> dict[str, Any]:
        """What the paper's table of datasets shows, and what each service achieves alone."""
        occurrences = int(self.truth.nnz)
        seen = int(np.count_nonzero(np.bincount(self.truth.indices, minlength=len(self.labels))))
        accuracy = self.service_accuracy()
        return {
            "items": len(self),
            "label_occurrences": occurrences,
            "distinct_labels": seen,
            "labels_per_item": occurrences / len(self) if len(self) else 0.0,
            "largest_label_set": int(set_sizes(self.truth).max(initial=0)),
            "service_accuracy": dict(zip(self.services, accuracy.mean(axis=0).tolist(), strict=True)),
        }

    def save(self, path: str | Path, *, compress: bool = False) -> None:
        """One `.npz`; uncompressed loads fastest, compressed is several times smaller."""
        arrays: dict[str, np.ndarray] = {"prices": np.asarray(self.prices, dtype=np.float64)}
        arrays |= _pack_text("items", self.items) | _pack_text("labels", self.labels)
        arrays |= _pack_sets("truth", self.truth)
        for k, scores in enumerate(self.scores):
            arrays |= _pack_sets(f"service{k}", scores) | {f"service{k}.scores": scores.data}
        if self.features is not None:
            arrays["features"] = self.features
        header = {
            "format": FORMAT,
            "name": self.name,
            "task": self.task,
            "services": list(self.services),
            "simulated": self.simulated,
            "released": self.released,
        }
        arrays["header"] = _bytes(json.dumps(header))
        write = np.savez_compressed if compress else np.savez
        with replacing(path) as temporary, temporary.open("wb") as handle:
            write(handle, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Market":
        """Reads what `save` wrote; anything else is named as such."""
        with arrays_in(path, f"market file of format {FORMAT}", "make it with `snakemake markets`") as arrays:
            return _unpack(arrays)


def _unpack(arrays: Mapping[str, np.ndarray]) -> Market:
    header = json.loads(arrays["header"].tobytes().decode())
    if header.get("format") != FORMAT:
        raise FrugalError(f"its format is {header.get('format')}, this version reads {FORMAT}")
    items, labels = _unpack_text("items", arrays), _unpack_text("labels", arrays)
    services = tuple(header["services"])
    scores = [
        _unpack_sets(f"service{k}", arrays, len(labels), arrays[f"service{k}.scores"])
        for k in range(len(services))
    ]
    truth_size = len(arrays["truth.labels"])
    return Market(
        name=header["name"],
        task=header["task"],
        items=items,
        labels=labels,
        services=services,
        prices=arrays["prices"],
        truth=_unpack_sets("truth", arrays, len(labels), np.ones(truth_size)),
        scores=tuple(scores),
        features=arrays.get("features"),
        simulated=header["simulated"],
        released=header.get("released", False),
    )


def _pack_sets(name: str, matrix: csr_matrix) -> dict[str, np.ndarray]:
    return {
        f"{name}.starts": matrix.indptr.astype(np.int64),
        f"{name}.labels": matrix.indices.astype(np.int32),
    }


def _unpack_sets(name: str, arrays: Mapping[str, np.ndarray], labels: int, data: np.ndarray) -> csr_matrix:
    indptr, indices = arrays[f"{name}.starts"], arrays[f"{name}.labels"]
    if len(indices) and (indices.min() < 0 or indices.max() >= labels):
        raise FrugalError(f"{name} holds labels outside the vocabulary of {labels}")
    if np.any(np.diff(indptr) < 0):
        raise FrugalError(f"{name} holds an item that ends before it starts")
    return csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, labels))


# Text is one UTF-8 run with its cut points: numpy's fixed-width text would pad every name to the longest.
def _pack_text(name: str, values: NDArray[np.str_]) -> dict[str, np.ndarray]:
    encoded = [str(value).encode() for value in values]
    ends = np.cumsum([len(value) for value in encoded], dtype=np.int64)
    return {f"{name}.text": _bytes(b"".join(encoded)), f"{name}.ends": ends}


def _unpack_text(name: str, arrays: Mapping[str, np.ndarray]) -> NDArray[np.str_]:
    text, ends = arrays[f"{name}.text"].tobytes(), arrays[f"{name}.ends"]
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    values = [text[start:end].decode() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return np.array(values, dtype=np.str_)


def _bytes(text: str | bytes) -> np.ndarray:
    return np.frombuffer(text.encode() if isinstance(text, str) else text, dtype=np.uint8)


@dataclass(frozen=True)
class Split:
    """Row numbers of the three parts; `validation` is carved out of the training half."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def whole_train(self) -> NDArray[np.int64]:
        """Train and validation together, for what is fitted once nothing is left to tune."""
        return np.sort(np.concatenate([self.train, self.validation]))

    def save(self, path: str | Path) -> None:
        with replacing(path) as temporary, temporary.open("wb") as handle:
            np.savez(handle, train=self.train, validation=self.validation, test=self.test)

    @classmethod
    def load(cls, path: str | Path) -> "Split":
        with arrays_in(path, "split file", "make it with `snakemake markets`") as arrays:
            return cls(arrays["train"], arrays["validation"], arrays["test"])


def split(
    items: int,
    *,
    train_share: float = 0.5,
    validation_share: float = 0.2,
    seed: int = 0,
    dataset: str = "",
    repetition: int = 0,
) -> Split:
    """Random halves; `validation_share` is the part of the training half held out for tuning.

    A function of (seed, dataset, repetition) alone. Row numbers are sorted within each part, so a part
    reads its market in storage order.
    """
    for what, share in [("train_share", train_share), ("validation_share", validation_share)]:
        if not 0 < share < 1:
            raise FrugalError(f"split: {what} is {share}; it must lie strictly between 0 and 1.")
    if items < 3:
        raise FrugalError(f"split: {items} items can not be divided into three parts; give at least 3.")
    order = generator(seed, dataset, repetition, "split").permutation(items)
    training = min(max(round(items * train_share), 2), items - 1)
    held_out = min(max(round(training * validation_share), 1), training - 1)
    parts = order[held_out:training], order[:held_out], order[training:]
    return Split(*(np.sort(part) for part in parts))
