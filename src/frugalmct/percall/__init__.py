"""Services whose every call has its own cost, and of which one's answer stands: LLMs above all.

Some services may be asked first, or none; from what is then known of an item, its text and its numbers
included, one service is chosen, at estimated costs and within a budget that holds on true ones.
"""

from frugalmct.percall.parts import PerCallPlan
from frugalmct.percall.spending import Spending
from frugalmct.percall.strategy import PerCallEvaluation, PerCallStrategy, is_per_call

__all__ = ["PerCallEvaluation", "PerCallPlan", "PerCallStrategy", "Spending", "is_per_call"]
