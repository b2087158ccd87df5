"""What each part of plus is worth: added to the paper's method one after the other, and left out of plus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.columns import ACCURACY, BUDGET, COST, DATA, DATASET, REPETITIONS, Column, with_bounds
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.intervals import interval, paired_difference
from frugalmct.paper.plotting import INK, new_figure, picture, short, title_of
from frugalmct.paper.wording import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "What each part of plus is worth"
SECTION = "beyond"
NEEDS = ("studies/ablation",)
LEVELS = ("low", "middle", "high")
COLUMNS = (
    DATASET,
    Column("kind", "added: to the row above; left out: of plus; reading: of the paper's method", "text"),
    Column("part", "what is added, left out, or read differently", "text"),
    Column("level", "the low, middle or high one of the budgets compared", "text"),
    BUDGET, *with_bounds(ACCURACY), COST,
    *with_bounds(
        Column("gain", "accuracy less that of what it is compared with, in the same repetition", "share")
    ),
    Column("against", "what the gain is against", "text"),
    Column("train_items", "how many items were learnt from"),
    Column("test_items", "how many items it was tested on"),
    REPETITIONS, DATA,
)  # fmt: skip
CAPTION = """
From the paper's method to FrugalMCT plus, one part at a time (left: each is added to all before it), and
plus with each part left out (right: what is negative is lost without it): points of accuracy, means over a
low, a middle and a high budget, which the table has one by one. Its gains are paired within repetitions,
their 95 % intervals corrected for overlapping splits. To bound the work all learn from at most 1,000 items
with forests of 30 trees, and are tested on at most 1,000, in a few repetitions. Without the learned combiner
there are no further steps either, since (w, θ) combines two answers. Added, the base over folds also brings
mixtures of two plans and the rule that more money does no harm; left out, only the folds go. Further steps
also bring pairs of services that are asked first. Abstention left out is 0 wherever the learned combiner is
used, which has no such setting: it matters only where (w, θ) is kept. The row "in-sample dual price" is the
paper's method with p̂ from the forest's fit to the items it has seen.
"""
DIFFERS = (
    "Not in the paper. Its method is the first row of every dataset; plus is the row that adds the last "
    "part. Accuracies are in per cent, gains in points."
)
# As the study names them.
ADDED, WITHOUT, READING = "added", "left out", "reading"


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return ablation_table(inputs.rows("studies/ablation"))


def ablation_table(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset, part and budget, with its gain over what it is compared with."""
    found = [row for _, own in rows.groupby("dataset", sort=False) for row in _dataset_rows(own)]
    return pd.DataFrame(found, columns=[column.name for column in COLUMNS])


def _dataset_rows(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    added = list(rows.loc[rows["kind"] == ADDED, "part"].unique())
    levels = dict(zip(sorted(rows["budget"].unique()), LEVELS, strict=False))
    for (kind, part, budget), own in rows.groupby(["kind", "part", "budget"], sort=False):
        against = _against(kind, part, added)
        row = {"dataset": own["dataset"].iloc[0], "data": own["data"].iloc[0], "kind": kind, "part": part}
        row |= {"level": levels.get(budget), "budget": budget, "cost": own["cost"].mean(), "against": against}
        row |= {"repetitions": own["repetition"].nunique()} | interval(own["accuracy"]).within(0, 1).columns(
            "accuracy"
        )
        row |= {name: own[name].iloc[0] for name in ("train_items", "test_items")}
        if against is not None:
            before = rows[(rows["kind"] == ADDED) & (rows["part"] == against) & (rows["budget"] == budget)]
            row |= _gain(own, before).columns("gain")
        yield row


def _against(kind: str, part: str, added: list[str]) -> str | None:
    """Which added part's row: the one before, the last one (plus), or the first one (the paper's method)."""
    if kind == ADDED:
        place = added.index(part)
        return added[place - 1] if place else None
    return added[-1] if kind == WITHOUT else added[0]


def _gain(own: pd.DataFrame, before: pd.DataFrame) -> Any:
    pairs = own.set_index("repetition")["accuracy"].to_frame("own")
    pairs = pairs.join(before.set_index("repetition")["accuracy"].rename("before"))
    tested, learnt = float(own["test_items"].iloc[0]), float(own["train_items"].iloc[0])
    return paired_difference(pairs["own"], pairs["before"], tested / (tested + learnt))


def reading(table: pd.DataFrame) -> list[str]:
    lines = []
    for kind, words in ((ADDED, "Added one after the other"), (WITHOUT, "Left out of plus")):
        gains = _means(table, kind)
        parts = [
            f"{part} {100 * gain:+.1f}"
            for part, gain in gains.groupby("part", sort=False)["gain"].mean().items()
        ]
        if parts:
            lines.append(f"{words}, points in the mean over datasets and budgets: {listed(parts)}.")
    return [*lines, *_reading_of_price(table)] or ["No part was added or left out in this run."]


def _reading_of_price(table: pd.DataFrame) -> Iterator[str]:
    read = table[table["kind"] == READING].dropna(subset=["gain"])
    if len(read):
        worst = read.loc[read["gain"].idxmin()]
        yield (
            f"With an {worst['part']} the paper's method is {points(read['gain'].mean())} in the mean, and "
            f"{points(worst['gain'])} on {worst['dataset']} at budget {worst['budget']:g}."
        )


def _means(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Mean gain over datasets, by part and level."""
    rows = table[table["kind"] == kind].dropna(subset=["gain"])
    return rows.groupby(["part", "level"], sort=False)["gain"].mean().reset_index()


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Gains with their intervals as ±; one row per part, a column per level."""
    half = (table["gain_high"] - table["gain_low"]) / 2
    pairs = zip(100 * table["gain"], 100 * half, strict=True)
    gains = [
        "" if pd.isna(gain) else f"{gain:+.1f}" + ("" if pd.isna(wide) else f" ± {wide:.1f}")
        for gain, wide in pairs
    ]
    return table[["dataset", "kind", "part", "level", "budget", "accuracy"]].assign(gain=gains)


MEAN = "mean"
# From brown (lost) over white to green (gained): told apart by the colour-blind, too.
COLORS = "BrBG"


@picture(TITLE, "dataset", "kind", "part", "gain")
def plot(table: pd.DataFrame) -> Figure:
    """Two panels, parts added and parts left out: a row per dataset, the number in points."""
    kinds = {ADDED: "added one after the other", WITHOUT: "left out of plus"}
    grids = {kind: _grid(table, kind) for kind in kinds if (table["kind"] == kind).any()}
    grids = grids or {ADDED: _grid(table.assign(kind=ADDED), ADDED)}
    reach = max(float(np.nanmax(np.abs(grid.to_numpy()))) for grid in grids.values()) or 1.0
    names = next(iter(grids.values())).index
    figure = new_figure(8.6, 1.9 + 0.3 * len(names))
    axes = figure.subplots(1, len(grids), sharey=True, squeeze=False)[0]
    for axis, (kind, grid) in zip(axes, grids.items(), strict=True):
        _panel(axis, grid, reach)
        axis.set_title(kinds[kind])
    axes[0].set_yticks(np.arange(len(names)), [short(str(name), 18) for name in names])
    title_of(figure, f"{TITLE} (points, mean of budgets)")
    return figure


def _grid(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Mean gain over budgets in points: datasets by parts, below them the mean if there are several."""
    rows = table[table["kind"] == kind]
    grid = 100 * rows.groupby(["dataset", "part"], sort=False)["gain"].mean().unstack("part")
    grid = grid.reindex(index=rows["dataset"].unique(), columns=rows["part"].unique())
    return pd.concat([grid, grid.mean().to_frame(MEAN).T]) if len(grid) > 1 else grid


def _panel(axis: Axes, grid: pd.DataFrame, reach: float) -> None:
    axis.imshow(grid.to_numpy(), cmap=COLORS, vmin=-reach, vmax=reach, aspect="auto")
    for place, gains in enumerate(grid.to_numpy()):
        for column, gain in enumerate(gains):
            if np.isfinite(gain):
                ink = "white" if abs(gain) > 0.6 * reach else INK
                axis.text(column, place, f"{gain:+.1f}", ha="center", va="center", fontsize=7.5, color=ink)
    words = [short(str(part)).replace(" ", "\n", 1) for part in grid.columns]
    axis.set_xticks(np.arange(grid.shape[1]), words, rotation=45, ha="right")
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)
