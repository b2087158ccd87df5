"""How long solvers of the same selection problem take, and which were stopped before their proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.columns import BUDGET, COST, DATA, DATASET, STATUS, Column
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.plotting import INK, legend_below, new_figure, picture, plain_log, title_of
from frugalmct.paper.wording import without_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Time to choose"
SECTION = "solvers"
NEEDS = ("studies/solver_runtime",)
OF = (LABELS, CALLS)
COLUMNS = (
    Column("solver", "Algorithm 1 (online), the exact method, or a general solver", "text"),
    DATASET,
    Column("items", "how many items to choose for"),
    BUDGET,
    Column("seconds", "wall time, libraries loaded", unit="s"),
    Column("accuracy", "mean estimated accuracy of the selection", "share"),
    Column("bound", "no selection has a higher mean estimated accuracy", "share"),
    Column("proven", "whether the solver proved that no selection is better", "flag"),
    STATUS,
    Column("stopped", "whether the time limit came before the proof", "flag"),
    Column("gap", "bound less accuracy", "share"),
    Column("shortfall", "accuracy of the best of all solvers less this one's", "share"),
    Column("true_accuracy", "mean true accuracy of the selection", "share"),
    COST,
    Column("time_limit", "when a solver is stopped", unit="s"),
    Column("version", "which release of the solver", "text"),
    DATA,
)
CAPTION = """
The paper's runtime of the selector against ILP solvers, at growing numbers of items, both scales
logarithmic. Accuracies, bounds and gaps are those of the estimates, which all solvers maximise. Hollow
marks are runs stopped by the time limit before the proof, with the gap in points of accuracy that was
left; a solver that was stopped is not tried on more items. Where calls have costs of their own, all solvers
have what each call is expected to cost.
"""
DIFFERS = (
    "The paper times its selector against CBC, MOSEK and GUROBI at one size; here free solvers at "
    "several sizes, each with a time limit. Accuracies are those of the estimates, which all maximise."
)
HEADLINE = "Time to choose the services"


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return inputs.study("solver_runtime")


def reading(table: pd.DataFrame) -> list[str]:
    if table["seconds"].isna().all():
        return ["No solver has a time in this run."]
    largest = table[table["items"] == table["items"].max()]
    done = largest[largest["status"].isin(["optimal", "online", "rounded"])].sort_values("seconds")
    times = [f"{row.solver} {row.seconds:.3g} s" for row in done.itertuples()]
    stopped = largest.loc[is_stopped(largest), "solver"].astype(str)
    return [
        f"With {largest['items'].iloc[0]:,} items: {listed(times)}."
        if times
        else "None was done with most items.",
        f"Stopped before their proof, there or with fewer: {listed(stopped)}."
        if len(stopped)
        else "None was stopped.",
    ]


shown = without_columns("data", "time_limit")


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


@picture(HEADLINE, "solver", "items", "seconds")
def plot_each(table: pd.DataFrame) -> Figure:
    """Both scales logarithmic; a run that was stopped is hollow, with its gap beside it."""
    figure = new_figure(7.6, 4.9)
    axis = figure.subplots()
    draw_runtimes(axis, table)
    where = ", ".join(map(str, table["dataset"].unique())) if "dataset" in table else ""
    title_of(figure, f"{HEADLINE} ({where})" if where else HEADLINE)
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
        line = table[own].groupby("items")["seconds"].median().dropna().clip(lower=FASTEST_SHOWN)
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
    axis.xaxis.minorticks_off()
    axis.margins(x=0.08, y=0.1)
    axis.set_xlabel("items")
    axis.set_ylabel("seconds")
    axis.grid(True)


def _stopped(axis: Axes, rows: pd.DataFrame, color: str, marker: str, offset: int | None) -> None:
    for items, own in rows.dropna(subset=["seconds"]).groupby("items"):
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
    status = table["status"].astype(str) if "status" in table else pd.Series("", index=table.index)
    return status.str.contains("limit|stopped|no_solution")


def gap_text(rows: pd.DataFrame) -> str:
    """How far a stopped run may be from the best, in points of accuracy."""
    if "status" in rows and (rows["status"] == "no_solution").any():
        return "no solution"
    gap = 100 * float((rows["bound"] - rows["accuracy"]).max())
    return f"gap {gap:.2g}" if np.isfinite(gap) else "gap unknown"
