"""Accuracy against the number of items learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import ACCURACY, BUDGET, COST, DATA, DATASET, REPETITION, Column
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.intervals import with_intervals
from frugalmct.paper.looks import look_of
from frugalmct.paper.names import ONLINE
from frugalmct.paper.plotting import (
    grid_shape,
    has_bands,
    means_of,
    new_figure,
    panels,
    picture,
    plain_log,
    title_of,
)
from frugalmct.paper.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Accuracy and training size"
SECTION = "paper"
NEEDS = ("studies/training_size",)
OF = (LABELS, CALLS)
COLUMNS = (
    DATASET, BUDGET, REPETITION, Column("train_items", "how many items were learnt from"),
    ACCURACY, COST,
    Column("frugalml_accuracy", "mean accuracy of FrugalML, learnt from the same items", "share"),
    DATA,
)  # fmt: skip
CAPTION = """
The paper's figure of test accuracy against the number of training items, at its budgets of 6, 15 and 3:
combiners, forest and dual price are learnt again from the first few of the training items in a random order,
and tested on the same test items. The base stays the one that was chosen with all training items; where calls
have costs of their own, so do those who are asked first. With 95 % bands over repetitions. The table also has
what FrugalML reaches, learnt from the same items.
"""
DIFFERS = (
    "Everything but the choice of the base is learnt again from each part of the training items, the "
    "combiners too. A tree grows on at most 1,000 items, which leaves more items less to gain."
)


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return inputs.study("training_size")


def reading(table: pd.DataFrame) -> list[str]:
    lines = []
    for dataset, rows in table.groupby("dataset", sort=False):
        means = rows.groupby("train_items")["accuracy"].mean()
        near = means[means >= means.max() - 0.01].index[0]
        lines.append(
            f"{dataset}: from {percent(means.iloc[0])} with {means.index[0]:,} items to "
            f"{percent(means.iloc[-1])} with {means.index[-1]:,}; "
            f"within one point of its best from {near:,} on."
        )
    return lines


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Means over repetitions."""
    keys = ["dataset", "budget", "train_items"]
    means = [name for name in ("accuracy", "cost", "frugalml_accuracy") if name in table]
    return table.groupby(keys, sort=False)[means].mean().reset_index()


@picture(TITLE, "dataset", "train_items", "accuracy")
def plot(table: pd.DataFrame) -> Figure:
    """One panel per dataset, at the budget of the paper's figure."""
    datasets = list(table["dataset"].unique())
    rows, columns = grid_shape(len(datasets))
    figure = new_figure(max(2.9 * columns, 4.8), 2.5 * rows + 0.5)
    axes = panels(figure, len(datasets))
    for axis, dataset in zip(axes, datasets, strict=True):
        own = table[table["dataset"] == dataset]
        _panel(axis, own)
        axis.set_title(f"{dataset}, {_budget(own)}")
        axis.set_xlabel("training items")
    for axis in axes[::columns]:
        axis.set_ylabel("accuracy (%)")
    title_of(figure, f"{TITLE} ({means_of(table)})")
    return figure


def _budget(rows: pd.DataFrame) -> str:
    return " and ".join(f"budget {budget:g}" for budget in sorted(rows["budget"].unique()))


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
    look = look_of(ONLINE)
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
