"""Markets: items, the services that answer them, and what each service costs."""

from frugalmct.market.extras import Extras
from frugalmct.market.interface import Evidence, Market
from frugalmct.market.known import Answered, Known, text_column
from frugalmct.market.labels import LabelMarket
from frugalmct.market.quality import QualityMarket
from frugalmct.market.settings import MarketSettings

__all__ = [
    "Answered",
    "Evidence",
    "Extras",
    "Known",
    "LabelMarket",
    "Market",
    "MarketSettings",
    "QualityMarket",
    "text_column",
]
