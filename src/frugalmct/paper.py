"""The numbers the paper prints, and what the authors' released answers measure."""

from functools import cache
from importlib import resources
from typing import Any

import yaml


@cache
def paper_figures() -> dict[str, dict[str, Any]]:
    """Dataset -> facts: sizes, prices, printed results, released measurements, simulation targets."""
    text = resources.files("frugalmct").joinpath("reference/paper.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def figures_of(dataset: str) -> dict[str, Any]:
    """The paper's facts of one dataset; empty for a dataset that the paper does not have."""
    return paper_figures().get(dataset, {})


def best_service(dataset: str) -> dict[str, float]:
    """The paper's best service of a dataset -> the accuracy it prints of it; empty where it prints none."""
    best = figures_of(dataset).get("paper", {}).get("best_api")
    return {best["service"]: best["accuracy_pct"] / 100} if best else {}


def released_accuracy(dataset: str, service: str) -> float | None:
    """A service's mean accuracy in the authors' release, which is not always what the paper prints."""
    return figures_of(dataset).get("release_measured", {}).get("accuracy_mean", {}).get(service)
