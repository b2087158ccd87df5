"""Markets: items, the services that answer them, and what each service costs."""

from frugalmct.market.interface import Evidence, Market
from frugalmct.market.labels import LabelMarket
from frugalmct.market.settings import MarketSettings

__all__ = ["Evidence", "LabelMarket", "Market", "MarketSettings"]
