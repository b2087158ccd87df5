"""What a configuration allows but hardly means: prices and budgets that do not fit together."""

from collections.abc import Iterator, Mapping
from typing import Any

from frugalmct.paper.config.sources import selected_datasets
from frugalmct.suspicions import of_prices_and_budgets, prices_of_one_call

USUAL_UNIT = "10,000"


def doubts(config: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the datasets that are run, of a configuration that was found valid."""
    for name in selected_datasets(config):
        yield from (f"{name}: {sentence}" for sentence in dataset_doubts(config["datasets"][name]))


def dataset_doubts(block: Mapping[str, Any]) -> Iterator[str]:
    yield from of_prices_and_budgets(block["prices"], block["budgets"])
    if USUAL_UNIT in block["unit"]:
        yield from prices_of_one_call(block["prices"])
