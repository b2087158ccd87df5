"""What each part of plus is worth: added to the paper's method one after the other, and left out of plus."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from frugalmct.errors import listed
from frugalmct.paper.columns import ACCURACY, BUDGET, COST, DATA, DATASET, REPETITIONS, Column, with_bounds
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.intervals import interval, paired_difference
from frugalmct.paper.looks import Look
from frugalmct.paper.plotting import INK, legend_below, marks, picture, title_of
from frugalmct.paper.wording import points

TITLE = "What each part of plus is worth"
SECTION = "beyond"
NEEDS = ("studies/ablation",)
LOW, MIDDLE, HIGH = LEVELS = ("low", "middle", "high")
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
From the paper's method to FrugalMCT plus, one part at a time (left: each is added to all above it), and plus
with each part left out (right: points left of zero are lost without it), at a low, a middle and a high
budget: means over datasets, with a small mark for each dataset. Gains in the table are paired within
repetitions, their 95 % intervals corrected for overlapping splits. To bound the work all learn from at most
1,000 items with forests of 50 trees, and are tested on at most 1,000, in at most three repetitions. Without
the learned combiner there is no second step either, since (w, θ) combines two answers. The row "in-sample
dual price" is the paper's method with p̂ from the forest's fit to the items it has seen.
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
    return [*lines, *_reading_of_price(table)]


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


LOOKS = {
    LOW: Look("low budget", "#56b4e9", marker="o"),
    MIDDLE: Look("middle budget", "#0072b2", marker="s"),
    HIGH: Look("high budget", "#332288", marker="D"),
}


@picture(TITLE, "dataset", "kind", "part", "level", "gain")
def plot(table: pd.DataFrame) -> Figure:
    """Two panels: parts added, parts left out."""
    table = table[table["kind"] != READING]
    parts = list(table["part"].unique())
    figure = Figure(figsize=(8.2, 1.5 + 0.5 * len(parts)))
    axes = figure.subplots(1, 2, sharey=True)
    for axis, kind, words in zip(
        axes, (ADDED, WITHOUT), ("added one after the other", "left out of plus"), strict=True
    ):
        _panel(axis, table[table["kind"] == kind], parts)
        axis.set_title(words)
        axis.set_xlabel("gain in accuracy (points)")
    axes[0].set_yticks(np.arange(len(parts)), parts)
    axes[0].set_ylim(len(parts) - 0.5, -0.5)
    title_of(figure, TITLE)
    legend_below(figure, axes, len(LOOKS))
    return figure


def _panel(axis: Axes, rows: pd.DataFrame, parts: list[str]) -> None:
    axis.axvline(0, color=INK, linewidth=0.8)
    axis.grid(axis="x")
    for (level, look), offset in zip(LOOKS.items(), np.linspace(-0.24, 0.24, len(LOOKS)), strict=True):
        own = rows[rows["level"] == level]
        each = own["part"].map(parts.index) + offset
        axis.plot(100 * own["gain"], each, "|", color=look.color, markersize=6, alpha=0.6, zorder=2)
        means = own.groupby("part", sort=False)["gain"].mean()
        marks(axis, 100 * means, [parts.index(part) + offset for part in means.index], look, label=look.name)
