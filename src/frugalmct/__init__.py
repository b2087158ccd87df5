"""FrugalMCT: which paid ML services to call for each input, within a budget.

The names below are loaded when they are first used: `import frugalmct` alone loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frugalmct.errors import FrugalError
    from frugalmct.live.budget import Budget
    from frugalmct.live.router import Router
    from frugalmct.market import Evidence, LabelMarket, Market, QualityMarket
    from frugalmct.model import Learning
    from frugalmct.percall import PerCallStrategy
    from frugalmct.select import OnlineSelector, Problem, dual_price, frontier, solve
    from frugalmct.strategy import Strategy

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "Evidence",
    "FrugalError",
    "LabelMarket",
    "Learning",
    "Market",
    "OnlineSelector",
    "PerCallStrategy",
    "Problem",
    "QualityMarket",
    "Router",
    "Strategy",
    "dual_price",
    "frontier",
    "solve",
]

_HOMES = {
    "Budget": "frugalmct.live.budget",
    "Evidence": "frugalmct.market",
    "FrugalError": "frugalmct.errors",
    "LabelMarket": "frugalmct.market",
    "Learning": "frugalmct.model",
    "Market": "frugalmct.market",
    "OnlineSelector": "frugalmct.select",
    "PerCallStrategy": "frugalmct.percall",
    "Problem": "frugalmct.select",
    "QualityMarket": "frugalmct.market",
    "Router": "frugalmct.live.router",
    "Strategy": "frugalmct.strategy",
    "dual_price": "frugalmct.select",
    "frontier": "frugalmct.select",
    "solve": "frugalmct.select",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'frugalmct' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
