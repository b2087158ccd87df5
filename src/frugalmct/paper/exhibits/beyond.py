"""Gains at equal cost, areas under the curve, losses by cause, and use of the budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.columns import DATASET, MONEY, REASON, REPETITIONS, TASK, Column, with_bounds
from frugalmct.paper.curves import ROUNDING, DatasetResults, datasets_of, joined_reasons
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.intervals import interval
from frugalmct.paper.looks import name_of
from frugalmct.paper.names import DAP, FRUGALML, IDEAL, OFFLINE, ONLINE, ORACLE, PLUS, RANDOM_MIX
from frugalmct.paper.plotting import INK, legend_below, new_figure, picture, short, title_of
from frugalmct.paper.wording import points, without_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Gains, areas, losses by cause, use of the budget"
SECTION = "beyond"
NEEDS = ("tradeoff",)
SETTINGS = ("tasks",)

AREA_METHODS = (ONLINE, PLUS, FRUGALML, DAP, RANDOM_MIX, ORACLE)
# What is lost at each step from the best thinkable to what is done: their sum is `ideal - online`.
LOSSES = {
    "loss_combiner": (IDEAL, ORACLE),
    "loss_predictor": (ORACLE, OFFLINE),
    "loss_dual_price": (OFFLINE, ONLINE),
    "gap_to_oracle": (ORACLE, ONLINE),
}


def _area(method: str) -> str:
    return f"area_{method.removeprefix('frugalmct_')}"


MEASURES = (
    Column(
        "gain_at_best_cost", "accuracy of FrugalMCT at the best service's cost, less that service's", "share"
    ),
    *(
        Column(_area(m), f"mean accuracy of {name_of(m)} over all costs compared", "share")
        for m in AREA_METHODS
    ),
    *(
        Column(name, f"mean over budgets of the accuracy of {better} less that of {worse}", "share")
        for name, (better, worse) in LOSSES.items()
    ),
    Column("budget_used_online", "mean share of the budget spent, online", "share"),
    Column("budget_used_offline", "the same offline", "share"),
)
COLUMNS = (
    DATASET, TASK,
    Column("best_service", "the service with the highest mean test accuracy", "text"),
    Column("best_accuracy", "its accuracy", "share"),
    Column("best_cost", "its price", unit=MONEY),
    Column("area_from", "the lowest cost compared", unit=MONEY),
    Column("area_to", "the highest cost compared", unit=MONEY),
    *(column for measure in MEASURES for column in with_bounds(measure)),
    Column("largest_overrun_online", "the most by which a mean cost exceeds its budget", unit=MONEY),
    Column("largest_overrun_offline", "the same offline", unit=MONEY),
    REPETITIONS, REASON,
)  # fmt: skip
CAPTION = """
Beyond the paper, with 95 % intervals: accuracy gained at the best service's cost; mean accuracy over all
costs from area_from to area_to (the area under the curve); shares of the budget used and the largest
overrun. The figure splits the accuracy lost between the best thinkable and what is reached, mean over
budgets: combiner (the best of the base's, the add-on's and the combined answer for every item, against
the combined one alone, true accuracies known), predictor (oracle against offline), dual price (offline
against online). A bar left of zero is a gain.
"""
DIFFERS = (
    "Not in the paper. Areas are mean accuracies over all costs from “area from” to “area to”; losses "
    "are means over budgets."
)
HEADLINE = "Where accuracy is lost"


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return beyond(inputs.table("tradeoff"), settings["tasks"])


def beyond(tradeoff: pd.DataFrame, tasks: Mapping[str, str]) -> pd.DataFrame:
    """One row per dataset."""
    rows = [_beyond_row(results, tasks[results.dataset]) for results in datasets_of(tradeoff, list(tasks))]
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def _beyond_row(results: DatasetResults, task: str) -> dict[str, Any]:
    row: dict[str, Any] = {"dataset": results.dataset, "task": task, "repetitions": len(results.repetitions)}
    best = results.best
    if best is None or results.of(ONLINE).empty:
        nothing = "" if best else "no result of any single service"
        return row | {"reason": joined_reasons(nothing, results.missing(ONLINE))}
    low, high = float(results.of(ONLINE)["budget"].min()), float(results.singles["cost"].max())
    gains = zip(results.gains_at_best_cost(ONLINE).tolist(), results.repetitions, strict=True)
    measured = [_measures(results, gain, repetition, low, high) for gain, repetition in gains]
    row |= {"best_service": best.name, "best_accuracy": best.accuracy, "best_cost": best.cost}
    row |= {"area_from": low, "area_to": high}
    for name in (measure.name for measure in MEASURES):
        # A share is never negative nor above 1; gains and losses may be negative.
        limits = (0, 1) if name.startswith(("area_", "budget_used_")) else (-1, 1)
        row |= interval([measures[name] for measures in measured]).within(*limits).columns(name)
    row["largest_overrun_online"] = largest_overrun(results.of(ONLINE))
    row["largest_overrun_offline"] = largest_overrun(results.of(OFFLINE))
    return row | {
        "reason": joined_reasons(
            results.missing(OFFLINE, ORACLE, IDEAL, *AREA_METHODS[1:-1]),
            "" if low < high else "no service costs more than the smallest budget: no area",
            "" if best.cost >= low * (1 - ROUNDING) else "the best service is cheaper than any budget",
        )
    }


def _measures(
    results: DatasetResults, gain: float, repetition: int, low: float, high: float
) -> dict[str, float]:
    measures = {"gain_at_best_cost": gain}
    for method in AREA_METHODS:
        area = results.curve(method, repetition).mean_accuracy(low, high)
        measures[_area(method)] = area
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


def reading(table: pd.DataFrame) -> list[str]:
    gain, overrun = table["gain_at_best_cost"], table["largest_overrun_online"].max()
    losses = table[["loss_combiner", "loss_predictor", "loss_dual_price"]].mean()
    lost = [
        f"{name.removeprefix('loss_').replace('_', ' ')} {100 * loss:.1f}" for name, loss in losses.items()
    ]
    return [
        f"At the best service's cost FrugalMCT is {points(gain.mean())} on average "
        f"({points(gain.min())} to {points(gain.max())}); its largest overrun of a budget is {overrun:.2g}.",
        f"Points of accuracy lost, mean over datasets and budgets: {listed(lost)}.",
    ]


shown = without_columns("repetitions", "task", "data")


CAUSES = {
    "loss_combiner": ("combiner", "#0072b2", "white"),
    "loss_predictor": ("predictor", "#e69f00", "black"),
    "loss_dual_price": ("dual price", "#7d7d7d", "white"),
}
NARROWEST_LABELLED = 0.045


@picture(HEADLINE, "dataset", *CAUSES)
def plot(table: pd.DataFrame) -> Figure:
    """One bar per dataset: losses side by side, gains (a lucky draw can make one) to the left of zero."""
    places = np.arange(len(table))
    figure = new_figure(7.6, 1.5 + 0.36 * len(table))
    axis = figure.subplots()
    losses = 100 * table[list(CAUSES)].to_numpy(dtype=float)
    right, left = np.zeros(len(table)), np.zeros(len(table))
    widest = np.clip(losses, 0, None).sum(axis=1).max() or 1
    for column, (name, color, ink) in enumerate(CAUSES.values()):
        values = losses[:, column]
        start = np.where(values >= 0, right, left)
        axis.barh(places, values, 0.62, left=start, color=color, label=name, edgecolor="white", linewidth=0.6)
        for place, value, begin in zip(places.tolist(), values, start, strict=True):
            if value > NARROWEST_LABELLED * widest:
                axis.text(
                    begin + value / 2, place, f"{value:.1f}", ha="center", va="center", fontsize=7, color=ink
                )
        right, left = right + np.clip(values, 0, None), left + np.clip(values, None, 0)
    axis.axvline(0, color=INK, linewidth=0.8)
    axis.set_yticks(places, [short(str(name), 18) for name in table["dataset"]])
    axis.set_ylim(len(table) - 0.4, -0.6)
    axis.set_xlabel("points of accuracy, mean over budgets")
    axis.grid(axis="x")
    title_of(figure, HEADLINE)
    legend_below(figure, [axis])
    return figure
