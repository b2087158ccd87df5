"""Budgets that a dataset is swept over when none are given."""

import math
from collections.abc import Mapping
from itertools import pairwise

from frugalmct.plans import AUTO

BUDGET_POINTS = 14


def default_budgets(prices: Mapping[str, float], base: str = AUTO) -> list[float]:
    """From the base's price alone to that of the most expensive pair, every service's price among them.

    Gaps are halved on a square-root scale: savings show where the budget is small.
    """
    if base == AUTO:
        start, pair = min(prices.values()), sum(sorted(prices.values())[-2:])
    else:
        start = prices[base]
        pair = start + max((price for service, price in prices.items() if service != base), default=0.0)
    end = _rounded(1.05 * pair)
    marks = sorted({start, end, *(price for price in prices.values() if start < price < end)})
    gaps = list(pairwise(marks))
    while gaps and len(marks) < BUDGET_POINTS:
        low, high = gap = max(gaps, key=lambda gap: math.sqrt(gap[1]) - math.sqrt(gap[0]))
        gaps.remove(gap)
        middle = _rounded(((math.sqrt(low) + math.sqrt(high)) / 2) ** 2)
        if low < middle < high:
            marks.append(middle)
            gaps += [(low, middle), (middle, high)]
    return sorted(marks)


def _rounded(value: float) -> float:
    """To two significant digits."""
    return float(f"{value:.1e}")
