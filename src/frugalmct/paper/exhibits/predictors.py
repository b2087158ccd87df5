"""What routing with each predictor gains over the first one, at three budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import (
    ACCURACY,
    BASE,
    BUDGET,
    COST,
    DATA,
    DATASET,
    REPETITIONS,
    STATUS,
    Column,
    with_bounds,
)
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.intervals import interval
from frugalmct.paper.looks import Look
from frugalmct.paper.names import DUMMY
from frugalmct.paper.plotting import (
    FEWEST_FOR_BAND,
    INK,
    grid_shape,
    legend_below,
    marks,
    new_figure,
    panels,
    picture,
    title_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Routing with other predictors"
SECTION = "beyond"
NEEDS = ("studies/predictors",)
COLUMNS = (
    DATASET, Column("predictor", "what made the estimates", "text"), BUDGET, BASE, REPETITIONS,
    *with_bounds(ACCURACY),
    *with_bounds(Column("gain", "accuracy less that of the first predictor in the same repetition", "share")),
    COST,
    *with_bounds(Column("rmse", "root mean square error of estimated accuracy", head="RMSE")),
    *with_bounds(Column("pcc", "correlation of estimated with true accuracy", head="correlation")),
    *with_bounds(Column("training_seconds", "processor time of training, imports apart", unit="s")),
    STATUS, DATA,
)  # fmt: skip
CAPTION = """
Accuracy predictors side by side, as the paper swaps its forest for AutoML: all learn from the same items,
with the same base and budgets. Shown is what routing with each gains in true accuracy over the first one
(the line at 0), at a low, a middle and a high budget, with 95 % intervals over the study's repetitions;
marks at the left edge lie further out, where their number says. training_seconds is processor time,
imports apart; status says what is not installed and how to install it.
"""
DIFFERS = (
    "The paper says that AutoML in place of the forest performs similarly, and prints no numbers. Gains "
    "are over the first predictor in the same repetition; accuracy and gain are in points, training in "
    "seconds of processor time."
)
LIMITS = {"accuracy": (0, 1), "rmse": (0, 1), "pcc": (-1, 1), "training_seconds": (0, np.inf)}


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return predictors_table(inputs.rows("studies/predictors"))


def predictors_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over repetitions with 95 % intervals; `gain` is over the first predictor, run by run."""
    first = rows[rows["predictor"] == rows["predictor"].iloc[0]]
    cell = ["dataset", "repetition", "budget"]
    reference = first.set_index(cell)["accuracy"].rename("reference")
    rows = rows.join(reference, on=cell)
    rows["gain"] = rows["accuracy"] - rows["reference"]
    groups = rows.groupby(["dataset", "predictor", "budget"], sort=False, dropna=False)
    return pd.DataFrame(
        [_table_row(group) for _, group in groups], columns=[column.name for column in COLUMNS]
    )


def _table_row(group: pd.DataFrame) -> dict[str, Any]:
    row = {key: group[key].iloc[0] for key in ("dataset", "predictor", "budget", "status", "data")}
    row |= {"base": " or ".join(group["base"].unique()), "repetitions": len(group)}
    row |= {"cost": group["cost"].mean()} | interval(group["gain"]).columns("gain")
    for measure, limits in LIMITS.items():
        row |= interval(group[measure]).within(*limits).columns(measure)
    return row


def _words(predictor: str) -> str:
    return predictor.replace("_", " ")


def reading(table: pd.DataFrame) -> list[str]:
    gains = table.dropna(subset=["gain"]).groupby("predictor", sort=False)
    reference, *others = [str(name) for name, _ in gains] or [""]
    against = _words(reference)
    lines = []
    for name in others:
        own = gains.get_group(name)
        lines.append(
            f"{_words(name)}: {100 * own['gain'].mean():+.2f} points against {against}, mean over "
            f"datasets and budgets; above it at {(own['gain'] > 0).sum()} of {len(own)}; "
            f"trained in {own['training_seconds'].mean():.1f} s of processor time."
        )
    without = table[table["gain"].isna()].drop_duplicates("predictor")
    return [*lines, *(f"{_words(row.predictor)}: {row.status}" for row in without.itertuples())]


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers with their 95 % intervals as ±; what is not installed keeps its status."""
    return table[["dataset", "predictor", "budget"]].assign(
        predictor=table["predictor"].map(_words),
        accuracy=_plus_minus(table, "accuracy", 100, 1),
        gain=_plus_minus(table, "gain", 100, 2),
        rmse=_plus_minus(table, "rmse", 1, 3),
        pcc=_plus_minus(table, "pcc", 1, 2),
        training_seconds=_plus_minus(table, "training_seconds", 1, 1),
        status=table["status"],
    )


def _plus_minus(table: pd.DataFrame, name: str, scale: float, digits: int) -> pd.Series:
    half = (table[f"{name}_high"] - table[f"{name}_low"]) / 2
    pairs = zip(scale * table[name], scale * half, strict=True)
    return pd.Series(
        [
            "" if pd.isna(mean) else f"{mean:.{digits}f}" + ("" if pd.isna(h) else f" ± {h:.{digits}f}")
            for mean, h in pairs
        ],
        index=table.index,
    )


LEVELS = (
    Look("low budget", "#56b4e9", marker="o"),
    Look("middle budget", "#0072b2", marker="s"),
    Look("high budget", "#332288", marker="D"),
)
# Points left of this are drawn at the edge, their number beside them.
EDGE = 0.06


@picture(TITLE, "dataset", "predictor", "budget", "gain")
def plot(table: pd.DataFrame) -> Figure:
    """One panel per dataset, one line per predictor, one mark per budget; at 0 the first predictor."""
    reference, *others = (str(name) for name in table["predictor"].unique())
    datasets = list(table["dataset"].unique())
    rows, columns = grid_shape(len(datasets))
    figure = new_figure(max(2.9 * columns, 5.4), 0.7 + rows * (1 + 0.42 * max(len(others), 1)))
    axes = panels(figure, len(datasets), sharey=True)
    for axis, dataset in zip(axes, datasets, strict=True):
        _panel(axis, table[table["dataset"] == dataset], others)
        axis.set_title(dataset)
        axis.set_xlabel("gain in accuracy (points)")
    axes[0].set_yticks(np.arange(len(others)), [_words(name) for name in others])
    axes[0].set_ylim(len(others) - 0.5, -0.5)
    title_of(figure, f"{TITLE}: gain over {_words(reference)}")
    legend_below(figure, axes, len(LEVELS))
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, predictors: list[str]) -> None:
    if rows["repetitions"].max() < FEWEST_FOR_BAND:
        rows = rows.assign(gain_low=np.nan, gain_high=np.nan)
    shown = 100 * rows.loc[rows["predictor"] != DUMMY, ["gain", "gain_low", "gain_high"]]
    reach = max(float(np.nanmax(np.abs(shown.to_numpy()), initial=0.0)), 0.2) * 1.15
    axis.set_xlim(-reach, reach)
    axis.axvline(0, color=INK, linewidth=0.8)
    axis.grid(axis="x")
    offsets = np.linspace(-0.22, 0.22, len(LEVELS))
    for look, budget, offset in zip(LEVELS, sorted(rows["budget"].unique()), offsets, strict=False):
        for place, predictor in enumerate(predictors):
            own = rows[(rows["budget"] == budget) & (rows["predictor"] == predictor)]
            _mark(axis, 100 * own[["gain", "gain_low", "gain_high"]], place + offset, look, reach)
    for look in LEVELS:
        axis.plot([], [], look.marker, color=look.color, markersize=5.5, label=look.name)


def _mark(axis: Axes, gains: pd.DataFrame, place: float, look: Look, reach: float) -> None:
    for gain, low, high in gains.itertuples(index=False):
        if gain < -reach:
            edge = -reach * (1 - EDGE)
            axis.plot([edge], [place], "<", color=look.color, markersize=4)
            axis.text(edge * (1 - EDGE), place, f"{gain:.1f}", color=look.color, fontsize=7, va="center")
            continue
        errors = None if np.isnan(low) else np.array([[gain - low], [high - gain]])
        marks(axis, [gain], [place], look, errors=errors)
