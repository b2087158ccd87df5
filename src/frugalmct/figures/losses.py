"""Where accuracy is lost between the best thinkable and what is reached."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from frugalmct.figures.base import INK, legend_below, picture, short, title_of

TITLE = "Where accuracy is lost"
CAUSES = {
    "loss_combiner": ("combiner", "#0072b2", "white"),
    "loss_predictor": ("predictor", "#e69f00", "black"),
    "loss_price": ("price", "#7d7d7d", "white"),
}
NARROWEST_LABELLED = 0.045


@picture(TITLE, "dataset", *CAUSES)
def plot_loss_split(table: pd.DataFrame) -> Figure:
    """A bar a dataset: losses side by side, gains (a lucky draw can make one) to the left of zero."""
    places = np.arange(len(table))
    figure = Figure(figsize=(7.6, 1.5 + 0.36 * len(table)))
    axis = figure.subplots()
    losses = 100 * table[list(CAUSES)].to_numpy(dtype=float)
    right, left = np.zeros(len(table)), np.zeros(len(table))
    widest = np.clip(losses, 0, None).sum(axis=1).max() or 1
    for column, (name, color, ink) in enumerate(CAUSES.values()):
        values = losses[:, column]
        start = np.where(values >= 0, right, left)
        axis.barh(places, values, 0.62, left=start, color=color, label=name, edgecolor="white", linewidth=0.6)
        for place, value, begin in zip(places, values, start, strict=True):
            if value > NARROWEST_LABELLED * widest:
                axis.text(
                    begin + value / 2, place, f"{value:.1f}", ha="center", va="center", fontsize=7, color=ink
                )
        right, left = right + np.clip(values, 0, None), left + np.clip(values, None, 0)
    axis.axvline(0, color=INK, linewidth=0.8)
    axis.set_yticks(places, [short(str(name), 18) for name in table["dataset"]])
    axis.set_ylim(len(table) - 0.4, -0.6)
    axis.set_xlabel("points of accuracy, mean over budgets")
    axis.grid(axis="x")
    title_of(figure, TITLE)
    legend_below(figure, [axis])
    return figure
