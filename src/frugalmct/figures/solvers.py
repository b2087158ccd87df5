"""How long solvers of the same selection problem take, and which were stopped before their proof."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from frugalmct.figures.base import INK, legend_below, picture, plain_log, title_of

TITLE = "Time to choose the services"
# Method, colour, mark: fixed, so that a solver that is not installed moves none of the others.
LOOKS = {
    "online": ("#d55e00", "o"),
    "exact": ("#000000", "s"),
    "lp": ("#7d7d7d", "v"),
    "cbc": ("#0072b2", "D"),
    "cbc_reduced": ("#56b4e9", "d"),
    "highs": ("#009e73", "^"),
    "highs_reduced": ("#8fd0b4", "<"),
}
MORE_LOOKS = (("#cc79a7", "P"), ("#b59f00", "*"), ("#332288", "h"), ("#882255", "p"), ("#e69f00", ">"))
FASTEST_SHOWN = 1e-4


@picture(TITLE, "solver", "items", "seconds")
def plot_solver_runtime(table: pd.DataFrame) -> Figure:
    """Both scales logarithmic; a run that was stopped is hollow, with its gap beside it."""
    figure = Figure(figsize=(7.6, 4.9))
    axis = figure.subplots()
    draw_runtimes(axis, table)
    where = ", ".join(map(str, table["dataset"].unique())) if "dataset" in table else ""
    title_of(figure, f"{TITLE} ({where})" if where else TITLE)
    legend_below(figure, [axis], 4)
    return figure


def draw_runtimes(axis: Axes, table: pd.DataFrame, gaps: bool = True) -> None:
    others = iter(MORE_LOOKS)
    stopped = is_stopped(table)
    # Solvers stopped by one limit meet in one point: their gaps go above and below it in turn.
    offsets = dict(
        zip(table.loc[stopped, "solver"].unique(), (7, -7, 16, -16, 25, -25, 34, -34), strict=False)
    )
    for solver in table["solver"].unique():
        color, marker = LOOKS.get(solver) or next(others, ("#999933", "o"))
        own = table["solver"] == solver
        line = table[own].groupby("items")["seconds"].median().clip(lower=FASTEST_SHOWN)
        axis.plot(
            line.index, line, "-", marker=marker, color=color, markersize=5, linewidth=1.2, label=str(solver)
        )
        _stopped(axis, table[own & stopped], color, marker, offsets.get(solver) if gaps else None)
    if stopped.any():
        axis.plot(
            [],
            [],
            "o",
            markerfacecolor="white",
            color=INK,
            linestyle="none",
            label="stopped (gap)" if gaps else "stopped",
        )
    axis.set_xscale("log")
    plain_log(axis.yaxis)
    sizes = sorted(table["items"].unique())
    axis.set_xticks(sizes, [f"{size:,.0f}" for size in sizes])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.margins(x=0.08, y=0.1)
    axis.set_xlabel("items")
    axis.set_ylabel("seconds")
    axis.grid(True)


def _stopped(axis: Axes, rows: pd.DataFrame, color: str, marker: str, offset: int | None) -> None:
    for items, own in rows.groupby("items"):
        seconds = own["seconds"].median()
        axis.plot(
            items, seconds, marker, markerfacecolor="white", markeredgecolor=color, markersize=7, zorder=4
        )
        if offset is None:
            continue
        axis.annotate(
            gap_text(own), (items, seconds), (0, offset), textcoords="offset points",
            ha="center", va="bottom" if offset > 0 else "top", fontsize=7, color=color,
        )  # fmt: skip


def is_stopped(table: pd.DataFrame) -> pd.Series:
    """Rows whose solver's time, or other means, were over before it was done."""
    if "stopped" in table:
        return table["stopped"].astype(str).str.lower() == "true"
    told = table["status"].astype(str) if "status" in table else pd.Series("", index=table.index)
    return told.str.contains("limit|stopped|no_solution")


def gap_text(rows: pd.DataFrame) -> str:
    """How far a stopped run may be from the best, in points of accuracy."""
    if "status" in rows and (rows["status"] == "no_solution").any():
        return "no solution"
    gap = 100 * float((rows["bound"] - rows["accuracy"]).max())
    return f"gap {gap:.2g}" if np.isfinite(gap) else "gap unknown"
