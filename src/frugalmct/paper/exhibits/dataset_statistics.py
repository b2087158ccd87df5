"""The datasets and their sizes, beside the paper's."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from frugalmct.market import Market
from frugalmct.paper.columns import DATA, DATASET, TASK, Column
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.printed import printed_of
from frugalmct.paper.wording import counted, percent, without_columns

TITLE = "Datasets"
SECTION = "paper"
NEEDS = ("markets",)
OF = (LABELS, CALLS)
SETTINGS = ("dropped",)
_COUNTS = (
    Column("items", "how many items"),
    Column("label_occurrences", "true labels over all items"),
    Column("distinct_labels", "different true labels"),
)
COLUMNS = (
    DATASET, TASK, *_COUNTS,
    Column("labels_per_item", "mean number of true labels"),
    Column("largest_label_set", "the most true labels of an item"),
    *(column.printed() for column in _COUNTS),
    DATA,
    Column("dropped_services", "services left out since their answers are missing", "text"),
)  # fmt: skip
CAPTION = """
The paper's table of datasets: items, label occurrences, distinct labels, with the paper's own numbers
beside them; answers with a quality have no labels. At a scale below 1 there are fewer items than in the
paper.
"""
DIFFERS = "Numbers of items follow the setting “scale”; simulated data have the paper's sizes at scale 1."


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame([_row(market, settings["dropped"]) for market in inputs.markets()])


def _row(market: Market, dropped: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    statistics, paper = market.statistics(), printed_of(market.name)
    counts = [column.name for column in _COUNTS]
    return (
        {"dataset": market.name, "task": market.task}
        | {name: statistics.get(name) for name in (*counts, "labels_per_item", "largest_label_set")}
        | {f"paper_{name}": paper.get(name) for name in counts}
        | {"data": market.data, "dropped_services": ", ".join(dropped.get(market.name, {})) or None}
    )


def reading(table: pd.DataFrame) -> list[str]:
    simulated, released = ((table["data"] == kind).sum() for kind in ("simulated", "release"))
    known = table.dropna(subset=["paper_items"])
    share = known["items"].sum() / known["paper_items"].sum() if len(known) else float("nan")
    what = f"{counted(len(table), 'dataset')} with {table['items'].sum():,} items"
    if set(table["data"]) == {"recorded"}:
        return [f"{what}, recorded."]
    return [
        f"{what}; {simulated} of them simulated, {released} from the authors' release.",
        f"Of the paper's datasets {percent(share, 0)} of the items are used here."
        if len(known)
        else "None of them is the paper's.",
    ]


shown = without_columns()
