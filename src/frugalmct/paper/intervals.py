"""Means over repetitions and their 95 % intervals, by Student's t; one repetition gives no interval."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import stdtrit

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
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not known.size:
        return Interval(np.nan, np.nan, np.nan)
    # Numbers near 0 are differences of accuracies, whose last bits are not the same on all machines.
    mean = float(known.mean().round(12)) + 0.0
    if known.size == 1:
        return Interval(mean, np.nan, np.nan)
    spread = float(known.std(ddof=1).round(12)) / np.sqrt(known.size)
    half = float(stdtrit(known.size - 1, (1 + CONFIDENCE) / 2)) * spread
    return Interval(mean, mean - half, mean + half)


def with_intervals(rows: pd.DataFrame, keys: list[str], value: str, *means: str) -> pd.DataFrame:
    """Per key the mean of a value with the half-width of its interval, and the means of other columns."""
    groups = rows.groupby(keys, sort=False)
    columns = {value: groups[value].mean(), "half": groups[value].agg(lambda values: interval(values).half)}
    columns |= {column: groups[column].mean() for column in means}
    return pd.DataFrame(columns).reset_index()
