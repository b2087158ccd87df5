"""The services and what each costs."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.columns import DATA, MONEY, REASON, SERVICE, TASK, USUAL_UNIT, Column
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.printed import printed_of
from frugalmct.paper.wording import money, without_columns

TITLE = "Services and their prices"
SECTION = "paper"
NEEDS = ()
SETTINGS = ("tasks", "prices", "dropped", "units")
_PRICE = Column("price_usd_per_10k", "what 10,000 calls cost", unit=MONEY, head="price")
COLUMNS = (
    TASK, SERVICE, _PRICE, _PRICE.printed(),
    Column("datasets", "which datasets use it at this price", "text"),
    REASON, DATA,
)  # fmt: skip
CAPTION = """
The paper's table of services: what each costs, in USD per 10,000 calls, by task. The paper's "<0.01" for
the free models is 0.01 here.
"""
DIFFERS = "The paper's “<0.01” for the free models is 0.01 here."
DROPPED = "dropped, its answers are not in the release"


def applies(datasets: Mapping[str, str]) -> bool:
    """Prices of one's own services are known to their owner, in a unit of their own."""
    return any(map(printed_of, datasets))


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    """One row per task, service, price and kind of data, and which datasets use it.

    Services that were left out have a row too, with the reason instead of a price; datasets whose prices are
    in another unit have none.
    """
    rows: dict[tuple[Any, ...], list[str]] = {}
    for dataset, task in settings["tasks"].items():
        if settings["units"][dataset] != USUAL_UNIT:
            continue
        paper, data = printed_of(dataset).get("prices_usd_per_10k", {}), settings["data"][dataset]
        for service, price in settings["prices"][dataset].items():
            rows.setdefault((task, service, price, paper.get(service), None, data), []).append(dataset)
        for service in settings["dropped"].get(dataset, {}):
            rows.setdefault((task, service, None, paper.get(service), DROPPED, data), []).append(dataset)
    columns = ["task", "service", "price_usd_per_10k", "paper_price_usd_per_10k", "reason", "data"]
    table = pd.DataFrame(list(rows), columns=columns)
    return table.assign(datasets=[" ".join(names) for names in rows.values()])


def reading(table: pd.DataFrame) -> list[str]:
    table = table.dropna(subset=["price_usd_per_10k"])
    cheapest, highest = table["price_usd_per_10k"].min(), table["price_usd_per_10k"].max()
    paper = table["paper_price_usd_per_10k"].dropna()
    same = (table.loc[paper.index, "price_usd_per_10k"] - paper).abs().lt(1e-9).sum()
    return [
        f"{len(table)} prices of services ({listed(table['task'].unique())}), "
        f"from {money(cheapest)} to {money(highest)} per 10,000 calls.",
        f"{same} of {len(paper)} prices that the paper has are the same here.",
    ]


shown = without_columns("data")
