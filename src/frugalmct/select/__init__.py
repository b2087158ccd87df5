"""Choosing one service per item within a budget: exactly, by a price, online, or by a general solver."""

from frugalmct.select.dual import Frontier, dual_price, frontier
from frugalmct.select.methods import METHODS, available_methods, solve
from frugalmct.select.online import OnlineSelector
from frugalmct.select.problem import Problem, Solution

__all__ = [
    "METHODS",
    "Frontier",
    "OnlineSelector",
    "Problem",
    "Solution",
    "available_methods",
    "dual_price",
    "frontier",
    "solve",
]
