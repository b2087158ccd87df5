"""Precision and recall of every label, method by method."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from frugalmct.figures.base import picture, short, title_of
from frugalmct.figures.methods import in_order, look_of

TITLE = "Precision and recall by label"
LABELS_SHOWN = 80
NEVER_PREDICTED = "#e8e4da"


@picture(TITLE, "dataset", "method", "label", "occurrences")
def plot_per_label(table: pd.DataFrame) -> Figure:
    """A row a label, most frequent first; a column a method; dark is good."""
    dataset = table["dataset"].iloc[0]
    rows = table[table["dataset"] == dataset]
    labels = _most_frequent(rows)
    methods = in_order(rows["method"].astype(str))[::-1]
    figure = Figure(figsize=(2.4 + 2 * 0.36 * len(methods) + 0.6, 1.9 + 0.135 * len(labels)))
    axes = figure.subplots(1, 2, sharey=True)
    for axis, measure in zip(axes, ("precision", "recall"), strict=True):
        image = _heatmap(axis, rows, measure, labels, methods)
    axes[0].set_yticks(np.arange(len(labels)), [short(str(label)) for label in labels], fontsize=6.8)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.01)
    bar.set_label("%, and beige: never predicted", fontsize=8)
    known = rows["label"].nunique()
    of_all = f", {len(labels)} most frequent of {known:,}" if known > len(labels) else ""
    title_of(figure, f"{dataset}: precision, recall{of_all}")
    return figure


def _most_frequent(rows: pd.DataFrame) -> list[str]:
    counts = rows.groupby("label")["occurrences"].max().reset_index()
    ordered = counts.sort_values(["occurrences", "label"], ascending=[False, True])
    return list(ordered["label"].head(LABELS_SHOWN))


def _heatmap(axis: Axes, rows: pd.DataFrame, measure: str, labels: list[str], methods: list[str]):
    values = rows.pivot_table(index="label", columns="method", values=measure, aggfunc="mean")
    shares = 100 * values.reindex(index=labels, columns=methods).to_numpy(dtype=float)
    axis.set_facecolor(NEVER_PREDICTED)
    image = axis.imshow(
        np.ma.masked_invalid(shares), aspect="auto", cmap="cividis_r", vmin=0, vmax=100, interpolation="none"
    )
    axis.set_xticks(
        np.arange(len(methods)), [short(look_of(method).name, 22) for method in methods],
        rotation=40, ha="left", rotation_mode="anchor", fontsize=7.5,
    )  # fmt: skip
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.set_xlabel(measure)
    for spine in axis.spines.values():
        spine.set_visible(False)
    axis.set_xticks(np.arange(len(methods) - 1) + 0.5, minor=True)
    axis.grid(which="minor", color="white", linewidth=1.5)
    axis.tick_params(which="minor", length=0)
    return image
