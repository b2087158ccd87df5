"""What is learnt at a state, the services asked so far: how to combine their answers, and what to expect.

A state is a sorted tuple of services. Its combiner makes one answer out of theirs, whoever was asked first;
its model estimates from these answers how accurate it is to stop there, and to ask each service beside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.arrays import Described
from frugalmct.cascade import NEVER, State, joined
from frugalmct.combine.learned import COMBINER, LearnedCombiner
from frugalmct.combine.one_item import Answer, mix_one
from frugalmct.combine.weight_threshold import combine, search
from frugalmct.errors import FrugalError
from frugalmct.features import FeatureMap, Matrix, side_by_side
from frugalmct.market import Evidence, LabelMarket
from frugalmct.model import Learning
from frugalmct.predict import Predictor
from frugalmct.sparse import sorted_labels
from frugalmct.values import Fields, shown

WEIGHT_THRESHOLD = "weight_threshold"


@dataclass(frozen=True)
class PaperCombiner:
    """The paper's (w, θ), of a service with itself or of two."""

    weight: float
    threshold: float
    labels_per_item: int | None = None
    abstain: bool = True

    def apply(self, answers: Sequence[csr_matrix]) -> csr_matrix:
        return combine(
            answers[0],
            answers[-1],
            self.weight,
            self.threshold,
            labels_per_item=self.labels_per_item,
            abstain=self.abstain,
        )

    def apply_one(self, answers: Sequence[Answer]) -> dict[int, float]:
        """What `apply` gives for one item, whose answers are label -> score."""
        settings = (self.weight, self.threshold, self.labels_per_item, self.abstain)
        return mix_one(answers[0], answers[-1], *settings)

    def to_arrays(self) -> Described:
        return {"combiner": WEIGHT_THRESHOLD} | asdict(self), {}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "PaperCombiner":
        fields = Fields("a combiner", values)
        fields.take("combiner")
        found = cls(
            fields.number("weight", least=0, most=1),
            fields.number("threshold", least=0, most=1),
            fields.optional_whole("labels_per_item", least=1),
            fields.flag("abstain"),
        )
        fields.done()
        return found


def paper_combiner(market: LabelMarket, state: State, learning: Learning) -> PaperCombiner:
    """The best (w, θ) of one or two services on a market with truth."""
    found = search(
        market.truth,
        market.scores[state[0]],
        market.scores[state[-1]],
        learning.metric,
        labels_per_item=learning.labels_per_item,
        abstain=learning.abstain,
    )
    return PaperCombiner(*found, learning.labels_per_item, learning.abstain)


Combiner = PaperCombiner | LearnedCombiner


def combiner_from_arrays(described: Any, arrays: Mapping[str, np.ndarray], services: int) -> Combiner:
    """What `to_arrays` of either gave, for that many services."""
    kind = described.get("combiner") if isinstance(described, Mapping) else None
    if kind == WEIGHT_THRESHOLD and services <= 2:
        return PaperCombiner.from_dict(described)
    if kind != COMBINER:
        raise FrugalError(f"the combiner of {services} services is {shown(kind)}")
    combiner = LearnedCombiner.from_arrays(described, arrays)
    if combiner.services != services:
        raise FrugalError(f"a combiner of {combiner.services} services is given for {services}")
    return combiner


@dataclass(frozen=True)
class StateFeatures:
    """What a model sees of an item: the columns of every answer so far, and the item's own numbers once."""

    features: FeatureMap
    labels: int

    def table(self, answers: Sequence[Evidence]) -> Matrix:
        """One row per item; labels never learnt from have no column."""
        return self.joined([self.columns(answer) for answer in answers], answers[0])

    def columns(self, answer: Evidence) -> list[Matrix]:
        """What is seen of one answer alone: whoever needs tables of many states makes these once."""
        return self.features.of_answer(self._learnt(answer))

    def joined(self, columns: Sequence[list[Matrix]], answer: Evidence) -> Matrix:
        """The table of several answers' columns; `answer`, any of them, brings the item's own numbers."""
        first, *others = columns
        return side_by_side(
            [*first, *self.features.of_item(answer), *(part for own in others for part in own)]
        )

    def can_give(self, columns: int, services: int) -> bool:
        """Whether so many answers have so many columns."""
        if self.features.kind == "given":
            return self.features.can_give(columns, self.labels)
        each, rest = divmod(columns - self.features.given, services)
        return not rest and replace(self.features, given=0).can_give(each, self.labels)

    def _learnt(self, answer: Evidence) -> Evidence:
        if self.features.kind != "labels" or len(answer.labels) <= self.labels:
            return answer
        scores = sorted_labels(answer.scores[:, : self.labels])
        return Evidence(scores, answer.labels[: self.labels], answer.given)


@dataclass(frozen=True, eq=False)
class StateModel:
    """A predictor of the accuracy of stopping at a state, and of asking each of some services beside.

    outputs: the service of each of the predictor's columns; exactly one is of the state, for stopping.
    """

    state: State
    outputs: tuple[int, ...]
    predictor: Predictor
    services: int

    @property
    def choices(self) -> list[int]:
        return [service for service in self.outputs if service not in self.state]

    def estimate(self, table: Matrix) -> NDArray[np.float64]:
        return self.wide(self.predictor.estimate(table))

    def estimate_row(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        """(services,): what `estimate` gives for one item, only sooner."""
        columns, no_choice = self._columns
        wide = self.predictor.estimate_row(row).take(columns)
        if no_choice:
            wide[no_choice] = NEVER
        return wide

    @cached_property
    def _columns(self) -> tuple[NDArray[np.intp], list[int]]:
        """The predictor's column of each service, and the services that have none."""
        places = {service: column for column, service in enumerate(self.outputs)}
        places |= dict.fromkeys(self.state, self._stop)
        columns = [places.get(service, 0) for service in range(self.services)]
        return np.array(columns, dtype=np.intp), [k for k in range(self.services) if k not in places]

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        return np.array(self.outputs, dtype=np.intp)

    @cached_property
    def _own(self) -> NDArray[np.intp]:
        return np.array(self.state, dtype=np.intp)

    @cached_property
    def _stop(self) -> int:
        """The predictor's column for stopping."""
        return next(column for column, service in enumerate(self.outputs) if service in self.state)

    def wide(self, estimates: NDArray[np.float64]) -> NDArray[np.float64]:
        """(items, services) of the predictor's columns: what is no choice is never chosen."""
        table = np.full((len(estimates), self.services), NEVER)
        table[:, self._places] = estimates
        table[:, self._own] = estimates[:, [self._stop]]
        return table


def reachable(base: State, models: Mapping[State, StateModel], steps: int) -> tuple[set[State], set[State]]:
    """The states that a base leads to: those at which it is decided whom to ask, and all."""
    deciding, found, latest = set(), {base}, {base}
    for _ in range(steps):
        deciding |= latest & models.keys()
        latest = {joined(state, k) for state in latest & models.keys() for k in models[state].choices}
        found |= latest
    return deciding, found
