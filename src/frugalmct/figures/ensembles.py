"""FrugalMCT beside votes over all services: accuracy, and what it costs."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from frugalmct.figures.base import hollow, legend_below, marks, picture, plain_log, short, title_of
from frugalmct.figures.methods import in_order, look_of

TITLE = "FrugalMCT and ensembles"


@picture(TITLE, "dataset", "method", "accuracy", "cost")
def plot_ensembles(table: pd.DataFrame) -> Figure:
    """Accuracy on the left (the paper's hollow), cost on the right."""
    datasets, methods = list(table["dataset"].unique()), in_order(table["method"].astype(str))
    figure = Figure(figsize=(8.2, 1.5 + 0.52 * len(datasets)))
    accuracy, cost = axes = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    offsets = np.linspace(-0.3, 0.3, len(methods)) if len(methods) > 1 else [0.0]
    for method, offset in zip(methods, offsets, strict=True):
        own, look = table[table["method"] == method], look_of(method)
        places = np.array([datasets.index(dataset) for dataset in own["dataset"]]) + offset
        marks(accuracy, 100 * own["accuracy"], places, look, errors=_errors(own), label=look.name)
        marks(cost, own["cost"], places, look)
        if "paper_accuracy" in own:
            hollow(accuracy, 100 * own["paper_accuracy"], places, look)
            hollow(cost, own["paper_cost"], places, look)
    if "paper_accuracy" in table and table["paper_accuracy"].notna().any():
        hollow(accuracy, [], [], look_of("best_single"), label="hollow: the paper's")
    for axis in axes:
        axis.grid(axis="x")
        for border in np.arange(1, len(datasets)) - 0.5:
            axis.axhline(border, color="#cccccc", linewidth=0.8)
    accuracy.set_yticks(np.arange(len(datasets)), [short(str(name), 18) for name in datasets])
    accuracy.set_ylim(len(datasets) - 0.5, -0.5)
    accuracy.set_xlabel("accuracy (%)")
    cost.set_xlabel("cost (USD per 10,000 items)")
    if (table["cost"] > 0).all():
        plain_log(cost.xaxis)
    title_of(figure, TITLE)
    legend_below(figure, axes, 3)
    return figure


def _errors(rows: pd.DataFrame) -> np.ndarray | None:
    if not {"accuracy_low", "accuracy_high"} <= set(rows):
        return None
    low, high = rows["accuracy"] - rows["accuracy_low"], rows["accuracy_high"] - rows["accuracy"]
    return 100 * np.vstack([low.fillna(0).clip(lower=0), high.fillna(0).clip(lower=0)])
