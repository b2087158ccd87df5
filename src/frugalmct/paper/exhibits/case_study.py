"""A learnt strategy from close by: whom it calls, what its dual price does, and how it compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.columns import ACCURACY, BUDGET, COST, DATA, DATASET, REPETITION, Column
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.exhibits.solver_runtime import draw_runtimes
from frugalmct.paper.looks import look_of, name_of
from frugalmct.paper.names import FRUGALMCT, ONLINE
from frugalmct.paper.plotting import (
    INK,
    PAPER_COLOR,
    cost_label,
    hollow,
    marks,
    new_figure,
    picture,
    short,
    title_of,
)
from frugalmct.paper.wording import percent, without_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Case study"
SECTION = "paper"
NEEDS = ("studies/case_study", "solver_runtime")
SETTINGS = ("units",)
DRAWN_WITH = ("solver_runtime",)
_SHARE = Column("share", "share of the items for which the service is called; of the base, alone", "share")
_DUAL_PRICE = Column("dual_price", "the multiplier of cost that was tried")
COLUMNS = (
    Column("part", "shares, dual_price_curve, comparison, combiner or grid", "text"),
    DATASET, BUDGET, REPETITION,
    Column("name", "a service, method, answer, or grid of w and θ", "text"),
    Column("items", "how many items"),
    _SHARE, _DUAL_PRICE,
    Column("marked", "the base, the learnt dual price, or FrugalMCT", "flag"),
    ACCURACY, COST, _SHARE.printed(), _DUAL_PRICE.printed(), ACCURACY.printed(), COST.printed(), DATA,
)  # fmt: skip
CAPTION = """
The paper's case study, COCO at budget 6 (another dataset if COCO was not run): (a) how often each service
is called beside the base, which is marked, (b, c) accuracy and cost within the budget if the dual price p
were another, the learnt one marked, (d) FrugalMCT against FrugalML, the best single service and the vote
of all, (e) time of selectors. The paper's own numbers are the black strokes in (a) and the hollow marks
in (d); its commercial solvers are replaced by free ones. The table also has what the items with an add-on
reach by both answers and by either alone (part combiner), and what a finer grid of w and θ gives the base
with each service on average (part grid).
"""
DIFFERS = "The paper's commercial solvers are replaced by free ones; the base follows the configuration."


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return inputs.study("case_study")


def reading(table: pd.DataFrame) -> list[str]:
    table = table[table["dataset"] == table["dataset"].iloc[0]]
    shares = table[table["part"] == "shares"].sort_values("share", ascending=False)
    most = shares.iloc[0]
    compared = table[table["part"] == "comparison"].set_index("name")
    lines = [f"The most frequent decision is {most['name']}, for {percent(most['share'])} of the items."]
    if FRUGALMCT in compared.index:
        ours = compared.loc[FRUGALMCT]
        others = compared.drop(FRUGALMCT)
        beside = [
            f"{name_of(str(name))} ({percent(row['accuracy'])} at {row['cost']:.3g})"
            for name, row in others.iterrows()
        ]
        lines.append(
            f"FrugalMCT reaches {percent(ours['accuracy'])} at {ours['cost']:.3g}, beside {listed(beside)}."
        )
    return lines


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The curve over dual prices is for the figure."""
    rows = table[table["part"] != "dual_price_curve"]
    return without_columns("repetition", "data", "dual_price", "paper_dual_price")(rows)


FRUGAL = look_of(ONLINE)


@picture(TITLE, "part", "dataset")
def plot_each(
    table: pd.DataFrame, solvers: pd.DataFrame | None = None, units: Mapping[str, str] | None = None
) -> Figure:
    """The panels of the paper's figure; what the table lacks stays an empty panel that says so."""
    dataset = table["dataset"].iloc[0]
    figure = new_figure(9.4, 6.2)
    grid = figure.add_gridspec(2, 6)
    shares, accuracy, cost = (figure.add_subplot(grid[0, 2 * n : 2 * n + 2]) for n in range(3))
    compared, runtime = (figure.add_subplot(grid[1, 3 * n : 3 * n + 3]) for n in range(2))
    parts = {part: table[table["part"] == part] for part in ("shares", "dual_price_curve", "comparison")}
    _shares(shares, parts["shares"])
    _dual_price_curve(accuracy, parts["dual_price_curve"], "accuracy", 100, "accuracy (%)")
    _dual_price_curve(cost, parts["dual_price_curve"], "cost", 1, cost_label(dataset, units))
    _comparison(compared, parts["comparison"], cost_label(dataset, units))
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
    places, theirs = np.arange(len(rows)), 100 * rows["paper_share"].astype(float)
    percent = 100 * rows["share"].to_numpy(dtype=float)
    axis.barh(places, percent, 0.55, color=FRUGAL.color)
    axis.plot(theirs, places, "|", color=INK, markersize=16, markeredgewidth=2)
    names = [
        f"{short(str(name), 14)} {'only' if marked else 'added'}\n{value:.1f} %"
        for name, marked, value in zip(rows["name"], _marked(rows), percent, strict=True)
    ]
    axis.set_yticks(places, names, fontsize=7.5)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlim(0, 1.08 * max(percent.max(), theirs.fillna(0).max()))
    axis.set_xlabel("items (%); strokes: the paper's" if theirs.notna().any() else "items (%)")
    return None


def _marked(rows: pd.DataFrame) -> pd.Series:
    """The column may come from a file, as text."""
    return rows["marked"].astype(str) == "True"


def _dual_price_curve(axis: Axes, rows: pd.DataFrame, value: str, factor: float, label: str) -> None:
    if rows.empty:
        return _nothing(axis, "no curve in the table")
    curve = rows.sort_values("dual_price")
    axis.plot(curve["dual_price"], factor * curve[value], "-", color=INK, linewidth=1.3)
    learnt = curve[_marked(curve)]
    axis.plot(learnt["dual_price"], factor * learnt[value], "o", color="#0072b2", markersize=7, zorder=4)
    for row in learnt.itertuples():
        above: dict[str, Any] = {
            "textcoords": "offset points",
            "va": "bottom",
            "ha": "center" if value == "accuracy" else "left",
        }
        axis.annotate(
            f"p̂ = {row.dual_price:.2g}", (row.dual_price, factor * getattr(row, value)), (4, 5), fontsize=8,
            color="#0072b2", **above,
        )  # fmt: skip
    positive = curve.loc[curve["dual_price"] > 0, "dual_price"]
    if len(positive) and positive.max() > 30 * positive.min():
        axis.set_xscale("symlog", linthresh=float(positive.min()), linscale=0.3)
        ticks = [
            0.0,
            *(10.0 ** np.arange(np.ceil(np.log10(positive.min())), np.log10(positive.max()) + 0.01)),
        ]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
    axis.set_xlabel("dual price p")
    axis.set_ylabel(label)
    axis.margins(y=0.15)
    axis.grid(True)
    return None


def _comparison(axis: Axes, rows: pd.DataFrame, costs: str) -> None:
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
    axis.set_xlabel(costs)
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
