"""What online selection loses against offline as items, δ, order, mix, prices, metric and costs change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import BASE, BUDGET, COST, DATA, DATASET, METHOD, Column, with_bounds
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.looks import OTHER_COLORS, look_of
from frugalmct.paper.names import OFFLINE, ONLINE, PER_CALL
from frugalmct.paper.plotting import (
    PAPER_COLOR,
    legend_below,
    new_figure,
    picture,
    plain_log,
    short,
    title_of,
)
from frugalmct.paper.wording import percent, without_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Robustness of online selection"
SECTION = "beyond"
NEEDS = ("studies/robustness",)
OF = (LABELS, CALLS)
ESTIMATED = Column(
    "estimated", "mean estimated accuracy of the selection, which is what it maximises", "share"
)
REGRET = Column(
    "regret", "estimated accuracy of the offline selection of the same items, less this one's", "share"
)
TRUE = Column("accuracy", "mean true accuracy; in the part `metric` the mean of that metric", "share")
COLUMNS = (
    DATASET,
    Column("part", "what changes: items, delta, order, mix, prices, metric or costs", "text"),
    Column("setting", "how it changes", "text"),
    Column("items", "items selected for"),
    Column("train_items", "training items that the dual price comes from"),
    BUDGET, BASE,
    Column("delta", "the buffer δ with which the dual price is set"),
    METHOD,
    Column("draws", "samples of the test items, with replacement, that the row is made of"),
    ESTIMATED, *with_bounds(REGRET),
    Column("bound", "the loss that Theorem 2 allows, but for its constant", "number"),
    *with_bounds(TRUE), COST,
    Column("highest_cost", "the highest mean cost of any draw", unit=COST.unit),
    Column("kept_by_price", "draws in which the dual price alone keeps to the budget", "share"),
    DATA,
)  # fmt: skip
CAPTION = """
Online selection (Algorithm 1) against the offline optimum on the same items, drawn with replacement from the
test items with their estimates; 20 draws (for prices 5), and ranges that hold 95 % of them. Regret is in
estimated accuracy, of which Theorem 2 speaks; bound is what it allows with probability 95 %, but for a
constant, in the figure the least that covers all points. What changes is the number of items N, with δ fixed
or as in the theorem; δ; the order in which items come, and a mix that is not the training items', where hard
means a low estimated accuracy; prices, where base and dual price are chosen again, and a budget that pays for
no base has no row; the metric by which decisions are scored, or for which all is learnt again. Where calls
have costs of their own, online is FrugalMCT per call, which estimates them and settles with the true ones;
offline knows them, and in the part costs online too; a draw that the budget cannot pay for is left out.
"""
DIFFERS = "Not in the paper, which has the theorem and no experiment on it."

PARTS = {
    "items": "Number of items",
    "delta": "Buffer δ",
    "order": "Order of arrival",
    "mix": "Mix of items",
    "prices": "Prices",
    "metric": "Metric",
    "costs": "Costs of calls",
}


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return inputs.study("robustness")


shown = without_columns("regret_low", "regret_high", "accuracy_low", "accuracy_high", "draws", "highest_cost")


def online_of(table: pd.DataFrame) -> pd.DataFrame:
    """All rows but those of the offline selections."""
    return table[table["method"] != OFFLINE]


def part_of(table: pd.DataFrame, part: str) -> pd.DataFrame:
    """The online rows of a part, in the table's order."""
    online = online_of(table)
    return online[online["part"] == part]


def slope(rows: pd.DataFrame, column: str = "regret") -> float:
    """Of log regret, or bound, against log N, by least squares: -0.5 is 1 / sqrt(N); NaN for no regret."""
    known = rows[rows[column] > 0]
    if known["items"].nunique() < 2:
        return float("nan")
    logs = np.log(known[["items", column]].to_numpy(dtype=float))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


ROUNDING = 1e-9

# ---- in words


def reading(table: pd.DataFrame) -> list[str]:
    online = online_of(table)
    return [*_falls(online), _losses(online), *_free_models(online), *_metrics(online), _overruns(table)]


def _overruns(table: pd.DataFrame) -> str:
    """A call of which the cost was not known may be the last: its budget is then exceeded by part of it."""
    over = table["highest_cost"] / table["budget"] - 1
    calls = table["method"] == PER_CALL
    count = (over[~calls] > ROUNDING).sum()
    line = f"{count or 'None'} of the {(~calls).sum()} selections went over its budget in any draw"
    if not calls.any():
        return f"{line}."
    exceeded = (over[calls] > ROUNDING).sum() or "none"
    return (
        f"{line}; of the {calls.sum()} that settle with true costs {exceeded}, "
        f"by at most {percent(max(over[calls].max(), 0.0), 2)}."
    )


def _falls(online: pd.DataFrame) -> Iterator[str]:
    for setting, rows in online[online["part"] == "items"].groupby("setting", sort=False):
        falls = {dataset: slope(own) for dataset, own in rows.groupby("dataset", sort=False)}
        known = [f"{fall:.2f} ({dataset})" for dataset, fall in falls.items() if np.isfinite(fall)]
        most = rows[rows["items"] == rows["items"].max()]
        bound = slope(rows, "bound")
        beside = f", where the bound has {bound:.2f}" if np.isfinite(bound) else ""
        yield (
            f"With {setting}, regret goes as N to the power {', '.join(known) or 'of nothing lost'}{beside}; "
            f"at N = {most['items'].max():,.0f} it is at most {lost(most['regret'].max())}."
        )


def _losses(online: pd.DataFrame) -> str:
    """The worst settings of the parts in which decisions could be spoilt."""
    found = []
    for part in ("delta", "order", "mix", "costs"):
        rows = online[online["part"] == part]
        if len(rows):
            worst = rows.loc[rows["regret"].idxmax()]
            found.append(f"{part} {lost(worst['regret'])} ({worst['setting']}, {worst['dataset']})")
    return f"The largest regrets: {'; '.join(found) or 'none'}."


def _free_models(online: pd.DataFrame) -> Iterator[str]:
    """At what the appendix says that the free models cost."""
    prices = online[(online["part"] == "prices") & (online["budget"] == _lowest_budget(online))]
    usual = prices[prices["setting"] == "as configured"].set_index("dataset")["accuracy"]
    raised = prices[prices["setting"].str.contains(" at ", regex=False)]
    found = [
        f"{row.dataset} with {row.setting}: {percent(row.accuracy)} for {percent(usual[row.dataset])}"
        for row in raised.itertuples()
        if row.dataset in usual
    ]
    if found:
        yield f"The free models at the appendix's prices: {'; '.join(found)}."


def _lowest_budget(online: pd.DataFrame) -> pd.Series:
    """Of each row's dataset."""
    return online.groupby("dataset")["budget"].transform("min")


def _metrics(online: pd.DataFrame) -> Iterator[str]:
    scored = online[online["part"] == "metric"]
    found = [
        f"{dataset} {', '.join(f'{percent(row.accuracy)} {row.setting}' for row in own.itertuples())}"
        for dataset, own in scored.groupby("dataset", sort=False)
    ]
    if found:
        yield f"Decisions made for accuracy, by metric: {'; '.join(found)}."


def lost(regret: float) -> str:
    return f"{100 * regret:.2f} points"


# ---- in pictures


@picture(TITLE, "part", "setting", "method", "items", "regret", "accuracy")
def plot_each(table: pd.DataFrame) -> Figure:
    """One panel per part that there is."""
    parts = [part for part in PARTS if (table["part"] == part).any()]
    lines = (len(parts) + 1) // 2
    figure = new_figure(9, 0.5 + 3 * lines)
    grid = figure.subplots(lines, 2, squeeze=False).ravel()
    axes = dict(zip(parts, grid, strict=False))
    for axis in grid[len(parts) :]:
        axis.set_axis_off()
    draw = {"items": _items, "delta": _delta, "order": _order}
    for part, axis in axes.items():
        axis.set_title(PARTS[part])
        draw.get(part, _dots)(axis, table[table["part"] == part])
        axis.grid(True)
    legend_below(figure, axes.values(), columns=3)
    title_of(figure, f"{TITLE}: {table['dataset'].iloc[0]}, budget {table['budget'].min():g}")
    return figure


def _items(axis: Axes, rows: pd.DataFrame) -> None:
    """Regret against N, on logarithmic scales; the bound with the least constant that covers all points."""
    lines = part_of(rows, "items")
    for color, (setting, own) in zip(OTHER_COLORS, lines.groupby("setting", sort=False), strict=False):
        lost = own[own["regret"] > 0]
        axis.plot(lost["items"], 100 * lost["regret"], "o-", color=color, markersize=4, label=f"N: {setting}")
    if len(lines) and (lines["bound"] > 0).all():
        own = lines[lines["setting"] == lines["setting"].iloc[-1]]
        constant = (lines["regret"] / lines["bound"]).max()
        axis.plot(
            own["items"], 100 * constant * own["bound"], ":", color=PAPER_COLOR, label="N: shape of the bound"
        )
    if (lines["regret"] > 0).any():
        plain_log(axis.xaxis)
        plain_log(axis.yaxis)
    axis.set_xlabel("items N")
    axis.set_ylabel("regret (points)")


def _delta(axis: Axes, rows: pd.DataFrame) -> None:
    """Accuracy against δ."""
    for method, own in rows.groupby("method", sort=False):
        look, own = look_of(method), own.sort_values("delta")
        axis.plot(
            own["delta"], 100 * own["accuracy"], look.line, marker=look.marker, markersize=4, color=look.color
        )
    axis.set_xlabel("δ")
    axis.set_ylabel("accuracy (%)")


def _order(axis: Axes, rows: pd.DataFrame) -> None:
    """Regret: accuracies are too close to tell apart."""
    own = part_of(rows, "order").iloc[::-1]
    look, places = look_of(ONLINE), np.arange(len(own))
    errors = 100 * np.abs(own[["regret_low", "regret_high"]].to_numpy().T - own["regret"].to_numpy())
    axis.errorbar(100 * own["regret"], places, xerr=errors, fmt=look.marker, color=look.color, capsize=2)
    axis.set_yticks(places, [short(name) for name in own["setting"]])
    axis.set_ylim(-0.5, max(len(own), 1) - 0.5)
    axis.set_xlim(left=0)
    axis.set_xlabel("regret (points)")


def _dots(axis: Axes, rows: pd.DataFrame) -> None:
    """Accuracy of both methods in each setting; of several budgets the higher ones are paler."""
    settings = list(rows["setting"].unique())[::-1]
    budgets = sorted(rows["budget"].unique())
    for (method, budget), own in rows.groupby(["method", "budget"], sort=False):
        look, strength = look_of(method), 0.45 if budget > budgets[0] else 1.0
        style: dict[str, Any] = {
            "color": look.color,
            "alpha": strength,
            "markersize": 8 if method == OFFLINE else 5,
        }
        if method == OFFLINE:
            style |= {"markerfacecolor": "none"}
        label = f"{look.name}{f', budget {budget:g}' if budget > budgets[0] else ''}"
        places = [settings.index(setting) for setting in own["setting"]]
        axis.plot(100 * own["accuracy"], places, look.marker, label=label, **style)
    axis.set_yticks(range(len(settings)), [short(name) for name in settings])
    axis.set_ylim(-0.5, max(len(settings), 1) - 0.5)
    axis.set_xlabel("mean of the metric (%)" if (rows["part"] == "metric").any() else "accuracy (%)")
