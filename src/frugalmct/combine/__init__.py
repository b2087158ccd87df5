"""Combining answers: one label set out of the base's answer and an add-on's."""

from frugalmct.combine.combiners import Combiners, fit_combiners, fit_market_combiners
from frugalmct.combine.weight_threshold import WeightThreshold, combine, mean_metric, search

__all__ = [
    "Combiners",
    "WeightThreshold",
    "combine",
    "fit_combiners",
    "fit_market_combiners",
    "mean_metric",
    "search",
]
