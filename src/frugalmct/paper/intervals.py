"""Means over repetitions and their 95 % intervals, by Student's t; one repetition gives no interval.

Repetitions are splits of one dataset: an interval says how far another split may lie, not another dataset.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from frugalmct.errors import FrugalError

CONFIDENCE = 0.95


class Interval(NamedTuple):
    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half its width; not known from one repetition."""
        return (self.high - self.low) / 2

    def within(self, least: float = -np.inf, most: float = np.inf) -> "Interval":
        """Cut where a quantity cannot go: few repetitions make intervals wide."""
        return Interval(self.mean, *np.clip([self.low, self.high], least, most).tolist())

    def less_than(self, whole: float) -> "Interval":
        """What remains of a whole."""
        return Interval(whole - self.mean, whole - self.high, whole - self.low)

    def columns(self, name: str, prefix: str | None = None) -> dict[str, float]:
        """`name` for the mean, and `<prefix>_low`, `<prefix>_high`; the prefix is the name by default."""
        prefix = prefix or name
        return {name: self.mean, f"{prefix}_low": self.low, f"{prefix}_high": self.high}


def interval(values: ArrayLike) -> Interval:
    """Mean and 95 % interval; values that are missing are left out."""
    known = np.asarray(values, dtype=np.float64).ravel()
    return _students(known[np.isfinite(known)], overlap=0.0)


def paired_difference(a: ArrayLike, b: ArrayLike, test_share: float) -> Interval:
    """Mean and 95 % interval of a - b, one value of each per repetition, corrected for overlapping splits.

    Random splits of one dataset share most of their items, so their differences vary too little. Nadeau and
    Bengio (2003, Inference for the generalization error) take s² (1/J + n_test/n_train) for the variance of
    the mean of J differences instead of s²/J. Two methods differ where 0 is outside the interval.

    test_share: the part of the items that is tested on; the others are trained on. A repetition that lacks
    either value is left out; with one repetition there is no interval.
    """
    if not 0 < test_share < 1:
        raise FrugalError(f"paired_difference: test_share is {test_share!r}; it must lie between 0 and 1.")
    a, b = (np.asarray(values, dtype=np.float64).ravel() for values in (a, b))
    if a.size != b.size:
        raise FrugalError(
            f"paired_difference: {a.size} values against {b.size}; give one of each per repetition."
        )
    differences = a - b
    return _students(differences[np.isfinite(differences)], overlap=test_share / (1 - test_share))


def _students(values: NDArray[np.float64], overlap: float) -> Interval:
    """The variance of the mean is s² (1/J + overlap)."""
    if not values.size:
        return Interval(np.nan, np.nan, np.nan)
    # Numbers near 0 are differences of accuracies, whose last bits are not the same on all machines.
    mean = float(values.mean().round(12)) + 0.0
    if values.size == 1:
        return Interval(mean, np.nan, np.nan)
    from scipy.special import stdtrit

    spread = float(values.std(ddof=1).round(12)) * np.sqrt(1 / values.size + overlap)
    half = float(stdtrit(values.size - 1, (1 + CONFIDENCE) / 2)) * spread
    return Interval(mean, mean - half, mean + half)


def with_intervals(rows: pd.DataFrame, keys: list[str], value: str, *means: str) -> pd.DataFrame:
    """Per key the mean of a value with the half-width of its interval, and the means of other columns."""
    groups = rows.groupby(keys, sort=False)
    columns = {value: groups[value].mean(), "half": groups[value].agg(lambda values: interval(values).half)}
    columns |= {column: groups[column].mean() for column in means}
    return pd.DataFrame(columns).reset_index()
