"""The tables of results/tables: how they are written, and those that describe the data."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.files import replacing
from frugalmct.market import Market
from frugalmct.paper import figures_of

# Ten significant digits keep every count whole and drop the last bits, in which machines may differ.
FLOAT_FORMAT = "%.10g"

# Columns that hold names: a dataset may be called 007.
NAMES = (
    "dataset",
    "task",
    "method",
    "base",
    "service",
    "best_service",
    "label",
    "target",
    "status",
    "reason",
)


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """One CSV: the same bytes for the same numbers."""
    with replacing(path) as temporary:
        table.to_csv(temporary, index=False, float_format=FLOAT_FORMAT, lineterminator="\n", encoding="utf-8")


def read_table(path: str | Path) -> pd.DataFrame:
    """What `write_table` wrote; a label such as "NA", "null" or "007" stays text."""
    return pd.read_csv(
        path, keep_default_na=False, na_values=[""], encoding="utf-8", dtype=dict.fromkeys(NAMES, "str")
    )


def data_kind(market: Market) -> str:
    """`released`: what real services answered, published by the authors; `recorded`: a file of one's own."""
    if market.simulated:
        return "simulated"
    return "released" if market.released else "recorded"


Dropped = Mapping[str, Mapping[str, Any]]


def describe_markets(
    markets: Iterable[Market], dropped: Dropped | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Statistics and label distributions, in one pass: give a generator and one market is held at a time.

    `dropped` has, for a dataset, the services that were left out since their answers are missing.
    """
    rows, labels = [], []
    for market in markets:
        without = (dropped or {}).get(market.name, {})
        rows.append(dataset_statistics(market) | {"dropped_services": ", ".join(without) or None})
        labels.append(label_distribution(market))
    return pd.DataFrame(rows), stacked(labels)


def stacked(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True)


def dataset_statistics(market: Market) -> dict[str, Any]:
    """A row of the paper's table of datasets, with the paper's own numbers beside ours."""
    statistics, paper = market.statistics(), figures_of(market.name)
    counts = ("items", "label_occurrences", "distinct_labels")
    return (
        {"dataset": market.name, "task": market.task}
        | {name: statistics[name] for name in (*counts, "labels_per_item")}
        | {f"paper_{name}": paper.get(name) for name in counts}
        | {"data": data_kind(market)}
    )


def label_distribution(market: Market) -> pd.DataFrame:
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
            "data": data_kind(market),
        }
    )


def service_prices(datasets: Mapping[str, Mapping[str, Any]], dropped: Dropped | None = None) -> pd.DataFrame:
    """The paper's table of services: one row per task, service and price, and which datasets use it.

    Services that were left out have a row too, with the reason instead of a price.
    """
    rows: dict[tuple[Any, ...], list[str]] = {}
    for dataset, block in datasets.items():
        paper = figures_of(dataset).get("prices_usd_per_10k", {})
        for service, price in block["prices"].items():
            rows.setdefault((block["task"], service, price, paper.get(service), None), []).append(dataset)
        for service in (dropped or {}).get(dataset, {}):
            reason = "dropped, its answers are not in the release"
            rows.setdefault((block["task"], service, None, paper.get(service), reason), []).append(dataset)
    columns = ["task", "service", "price_usd_per_10k", "paper_price_usd_per_10k", "reason"]
    table = pd.DataFrame(list(rows), columns=columns)
    table.insert(4, "datasets", [" ".join(names) for names in rows.values()])
    return table
