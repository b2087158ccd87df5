"""Random splits of a market's items into training, validation and test."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import open_arrays
from frugalmct.errors import FrugalError
from frugalmct.files import write_arrays
from frugalmct.seeds import generator
from frugalmct.values import REMAKE


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
        write_arrays(path, {"train": self.train, "validation": self.validation, "test": self.test})

    @classmethod
    def load(cls, path: str | Path) -> "Split":
        with open_arrays(path, "split file", REMAKE) as file:
            parts = [file.wholes(part, (None,)) for part in ("train", "validation", "test")]
            if any(np.any(np.diff(part) <= 0) for part in parts):
                raise FrugalError("its rows are not in rising order")
            if np.any(np.diff(np.sort(np.concatenate(parts))) == 0):
                raise FrugalError("its parts overlap")
            return cls(*parts)


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
        raise FrugalError(f"split: {items} items cannot be divided into three parts; give at least 3.")
    order = generator(seed, dataset, repetition, "split").permutation(items)
    training = training_items(items, train_share)
    held_out = min(max(round(training * validation_share), 1), training - 1)
    parts = order[held_out:training], order[:held_out], order[training:]
    return Split(*(np.sort(part) for part in parts))


def training_items(items: int, train_share: float) -> int:
    """How many of so many items are learnt from, validation included; the others are the test."""
    return min(max(round(items * train_share), 2), items - 1)
