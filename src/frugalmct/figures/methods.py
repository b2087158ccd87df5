"""How each method is called and drawn: the same name, colour and mark in every picture and in the report."""

from collections.abc import Iterable
from dataclasses import dataclass

SINGLE = "single:"


@dataclass(frozen=True)
class Look:
    """A method's name for readers, and its line: told apart by colour and by dashes or mark."""

    name: str
    color: str
    line: str = "-"
    marker: str = "o"


# Okabe and Ito's palette, which the colour-blind can tell apart.
LOOKS = {
    "frugalmct_online": Look("FrugalMCT", "#d55e00", "-", "o"),
    "frugalmct_offline": Look("FrugalMCT offline", "#000000", "--", "s"),
    "dap": Look("DAP (dummy predictor)", "#7d7d7d", "-.", "v"),
    "frugalml": Look("FrugalML", "#0072b2", "-", "D"),
    "majority_vote": Look("Majority vote", "#009e73", ":", "^"),
    "weighted_majority_vote": Look("Weighted majority vote", "#cc79a7", ":", "P"),
    "best_single": Look("Best service", "#4d4d4d", ":", "X"),
    "random_mix": Look("Random mix", "#b59f00", ":", "."),
    "oracle": Look("Oracle", "#56b4e9", "-", "."),
}
ALIASES = {"frugalmct": "frugalmct_online", "online": "frugalmct_online", "offline": "frugalmct_offline"}
SERVICE_LOOK = Look("Single service", "#4d4d4d", ":", "X")
OTHER_COLORS = ("#332288", "#882255", "#117733", "#999933", "#aa4499")


def look_of(method: str) -> Look:
    """A known method's look; a service or a method of somebody else's gets one under its own name."""
    method = ALIASES.get(method, method)
    if method in LOOKS:
        return LOOKS[method]
    if method.startswith(SINGLE):
        return Look(method.removeprefix(SINGLE), SERVICE_LOOK.color, SERVICE_LOOK.line, SERVICE_LOOK.marker)
    return Look(method, OTHER_COLORS[sum(method.encode()) % len(OTHER_COLORS)])


def name_of(method: str) -> str:
    return look_of(method).name


def in_order(methods: Iterable[str]) -> list[str]:
    """Known methods in the order above, services and others after them as they come."""
    places = {method: place for place, method in enumerate(LOOKS)}
    known = list(dict.fromkeys(methods))
    return sorted(known, key=lambda method: places.get(ALIASES.get(method, method), len(places)))
