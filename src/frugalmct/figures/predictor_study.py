"""What routing with each predictor gains over the first one, at three budgets."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from frugalmct.figures.base import (
    FEWEST_FOR_BAND,
    INK,
    grid_shape,
    legend_below,
    marks,
    panels,
    picture,
    title_of,
)
from frugalmct.figures.methods import Look
from frugalmct.figures.predictors import DUMMIES

TITLE = "Routing with other predictors"
LEVELS = (
    Look("low budget", "#56b4e9", marker="o"),
    Look("middle budget", "#0072b2", marker="s"),
    Look("high budget", "#332288", marker="D"),
)
# Points left of this are drawn at the edge, their number beside them.
EDGE = 0.06


@picture(TITLE, "dataset", "predictor", "budget", "gain")
def plot_predictors(table: pd.DataFrame) -> Figure:
    """A panel a dataset, a line a predictor, a mark a budget; the first predictor is the line at 0."""
    reference, *others = (str(name) for name in table["predictor"].unique())
    datasets = list(table["dataset"].unique())
    rows, columns = grid_shape(len(datasets))
    figure = Figure(figsize=(max(2.9 * columns, 5.4), 0.7 + rows * (1 + 0.42 * max(len(others), 1))))
    axes = panels(figure, len(datasets), sharey=True)
    for axis, dataset in zip(axes, datasets, strict=True):
        _panel(axis, table[table["dataset"] == dataset], others)
        axis.set_title(dataset)
        axis.set_xlabel("gain in accuracy (points)")
    axes[0].set_yticks(np.arange(len(others)), [_name(name) for name in others])
    axes[0].set_ylim(len(others) - 0.5, -0.5)
    title_of(figure, f"{TITLE}: gain over {_name(reference)}")
    legend_below(figure, axes, len(LEVELS))
    return figure


def _name(predictor: str) -> str:
    return predictor.replace("_", " ")


def _panel(axis: Axes, rows: pd.DataFrame, predictors: list[str]) -> None:
    if rows["repetitions"].max() < FEWEST_FOR_BAND:
        rows = rows.assign(gain_low=np.nan, gain_high=np.nan)
    shown = 100 * rows.loc[~rows["predictor"].isin(DUMMIES), ["gain", "gain_low", "gain_high"]]
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
