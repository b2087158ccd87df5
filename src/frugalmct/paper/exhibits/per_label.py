"""Precision and recall of every label, method by method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.columns import BUDGET, DATA, DATASET, METHOD, Column
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.looks import in_order, look_of, name_of
from frugalmct.paper.names import FRUGALMCT, ONLINE, SINGLE
from frugalmct.paper.plotting import new_figure, picture, short, title_of
from frugalmct.suspicions import FEWEST_TEST_ITEMS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

TITLE = "Precision and recall by label"
SECTION = "paper"
NEEDS = ("studies/per_label",)
COLUMNS = (
    DATASET, BUDGET, METHOD,
    Column("label", "a label", "text"),
    Column("occurrences", "test items that truly have it"),
    Column("predicted", "test items for which it was given"),
    Column("correct", "test items for which it was given and is true"),
    Column("precision", "correct as a share of predicted", "share"),
    Column("recall", "correct as a share of occurrences", "share"),
    DATA,
)  # fmt: skip
CAPTION = """
The paper's precision and recall per class, as one heatmap instead of six bar charts: one row per label,
most frequent first, one column per method: each service alone, the majority vote, and FrugalMCT at the
case study's budget. Empty where a label is never predicted (precision) or never true (recall) among the
test items. A label with a star is true of fewer than 50 test items, where chance decides.
"""
DIFFERS = "One heatmap instead of six bar charts."


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return inputs.study("per_label")


def reading(table: pd.DataFrame) -> list[str]:
    table = table[table["dataset"] == table["dataset"].iloc[0]]
    whole, table = table, table[~is_rare(table)]
    rare = whole["label"].nunique() - table["label"].nunique()
    chance = (
        f"{rare} of {whole['label'].nunique()} labels are true of fewer than {FEWEST_TEST_ITEMS} test items"
    )
    if table.empty:
        return [f"{chance}: chance decides, and nothing is said of them."]
    recall = table.pivot_table(index="label", columns="method", values="recall", aggfunc="mean")
    ours = next((name for name in (FRUGALMCT, ONLINE) if name in recall), None)
    single = [name for name in recall if str(name).startswith(SINGLE)]
    lines = []
    if ours and single:
        best = (recall[ours] >= recall[single].max(axis=1) - 1e-9).sum()
        lines.append(
            f"FrugalMCT's recall is at or above every single service's on {best} of {len(recall)} labels."
        )
        never = table[(table["method"] == ours) & (table["predicted"] == 0)]["label"]
        shown = f", such as {listed(never.astype(str).head(8))}" if len(never) else ""
        lines.append(f"Labels that it never predicts: {len(never)}{shown}.")
    if rare:
        lines.append(f"{chance}; they are marked with a star, and not counted here.")
    return lines


def is_rare(rows: pd.DataFrame) -> pd.Series:
    """Where a label's recall rests on so few items that chance decides."""
    return rows["occurrences"] < FEWEST_TEST_ITEMS


def marked(label: object, rare: bool) -> str:
    return f"{label} *" if rare else str(label)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """One row per label, most frequent first, with precision and recall of every method side by side."""
    methods = in_order(table["method"].astype(str))
    stars = [marked(label, rare) for label, rare in zip(table["label"], is_rare(table), strict=True)]
    table = table.assign(label=stars)
    keys = ["dataset", "label", "occurrences"]
    wide = table.pivot_table(index=keys, columns="method", values=["precision", "recall"], sort=False)
    order = [(measure, method) for measure in ("precision", "recall") for method in methods]
    wide = wide.reindex(columns=order)
    wide.columns = [f"{measure} {name_of(method)}" for measure, method in order]
    wide = wide.reset_index()
    return wide if wide["dataset"].nunique() > 1 else wide.drop(columns="dataset")


LABELS_SHOWN = 80
NEVER_PREDICTED = "#e8e4da"


@picture(TITLE, "dataset", "method", "label", "occurrences")
def plot_each(rows: pd.DataFrame) -> Figure:
    """One row per label, most frequent first; one column per method; dark is good."""
    dataset = rows["dataset"].iloc[0]
    labels = _most_frequent(rows)
    methods = in_order(rows["method"].astype(str))[::-1]
    figure = new_figure(2.4 + 2 * 0.36 * len(methods) + 0.6, 1.9 + 0.135 * len(labels))
    axes = figure.subplots(1, 2, sharey=True)
    for axis, measure in zip(axes, ("precision", "recall"), strict=True):
        image = _heatmap(axis, rows, measure, labels, methods)
    rare = rows.groupby("label")["occurrences"].max() < FEWEST_TEST_ITEMS
    names = [marked(short(str(label)), rare[label]) for label in labels]
    axes[0].set_yticks(np.arange(len(labels)), names, fontsize=6.8)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=40, pad=0.01)
    bar.set_label("%, and beige: never predicted", fontsize=8)
    known = rows["label"].nunique()
    of_all = f", {len(labels)} most frequent of {known:,}" if known > len(labels) else ""
    title_of(figure, f"{dataset}: precision, recall{of_all}")
    return figure


def _most_frequent(rows: pd.DataFrame) -> list[str]:
    counts = rows.groupby("label")["occurrences"].max().reset_index()
    ordered = counts.sort_values(["occurrences", "label"], ascending=[False, True])
    return list(ordered["label"].head(LABELS_SHOWN))


def _heatmap(
    axis: Axes, rows: pd.DataFrame, measure: str, labels: list[str], methods: list[str]
) -> AxesImage:
    values = rows.pivot_table(index="label", columns="method", values=measure, aggfunc="mean")
    shares = 100 * values.reindex(index=labels, columns=methods).to_numpy(dtype=float)
    axis.set_facecolor(NEVER_PREDICTED)
    image = axis.imshow(
        np.ma.masked_invalid(shares), aspect="auto", cmap="cividis_r", vmin=0, vmax=100, interpolation="none"
    )
    axis.set_xticks(
        np.arange(len(methods)), [short(look_of(method).name, 22) for method in methods],
        rotation=40, ha="left", rotation_mode="anchor", fontsize=7.5,
    )  # fmt: skip
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.set_xlabel(measure)
    for spine in axis.spines.values():
        spine.set_visible(False)
    axis.set_xticks(np.arange(len(methods) - 1) + 0.5, minor=True)
    axis.grid(which="minor", color="white", linewidth=1.5)
    axis.tick_params(which="minor", length=0)
    return image
