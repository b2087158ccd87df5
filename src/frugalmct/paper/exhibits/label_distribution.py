"""How often each label occurs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.market import LabelMarket
from frugalmct.paper.columns import DATA, DATASET, Column
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.plotting import new_figure, picture, short, title_of
from frugalmct.paper.printed import printed_of, shows_labels
from frugalmct.paper.tables import stacked
from frugalmct.paper.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Label distribution"
SECTION = "paper"
NEEDS = ("markets",)
COLUMNS = (
    DATASET,
    Column("label", "a label", "text"),
    Column("items", "how many items truly have it"),
    Column("share", "share of the items that truly have it", "share"),
    DATA,
)
CAPTION = """
The paper's figure of label frequencies (there of COCO): the share of a dataset's items that have each
label, most frequent first. Very skewed, as in the paper: a rule per label would starve.
"""
DIFFERS = (
    "The table has the 20 most frequent labels of every dataset; figures are made for the paper's "
    "dataset and those that are not the paper's."
)


def draws(dataset: str) -> bool:
    """The dataset whose labels the paper shows; and one of your own is worth the same look."""
    return shows_labels(dataset) or not printed_of(dataset)


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return stacked(label_distribution(market) for market in inputs.label_markets())


def label_distribution(market: LabelMarket) -> pd.DataFrame:
    """How many items truly have each label, most frequent first, ties by name."""
    counts = np.bincount(market.truth.indices, minlength=len(market.labels))
    order = np.lexsort((market.labels, -counts))
    order = order[counts[order] > 0]
    return pd.DataFrame(
        {
            "dataset": market.name,
            "label": market.labels[order],
            "items": counts[order],
            "share": counts[order] / len(market),
            "data": market.data,
        }
    )


def reading(table: pd.DataFrame) -> list[str]:
    lines = []
    for dataset, rows in table.groupby("dataset", sort=False):
        first, rare = rows.loc[rows["share"].idxmax()], (rows["share"] < 0.01).sum()
        lines.append(
            f"{dataset}: the most frequent of {len(rows):,} labels is “{first['label']}”, on "
            f"{percent(first['share'])} of the items; {rare:,} labels are on less than 1 %."
        )
    return lines


def shown(table: pd.DataFrame) -> pd.DataFrame:
    return table.groupby("dataset", sort=False).head(20).drop(columns="data")


BAR_COLOR = "#2f6f9f"
LABELS_SHOWN = 80
LABELS_PER_COLUMN = 40


@picture(TITLE, "dataset", "label", "share")
def plot_each(rows: pd.DataFrame) -> Figure:
    """Share of a dataset's items that have each label, most frequent first."""
    from matplotlib.ticker import MaxNLocator

    dataset = rows["dataset"].iloc[0]
    shown = rows.head(LABELS_SHOWN)
    starts = range(0, len(shown), LABELS_PER_COLUMN)
    columns = [shown.iloc[start : start + LABELS_PER_COLUMN] for start in starts]
    # The rarer labels mostly need less room: a narrower column of the same scale.
    most = shown["share"].iloc[0]
    widths = [max(part["share"].iloc[0] / most, 0.5) for part in columns]
    widest = 112 * most
    figure = new_figure(5.4 * sum(widths), 1.2 + 0.165 * len(columns[0]))
    axes = figure.subplots(1, len(columns), squeeze=False, width_ratios=widths)[0]
    for axis, part, width in zip(axes, columns, widths, strict=True):
        _label_bars(axis, part)
        axis.set_xlim(0, widest * width)
        axis.xaxis.set_major_locator(MaxNLocator(max(round(6 * width), 2), steps=[1, 2, 5, 10]))
    of_all = f"{len(shown)} most frequent of {len(rows):,}" if len(rows) > len(shown) else f"{len(rows)}"
    title_of(figure, f"{dataset}: how often each label occurs ({of_all} labels)")
    figure.supxlabel("items with the label (%)", fontsize=9)
    return figure


def _label_bars(axis: Axes, part: pd.DataFrame) -> None:
    places = np.arange(len(part))
    percent = part["share"].to_numpy() * 100
    axis.barh(places, percent, height=0.72, color=BAR_COLOR)
    axis.set_yticks(places, [short(str(label)) for label in part["label"]], fontsize=7.5)
    axis.set_ylim(len(part) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", color="#dddddd", linewidth=0.6)
    for place, value in zip(places, percent, strict=True):
        axis.annotate(
            f"{value:.2g}" if value < 1 else f"{value:.1f}",
            (value, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            color="#444444",
        )
