"""What a configuration allows but hardly means: prices and budgets that do not fit together."""

from collections.abc import Iterator, Mapping
from typing import Any

from frugalmct.paper.config.sources import selected_datasets
from frugalmct.suspicions import of_prices_and_budgets


def doubts(config: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the datasets that are run, of a configuration that was found valid."""
    for name in selected_datasets(config):
        yield from (f"{name}: {sentence}" for sentence in dataset_doubts(config["datasets"][name]))


def dataset_doubts(block: Mapping[str, Any], mean_costs: Mapping[str, float] | None = None) -> Iterator[str]:
    """mean_costs: what a call of each service costs on average, where the data say it and the block does not;
    it is known only once they are read."""
    return of_prices_and_budgets(block["prices"] or mean_costs or {}, block["budgets"], block["unit"])
