"""A strategy of FrugalMCT plus as one file of plain arrays: nothing in it is ever executed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile, text_array
from frugalmct.cascade import STEPS, State, checked_state, joined
from frugalmct.checks import MAX_MONEY
from frugalmct.errors import FrugalError, listed
from frugalmct.features import FeatureMap
from frugalmct.files import replacing
from frugalmct.metrics import METRICS
from frugalmct.plus.states import Combiner, StateFeatures, StateModel, combiner_from_arrays
from frugalmct.plus.training import PlusPlan
from frugalmct.predict import predictor_from_arrays
from frugalmct.values import MAX_SERVICES, Fields, shown

FORMAT = "frugalmct-plus-1"


@dataclass(frozen=True, eq=False)
class Parts:
    """All that a strategy is made of."""

    services: tuple[str, ...]
    prices: NDArray[np.float64]
    labels: NDArray[np.str_]
    metric: str
    features: StateFeatures
    plans: Sequence[PlusPlan]
    combiners: Mapping[State, Combiner]
    models: Mapping[State, StateModel]


def write_parts(parts: Parts, path: str | Path) -> None:
    described, arrays = [], {}
    for number, (state, combiner) in enumerate(parts.combiners.items()):
        row, own = _described(state, combiner, parts.models.get(state))
        described.append(row)
        arrays |= {f"state{number}.{name}": array for name, array in own.items()}
    header = {
        "format": FORMAT,
        "services": list(parts.services),
        "labels": parts.labels.tolist(),
        "metric": parts.metric,
        "features": parts.features.features.to_dict(),
        "plans": [
            {"budget": plan.budget, "start": list(plan.start), "dual_price": plan.dual_price}
            for plan in parts.plans
        ],
        "states": described,
    }
    text = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), dtype=np.uint8)
    with replacing(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, header=text, prices=np.asarray(parts.prices, np.float64), **arrays)


def _described(
    state: State, combiner: Combiner, model: StateModel | None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the header says of a state, and its arrays."""
    header, own = combiner.to_arrays()
    arrays = {f"combiner.{name}": array for name, array in own.items()}
    row = {"state": list(state), "combiner": header, "model": None}
    if model is not None:
        predictor, own = model.predictor.to_arrays()
        row["model"] = {"choices": list(model.choices), "predictor": predictor}
        arrays |= {f"model.{name}": array for name, array in own.items()}
    return row, arrays


def read_parts(file: ArrayFile) -> Parts:
    header = file.header(FORMAT)
    services = tuple(header.names("services", most=MAX_SERVICES))
    prices = file.prices(len(services))
    labels = text_array("its labels", header.names("labels"))
    features = StateFeatures(FeatureMap.from_dict(header.take("features")), len(labels))
    combiners, models = {}, {}
    for number, row in enumerate(header.rows("states")):
        state, combiner, model = _read_state(row, file, f"state{number}.", features, len(services))
        if state in combiners:
            raise FrugalError(f"it has the state {list(state)} twice")
        combiners[state] = combiner
        if model is not None:
            models[state] = model
    plans = [_read_plan(row, len(services)) for row in header.rows("plans")]
    parts = Parts(services, prices, labels, header.text("metric"), features, plans, combiners, models)
    header.done()
    _check_parts(parts)
    return parts


def _read_state(
    row: Any, file: ArrayFile, prefix: str, features: StateFeatures, services: int
) -> tuple[State, Combiner, StateModel | None]:
    fields = Fields("a state", row)
    state = _state(fields.take("state"), services)
    combiner = combiner_from_arrays(fields.take("combiner"), file.group(f"{prefix}combiner."), len(state))
    described = fields.take("model")
    fields.done()
    if described is None:
        return state, combiner, None
    own = Fields("a model", described)
    listed_choices = own.take("choices")
    choices = _state(listed_choices, services) if listed_choices != [] else ()
    predictor = predictor_from_arrays(own.take("predictor"), file.group(f"{prefix}model."))
    own.done()
    if set(choices) & set(state) or predictor.services != 1 + len(choices):
        raise FrugalError(f"the model of state {list(state)} does not fit its choices {list(choices)}")
    if not features.can_give(predictor.columns, len(state)):
        raise FrugalError(f"a model wants {predictor.columns} columns, which its features do not give")
    return state, combiner, StateModel(choices, predictor, services)


def _read_plan(row: Any, services: int) -> PlusPlan:
    fields = Fields("a plan", row)
    plan = PlusPlan(
        fields.number("budget", least=0, most=MAX_MONEY),
        _state(fields.take("start"), services),
        fields.number("dual_price", least=0),
    )
    fields.done()
    return plan


def _state(value: Any, services: int) -> State:
    if type(value) is not list or not all(type(number) is int for number in value):
        raise FrugalError(f"a state is {shown(value)}; it must be a list of service numbers")
    return checked_state("its header", tuple(value), services)


def _check_parts(parts: Parts) -> None:
    """That the parts of a file belong together."""
    paid = [float(parts.prices[list(plan.start)].sum()) <= plan.budget for plan in parts.plans]
    ends = {joined(state, choice) for state, model in parts.models.items() for choice in model.choices}
    checks = {
        f"its metric must be one of {listed(METRICS)}": parts.metric in METRICS,
        "it has two plans for one budget": len({plan.budget for plan in parts.plans}) == len(parts.plans),
        "a plan starts at a state without a model": all(plan.start in parts.models for plan in parts.plans),
        "a plan's budget does not pay for its start": all(paid),
        "a state that it can come to is missing": ends <= parts.combiners.keys(),
        f"a state has more than {STEPS} services beside one": all(
            len(state) <= 1 + STEPS for state in parts.combiners
        ),
    }
    for sentence, holds in checks.items():
        if not holds:
            raise FrugalError(sentence)
