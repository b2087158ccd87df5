"""How often each label occurs."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from frugalmct.errors import FrugalError, listed
from frugalmct.figures.base import short, stamp, stamp_of, styled, title_of

BAR_COLOR = "#2f6f9f"
LABELS_SHOWN = 80
LABELS_PER_COLUMN = 40


def plot_label_distribution(table: pd.DataFrame, dataset: str) -> Figure:
    """Share of a dataset's items that have each label, most frequent first."""
    rows = table[table["dataset"] == dataset]
    if rows.empty:
        raise FrugalError(f"No labels of {dataset} in the table; it has {listed(table['dataset'].unique())}.")
    shown = rows.head(LABELS_SHOWN)
    starts = range(0, len(shown), LABELS_PER_COLUMN)
    columns = [shown.iloc[start : start + LABELS_PER_COLUMN] for start in starts]
    # The rarer labels mostly need less room: a narrower column of the same scale.
    most = shown["share"].iloc[0]
    widths = [max(part["share"].iloc[0] / most, 0.5) for part in columns]
    widest = 112 * most
    with styled():
        figure = Figure(figsize=(5.4 * sum(widths), 1.2 + 0.165 * len(columns[0])))
        axes = figure.subplots(1, len(columns), squeeze=False, width_ratios=widths)[0]
        for axis, part, width in zip(axes, columns, widths, strict=True):
            _label_bars(axis, part)
            axis.set_xlim(0, widest * width)
            axis.xaxis.set_major_locator(MaxNLocator(max(round(6 * width), 2), steps=[1, 2, 5, 10]))
        of_all = f"{len(shown)} most frequent of {len(rows):,}" if len(rows) > len(shown) else f"{len(rows)}"
        title_of(figure, f"{dataset}: how often each label occurs ({of_all} labels)")
        figure.supxlabel("items with the label (%)", fontsize=9)
        stamp(figure, stamp_of(rows))
    return figure


def _label_bars(axis: Axes, part: pd.DataFrame) -> None:
    places = np.arange(len(part))
    percent = part["share"].to_numpy() * 100
    axis.barh(places, percent, height=0.72, color=BAR_COLOR)
    axis.set_yticks(places, [short(str(label)) for label in part["label"]], fontsize=7.5)
    axis.set_ylim(len(part) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", color="#dddddd", linewidth=0.6)
    for place, value in zip(places, percent, strict=True):
        axis.annotate(
            f"{value:.2g}" if value < 1 else f"{value:.1f}",
            (value, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            color="#444444",
        )
