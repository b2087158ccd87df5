"""What the paper prints, and what the authors' released answers measure."""

from functools import cache
from importlib import resources
from typing import Any

import yaml

NOTHING: tuple[None, None] = (None, None)

APPENDIX_PRICES = {"SSD": 15.0, "PP-OCR": 3.75, "spaCy": 0.0375}
"""What the models that the paper calls free cost by its appendix, USD per 10,000: at 0.90 an hour."""


@cache
def printed() -> dict[str, dict[str, Any]]:
    """Dataset -> facts: sizes, prices, printed results, released measurements, simulation targets."""
    text = resources.files("frugalmct").joinpath("paper/paper.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def printed_of(dataset: str) -> dict[str, Any]:
    """The paper's facts of one dataset; empty for a dataset that the paper does not have."""
    return printed().get(dataset, {})


def best_service(dataset: str) -> dict[str, float]:
    """The paper's best service of a dataset -> the accuracy it prints of it; empty where it prints none."""
    best = printed_of(dataset).get("paper", {}).get("best_api")
    return {best["service"]: best["accuracy_pct"] / 100} if best else {}


def released_accuracy(dataset: str, service: str) -> float | None:
    """A service's mean accuracy in the authors' release, which is not always what the paper prints."""
    return printed_of(dataset).get("release_measured", {}).get("accuracy_mean", {}).get(service)


def shows_labels(dataset: str) -> bool:
    """Whether the paper has a figure of how often the dataset's labels occur."""
    return printed_of(dataset).get("label_figure", False)


def printed_case(dataset: str, budget: float) -> dict[str, Any]:
    """The paper's numbers of a case study: empty groups for any but its own."""
    case = printed_of(dataset).get("case_study", {})
    if case.get("budget") == budget:
        return case
    return {"shares": {}, "dual_price": None, "comparison": {}, "seconds": {}}
