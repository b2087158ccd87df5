"""Which datasets a study looks at, and at what budget."""

from collections.abc import Mapping, Sequence
from typing import Any

from frugalmct.paper.config import selected_datasets
from frugalmct.paper.printed import printed_of

COMPARED = 3


def studied(settings: Mapping[str, Any], wanted: Mapping[str, float | None]) -> dict[str, float]:
    """Dataset -> budget: the wanted ones among those selected, and every dataset that is not the paper's.

    If that is none, the first dataset selected stands in. Where no budget is wanted, or the wanted one pays
    for no more than the base, it is the middle one of the dataset's.
    """
    names = selected_datasets(settings)
    found = [name for name in names if name in wanted or not printed_of(name)] or names[:1]
    return {name: _budget(settings["datasets"][name], wanted.get(name)) for name in found}


def _budget(block: Mapping[str, Any], wanted: float | None) -> float:
    prices = block["prices"]
    floor = prices.get(block["base"], min(prices.values()))
    if wanted is not None and wanted > floor:
        return float(wanted)
    return block["budgets"][len(block["budgets"]) // 2]


def studied_budgets(budgets: Sequence[float]) -> list[float]:
    """Three from the lower half of a dataset's budgets: the higher ones often pay for whatever is wanted."""
    places = [len(budgets) * part // (2 * COMPARED) for part in range(1, COMPARED + 1)]
    return list(dict.fromkeys(budgets[place] for place in places))
