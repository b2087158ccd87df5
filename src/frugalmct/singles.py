"""Each service alone: what the paper prints, what the authors' released answers measure, and this run."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from frugalmct.paper import best_service, figures_of, released_accuracy
from frugalmct.results import DatasetResults

COLUMNS = [
    "dataset", "service", "cost", "accuracy", "paper_accuracy", "release_accuracy", "release_minus_paper",
]  # fmt: skip


def single_services(tradeoff: pd.DataFrame, datasets: Sequence[str]) -> pd.DataFrame:
    """One row a dataset and service, the cheapest first; of the services the paper prints the best alone.

    Services that the paper has and this run has not are shown too: the release may measure them.
    """
    rows = [row for dataset in datasets for row in _rows(DatasetResults(tradeoff, dataset))]
    return pd.DataFrame(rows, columns=COLUMNS)


def _rows(results: DatasetResults) -> Iterator[dict[str, Any]]:
    found = results.singles.set_index("service")[["cost", "accuracy"]].to_dict("index")
    prices = figures_of(results.dataset).get("prices_usd_per_10k", {})
    absent = {service: {"cost": price} for service, price in prices.items() if service not in found}
    for service, numbers in sorted((found | absent).items(), key=lambda row: row[1]["cost"]):
        printed = best_service(results.dataset).get(service)
        released = released_accuracy(results.dataset, service)
        known = printed is not None and released is not None
        yield {
            "dataset": results.dataset,
            "service": service,
            **numbers,
            "paper_accuracy": printed,
            "release_accuracy": released,
            "release_minus_paper": released - printed if known else None,
        }
