"""How a method is called and drawn: the same name, colour and mark in every figure and in the report."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from frugalmct.paper.names import (
    BEST_SINGLE,
    CLUSTERS,
    DAP,
    DAP_BEST_BASE,
    DUMMY,
    FRUGALMCT,
    FRUGALML,
    FRUGALML_COMBINED,
    FRUGALML_LEARNED,
    FRUGALML_THRESHOLDS,
    MAJORITY,
    MAJORITY_ABSTAINING,
    NEAREST,
    OFFLINE,
    ONLINE,
    ORACLE,
    PER_CALL,
    PLUS,
    RANDOM_MIX,
    SINGLE,
    THRESHOLD,
    WEIGHTED,
    WEIGHTED_ABSTAINING,
)


@dataclass(frozen=True)
class Look:
    """A method's name for readers, and its line: distinct in colour and in dashes or mark."""

    name: str
    color: str
    line: str = "-"
    marker: str = "o"


# Okabe and Ito's palette, whose colours the colour-blind can distinguish.
LOOKS = {
    ONLINE: Look("FrugalMCT", "#d55e00", "-", "o"),
    PLUS: Look("FrugalMCT plus", "#009e73", "-", "*"),
    PER_CALL: Look("FrugalMCT per call", "#d55e00", "-", "h"),
    OFFLINE: Look("FrugalMCT offline", "#000000", "--", "s"),
    DAP: Look("DAP (dummy predictor)", "#7d7d7d", "-.", "v"),
    FRUGALML: Look("FrugalML", "#0072b2", "-", "D"),
    MAJORITY: Look("Majority vote", "#e69f00", ":", "^"),
    WEIGHTED: Look("Weighted majority vote", "#cc79a7", ":", "P"),
    # Fairer forms keep the colour of what they are a form of.
    DAP_BEST_BASE: Look("DAP, best base", "#7d7d7d", ":", "<"),
    FRUGALML_THRESHOLDS: Look("FrugalML, θ per service", "#0072b2", "--", "d"),
    FRUGALML_COMBINED: Look("FrugalML, combined", "#0072b2", "-.", "p"),
    FRUGALML_LEARNED: Look("FrugalML, learned combiner", "#0072b2", ":", "H"),
    MAJORITY_ABSTAINING: Look("Majority vote, silent abstain", "#e69f00", ":", "1"),
    WEIGHTED_ABSTAINING: Look("Weighted vote, silent abstain", "#cc79a7", ":", "2"),
    THRESHOLD: Look("Threshold router", "#0072b2", "-", "s"),
    NEAREST: Look("Nearest neighbours", "#cc79a7", "-.", "P"),
    CLUSTERS: Look("Best per cluster", "#e69f00", "--", "^"),
    BEST_SINGLE: Look("Best service", "#4d4d4d", ":", "X"),
    RANDOM_MIX: Look("Random mix", "#b59f00", ":", "."),
    ORACLE: Look("Oracle", "#56b4e9", "-", "."),
}
ALIASES = {FRUGALMCT: ONLINE, "online": ONLINE, "offline": OFFLINE}
SERVICE_LOOK = Look("Single service", "#4d4d4d", ":", "X")
OTHER_COLORS = ("#332288", "#882255", "#117733", "#999933", "#aa4499")


def look_of(method: str) -> Look:
    """A known method's look; a service or a method of somebody else's gets one under its own name."""
    method = ALIASES.get(method, method)
    if method in LOOKS:
        return LOOKS[method]
    if method.startswith(SINGLE):
        return replace(SERVICE_LOOK, name=method.removeprefix(SINGLE))
    return Look(method, OTHER_COLORS[sum(method.encode()) % len(OTHER_COLORS)])


def name_of(method: str) -> str:
    return look_of(method).name


def predictor_name(predictor: str) -> str:
    return "dummy (DAP)" if predictor == DUMMY else predictor.replace("_", " ")


def in_order(methods: Iterable[str]) -> list[str]:
    """Known methods in the order above, services and others after them as they come."""
    places = {method: place for place, method in enumerate(LOOKS)}
    known = list(dict.fromkeys(methods))
    return sorted(known, key=lambda method: places.get(ALIASES.get(method) or method, len(places)))
