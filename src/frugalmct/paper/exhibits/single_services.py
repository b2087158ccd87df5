"""Each service alone: what the paper prints, what the authors' released answers measure, and this run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.columns import ACCURACY, DATASET, MONEY, SERVICE, Column
from frugalmct.paper.curves import DatasetResults, datasets_of
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.printed import best_service, printed_of, released_accuracy
from frugalmct.paper.wording import percent, points, without_columns

TITLE = "Services alone: paper, release and this run"
OWN_TITLE = "Each service alone"
SECTION = "data"
NEEDS = ("tradeoff",)
OF = (LABELS, CALLS)
SETTINGS = ("datasets",)
COLUMNS = (
    DATASET, SERVICE,
    Column("cost", "its price", unit=MONEY),
    ACCURACY, ACCURACY.printed(),
    Column("release_accuracy", "its accuracy in the authors' released answers", "share"),
    Column("release_minus_paper", "how far these two are apart", "share"),
)  # fmt: skip
CAPTION = """
Accuracy of each service alone: in this run, as the paper prints it (the best service of each dataset
only), and as the per-item accuracies that the authors released have it. On image labels paper and release
agree; on scene text and entities they differ.
"""
DIFFERS = (
    "The paper prints the best service of each dataset; the authors' released answers measure all of "
    "them, and on scene text and entities not what is printed."
)
# The paper prints accuracies in per cent with one digit.
PRINTED_DIGITS = 0.0005 + 1e-9


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return single_services(inputs.table("tradeoff"), settings["datasets"])


def single_services(tradeoff: pd.DataFrame, datasets: Sequence[str]) -> pd.DataFrame:
    """One row per dataset and service, the cheapest first; of the services the paper prints the best alone.

    Services that the paper has and this run has not are shown too: the release may measure them.
    """
    rows = [row for results in datasets_of(tradeoff, datasets) for row in _rows(results)]
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def _rows(results: DatasetResults) -> Iterator[dict[str, Any]]:
    found = results.singles.set_index("service")[["cost", "accuracy"]].to_dict("index")
    prices = printed_of(results.dataset).get("prices_usd_per_10k", {})
    absent = {service: {"cost": price} for service, price in prices.items() if service not in found}
    for service, numbers in sorted((found | absent).items(), key=lambda row: row[1]["cost"]):
        paper = best_service(results.dataset).get(service)
        released = released_accuracy(results.dataset, service)
        yield {
            "dataset": results.dataset,
            "service": service,
            **numbers,
            "paper_accuracy": paper,
            "release_accuracy": released,
            "release_minus_paper": None if paper is None or released is None else released - paper,
        }


def reading(table: pd.DataFrame) -> list[str]:
    printed = table.dropna(subset=["release_minus_paper"])
    apart = printed[printed["release_minus_paper"].abs() > PRINTED_DIGITS]
    differing = [f"{row.dataset} {points(row.release_minus_paper)}" for row in apart.itertuples()]
    both = table.dropna(subset=["accuracy", "release_accuracy"])
    if printed.empty and both.empty:
        return [*_best_alone(table)]
    lines = [
        f"Of {len(printed)} services that the paper prints, the release measures {len(differing)} differently"
        f"{f': {listed(differing)}' if differing else ''}."
    ]
    if len(both):
        largest = (both["accuracy"] - both["release_accuracy"]).abs().max()
        lines.append(f"This run is within {100 * largest:.1f} points of the release for every service.")
    return lines


def _best_alone(table: pd.DataFrame) -> Iterator[str]:
    for dataset, rows in table.dropna(subset=["accuracy"]).groupby("dataset", sort=False):
        best = rows.loc[rows["accuracy"].idxmax()]
        reached = f"{percent(best['accuracy'])} at {best['cost']:.3g}"
        yield f"{dataset}: {best['service']} alone is best, {reached}."


shown = without_columns("data")
