"""Tables derived from the long table of what each method reached: savings, ensembles, and past the paper.

Every dataset asked for has its rows, with the reason wherever a number could not be had. Intervals are
95 %, by Student's t over repetitions; with one repetition there are none.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from frugalmct.paper import figures_of

SINGLE = "single:"
ONLINE, OFFLINE, ORACLE, IDEAL = "frugalmct_online", "frugalmct_offline", "oracle", "ideal_combiner"

TRADEOFF_COLUMNS = [
    "dataset", "method", "budget", "seed", "accuracy", "cost", "status", "base", "delta", "price",
]  # fmt: skip
SAVINGS_COLUMNS = [
    "dataset", "task", "best_service", "best_accuracy", "best_cost", "frugalmct_cost", "saving",
    "paper_accuracy", "paper_best_cost", "paper_cost", "paper_saving",
    "frugalmct_cost_low", "frugalmct_cost_high", "saving_low", "saving_high",
    "reached", "repetitions", "reason",
]  # fmt: skip
ENSEMBLE_COLUMNS = [
    "dataset", "method", "accuracy", "accuracy_low", "accuracy_high", "cost", "paper_accuracy", "paper_cost",
    "service", "budget", "repetitions", "reason",
]  # fmt: skip
BUDGET_COLUMNS = [
    "dataset", "target", "service", "points", "target_accuracy",
    "budget", "budget_low", "budget_high", "reached",
    "predicted_budget", "predicted_low", "predicted_high", "predicted_reached",
    "repetitions", "reason",
]  # fmt: skip

# The paper's name of each row of its comparison with ensembles -> the method of the long table.
ENSEMBLES = {
    "best_single": None,
    "frugalml": "frugalml",
    "frugalmct": ONLINE,
    "majority_vote": "majority_vote",
    "weighted_majority_vote": "weighted_majority_vote",
}
# Budgets whose mean accuracy is this close to the best count as reaching it; the cheapest of them is shown.
AS_GOOD = 0.0005

AREA_METHODS = (ONLINE, "frugalml", "dap", "random_mix", ORACLE)
# What is lost at each step from the best thinkable to what is done: their sum is `ideal - online`.
LOSSES = {
    "loss_combiner": (IDEAL, ORACLE),
    "loss_predictor": (ORACLE, OFFLINE),
    "loss_price": (OFFLINE, ONLINE),
    "gap_to_oracle": (ORACLE, ONLINE),
}
POINTS_ABOVE_BEST = (1, 2, 3)

# Tables are written with ten digits: what differs by less is the same.
ROUNDING = 1e-9

CONFIDENCE = 0.95


class Interval(NamedTuple):
    mean: float
    low: float
    high: float

    def within(self, least: float = -np.inf, most: float = np.inf) -> "Interval":
        """Cut where a quantity can not go: few repetitions make intervals wide."""
        return Interval(self.mean, *np.clip([self.low, self.high], least, most).tolist())

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


@dataclass(frozen=True, eq=False)
class Curve:
    """The best accuracy within each cost: the running best of the points, straight between them.

    Straight, because a lot drawn for each item between two neighbours reaches any point between.
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
        """NaN below the cheapest point; beyond the dearest nothing more is gained."""
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
        self.repetitions: list[int] = sorted(rows["seed"].unique().tolist())
        self.failed = rows[rows["accuracy"].isna() | rows["cost"].isna()]
        self.reached = rows.drop(self.failed.index)

    def of(self, method: str, repetition: int | None = None) -> pd.DataFrame:
        rows = self.reached[self.reached["method"] == method]
        return rows if repetition is None else rows[rows["seed"] == repetition]

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
        by_repetition = dict(zip(rows["seed"], rows["accuracy"], strict=True))
        return BestService(first["service"], first["accuracy"], first["cost"], by_repetition)

    def missing(self, *methods: str) -> str:
        """Why there are no rows of these methods, empty where there are."""
        reasons = [self._missing(method) for method in methods if self.of(method).empty]
        return "; ".join(reasons)

    def _missing(self, method: str) -> str:
        told = self.failed.loc[self.failed["method"] == method, "status"].dropna().unique().tolist()
        return f"no result of {method}" + (f" ({', '.join(map(str, told))})" if told else "")


def _datasets(tradeoff: pd.DataFrame, names: Sequence[str]) -> Iterator[DatasetResults]:
    return (DatasetResults(tradeoff, name) for name in names)


def _joined(*reasons: str) -> str | None:
    return "; ".join(reason for reason in reasons if reason) or None


def _not_reached(reached: int, repetitions: int, what: str) -> str:
    missed = repetitions - reached
    if not missed or not repetitions:
        return ""
    return f"{what} in {missed} of {repetitions} repetitions" if repetitions > 1 else what


def collect_tradeoff(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All rows in one table, the contract's columns first."""
    records = [record for table in tables for record in table.to_dict("records")]
    return pd.DataFrame(records, columns=TRADEOFF_COLUMNS)


# ---- the paper's tables


def cost_savings(tradeoff: pd.DataFrame, tasks: Mapping[str, str]) -> pd.DataFrame:
    """What FrugalMCT pays for the accuracy of the best service, one row a dataset of `tasks`."""
    rows = [_savings_row(results, tasks[results.dataset]) for results in _datasets(tradeoff, list(tasks))]
    return pd.DataFrame(rows, columns=SAVINGS_COLUMNS)


def _savings_row(results: DatasetResults, task: str) -> dict[str, Any]:
    row = {"dataset": results.dataset, "task": task, "repetitions": len(results.repetitions), "reached": 0}
    row |= _paper_savings(results.dataset)
    best = results.best
    if best is None:
        return row | {"reason": "no result of any single service"}
    costs = np.array(
        [
            results.curve(ONLINE, repetition).cheapest(best.by_repetition.get(repetition, np.nan))
            for repetition in results.repetitions
        ]
    )
    reached = int(np.isfinite(costs).sum())
    savings = 1 - costs / best.cost if best.cost > 0 else np.full(costs.size, np.nan)
    return (
        row
        | {"best_service": best.name, "best_accuracy": best.accuracy, "best_cost": best.cost}
        | interval(costs).within(0).columns("frugalmct_cost")
        | interval(savings).within(most=1).columns("saving")
        | {
            "reached": reached,
            "reason": _joined(
                results.missing(ONLINE)
                or _not_reached(reached, costs.size, "the best service's accuracy is not reached"),
                "" if best.cost > 0 else "the best service costs nothing",
            ),
        }
    )


def _paper_savings(dataset: str) -> dict[str, float | None]:
    printed = figures_of(dataset).get("paper")
    if not printed:
        return {}
    return {
        "paper_accuracy": printed["best_api"]["accuracy_pct"] / 100,
        "paper_best_cost": printed["best_api"]["cost"],
        "paper_cost": printed["frugalmct_cost_at_that_accuracy"],
        "paper_saving": printed["saving_pct"] / 100,
    }


def ensembles(tradeoff: pd.DataFrame, datasets: Sequence[str]) -> pd.DataFrame:
    """The paper's comparison: each method at the least cost at which it is as accurate as it gets."""
    rows = [
        _ensemble_row(results, name, method)
        for results in _datasets(tradeoff, datasets)
        for name, method in ENSEMBLES.items()
    ]
    return pd.DataFrame(rows, columns=ENSEMBLE_COLUMNS)


def _ensemble_row(results: DatasetResults, name: str, method: str | None) -> dict[str, Any]:
    printed = figures_of(results.dataset).get("paper", {}).get("ensembles_accuracy_pct_and_cost", {})
    row: dict[str, Any] = {"dataset": results.dataset, "method": name, "repetitions": 0}
    if name in printed:
        accuracy, cost = printed[name]
        row |= {"paper_accuracy": accuracy / 100, "paper_cost": cost}
    if method is None:
        if results.best is None:
            return row | {"reason": "no result of any single service"}
        row["service"] = results.best.name
        method = SINGLE + results.best.name
    rows = results.of(method)
    if rows.empty:
        return row | {"reason": results.missing(method)}
    budget = cheapest_of_the_best(rows)
    chosen = rows[rows["budget"] == budget]
    return (
        row
        | interval(chosen["accuracy"]).within(0, 1).columns("accuracy")
        | {"cost": chosen["cost"].mean(), "budget": budget, "repetitions": len(chosen)}
        | {"reason": _joined(_not_reached(len(chosen), len(results.repetitions), "no result"))}
    )


def cheapest_of_the_best(rows: pd.DataFrame) -> float:
    """Of the budgets whose mean accuracy is within `AS_GOOD` of the highest, that with the least cost."""
    means = rows.groupby("budget")[["accuracy", "cost"]].mean()
    as_good = means[means["accuracy"] >= means["accuracy"].max() - AS_GOOD - ROUNDING]
    return float(as_good["cost"].idxmin())


# ---- past the paper


def beyond(tradeoff: pd.DataFrame, tasks: Mapping[str, str]) -> pd.DataFrame:
    """Gains, areas under the frontier, losses by cause, and use of the budget: one row a dataset."""
    rows = [_beyond_row(results, tasks[results.dataset]) for results in _datasets(tradeoff, list(tasks))]
    return pd.DataFrame(rows, columns=beyond_columns())


def beyond_columns() -> list[str]:
    measured = [column for name in _MEASURES for column in (name, f"{name}_low", f"{name}_high")]
    return [
        *("dataset", "task", "best_service", "best_accuracy", "best_cost", "area_from", "area_to"),
        *measured,
        *("largest_overrun_online", "largest_overrun_offline", "repetitions", "reason"),
    ]


_MEASURES = [
    "gain_at_best_cost",
    *(f"area_{method.removeprefix('frugalmct_')}" for method in AREA_METHODS),
    *LOSSES,
    "budget_used_online",
    "budget_used_offline",
]


def _beyond_row(results: DatasetResults, task: str) -> dict[str, Any]:
    row: dict[str, Any] = {"dataset": results.dataset, "task": task, "repetitions": len(results.repetitions)}
    best = results.best
    if best is None or results.of(ONLINE).empty:
        nothing = "" if best else "no result of any single service"
        return row | {"reason": _joined(nothing, results.missing(ONLINE))}
    low, high = float(results.of(ONLINE)["budget"].min()), float(results.singles["cost"].max())
    measured = [_measures(results, best, repetition, low, high) for repetition in results.repetitions]
    row |= {"best_service": best.name, "best_accuracy": best.accuracy, "best_cost": best.cost}
    row |= {"area_from": low, "area_to": high}
    for name in _MEASURES:
        # A share is never negative nor above 1; gains and losses may be negative.
        limits = (0, 1) if name.startswith(("area_", "budget_used_")) else (-1, 1)
        row |= interval([measures[name] for measures in measured]).within(*limits).columns(name)
    row["largest_overrun_online"] = largest_overrun(results.of(ONLINE))
    row["largest_overrun_offline"] = largest_overrun(results.of(OFFLINE))
    return row | {
        "reason": _joined(
            results.missing(OFFLINE, ORACLE, IDEAL, *AREA_METHODS[1:-1]),
            "" if low < high else "no service is dearer than the smallest budget: no area",
            "" if best.cost >= low * (1 - ROUNDING) else "the best service is cheaper than any budget",
        )
    }


def _measures(
    results: DatasetResults, best: BestService, repetition: int, low: float, high: float
) -> dict[str, float]:
    online = results.curve(ONLINE, repetition)
    measures = {
        "gain_at_best_cost": online.accuracy_at(best.cost) - best.by_repetition.get(repetition, np.nan)
    }
    for method in AREA_METHODS:
        area = results.curve(method, repetition).mean_accuracy(low, high)
        measures[f"area_{method.removeprefix('frugalmct_')}"] = area
    for name, (better, worse) in LOSSES.items():
        measures[name] = _mean_difference(results.of(better, repetition), results.of(worse, repetition))
    measures["budget_used_online"] = _share_used(results.of(ONLINE, repetition))
    measures["budget_used_offline"] = _share_used(results.of(OFFLINE, repetition))
    return measures


def _mean_difference(better: pd.DataFrame, worse: pd.DataFrame) -> float:
    """Over the budgets that both have."""
    difference = better.set_index("budget")["accuracy"] - worse.set_index("budget")["accuracy"]
    return float(difference.mean())


def _share_used(rows: pd.DataFrame) -> float:
    """Over the budgets; where there is nothing to spend no share is used."""
    paid = rows[rows["budget"] > 0]
    return float((paid["cost"] / paid["budget"]).mean())


def largest_overrun(rows: pd.DataFrame) -> float:
    """The most by which a mean cost exceeds its budget, 0 where none does."""
    if rows.empty:
        return np.nan
    over = rows["cost"] - rows["budget"]
    return float(over.where(over > ROUNDING * rows["budget"], 0.0).max())


Foresight = Mapping[tuple[str, int], Callable[[float], float]]
"""(dataset, repetition) -> the budget that a target accuracy is estimated to take, NaN out of reach."""


def cheapest_budgets(tradeoff: pd.DataFrame, foresight: Foresight, datasets: Sequence[str]) -> pd.DataFrame:
    """What a target accuracy takes: read off the test curve, and foreseen from the training estimates."""
    rows = [row for results in _datasets(tradeoff, datasets) for row in _budget_rows(results, foresight)]
    return pd.DataFrame(rows, columns=BUDGET_COLUMNS)


def _budget_rows(results: DatasetResults, foresight: Foresight) -> Iterator[dict[str, Any]]:
    count = len(results.repetitions)
    head = {"dataset": results.dataset, "repetitions": count, "reached": 0, "predicted_reached": 0}
    if results.best is None:
        yield head | {"reason": "no result of any single service"}
        return
    curves = [results.curve(ONLINE, repetition, "budget") for repetition in results.repetitions]
    for target in _targets(results):
        wanted = target["target_accuracy"]
        needed = [curve.cheapest(wanted) for curve in curves]
        foreseen = [foresight[results.dataset, repetition](wanted) for repetition in results.repetitions]
        reached, hoped = (int(np.isfinite(budgets).sum()) for budgets in (needed, foreseen))
        yield (
            head
            | target
            | interval(needed).within(0).columns("budget")
            | interval(foreseen).within(0).columns("predicted_budget", "predicted")
            | {"reached": reached, "predicted_reached": hoped}
            | {
                "reason": _joined(
                    results.missing(ONLINE) or _not_reached(reached, count, "out of reach of the test curve"),
                    _not_reached(hoped, count, "out of reach of the training estimates"),
                )
            }
        )


def _targets(results: DatasetResults) -> Iterator[dict[str, Any]]:
    """Every service's own accuracy, then whole points above the best."""
    for service, accuracy in zip(results.singles["service"], results.singles["accuracy"], strict=True):
        yield {"target": f"as {service}", "service": service, "points": 0, "target_accuracy": accuracy}
    best = results.best
    for points in POINTS_ABOVE_BEST:
        yield {
            "target": f"{best.name} + {points} points" if points > 1 else f"{best.name} + 1 point",
            "service": best.name,
            "points": points,
            "target_accuracy": best.accuracy + points / 100,
        }
