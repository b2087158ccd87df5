"""Calls of services whose every call has its own cost, and what is then known of an item.

An item is an object as in a data file: `text`, `features`; and, where calls of it were recorded,
`predictions`, `costs` and `answer_features` by service. Whatever comes from outside is checked here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frugalmct.checks import MAX_MONEY
from frugalmct.errors import FrugalError
from frugalmct.live.answers import Nonsense, checked_answer
from frugalmct.market import Answered, Known, text_column
from frugalmct.percall.model import FirstModel
from frugalmct.sources.columns import feature_fault
from frugalmct.values import shown


@dataclass(frozen=True)
class Call:
    """What a service gave: any answer, what the call cost, and its `answer_features`, if it has some.

    cost may be left out where every call of a service has the same price; elsewhere it then counts as what
    was estimated. For a strategy that learnt from labels, the answer is a list of [label, score] pairs.
    """

    answer: Any
    cost: float | None = None
    features: Sequence[float] | None = None


def call_of(value: Any) -> Call | None:
    """A call as JSON has it: `{"answer": ..., "cost": 0.02, "features": [...]}`; None for one that failed."""
    if value is None:
        return None
    parts = {"answer", "cost", "features"}
    if not isinstance(value, Mapping) or "answer" not in value or value.keys() - parts:
        raise FrugalError(
            f'A call is {shown(value)}; give {{"answer": ..., "cost": ...}}, with "features" where the '
            "strategy learnt from an answer's own numbers, or null if it failed."
        )
    return Call(value["answer"], value.get("cost"), value.get("features"))


def recorded_call(item: Mapping[str, Any], service: str) -> Call | None:
    """What an item says of a service's call; None where it says nothing. A null says that the call failed."""
    parts = {key: item.get(key) for key in ("predictions", "costs", "answer_features")}
    for key, part in parts.items():
        if part is not None and not isinstance(part, Mapping):
            raise FrugalError(f"The item's {key} are {shown(part)}; give an object, service by service.")
    said = {key: part[service] for key, part in parts.items() if part is not None and service in part}
    if not said:
        return None
    if "predictions" in said and said["predictions"] is None:
        raise LookupError(f"the call of {service} failed")
    return Call(said.get("predictions"), said.get("costs"), said.get("answer_features"))


def known_of(model: FirstModel, item: Mapping[str, Any], calls: Mapping[int, Call]) -> Known:
    """What is known of an item once these services, by number, have answered."""
    text, features = item.get("text"), item.get("features")
    if text is not None and not isinstance(text, str):
        raise FrugalError(f"The item's text is {shown(text)}; give a text.")
    labelled = {own.service for own in model.answers.services if own.labels is not None}
    return Known(
        1,
        None if text is None else text_column([text]),
        None if features is None else _numbers("The item's feature", features),
        {service: _answered(call, service in labelled) for service, call in calls.items()},
    )


def fault_of(model: FirstModel, service: int, call: Call) -> str | None:
    """Why nothing can be learnt of what a service that is asked first gave; None if it can, or of another."""
    for own in model.answers.services:
        if own.service == service:
            try:
                priced = replace(call, cost=call.cost or 0.0)  # what it cost may be left out
                own.table(_answered(priced, own.labels is not None), 1)
            except FrugalError as error:
                return str(error)
    return None


def _answered(call: Call, labelled: bool) -> Answered:
    numbers = None if call.features is None else _numbers("An answer_feature", call.features)
    cost = None if call.cost is None else [checked_cost(call.cost)]
    if not labelled:
        return Answered.of(None, numbers, cost)
    try:
        answer = checked_answer(call.answer)
    except Nonsense as error:
        raise FrugalError(f"A service that is asked first: {error}.") from None
    return Answered.of([list(answer.items())], numbers, cost)


def checked_cost(value: Any) -> float:
    whole = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not whole or not 0 <= value <= MAX_MONEY:
        raise FrugalError(f"A call's cost is {shown(value)}; give a number, 0 or more.")
    return float(value)


def _numbers(what: str, values: Any) -> np.ndarray:
    values = values.tolist() if isinstance(values, np.ndarray) else values
    plain = list(values) if isinstance(values, tuple) else values
    if fault := feature_fault(plain):
        raise FrugalError(f"{what}{fault}")
    return np.array([plain], dtype=np.float64)
