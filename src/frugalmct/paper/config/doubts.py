"""What a configuration allows but hardly means: prices and budgets that do not fit together."""

from collections.abc import Iterator, Mapping
from typing import Any

from frugalmct.paper.config.sources import selected_datasets
from frugalmct.suspicions import of_prices_and_budgets


def doubts(config: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the datasets that are run, of a configuration that was found valid."""
    for name in selected_datasets(config):
        yield from (f"{name}: {sentence}" for sentence in dataset_doubts(config["datasets"][name]))


def dataset_doubts(block: Mapping[str, Any]) -> Iterator[str]:
    return of_prices_and_budgets(block["prices"], block["budgets"], block["unit"])
