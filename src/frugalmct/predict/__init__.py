"""Accuracy predictors: from features of the base's answer to the accuracy of each combination."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from frugalmct.errors import FrugalError, listed
from frugalmct.predict.base import Predictor
from frugalmct.registry import Registry

PREDICTORS = Registry(
    "predictor",
    {
        "auto_sklearn": "frugalmct.predict.auto_sklearn:AutoSklearn",
        "extra_trees": "frugalmct.predict.extra_trees:ExtraTrees",
        "flaml": "frugalmct.predict.flaml:Flaml",
        "mean": "frugalmct.predict.mean:Mean",
        "random_forest": "frugalmct.predict.random_forest:RandomForest",
    },
)

__all__ = ["PREDICTORS", "Predictor", "make_predictor", "predictor_from_arrays"]


def make_predictor(name: str, **options: Any) -> Predictor:
    """An unfitted predictor; every one takes `jobs`, the number of threads, which never changes a result."""
    kind = PREDICTORS.load(name)
    known = list(inspect.signature(kind).parameters)
    unknown = [option for option in options if option not in known]
    if unknown:
        raise FrugalError(
            f"Predictor '{name}' has no option {listed(unknown)}; its options: {listed(known)}."
        )
    return kind(**options)


def predictor_from_arrays(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], jobs: int = 1
) -> Predictor:
    """The predictor that `to_arrays` described; nothing in the description is ever executed."""
    name = header.get("predictor") if isinstance(header, Mapping) else None
    if name not in PREDICTORS.names():
        raise FrugalError(
            f"The saved predictor is of kind '{name}'; known here: {listed(PREDICTORS.names())}."
        )
    return PREDICTORS.load(name).from_arrays(header, arrays, jobs=jobs)
