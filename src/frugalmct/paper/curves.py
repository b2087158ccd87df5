"""Accuracy against cost: curves through what a method reached, and a dataset's rows of the long table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from frugalmct.hull import rising_hull
from frugalmct.paper.names import SINGLE

# Tables are written with ten digits: what differs by less is the same.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Curve:
    """The best accuracy within each cost: the running best of the points, straight between them.

    Straight, because drawing one of two neighbours at random for each item reaches any point between.
    """

    cost: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    @classmethod
    def of(cls, cost: ArrayLike, accuracy: ArrayLike) -> "Curve":
        cost, accuracy = np.asarray(cost, dtype=np.float64), np.asarray(accuracy, dtype=np.float64)
        order = np.argsort(cost, kind="stable")
        cost, best = cost[order], np.maximum.accumulate(accuracy[order])
        last_of_equals = np.append(cost[1:] != cost[:-1], np.ones(min(cost.size, 1), dtype=bool))
        return cls(cost[last_of_equals], best[last_of_equals])

    def accuracy_at(self, cost: float) -> float:
        """NaN below the cheapest point; beyond the most expensive nothing more is gained."""
        if not self.cost.size or cost < self.cost[0] * (1 - ROUNDING):
            return np.nan
        return float(np.interp(cost, self.cost, self.accuracy))

    def cheapest(self, target: float) -> float:
        """The smallest cost at which the target is reached, NaN where none reaches it."""
        first = int(np.searchsorted(self.accuracy, target - ROUNDING))
        if np.isnan(target) or first == self.cost.size:
            return np.nan
        before = max(first - 1, 0)
        return float(np.interp(target, self.accuracy[[before, first]], self.cost[[before, first]]))

    def mean_accuracy(self, low: float, high: float) -> float:
        """The area under the curve between two costs, divided by their distance."""
        if not low < high or np.isnan(self.accuracy_at(low)):
            return np.nan
        inside = self.cost[(self.cost > low) & (self.cost < high)]
        knots = np.concatenate([[low], inside, [high]])
        heights = np.interp(knots, self.cost, self.accuracy)
        return float(np.trapezoid(heights, knots) / (high - low))


def improvement_in_quality(cost: ArrayLike, accuracy: ArrayLike, most: float) -> float:
    """RouterBench's AIQ: the mean height, for costs from 0 to `most`, of the rising hull of nothing at
    no cost and of the points that cost no more; NaN where there is none."""
    cost, accuracy = np.asarray(cost, dtype=np.float64), np.asarray(accuracy, dtype=np.float64)
    within = cost <= most * (1 + ROUNDING)
    if not within.any() or not most > 0:
        return np.nan
    x, y = np.append(0.0, cost[within]), np.append(0.0, accuracy[within])
    corners = rising_hull(x, y)
    knots, heights = np.append(x[corners], most), np.append(y[corners], y.max())
    return float(np.trapezoid(heights, knots) / most)


@dataclass(frozen=True, eq=False)
class BestService:
    """The service with the highest mean test accuracy, of equals the cheapest, and what it reached."""

    name: str
    accuracy: float
    cost: float
    by_repetition: Mapping[int, float]


class DatasetResults:
    """The long table's rows of one dataset; `reached` are those with a result."""

    def __init__(self, tradeoff: pd.DataFrame, dataset: str) -> None:
        rows = tradeoff[tradeoff["dataset"] == dataset]
        self.dataset = dataset
        self.repetitions: list[int] = sorted(rows["repetition"].unique().tolist())
        self.failed = rows[rows["accuracy"].isna() | rows["cost"].isna()]
        self.reached = rows.drop(self.failed.index)

    def of(self, method: str, repetition: int | None = None) -> pd.DataFrame:
        rows = self.reached[self.reached["method"] == method]
        return rows if repetition is None else rows[rows["repetition"] == repetition]

    def curve(self, method: str, repetition: int, against: str = "cost") -> Curve:
        rows = self.of(method, repetition)
        return Curve.of(rows[against], rows["accuracy"])

    @cached_property
    def singles(self) -> pd.DataFrame:
        """Each service's mean accuracy and price, the cheapest first."""
        rows = self.reached[self.reached["method"].str.startswith(SINGLE)]
        means = rows.groupby("method", sort=False)[["accuracy", "cost"]].mean().reset_index()
        means["service"] = means["method"].str.removeprefix(SINGLE)
        return means.sort_values(["cost", "service"], kind="stable", ignore_index=True)

    @cached_property
    def best(self) -> BestService | None:
        if self.singles.empty:
            return None
        first = self.singles.sort_values("accuracy", ascending=False, kind="stable").iloc[0]
        rows = self.of(first["method"])
        by_repetition = dict(zip(rows["repetition"], rows["accuracy"], strict=True))
        return BestService(first["service"], first["accuracy"], first["cost"], by_repetition)

    def costs_at_best(self, method: str, more: float = 0.0) -> NDArray[np.float64]:
        """Per repetition what it pays to be as accurate as the best service, or more by so much; NaN where it
        never is."""
        theirs = [self._best_in(repetition) + more for repetition in self.repetitions]
        curves = [self.curve(method, repetition) for repetition in self.repetitions]
        return np.array([curve.cheapest(target) for curve, target in zip(curves, theirs, strict=True)])

    def savings(self, method: str) -> NDArray[np.float64]:
        """Per repetition the share of the best service's cost that is saved at its accuracy."""
        costs = self.costs_at_best(method)
        whole = np.nan if self.best is None or self.best.cost <= 0 else self.best.cost
        return 1 - costs / whole

    def gains_at_best_cost(self, method: str) -> NDArray[np.float64]:
        """Per repetition the accuracy at the best service's cost, less that service's."""
        cost = np.nan if self.best is None else self.best.cost
        return np.array(
            [
                self.curve(method, repetition).accuracy_at(cost) - self._best_in(repetition)
                for repetition in self.repetitions
            ]
        )

    def by_repetition(self, values: NDArray[np.float64]) -> pd.Series:
        """One value per repetition, named after it."""
        return pd.Series(values, index=self.repetitions, dtype=float)

    def _best_in(self, repetition: int) -> float:
        """What the best service reached in it."""
        return np.nan if self.best is None else self.best.by_repetition.get(repetition, np.nan)

    def missing(self, *methods: str) -> str:
        """Why there are no rows of these methods, empty where there are."""
        reasons = [self._missing(method) for method in methods if self.of(method).empty]
        return "; ".join(reasons)

    def _missing(self, method: str) -> str:
        reasons = self.failed.loc[self.failed["method"] == method, "status"].dropna().unique().tolist()
        return f"no result of {method}" + (f" ({', '.join(map(str, reasons))})" if reasons else "")


def datasets_of(tradeoff: pd.DataFrame, names: Sequence[str]) -> Iterator[DatasetResults]:
    return (DatasetResults(tradeoff, name) for name in names)


def joined_reasons(*reasons: str) -> str | None:
    """What is missing in a row, for its column `reason`."""
    return "; ".join(reason for reason in reasons if reason) or None


def not_reached(reached: int, repetitions: int, what: str) -> str:
    """In how many repetitions something was not reached; empty where in none."""
    missed = repetitions - reached
    if not missed or not repetitions:
        return ""
    return f"{what} in {missed} of {repetitions} repetitions" if repetitions > 1 else what


def mean_by_budget(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy over repetitions: one row per dataset and budget, one column per method."""
    if not {"dataset", "method", "budget", "accuracy"} <= set(tradeoff) or tradeoff.empty:
        return pd.DataFrame()
    means = tradeoff.groupby(["dataset", "budget", "method"], sort=False)["accuracy"].mean().unstack("method")
    order = {name: place for place, name in enumerate(tradeoff["dataset"].unique())}
    return means.sort_index(
        level=["dataset", "budget"], key=lambda level: level.map(order) if level.name == "dataset" else level
    )
