"""What a strategy keeps of its training: estimates that plans are made from, and what they were worth.

They are kept as float32 and for at most `MOST_ROWS` items: a strategy stays a file of a few megabytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile
from frugalmct.cascade import Cascade, State, reached
from frugalmct.errors import FrugalError
from frugalmct.market import LabelMarket
from frugalmct.seeds import generator
from frugalmct.sparse import merged, set_sizes
from frugalmct.splits import split
from frugalmct.states import Combiner, StateFeatures, StateModel

MOST_ROWS, MOST_CELLS = 20_000, 2**24
"""The most items, and the most numbers, that are kept of all states together."""

FOLDS = 5

Trials = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
"""Items that a dual price comes from, and items that it is tried on."""


class Given(NamedTuple):
    """How often a base gave each label, (labels,), to how many items none, and how many items there were."""

    counts: NDArray[np.int64]
    silent: int
    items: int

    @classmethod
    def of(cls, market: LabelMarket, base: State) -> "Given":
        answers = [market.scores[service] for service in base]
        entries = merged(answers)[0].indices
        said = np.any([set_sizes(matrix) > 0 for matrix in answers], axis=0)
        counts = np.bincount(entries, minlength=len(market.labels)).astype(np.int64)
        return cls(counts, int((~said).sum()), len(market))


@dataclass(frozen=True, eq=False)
class Training:
    """Training items, as far as they are kept: what was estimated of them out of sample, and what was true.

    estimates: for each state at which it is decided whom to ask the (items, services) expected accuracies;
    accuracy: for each state (items,) what its combined answer reached; given: of each base.
    """

    prices: NDArray[np.float64]
    steps: int
    estimates: Mapping[State, NDArray[np.float64]]
    accuracy: Mapping[State, NDArray[np.float64]]
    given: Mapping[State, Given]

    def __len__(self) -> int:
        return len(next(iter(self.accuracy.values())))

    def kept(self) -> "Training":
        """As many of the items as a file may hold, spread evenly."""
        most = most_rows(len(self.prices), len(self.estimates))
        if len(self) <= most:
            return self
        rows = np.linspace(0, len(self) - 1, most).astype(np.int64)
        estimates, accuracy = (
            {state: values[rows] for state, values in part.items()}
            for part in (self.estimates, self.accuracy)
        )
        return replace(self, estimates=estimates, accuracy=accuracy)

    def of_states(
        self, deciding: Iterable[State], states: Iterable[State], bases: Iterable[State]
    ) -> "Training":
        """What concerns these states, of as many items as may be kept."""
        return replace(
            self,
            estimates={state: self.estimates[state] for state in deciding},
            accuracy={state: self.accuracy[state] for state in states},
            given={base: self.given[base] for base in bases},
        ).kept()

    def cascade(self, base: State) -> Cascade:
        if base not in self._cascades:
            self._cascades[base] = Cascade(self.prices, base, self.estimates, self.steps)
        return self._cascades[base]

    @cached_property
    def _cascades(self) -> dict[State, Cascade]:
        return {}

    def base_cost(self, base: State) -> float:
        return float(self.prices[list(base)].sum())

    def reached(self, asked: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(items,) the true accuracy of each item's combined answer."""
        return reached(asked, self.accuracy)

    def tried(self, cascade: Cascade, budget: float, delta: float, trials: Trials) -> NDArray[np.float64]:
        """The true accuracy of what is chosen for each item that is tried, trial by trial."""
        found = []
        for priced_on, tried_on in trials:
            dual_price = cascade.part(priced_on).dual_price(budget, delta)
            asked = cascade.part(tried_on).route(budget, dual_price)
            found.append(reached(asked, {state: own[tried_on] for state, own in self.accuracy.items()}))
        return np.concatenate(found)

    def to_arrays(self, models: Mapping[State, StateModel]) -> dict[str, np.ndarray]:
        arrays = {
            f"training.estimated{number}": self.estimates[state][:, list(models[state].outputs)]
            for number, state in enumerate(sorted(self.estimates))
        }
        arrays["training.accuracy"] = np.column_stack(
            [self.accuracy[state] for state in sorted(self.accuracy)]
        )
        arrays = {name: table.astype(np.float32) for name, table in arrays.items()}
        for number, base in enumerate(sorted(self.given)):
            given = self.given[base]
            arrays[f"training.given{number}"] = given.counts.astype(np.int64)
            arrays[f"training.items{number}"] = np.array([given.items, given.silent], dtype=np.int64)
        return arrays

    @classmethod
    def read(
        cls,
        file: ArrayFile,
        prices: NDArray[np.float64],
        steps: int,
        bases: Iterable[State],
        models: Mapping[State, StateModel],
        states: Iterable[State],
        labels: int,
    ) -> "Training":
        states = sorted(states)
        limits: dict[str, Any] = {"dtype": np.float32, "least": 0, "most": 1}
        accuracy = file.floats("training.accuracy", (None, len(states)), **limits)
        most = most_rows(len(prices), len(models))
        if not 0 < len(accuracy) <= most:
            raise FrugalError(f"training.accuracy must have 1 to {most} rows")
        estimates = {}
        for number, state in enumerate(sorted(models)):
            shape = (len(accuracy), len(models[state].outputs))
            table = file.floats(f"training.estimated{number}", shape, **limits)
            estimates[state] = models[state].wide(table)
        given = {base: _read_given(file, number, labels) for number, base in enumerate(sorted(bases))}
        return cls(prices, steps, estimates, dict(zip(states, accuracy.T, strict=True)), given)


def most_rows(services: int, states: int) -> int:
    """How many items are kept at most."""
    return max(min(MOST_ROWS, MOST_CELLS // (services * max(states, 1))), 1)


def _read_given(file: ArrayFile, number: int, labels: int) -> Given:
    items, silent = file.wholes(f"training.items{number}", (2,)).tolist()
    if not silent <= items or not items:
        raise FrugalError(
            f"training.items{number} must be how many there were, and how many of them were silent"
        )
    return Given(file.wholes(f"training.given{number}", (labels,), most=items), silent, items)


class Learnt(NamedTuple):
    """What a method learns of a market."""

    features: StateFeatures
    combiners: Mapping[State, Combiner]
    models: Mapping[State, StateModel]
    training: Training


def fold_numbers(items: int, seed: int) -> NDArray[np.int64]:
    """(items,) the fold of each, at random and all but equally many in each."""
    return generator(seed, "plus folds").permutation(items) % min(FOLDS, items)


@lru_cache(maxsize=4)
def folds(items: int, seed: int) -> Trials:
    """Each fold at the dual price of the others."""
    fold = fold_numbers(items, seed)
    parts = [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in np.unique(fold)]
    return tuple(parts) if len(parts) > 1 else ((np.arange(items), np.arange(items)),)


def held_out(items: int, seed: int, market: str) -> Trials:
    """The paper's: a fifth of the items at random, at the dual price of the others."""
    parts = split(items, train_share=0.8, seed=seed, dataset=market)
    return [(np.setdiff1d(np.arange(items), parts.test), parts.test)]
