"""Single items: estimates and combined answers from plain answers, without a sparse matrix for each.

The numbers are those of `Strategy.estimate` and `Strategy.answer`, to the last digit.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import State
from frugalmct.combine.one_item import sum_of
from frugalmct.errors import FrugalError
from frugalmct.features import SUMMARY
from frugalmct.live.answers import Labels
from frugalmct.market import Evidence
from frugalmct.sparse import label_matrix
from frugalmct.strategy import Strategy

NOTHING = np.zeros(0)


class SingleItems:
    """A strategy, asked about one item at a time; answers are by service, one that is missing is empty."""

    def __init__(self, strategy: Strategy) -> None:
        self._models, self._combiner = strategy.models, strategy.combiner
        self._features, self._names = strategy.features, strategy.labels.tolist()
        self._place = {label: number for number, label in enumerate(self._names)}

    def prepare(self, bases: Iterable[State]) -> None:
        """Lays out what the first items would wait for: the models of all states that these bases lead to."""
        base_sets = [set(base) for base in bases]
        nothing = [0.0] * self._features.features.given or None
        for state in self._models:
            if any(base <= set(state) for base in base_sets):
                self.estimate(state, {}, nothing)
                if self._names:
                    self.combine(state, {state[0]: {self._names[0]: 0.5}} if state else {})

    def knows(self, label: str) -> bool:
        return label in self._place

    def estimate(
        self, state: State, answers: Mapping[int, Labels], given: Sequence[float] | None = None
    ) -> NDArray[np.float64]:
        """(services,) estimated accuracies at a state, from its services' answers and the item's own numbers,
        if any."""
        numbers = self.check_given(given)
        said = [answers.get(service, {}) for service in state]
        if self._features.features.kind == "labels":
            parts = [self._label_row(said[0], numbers), *(self._label_row(one) for one in said[1:])]
            row = parts[0] if len(parts) == 1 else np.concatenate(parts)
        else:
            own = None if not len(numbers) else numbers[None]
            row = np.asarray(self._features.table([self._evidence(one, own) for one in said]))[0]
        return self._models[state].estimate_row(row)

    def _evidence(self, answer: Labels, given: NDArray[np.float64] | None) -> Evidence:
        names = sorted(answer, key=lambda label: self._place.get(label, len(self._place)))
        scores = label_matrix([0, len(names)], range(len(names)), [answer[n] for n in names], len(names))
        return Evidence(scores, np.array(names, dtype=np.str_), given)

    def combine(self, state: State, answers: Mapping[int, Labels]) -> Labels:
        """The combined answer, highest score first."""
        new: dict[str, int] = {}
        sets = [self._places(answers.get(service, {}), new) for service in state]
        found = self._combiner(state).apply_one(sets)
        named = {self._name(place, new): score for place, score in found.items()}
        return dict(sorted(named.items(), key=itemgetter(1), reverse=True))

    def _places(self, answer: Labels, new: dict[str, int]) -> dict[int, float]:
        """Scores by place; labels never seen in training get a place after all others."""
        known, first = self._place, len(self._names)
        return {
            known[label] if label in known else new.setdefault(label, first + len(new)): score
            for label, score in answer.items()
        }

    def _name(self, place: int, new: dict[str, int]) -> str:
        known = len(self._names)
        return self._names[place] if place < known else list(new)[place - known]

    def check_given(self, given: Sequence[float] | None) -> NDArray[np.float64]:
        if given is None and not self._features.features.given:
            return NOTHING
        numbers = np.asarray([] if given is None else given, dtype=np.float64)
        if numbers.shape != (self._features.features.given,) or not np.isfinite(numbers).all():
            raise FrugalError(
                f"Router: the item brings {numbers.size} features, but the strategy was trained with "
                f"{self._features.features.given} finite numbers for each item; give those."
            )
        return numbers

    def _label_row(
        self, answer: Labels, numbers: Sequence[float] | NDArray[np.float64] = ()
    ) -> NDArray[np.float32]:
        """A score for every label learnt from, then the summary, then the item's own numbers, if any."""
        own = self._place
        known = sorted((own[label], score) for label, score in answer.items() if label in own)
        start = len(self._names)
        end = start + (len(SUMMARY) if self._features.features.summary else 0)
        row = np.zeros(end + len(numbers), dtype=np.float32)
        for place, score in known:
            row[place] = score
        if known and end > start:
            scores = [score for _, score in known]
            # The sum as features.summary_columns takes it: numpy adds the rest to the first.
            total = scores[0] + sum_of(scores[1:])
            row[start:end] = len(known), max(scores), total / len(known)
        if len(numbers):
            row[end:] = numbers
        return row
