"""Accuracy against the number of items learnt from."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from frugalmct.figures.base import (
    grid_shape,
    has_bands,
    means_told,
    panels,
    picture,
    plain_log,
    title_of,
    with_intervals,
)
from frugalmct.figures.methods import look_of

TITLE = "Accuracy and training size"


@picture(TITLE, "dataset", "train_items", "accuracy")
def plot_training_size(table: pd.DataFrame) -> Figure:
    """A panel a dataset, at the budget of the paper's figure."""
    datasets = list(table["dataset"].unique())
    rows, columns = grid_shape(len(datasets))
    figure = Figure(figsize=(max(2.9 * columns, 4.8), 2.5 * rows + 0.5))
    axes = panels(figure, len(datasets))
    for axis, dataset in zip(axes, datasets, strict=True):
        own = table[table["dataset"] == dataset]
        _panel(axis, own)
        axis.set_title(f"{dataset}, {_budget(own)}")
        axis.set_xlabel("training items")
    for axis in axes[::columns]:
        axis.set_ylabel("accuracy (%)")
    title_of(figure, f"{TITLE} ({means_told(table)})")
    return figure


def _budget(rows: pd.DataFrame) -> str:
    return " and ".join(f"budget {budget:g}" for budget in sorted(rows["budget"].unique()))


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
    look = look_of("frugalmct_online")
    for _, own in rows.groupby("budget"):
        curve = with_intervals(own, ["train_items"], "accuracy").sort_values("train_items")
        size = curve["train_items"].to_numpy(dtype=float)
        percent, half = 100 * curve["accuracy"].to_numpy(), 100 * curve["half"].to_numpy()
        axis.plot(size, percent, look.line, marker=look.marker, markersize=4, color=look.color)
        if has_bands(own):
            axis.fill_between(size, percent - half, percent + half, color=look.color, alpha=0.15, linewidth=0)
    means = 100 * rows.groupby(["budget", "train_items"])["accuracy"].mean()
    room = max(0.35 * float(np.ptp(means)), 0.5)
    axis.set_ylim(means.min() - room, means.max() + room)
    plain_log(axis.xaxis)
    axis.grid(True)
