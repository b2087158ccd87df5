"""A block whose calls have costs of their own, or whose answers a quality: what its file says of itself.

Such a dataset goes another way through the workflow. Which way it is shows in the first line of its file,
for what one line has all lines have.
"""

from collections.abc import Mapping
from typing import Any

from frugalmct.paper.columns import USUAL_UNIT
from frugalmct.paper.config.sentences import ConfigPath, fail, shown, suggestion
from frugalmct.plans import AUTO

NONE = "none"
OF_ITEMS = ("auto", "text", "given", "labels")
"""What may be seen of an item there; elsewhere `text` may not."""

UNIT = "the unit of the recorded costs"


def is_per_call(block: Mapping[str, Any], first: Any) -> bool:
    """Whether a dataset goes this way; first: the first item of its file, None if it cannot be read."""
    if block["source"]["kind"] != "jsonl":
        return False
    told = isinstance(first, dict) and ("quality" in first or "costs" in first)
    # Nothing is known of a file that cannot be read: its loader says why.
    return told or block["base"] == NONE or (first is None and "prices" not in block)


def services_of(first: Any) -> list[str]:
    """The services of the first item, of either kind of answers."""
    answers = (first.get("quality") or first.get("predictions")) if isinstance(first, dict) else None
    return list(answers) if isinstance(answers, dict) else []


def has_costs(first: Any) -> bool:
    return isinstance(first, dict) and "costs" in first


def complete_per_call(path: ConfigPath, block: dict[str, Any], first: Any) -> dict[str, Any]:
    """Prices and budgets as numbers; without either where the costs in the file say all.

    Budgets that are not given are derived from the market, once it is made.
    """
    prices = {service: float(price) for service, price in block.get("prices", {}).items()}
    if first is not None and not prices and not has_costs(first):
        fail(
            path, "has no 'prices', and its file no costs; add one of them: what a call of each service costs"
        )
    _check_base(path, block["base"], services_of(first) or list(prices))
    if block["features"] not in OF_ITEMS:
        fail((*path, "features"), f"is {shown(block['features'])}{suggestion(block['features'], OF_ITEMS)}")
    budgets = sorted(float(budget) for budget in block.get("budgets", []))
    unit = block["unit"] or (UNIT if has_costs(first) else USUAL_UNIT)
    return block | {"prices": prices, "budgets": budgets, "per_call": True, "unit": unit}


def _check_base(path: ConfigPath, base: str | list[str], services: list[str]) -> None:
    for name in [base] if isinstance(base, str) else base:
        if services and name not in (*services, *([AUTO, NONE] if isinstance(base, str) else [])):
            fail(
                (*path, "base"),
                f"has {shown(name)}, which is no service{suggestion(name, [AUTO, NONE, *services])}",
            )
