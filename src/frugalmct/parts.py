"""All that a strategy is made of, and its file: plain arrays and a JSON header, nothing that is executed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile, Described, text_array
from frugalmct.cascade import STEPS, State, checked_state
from frugalmct.checks import MAX_MONEY
from frugalmct.errors import FrugalError, listed
from frugalmct.features import FeatureMap
from frugalmct.files import write_arrays
from frugalmct.made import METHODS, ItemIds, Made
from frugalmct.metrics import METRICS
from frugalmct.mixing import CascadePlan, bases_of
from frugalmct.predict import predictor_from_arrays
from frugalmct.states import Combiner, StateFeatures, StateModel, combiner_from_arrays, reachable
from frugalmct.training import Training
from frugalmct.values import MAX_SERVICES, Fields, shown

FORMAT = "frugalmct-strategy-5"


@dataclass(frozen=True, eq=False)
class Parts:
    """A plan for each budget; for each state that a plan can come to its combiner and, where one may ask on,
    its model; what is kept of training; how it was made, and hashes of the training items' ids."""

    services: tuple[str, ...]
    prices: NDArray[np.float64]
    labels: NDArray[np.str_]
    metric: str
    features: StateFeatures
    plans: Mapping[float, CascadePlan]
    combiners: Mapping[State, Combiner]
    models: Mapping[State, StateModel]
    training: Training
    made: Made
    ids: ItemIds

    @property
    def bases(self) -> list[State]:
        return sorted(bases_of(self.plans.values()))


def used_states(
    bases: set[State], models: Mapping[State, StateModel], steps: int
) -> tuple[list[State], list[State]]:
    """The states that some base can come to: those at which it is decided whom to ask, and all."""
    found = [reachable(base, models, steps) for base in bases]
    return sorted(set().union(*(own for own, _ in found))), sorted(set().union(*(own for _, own in found)))


def write_parts(parts: Parts, path: str | Path) -> None:
    described = []
    arrays: dict[str, Any] = {"prices": np.asarray(parts.prices, np.float64)}
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
        "steps": parts.training.steps,
        "plans": [asdict(plan) for plan in parts.plans.values()],
        "states": described,
        "made": parts.made.to_dict(),
    }
    arrays |= parts.training.to_arrays(parts.models) | parts.ids.to_arrays()
    write_arrays(path, arrays, header, compress=True)


def _described(state: State, combiner: Combiner, model: StateModel | None) -> Described:
    """What the header says of a state, and its arrays."""
    header, own = combiner.to_arrays()
    arrays = {f"combiner.{name}": array for name, array in own.items()}
    row = {"state": list(state), "combiner": header, "model": None}
    if model is not None:
        predictor, own = model.predictor.to_arrays()
        row["model"] = {"outputs": list(model.outputs), "predictor": predictor}
        arrays |= {f"model.{name}": array for name, array in own.items()}
    return row, arrays


def read_parts(file: ArrayFile) -> Parts:
    header = file.header(FORMAT)
    services = tuple(header.names("services", most=MAX_SERVICES))
    prices = file.prices(len(services))
    labels = text_array("its labels", header.names("labels"))
    features = StateFeatures(FeatureMap.from_dict(header.take("features")), len(labels))
    steps = header.whole("steps", least=1, most=STEPS)
    combiners, models = {}, {}
    for number, row in enumerate(header.rows("states")):
        state, combiner, model = _read_state(row, file, f"state{number}.", features, len(services))
        if state in combiners:
            raise FrugalError(f"it has the state {list(state)} twice")
        combiners[state] = combiner
        if model is not None:
            models[state] = model
    plans = [_read_plan(row, len(services)) for row in header.rows("plans")]
    metric, made = header.text("metric"), Made.from_dict(header.take("made"))
    header.done()
    bases = bases_of(plans)
    _check(plans, prices, metric, made, combiners, models, steps)
    training = Training.read(file, prices, steps, bases, models, combiners, len(labels))
    by_budget = {plan.budget: plan for plan in plans}
    return Parts(
        services, prices, labels, metric, features, by_budget, combiners, models, training, made,
        ItemIds.read(file),
    )  # fmt: skip


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
    outputs = _numbers(own.take("outputs"))
    predictor = predictor_from_arrays(own.take("predictor"), file.group(f"{prefix}model."))
    own.done()
    known = len(set(outputs)) == len(outputs) and all(0 <= number < services for number in outputs)
    if not known or len(set(outputs) & set(state)) != 1 or predictor.services != len(outputs):
        raise FrugalError(f"the model of state {list(state)} does not fit its outputs {shown(outputs)}")
    if not features.can_give(predictor.columns, len(state)):
        raise FrugalError(f"a model wants {predictor.columns} columns, which its features do not give")
    return state, combiner, StateModel(state, tuple(outputs), predictor, services)


def _read_plan(row: Any, services: int, mixed: bool = True) -> CascadePlan:
    """`mixed`: whether there may be another one in it."""
    fields = Fields("a plan", row)
    plan = CascadePlan(
        fields.number("budget", least=0, most=MAX_MONEY),
        _state(fields.take("base"), services),
        fields.number("delta", least=-10, most=1),
        fields.number("dual_price", least=0),
    )
    gain, rest = (
        fields.number("gain", least=0, most=1),
        fields.optional_number("rest", least=0, most=plan.budget),
    )
    other = fields.take("other")
    fields.done()
    if mixed and other is not None:
        return replace(plan, gain=gain, rest=rest, other=_read_plan(other, services, mixed=False))
    if other is not None or rest is not None:
        raise FrugalError("a plan that stands alone has another beside it")
    return replace(plan, gain=gain)


def _state(value: Any, services: int) -> State:
    return checked_state("its header", tuple(_numbers(value)), services)


def _numbers(value: Any) -> list[int]:
    if type(value) is not list or not all(type(number) is int for number in value):
        raise FrugalError(f"a state is {shown(value)}; it must be a list of service numbers")
    return value


def _check(
    plans: list[CascadePlan],
    prices: NDArray[np.float64],
    metric: str,
    made: Made,
    combiners: Mapping[State, Combiner],
    models: Mapping[State, StateModel],
    steps: int,
) -> None:
    """That the parts of a file belong together."""
    deciding, ends = used_states(bases_of(plans), models, steps)
    checks = {
        f"its metric must be one of {listed(METRICS)}": metric in METRICS,
        f"its method must be one of {listed(METHODS)}": made.method in METHODS,
        "it has two plans for one budget": len({plan.budget for plan in plans}) == len(plans),
        "a plan's base is a state without a model": bases_of(plans) <= models.keys(),
        "a plan's budget does not pay for its base": all(_pays(plan, prices) for plan in plans),
        "a state that it can come to is missing": set(ends) <= combiners.keys(),
        "it has a state that no plan comes to": combiners.keys() <= set(ends)
        and models.keys() <= set(deciding),
    }
    for sentence, holds in checks.items():
        if not holds:
            raise FrugalError(sentence)


def _pays(plan: CascadePlan, prices: NDArray[np.float64]) -> bool:
    """Whether the budget pays for the base; of two plans that are mixed each for its own."""
    least = float(prices[list(plan.base)].sum())
    if plan.other is None:
        return least <= plan.budget
    if plan.rest is None or not plan.rest < plan.other.budget:
        return False
    return least <= plan.rest and _pays(plan.other, prices)
