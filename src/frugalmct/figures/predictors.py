"""How good the estimates of accuracy are, beside the paper's."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from frugalmct.figures.base import INK, hollow, legend_below, marks, picture, short, title_of, with_intervals
from frugalmct.figures.methods import look_of

TITLE = "Quality of the accuracy predictors"
MEASURES = {"rmse": "RMSE (lower is better)", "pcc": "correlation (higher is better)"}
DUMMIES = ("mean", "dap", "dummy")


@picture(TITLE, "dataset", "predictor", "rmse")
def plot_predictor_quality(table: pd.DataFrame) -> Figure:
    """A panel a measure; ours filled, the paper's hollow."""
    datasets = list(table["dataset"].unique())
    figure = Figure(figsize=(8.2, 1.4 + 0.34 * len(datasets)))
    axes = figure.subplots(1, len(MEASURES), sharey=True)
    for axis, (measure, label) in zip(axes, MEASURES.items(), strict=True):
        for predictor in table["predictor"].unique():
            _points(axis, table[table["predictor"] == predictor], str(predictor), measure, datasets)
        axis.set_xlabel(label)
        axis.grid(axis="x")
    axes[0].set_yticks(np.arange(len(datasets)), [short(str(name), 18) for name in datasets])
    axes[0].set_ylim(len(datasets) - 0.4, -0.6)
    title_of(figure, TITLE)
    legend_below(figure, axes, 4)
    return figure


def predictor_name(predictor: str) -> str:
    return "dummy (DAP)" if predictor in DUMMIES else predictor.replace("_", " ")


def _points(axis: Axes, rows: pd.DataFrame, predictor: str, measure: str, datasets: list[str]) -> None:
    look = look_of("dap" if predictor in DUMMIES else "frugalmct_online")
    if measure not in rows:
        return
    ours = with_intervals(rows, ["dataset"], measure)
    places = np.array([datasets.index(dataset) for dataset in ours["dataset"]])
    name = predictor_name(predictor)
    marks(axis, ours[measure], places, look, errors=ours["half"].fillna(0), label=f"{name}, this run")
    paper = f"paper_{measure}"
    if paper in rows and rows[paper].notna().any():
        printed = rows.groupby("dataset", sort=False)[paper].first().reindex(ours["dataset"])
        hollow(axis, printed, places, look, label=f"{name}, paper")
    if measure == "pcc":
        axis.axvline(0, color=INK, linewidth=0.6)
