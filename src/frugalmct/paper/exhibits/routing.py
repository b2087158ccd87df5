"""Routing of calls by the measures of its field: saving, gain, area under the frontier, gap to the oracle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import DATASET, METHOD, MONEY, REASON, REPETITIONS, Column, with_bounds
from frugalmct.paper.curves import (
    DatasetResults,
    datasets_of,
    improvement_in_quality,
    joined_reasons,
    not_reached,
)
from frugalmct.paper.exhibit import CALLS, Inputs
from frugalmct.paper.intervals import interval
from frugalmct.paper.looks import look_of, name_of
from frugalmct.paper.names import CLUSTERS, NEAREST, ORACLE, PER_CALL, RANDOM_MIX, THRESHOLD
from frugalmct.paper.plotting import INK, new_figure, picture, title_of
from frugalmct.paper.wording import percent, points, without_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Routing of calls, beside other routers"
SECTION = "own"
NEEDS = ("tradeoff",)
OF = (CALLS,)
SETTINGS = ("datasets",)
_SAVING = Column(
    "saving", "share of the best service's cost that is saved at its quality (CostSave)", "share"
)
_GAIN = Column("gain", "quality at the best service's cost, less that service's (PerfGain)", "share")
_AIQ = Column(
    "aiq", "mean height of the rising hull over costs from 0 to the best service's (AIQ)", head="AIQ"
)
_GAP = Column("gap_to_oracle", "quality of the oracle less this one's, at the best service's cost", "share")
MEASURES = (_SAVING, _GAIN, _AIQ, _GAP)
COLUMNS = (
    DATASET, METHOD,
    Column("best_service", "the service with the highest mean test quality", "text"),
    Column("best_accuracy", "its quality", "share"),
    Column("best_cost", "its mean cost", unit=MONEY),
    *(column for measure in MEASURES for column in with_bounds(measure)),
    REPETITIONS, REASON,
)  # fmt: skip
CAPTION = """
Where every call has its own cost, and one service's answer stands: FrugalMCT per call beside the same money
spent blindly (random_mix), a threshold on the estimated gain of the better of two services (RouteLLM's
form), the means of the nearest training items, and the best service per cluster of items (Avengers' form).
All learn from the same training items, see what is known of an item before anyone is asked, and keep the
budget on true costs; only FrugalMCT may ask some services first. The oracle knows every answer and cost, and
is out of reach. 95 % intervals are over repetitions. AIQ counts from nothing at no cost.
"""
DIFFERS = "Not in the paper, whose services have one price each."
METHODS = (PER_CALL, THRESHOLD, NEAREST, CLUSTERS, RANDOM_MIX, ORACLE)


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    tradeoff = inputs.table("tradeoff")
    rows = [row for own in datasets_of(tradeoff, settings["datasets"]) for row in routing_rows(own)]
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def routing_rows(results: DatasetResults) -> Iterator[dict[str, Any]]:
    """One row per method."""
    best = results.best
    for method in METHODS:
        row = {"dataset": results.dataset, "method": method, "repetitions": len(results.repetitions)}
        if best is None or results.of(method).empty:
            nothing = "" if best else "no result of any single service"
            yield row | {"reason": joined_reasons(nothing, results.missing(method))}
            continue
        savings = results.savings(method)
        reached = int(np.isfinite(savings).sum())
        yield (
            row
            | {"best_service": best.name, "best_accuracy": best.accuracy, "best_cost": best.cost}
            | interval(savings).within(most=1).columns("saving")
            | interval(results.gains_at_best_cost(method)).within(-1, 1).columns("gain")
            | interval(_areas(results, method, best.cost)).within(0, 1).columns("aiq")
            | interval(_gaps(results, method, best.cost)).within(-1, 1).columns("gap_to_oracle")
            | {
                "reason": joined_reasons(
                    not_reached(reached, savings.size, "the best service's quality is not reached")
                )
            }
        )


def _areas(results: DatasetResults, method: str, most: float) -> list[float]:
    per_repetition = (results.of(method, repetition) for repetition in results.repetitions)
    return [improvement_in_quality(rows["cost"], rows["accuracy"], most) for rows in per_repetition]


def _gaps(results: DatasetResults, method: str, cost: float) -> list[float]:
    return [
        results.curve(ORACLE, repetition).accuracy_at(cost)
        - results.curve(method, repetition).accuracy_at(cost)
        for repetition in results.repetitions
    ]


def reading(table: pd.DataFrame) -> list[str]:
    return [_line(str(dataset), rows) for dataset, rows in table.groupby("dataset", sort=False)]


def _line(dataset: str, rows: pd.DataFrame) -> str:
    ours = rows[rows["method"] == PER_CALL]
    if ours.empty or ours["gain"].isna().all():
        return f"{dataset}: FrugalMCT per call has no result."
    own = ours.iloc[0]
    others = rows[~rows["method"].isin([PER_CALL, ORACLE])].dropna(subset=["aiq"])
    saved = f"saves {percent(own['saving'], 0)} at" if pd.notna(own["saving"]) else "does not reach"
    line = (
        f"{dataset}: FrugalMCT per call {saved} the quality of {own['best_service']}, and has "
        f"{points(own['gain'])} at its cost"
    )
    if others.empty or pd.isna(own["aiq"]):
        return f"{line}."
    next_best = others.loc[others["aiq"].idxmax()]
    return f"{line}; its AIQ is {own['aiq']:.3f}, {name_of(next_best['method'])} has {next_best['aiq']:.3f}."


shown = without_columns("repetitions", "data")
DRAWN = {"saving": "saving (%)", "gain": "gain (points)", "gap_to_oracle": "gap to the oracle (points)"}


@picture(TITLE, "dataset", "method", "gain")
def plot(table: pd.DataFrame) -> Figure:
    """One row of panels per dataset, one panel per measure, one mark per method."""
    groups = list(table[table["method"] != ORACLE].groupby("dataset", sort=False))
    figure = new_figure(8.2, 1.0 + 1.7 * len(groups))
    axes = figure.subplots(len(groups), len(DRAWN), squeeze=False, sharey="row")
    for line, (dataset, rows) in zip(axes, groups, strict=True):
        for axis, measure in zip(line, DRAWN, strict=True):
            _marks(axis, rows.reset_index(drop=True), measure)
        line[0].set_title(str(dataset))
    for axis, label in zip(axes[-1], DRAWN.values(), strict=True):
        axis.set_xlabel(label)
    title_of(figure, "Saved and gained beside the best service")
    return figure


def _marks(axis: Axes, rows: pd.DataFrame, measure: str) -> None:
    for place, row in rows.iterrows():
        look, value = look_of(str(row["method"])), 100 * float(row[measure])
        ends = np.nan_to_num([[value - 100 * row[f"{measure}_low"]], [100 * row[f"{measure}_high"] - value]])
        axis.errorbar(
            value, place, xerr=np.clip(ends, 0, None), fmt=look.marker, color=look.color, capsize=3,
            markersize=8,
        )  # fmt: skip
        if np.isnan(value):
            axis.annotate(
                "not reached", (0.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=8,
                color=INK,
            )  # fmt: skip
    axis.set_yticks(rows.index, [name_of(str(method)) for method in rows["method"]])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.axvline(0, color=INK, linewidth=0.6)
    axis.grid(axis="x")
