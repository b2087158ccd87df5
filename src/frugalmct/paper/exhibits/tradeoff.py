"""Accuracy against cost: what each method gives for the money."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import ACCURACY, BASE, BUDGET, COST, DATASET, METHOD, REPETITION, STATUS, Column
from frugalmct.paper.curves import mean_by_budget
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.intervals import with_intervals
from frugalmct.paper.looks import SERVICE_LOOK, look_of, name_of
from frugalmct.paper.names import (
    CLUSTERS,
    DAP,
    DAP_BEST_BASE,
    FRUGALML,
    FRUGALML_COMBINED,
    FRUGALML_LEARNED,
    FRUGALML_THRESHOLDS,
    MAJORITY,
    NEAREST,
    OFFLINE,
    ONLINE,
    ORACLE,
    PER_CALL,
    PLUS,
    RANDOM_MIX,
    SINGLE,
    THRESHOLD,
    WEIGHTED,
)
from frugalmct.paper.plotting import (
    cost_label,
    grid_shape,
    has_bands,
    has_call_costs,
    legend_below,
    means_of,
    new_figure,
    panels,
    picture,
    plain_log,
    short,
    title_of,
)
from frugalmct.paper.printed import printed_of
from frugalmct.paper.wording import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Accuracy and cost trade-offs"
SECTION = "paper"
NEEDS = ("selections", "plus", "baselines", "per_call", "routers")
SETTINGS = ("units",)
OF = (LABELS, CALLS)
COLUMNS = (
    DATASET, METHOD, BUDGET, REPETITION, ACCURACY, COST, STATUS, BASE,
    Column("delta", "the share of the add-on budget kept back when the dual price is set"),
    Column("dual_price", "the multiplier of cost at which items were routed; empty for methods without one"),
)  # fmt: skip
CAPTION = """
The paper's accuracy-cost trade-offs, one panel per dataset: FrugalMCT online and offline, the dummy
predictor (DAP) and FrugalML as curves over budgets, single services as crosses, the best service's
accuracy as a dotted line; per dataset also larger, with both votes. FrugalMCT is the paper's method to the
letter. Beyond the paper: FrugalMCT plus, which learns from the same items and is tested on the same; 95 %
bands over repetitions; the oracle: the paper's method with true accuracies known, a limit for it and not for
plus, which leaves the panel at the top; in the table random_mix (the same money spent blindly),
ideal_combiner (the oracle, and for every item the best of the base's, the add-on's and the combined answer),
and the baselines with what FrugalMCT gets: silent services abstain in votes, FrugalML has a θ per service or
the combiner, DAP the best base for each budget. Where calls have their own costs: FrugalMCT per call beside
other routers. One row per method, budget and repetition; status says how it went, or why a cell is empty.
"""
DIFFERS = (
    "Beyond the paper: FrugalMCT plus, 95 % bands, the oracle, a random mix, and in the table the baselines "
    "in forms that get what FrugalMCT gets. The table has means over repetitions, in per cent; every run is "
    "in tables/tradeoff.csv."
)
HEADLINE = "Accuracy and cost"


def build(inputs: Inputs, settings: dict[str, Any]) -> pd.DataFrame:
    """All rows of the methods that plan by the paper's estimates, of plus, and of the baselines."""
    parts = [inputs.rows(stage) for stage in NEEDS]
    records = [record for part in parts for record in part.to_dict("records")]
    return pd.DataFrame(records)


COMPARED = (
    (ONLINE, FRUGALML), (ONLINE, DAP), (PLUS, ONLINE),
    *((PER_CALL, other) for other in (THRESHOLD, NEAREST, CLUSTERS, RANDOM_MIX)),
)  # fmt: skip


def reading(table: pd.DataFrame) -> list[str]:
    means = mean_by_budget(table)
    lines = []
    for method, other in COMPARED:
        if not {method, other} <= set(means):
            continue
        lead = (means[method] - means[other]).dropna()
        if len(lead):
            lines.append(
                f"{name_of(method)} against {name_of(other)}: {points(lead.mean())} on average over budgets, "
                f"between {points(lead.min())} and {points(lead.max())}."
            )
    return lines


SHOWN_METHODS = (
    ONLINE, PLUS, PER_CALL, OFFLINE, DAP, DAP_BEST_BASE, FRUGALML, FRUGALML_THRESHOLDS, FRUGALML_COMBINED,
    FRUGALML_LEARNED, THRESHOLD, NEAREST, CLUSTERS, RANDOM_MIX, ORACLE,
)  # fmt: skip
SHOWN_COLUMNS = tuple(
    Column(method.removeprefix("frugalmct_"), f"mean accuracy of {name_of(method)}", "share")
    for method in SHOWN_METHODS
)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The long table is for programs; people get the means, one row per budget."""
    means = mean_by_budget(table)
    chosen = means[[method for method in SHOWN_METHODS if method in means]].dropna(how="all")
    return chosen.rename(columns=lambda method: method.removeprefix("frugalmct_")).reset_index()


CURVES = (ONLINE, PLUS, PER_CALL, OFFLINE, DAP, FRUGALML, THRESHOLD, NEAREST, CLUSTERS, ORACLE)
ARMS = (ONLINE, PLUS, PER_CALL)
POINTS = (MAJORITY, WEIGHTED)
# Width and height of the panels in points, about.
SMALL_PANEL, LARGE_PANEL = (185.0, 140.0), (400.0, 225.0)
# Where a service's name may stand, the best first: right or left, below or above.
OFFSETS = ((1, -1), (-1, -1), (1, 1), (-1, 1), (0, -1), (0, 1), (1, 0), (-1, 0))
SPREAD = (0.0, 0.25, 0.5, 0.75, 1.0)


def plot(table: pd.DataFrame, units: Mapping[str, str] | None = None) -> Figure:
    """One panel per dataset; in a run of both the paper's alone, for own data have a figure each."""
    papers = table[table["dataset"].map(printed_of).astype(bool)] if "dataset" in table else table
    return _grid(table if papers.empty else papers, units)


@picture(HEADLINE, "dataset", "method", "accuracy", "cost")
def _grid(table: pd.DataFrame, units: Mapping[str, str] | None) -> Figure:
    """Costs in the unit of the dataset; a single one is drawn large."""
    datasets = list(table["dataset"].unique())
    if len(datasets) == 1:
        return _large(table, units)
    rows, columns = grid_shape(len(datasets))
    figure = new_figure(3.15 * columns + 0.3, 2.55 * rows + 0.9)
    axes = panels(figure, len(datasets))
    for axis, dataset in zip(axes, datasets, strict=True):
        _panel(axis, table[table["dataset"] == dataset], small=True)
        axis.set_title(dataset)
    labels = [cost_label(dataset, units) for dataset in datasets]
    # One unit for all is said below the last row alone.
    first = 0 if len(set(labels)) > 1 else max(len(axes) - columns, 0)
    for axis, label in zip(axes[first:], labels[first:], strict=True):
        axis.set_xlabel(label)
    for axis in axes[::columns]:
        axis.set_ylabel("accuracy (%)")
    title_of(figure, _title(table))
    legend_below(figure, axes, 2 if columns == 1 else 3)
    return figure


@picture(HEADLINE, "dataset", "method", "accuracy", "cost")
def plot_each(table: pd.DataFrame, units: Mapping[str, str] | None = None) -> Figure:
    """One dataset, larger, with the votes beside the curves."""
    return _large(table, units)


def _large(table: pd.DataFrame, units: Mapping[str, str] | None) -> Figure:
    figure = new_figure(6.4, 4.6)
    axis = figure.subplots()
    _panel(axis, table, small=False)
    axis.set_xlabel(cost_label(table["dataset"].iloc[0], units))
    axis.set_ylabel("accuracy (%)")
    title_of(figure, f"{table['dataset'].iloc[0]}: {_title(table)[0].lower()}{_title(table)[1:]}")
    legend_below(figure, [axis], 3)
    return figure


def _title(table: pd.DataFrame) -> str:
    return f"{HEADLINE} ({means_of(table)})"


def _panel(axis: Axes, rows: pd.DataFrame, small: bool) -> None:
    shown = [_curve(axis, rows, method) for method in CURVES]
    services = _services(axis, rows, small)
    shown += [services, _best_line(axis, services)]
    if not small:
        shown += [_vote(axis, rows, method) for method in POINTS]
    heights = np.concatenate([np.ravel(part) for part in shown])
    room = 0.06 * (np.ptp(heights) or 1)
    # A band may be far wider than the curves differ, with few repetitions: the curves set the scale.
    axis.set_ylim(heights.min() - 1.6 * room, heights.max() + room)
    if has_call_costs(rows) and (rows["cost"].dropna() > 0).all():
        # Calls of different services often differ a hundredfold.
        plain_log(axis.xaxis)
    else:
        axis.set_xlim(left=-0.03 * axis.get_xlim()[1])
    axis.grid(True)
    _name_services(axis, rows, small)


def _curve(axis: Axes, rows: pd.DataFrame, method: str) -> np.ndarray:
    """Draws one method's means and band; returns the heights that must be seen."""
    own = rows[rows["method"] == method]
    if own.empty:
        return np.array([])
    curve = with_intervals(own, ["budget"], "accuracy", "cost").sort_values("budget")
    cost, percent, half = (curve[name].to_numpy() for name in ("cost", "accuracy", "half"))
    percent, half = 100 * percent, 100 * half
    look, faint = look_of(method), method == ORACLE
    axis.plot(
        cost,
        percent,
        look.line,
        color=look.color,
        linewidth=2.4 if method in ARMS else 1.3,
        alpha=0.75 if faint else 1,
        label=look.name,
        zorder=2 if faint else 3.5 if method == OFFLINE else 3,
    )
    if not faint and has_bands(own):
        axis.fill_between(cost, percent - half, percent + half, color=look.color, alpha=0.12, linewidth=0)
    return np.array([]) if faint and len(percent) > 3 else percent


def _services(axis: Axes, rows: pd.DataFrame, small: bool) -> np.ndarray:
    own = rows[rows["method"].astype(str).str.startswith(SINGLE)]
    if own.empty:
        return np.array([])
    points = with_intervals(own, ["method"], "accuracy", "cost").sort_values("cost")
    percent = 100 * points["accuracy"].to_numpy()
    axis.plot(
        points["cost"],
        percent,
        linestyle="none",
        marker=SERVICE_LOOK.marker,
        markersize=5.5 if small else 7,
        markeredgecolor="white",
        markeredgewidth=0.6,
        color=SERVICE_LOOK.color,
        label="single services",
        zorder=5,
    )
    return percent


def _name_services(axis: Axes, rows: pd.DataFrame, small: bool) -> None:
    """Each name on that side of its point where it covers least of the curves and of other names."""
    own = rows[rows["method"].astype(str).str.startswith(SINGLE)]
    points = own.groupby("method", sort=False)[["cost", "accuracy"]].mean()
    size, panel = (6.5, SMALL_PANEL) if small else (8, LARGE_PANEL)
    taken = _traces(axis, panel)
    for method, (cost, accuracy) in points.iterrows():
        name = short(look_of(str(method)).name, 18)
        spot = _in_points(axis, panel, np.array([[cost, 100 * accuracy]]))[0]
        box = np.array([0.62 * size * len(name), 1.2 * size])
        offset = min(OFFSETS, key=lambda offset: _covered(spot + _corner(offset, box), box, taken, panel))
        corner = spot + _corner(offset, box)
        taken = np.vstack([taken, corner + box * np.array([[x, y] for x in SPREAD for y in SPREAD])])
        axis.annotate(
            name, (cost, 100 * accuracy), tuple(_corner(offset, box)), textcoords="offset points",
            fontsize=size, color=SERVICE_LOOK.color, va="bottom", ha="left", zorder=6,
        )  # fmt: skip


def _in_points(axis: Axes, panel: tuple[float, float], places: np.ndarray) -> np.ndarray:
    """Data to typographic points from the panel's lower left corner; its size is known well enough."""
    low = np.array([axis.get_xlim()[0], axis.get_ylim()[0]])
    high = np.array([axis.get_xlim()[1], axis.get_ylim()[1]])
    if axis.get_xscale() == "log":
        low, high, places = (
            np.column_stack([np.log(np.maximum(part[..., 0], 1e-300)), part[..., 1]])
            for part in map(np.atleast_2d, (low, high, places))
        )
    return (places - low) / (high - low) * np.array(panel)


def _traces(axis: Axes, panel: tuple[float, float]) -> np.ndarray:
    """Points along all that is drawn, close enough to one another for a name not to fit between."""
    pieces = [np.empty((0, 2))]
    for line in axis.lines:
        drawn = np.column_stack(line.get_data()).astype(float)
        if line.get_linestyle() == "None":
            pieces.append(_in_points(axis, panel, drawn))
        elif len(drawn) > 1 and line.get_transform() == axis.transData:
            ends = _in_points(axis, panel, drawn)
            along = np.linspace(0, 1, 30)[:, None]
            pieces += [start + along * (end - start) for start, end in pairwise(ends)]
    return np.vstack(pieces)


def _corner(offset: tuple[int, int], box: np.ndarray) -> np.ndarray:
    """The lower left corner of a name, from its point: to the right or left, above, below or beside."""
    x, y = offset
    return np.array([5 if x > 0 else -5 - box[0] if x < 0 else -box[0] / 2, (y - 1) * box[1] / 2 + 3 * y])


def _covered(corner: np.ndarray, box: np.ndarray, taken: np.ndarray, panel: tuple[float, float]) -> float:
    inside = ((taken > corner - 1) & (taken < corner + box + 1)).all(axis=1).sum()
    outside = (corner < 0).any() or (corner + box > np.array(panel)).any()
    return inside + 1000 * outside


def _best_line(axis: Axes, services: np.ndarray) -> np.ndarray:
    if len(services):
        axis.axhline(services.max(), color=SERVICE_LOOK.color, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    return np.array([])


def _vote(axis: Axes, rows: pd.DataFrame, method: str) -> np.ndarray:
    own = rows[rows["method"] == method]
    if own.empty:
        return np.array([])
    look, height = look_of(method), 100 * own["accuracy"].mean()
    axis.plot(
        own["cost"].mean(), height, look.marker, color=look.color, label=look.name, markersize=7, zorder=4
    )
    return np.array([height])
