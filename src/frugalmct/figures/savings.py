"""What it costs to be as accurate as the best single service, beside the paper."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from frugalmct.figures.base import INK, PAPER_COLOR, legend_below, picture, plain_log, short, title_of
from frugalmct.figures.methods import look_of

TITLE = "Cost saved at the best service's accuracy"
FRUGAL, SERVICE = look_of("frugalmct_online"), look_of("best_single")


@picture(TITLE, "dataset", "best_cost")
def plot_cost_savings(table: pd.DataFrame) -> Figure:
    """Costs on the left, logarithmic since they span four powers of ten; the share saved on the right."""
    figure = Figure(figsize=(8.2, 1.5 + 0.36 * len(table)))
    costs, shares = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    places = np.arange(len(table))
    _costs(costs, table, places)
    _shares(shares, table, places)
    costs.set_yticks(places, [short(str(name), 18) for name in table["dataset"]])
    costs.set_ylim(len(table) - 0.4, -0.6)
    title_of(figure, TITLE)
    legend_below(figure, [costs, shares], 3)
    return figure


def _costs(axis: Axes, table: pd.DataFrame, places: np.ndarray) -> None:
    ours, service = table["frugalmct_cost"], table["best_cost"]
    axis.hlines(places, ours, service, color=FRUGAL.color, alpha=0.35, linewidth=3)
    axis.plot(service, places, SERVICE.marker, color=SERVICE.color, markersize=7, label="best service")
    axis.plot(ours, places, FRUGAL.marker, color=FRUGAL.color, markersize=7, label="FrugalMCT, this run")
    if "paper_cost" in table:
        axis.plot(
            table["paper_cost"],
            places,
            "o",
            markerfacecolor="none",
            color=PAPER_COLOR,
            markersize=7,
            label="FrugalMCT, paper",
        )
    for place in places[ours.isna().to_numpy()]:
        axis.annotate(
            "not reached", (service.iloc[place], place), (-8, 0), textcoords="offset points",
            ha="right", va="center", fontsize=8, color=INK,
        )  # fmt: skip
    if (pd.concat([ours, service]).dropna() > 0).all():
        plain_log(axis.xaxis)
    axis.set_xlabel("cost (USD per 10,000 items)")
    axis.grid(axis="x")


def _shares(axis: Axes, table: pd.DataFrame, places: np.ndarray) -> None:
    if "paper_saving" in table:
        axis.barh(places + 0.19, 100 * table["paper_saving"], 0.36, color="#d4d4d4", label="saving, paper")
    ours = 100 * table["saving"].to_numpy(dtype=float)
    axis.barh(places - 0.19, ours, 0.36, color=FRUGAL.color, label="saving, this run")
    for place, share in zip(places, ours, strict=True):
        if np.isfinite(share):
            axis.annotate(
                f"{share:.0f} %", (max(share, 0), place - 0.19), (3, 0), textcoords="offset points",
                va="center", fontsize=7.5, color=INK,
            )  # fmt: skip
    # A loss of several times the cost would leave no room for the savings; its number still tells it.
    axis.set_xlim(max(min(0, np.nanmin(ours, initial=0)), -50), 112)
    axis.set_xlabel("saving (%)")
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x")
