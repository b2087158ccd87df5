"""A learnt strategy from close by: whom it calls, what its price does, and how it compares."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from frugalmct.figures.base import COST_LABEL, INK, PAPER_COLOR, hollow, marks, picture, short, title_of
from frugalmct.figures.methods import look_of
from frugalmct.figures.solvers import draw_runtimes

TITLE = "Case study"
FRUGAL = look_of("frugalmct_online")


@picture(TITLE, "part", "dataset")
def plot_case_study(table: pd.DataFrame, solvers: pd.DataFrame | None = None) -> Figure:
    """The panels of the paper's figure; what the table lacks stays an empty panel that says so."""
    dataset = table["dataset"].iloc[0]
    figure = Figure(figsize=(9.4, 6.2))
    grid = figure.add_gridspec(2, 6)
    shares, accuracy, cost = (figure.add_subplot(grid[0, 2 * n : 2 * n + 2]) for n in range(3))
    compared, runtime = (figure.add_subplot(grid[1, 3 * n : 3 * n + 3]) for n in range(2))
    parts = {part: table[table["part"] == part] for part in ("shares", "price_curve", "comparison")}
    _shares(shares, parts["shares"])
    _price_curve(accuracy, parts["price_curve"], "accuracy", 100, "accuracy (%)")
    _price_curve(cost, parts["price_curve"], "cost", 1, "cost (USD per 10,000 items)")
    _comparison(compared, parts["comparison"])
    _runtimes(runtime, solvers)
    titles = (
        "Services called",
        "Accuracy against p",
        "Cost against p",
        "Methods compared",
        "Time of selectors",
    )
    for letter, axis, title in zip("abcde", figure.axes, titles, strict=True):
        axis.set_title(f"({letter}) {title}")
    title_of(figure, f"{TITLE}: {dataset}{_budget(table)}")
    return figure


def _budget(table: pd.DataFrame) -> str:
    return f" at budget {table['budget'].iloc[0]:g}" if "budget" in table else ""


def _nothing(axis: Axes, reason: str) -> None:
    axis.set_axis_off()
    axis.text(0.02, 0.5, f"Nothing to show:\n{reason}.", transform=axis.transAxes, color=INK, fontsize=8)


def _shares(axis: Axes, rows: pd.DataFrame) -> None:
    if rows.empty:
        return _nothing(axis, "no shares in the table")
    places, printed = np.arange(len(rows)), 100 * rows["paper_share"].astype(float)
    percent = 100 * rows["share"].to_numpy(dtype=float)
    axis.barh(places, percent, 0.55, color=FRUGAL.color)
    axis.plot(printed, places, "|", color=INK, markersize=16, markeredgewidth=2)
    names = [
        f"{short(str(name), 14)} {'only' if marked else 'added'}\n{value:.1f} %"
        for name, marked, value in zip(rows["name"], _marked(rows), percent, strict=True)
    ]
    axis.set_yticks(places, names, fontsize=7.5)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlim(0, 1.08 * max(percent.max(), printed.fillna(0).max()))
    axis.set_xlabel("items (%); strokes: the paper's" if printed.notna().any() else "items (%)")
    return None


def _marked(rows: pd.DataFrame) -> pd.Series:
    """The column may come from a file, as text."""
    return rows["marked"].astype(str) == "True"


def _price_curve(axis: Axes, rows: pd.DataFrame, value: str, factor: float, label: str) -> None:
    if rows.empty:
        return _nothing(axis, "no curve in the table")
    curve = rows.sort_values("price")
    axis.plot(curve["price"], factor * curve[value], "-", color=INK, linewidth=1.3)
    learnt = curve[_marked(curve)]
    axis.plot(learnt["price"], factor * learnt[value], "o", color="#0072b2", markersize=7, zorder=4)
    for row in learnt.itertuples():
        above = {
            "textcoords": "offset points",
            "va": "bottom",
            "ha": "center" if value == "accuracy" else "left",
        }
        axis.annotate(
            f"p̂ = {row.price:.2g}", (row.price, factor * getattr(row, value)), (4, 5), fontsize=8,
            color="#0072b2", **above,
        )  # fmt: skip
    positive = curve.loc[curve["price"] > 0, "price"]
    if len(positive) and positive.max() > 30 * positive.min():
        axis.set_xscale("symlog", linthresh=float(positive.min()), linscale=0.3)
        ticks = [
            0.0,
            *(10.0 ** np.arange(np.ceil(np.log10(positive.min())), np.log10(positive.max()) + 0.01)),
        ]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
    axis.set_xlabel("price p")
    axis.set_ylabel(label)
    axis.margins(y=0.15)
    axis.grid(True)
    return None


def _comparison(axis: Axes, rows: pd.DataFrame) -> None:
    """Accuracy against cost; names stand beside the points, so no legend is needed."""
    if rows.empty:
        return _nothing(axis, "no comparison in the table")
    rows = rows.sort_values("accuracy")
    middle, heights = rows["cost"].max() / 2, _spread(100 * rows["accuracy"].to_numpy(dtype=float))
    for row, height in zip(rows.itertuples(), heights, strict=True):
        look, at_left = look_of(str(row.name)), row.cost < middle
        marks(axis, [row.cost], [100 * row.accuracy], look, markersize=8)
        if pd.notna(row.paper_accuracy):
            hollow(axis, [row.paper_cost], [100 * row.paper_accuracy], look)
        axis.annotate(
            f"{look.name}, {100 * row.accuracy:.1f} %", (row.cost, height), (10 if at_left else -10, 0),
            textcoords="offset points", ha="left" if at_left else "right", va="center", fontsize=8,
            color=look.color,
        )  # fmt: skip
    if rows["paper_accuracy"].notna().any():
        axis.text(
            0.98,
            0.02,
            "hollow: the paper's",
            transform=axis.transAxes,
            ha="right",
            fontsize=7.5,
            color=PAPER_COLOR,
        )
    axis.margins(x=0.08, y=0.16)
    axis.set_xlim(left=0)
    axis.set_xlabel(COST_LABEL)
    axis.set_ylabel("accuracy (%)")
    axis.grid(True)
    return None


def _spread(heights: np.ndarray) -> np.ndarray:
    """Heights for labels: as given, but each a line above the one before."""
    line = 0.12 * max(np.ptp(heights), 1.0)
    spread = heights.copy()
    for place in range(1, len(spread)):
        spread[place] = max(spread[place], spread[place - 1] + line)
    return spread


def _runtimes(axis: Axes, solvers: pd.DataFrame | None) -> None:
    if solvers is None or "seconds" not in solvers or solvers["seconds"].dropna().empty:
        return _nothing(axis, "no solver was timed")
    draw_runtimes(axis, solvers.dropna(subset=["seconds"]), gaps=False)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), fontsize=7.5, ncols=4)
    return None
