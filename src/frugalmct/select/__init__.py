"""Choosing one service per item within a budget: exactly, at a dual price, online, or by a general solver."""

from frugalmct.select.dual import Frontier, dual_price, frontier
from frugalmct.select.methods import METHODS, available_methods, solve
from frugalmct.select.online import OnlineSelector
from frugalmct.select.problem import Problem, Solution, chosen, mean_cost

__all__ = [
    "METHODS",
    "Frontier",
    "OnlineSelector",
    "Problem",
    "Solution",
    "available_methods",
    "chosen",
    "dual_price",
    "frontier",
    "mean_cost",
    "solve",
]
