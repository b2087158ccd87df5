"""Where markets come from: one loader per source format, each returning a `Market`.

A loader is called as `load(name, block, seed=..., scale=...)` with the dataset's block of the config.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from frugalmct.errors import FrugalError
from frugalmct.market import Market, MarketSettings
from frugalmct.registry import Registry

SOURCES = Registry(
    "source kind",
    {
        "frugalmct": "frugalmct.sources.frugalmct:load",
        "frugalml": "frugalmct.sources.frugalml:load",
        "jsonl": "frugalmct.sources.jsonl:load",
        "simulated": "frugalmct.sources.simulated:load",
    },
)


def load_market(name: str, block: Mapping[str, Any], *, seed: int = 0, scale: float = 1.0) -> Market:
    """The market that a dataset's config block describes, with the share `scale` of its items.

    What the block says beside its source (`labels_per_item`, `metric`, ...) goes along as `market.settings`.
    """
    if not 0 < scale <= 1:
        raise FrugalError(f"{name}: scale is {scale}; it is the share of the items used, in (0, 1].")
    return as_described(SOURCES.load(block["source"]["kind"])(name, block, seed=seed, scale=scale), block)


def as_described(market: Market, block: Mapping[str, Any]) -> Market:
    """At the prices of a dataset's block, but where calls have costs of their own, and with its settings."""
    if market.extras.costs is None and block.get("prices"):
        prices = [block["prices"][service] for service in market.services]
        market = market.with_prices(np.array(prices, dtype=np.float64))
    object.__setattr__(market, "settings", MarketSettings.of_block(block))  # markets are frozen once made
    return market
