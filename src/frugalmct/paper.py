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
