"""Which datasets a study looks at, and at what budget."""

from collections.abc import Mapping, Sequence
from typing import Any

from frugalmct.paper.config import selected_datasets
from frugalmct.paper.printed import printed_of
from frugalmct.paper.studies.registry import CALL_STUDIES

COMPARED = 3
# What is made of a dataset of one's own without being asked for: seconds, and it explains the answer.
LIGHT = ("per_label", "worked_examples")
ALL = "all"


def studied(study: str, settings: Mapping[str, Any], wanted: Mapping[str, float | None]) -> dict[str, float]:
    """Dataset of label sets -> budget: the wanted ones among those selected, and all that ask for the study.

    If that is none, the first of the paper's that is selected stands in.
    """
    blocks = settings["datasets"]
    names = [name for name in selected_datasets(settings) if not blocks[name].get("per_call")]
    found = [name for name in names if name in wanted or _asks(study, name, blocks[name])]
    found = found or [name for name in names if printed_of(name)][:1]
    return {name: studied_budget(blocks[name], wanted.get(name)) for name in found}


def studied_calls(study: str, settings: Mapping[str, Any]) -> list[str]:
    """The datasets whose calls have costs of their own that ask for the study; its budget is the middle one,
    which may be known only once their market is made."""
    blocks = settings["datasets"]
    names = [name for name in selected_datasets(settings) if blocks[name].get("per_call")]
    return [
        name
        for name in names
        if study in CALL_STUDIES and not {study, ALL}.isdisjoint(blocks[name]["studies"])
    ]


def _asks(study: str, name: str, block: Mapping[str, Any]) -> bool:
    light = study in LIGHT and not printed_of(name)
    return light or not {study, ALL}.isdisjoint(block["studies"])


def studied_budget(block: Mapping[str, Any], wanted: float | None = None) -> float:
    """The wanted budget if it pays for more than the base, or the middle one."""
    prices = block["prices"]
    floor = prices.get(block["base"], min(prices.values()))
    if wanted is not None and wanted > floor:
        return float(wanted)
    return block["budgets"][len(block["budgets"]) // 2]


def studied_budgets(budgets: Sequence[float]) -> list[float]:
    """Three from the lower half of a dataset's budgets: the higher ones often pay for whatever is wanted."""
    places = [len(budgets) * part // (2 * COMPARED) for part in range(1, COMPARED + 1)]
    return list(dict.fromkeys(budgets[place] for place in places))
