"""Measures what a set of parameters gives on drawn items, fast enough for thousands of sets.

The quantities are those of the exhibit `simulation_fidelity`; here weights and thresholds are searched for on
the items they are measured on, in fewer steps. A test compares the two.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri
from scipy.stats import rankdata

from frugalmct.baselines.frugalml import FrugalML
from frugalmct.combine.weight_threshold import GRID
from frugalmct.paper.exhibits.simulation_fidelity import accuracy_statistics
from frugalmct.seeds import generator
from frugalmct.sources.simulated import Candidates, MarketModel, World, answered, draw_candidates, make_world

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Measured = dict[tuple[str, str], float]
WEIGHTS = (0.3, 0.5, 0.7)
VOTE_GRID = 25


@dataclass(frozen=True)
class Trial:
    """One drawn set of items on which every set of parameters is compared (common random numbers)."""

    world: World
    candidates: Candidates
    luck: Sequence[tuple[Floats, Floats]]
    sizes: Ints
    weights: Sequence[float] = WEIGHTS
    vote_grid: int = VOTE_GRID

    @classmethod
    def draw(cls, name: str, model: MarketModel, items: int, seed: int, *, even: bool = True) -> "Trial":
        """`even`: difficulties lie as evenly as a normal distribution can; few items then speak for many."""
        world = make_world(name, model)
        candidates = draw_candidates(name, model, world, seed, min(items / model.items, 1.0))
        if even:
            own = np.array([_evened(row) for row in candidates.own])
            candidates = replace(candidates, difficulty=_evened(candidates.difficulty), own=own)
        luck = [_luck(name, k, len(candidates.item), seed) for k in range(len(model.services))]
        sizes = np.bincount(candidates.item[candidates.is_true], minlength=candidates.items)
        return cls(world, candidates, luck, sizes)

    def measure(self, model: MarketModel) -> Measured:
        """(quantity, service) -> value under these parameters, without building a market."""
        return self._answers(model).measure(tuple(model.services), self.weights, self.vote_grid)

    def _answers(self, model: MarketModel) -> "_Answers":
        true, given, scores = self.candidates.is_true, [], []
        for k, service in enumerate(model.services.values()):
            logistic, normal = self.luck[k]
            answer, trouble = answered(model, self.world, self.candidates, k, service, logistic)
            raw = service.level + service.separation * true - service.candour * trouble
            score = np.round(expit(raw + service.spread * normal), service.decimals)
            given.append(answer)
            scores.append(np.where(answer, score, 0.0))
        some = np.any(given, axis=0)
        return _Answers(
            self.candidates.item[some],
            true[some],
            np.array(given)[:, some],
            np.array(scores)[:, some],
            self.sizes,
        )


def _evened(drawn: Floats) -> Floats:
    return ndtri((rankdata(drawn) - 0.5) / len(drawn))


def _luck(name: str, k: int, count: int, seed: int) -> tuple[Floats, Floats]:
    """What the generator of service k's answers draws: see `frugalmct.sources.simulated`."""
    rng = generator(seed, name, "answers", k)
    return rng.logistic(size=count), rng.standard_normal(count)


@dataclass(frozen=True)
class _Answers:
    """Every label that some service gave an item; (services, entries) who gave it, and at which score."""

    item: Ints
    true: Flags
    given: Flags
    scores: Floats
    sizes: Ints

    def measure(self, services: tuple[str, ...], weights: Sequence[float], vote_grid: int) -> Measured:
        alone = np.column_stack([self._accuracy(given) for given in self.given])
        measured = accuracy_statistics(alone, services)
        majority = 2 * self.given.sum(axis=0) >= len(services)
        trust = alone.mean(axis=0) / alone.mean(axis=0).sum()
        everything = np.ones(len(self.item), dtype=bool)
        measured["majority_vote_accuracy", ""] = self._accuracy(majority).mean()
        vote = self._by_threshold(everything, [trust @ self.scores], vote_grid)
        measured["weighted_majority_vote_accuracy", ""] = vote.max()
        measured["best_pair_accuracy", ""] = max(
            self._pair(a, b, weights) for a, b in combinations(range(len(services)), 2)
        )
        for service, given, scores in zip(services, self.given, self.scores, strict=True):
            own = self._by_threshold(given, [scores], GRID)
            measured["threshold_gain", service] = own.max() - own[0]
        measured["frugalml_accuracy", ""] = self._frugalml(alone)
        return {key: float(value) for key, value in measured.items()}

    def _accuracy(self, kept: Flags) -> Floats:
        shared, wrong = (self._counts(kept & which) for which in (self.true, ~self.true))
        return shared / (self.sizes + wrong)

    def _counts(self, which: Flags) -> Ints:
        return np.bincount(self.item[which], minlength=len(self.sizes))

    def _by_threshold(self, entries: Flags, scores: Iterable[Floats], grid: int) -> Floats:
        """(grid + 1,): the mean accuracy of those entries whose score reaches 0, 1/grid, ..., 1.

        Of several (entries,) scores the best is taken at each threshold.
        """
        sides = [np.flatnonzero(entries & which) for which in (self.true, ~self.true)]
        items = [self.item[side] for side in sides]
        return np.max([self._curve(one, sides, items, grid) for one in scores], axis=0)

    def _curve(self, scores: Floats, sides: Sequence[Ints], items: Sequence[Ints], grid: int) -> Floats:
        shared, wrong = (
            self._reaching(scores[side], item, grid) for side, item in zip(sides, items, strict=True)
        )
        return (shared / (self.sizes + wrong)).mean(axis=1)

    def _reaching(self, scores: Floats, item: Ints, grid: int) -> Ints:
        """(grid + 1, items): how many labels of each item reach each threshold."""
        count = len(self.sizes)
        place = np.floor(scores * grid + 1e-6).astype(np.int64) * count + item
        found = np.bincount(place, minlength=count * (grid + 1)).reshape(grid + 1, count)
        return found[::-1].cumsum(axis=0)[::-1]

    def _pair(self, a: int, b: int, weights: Sequence[float]) -> float:
        mixed = (weight * self.scores[a] + (1 - weight) * self.scores[b] for weight in weights)
        return self._by_threshold(self.given[a] | self.given[b], mixed, GRID).max()

    def _frugalml(self, alone: Floats) -> float:
        """Its highest accuracy at any cost; prices do not matter to that."""
        totals = [np.bincount(self.item, weights=scores, minlength=len(alone)) for scores in self.scores]
        quality = [
            total / np.maximum(self._counts(given), 1)
            for total, given in zip(totals, self.given, strict=True)
        ]
        fitted = FrugalML().fit(np.column_stack(quality), alone, np.ones(alone.shape[1]))
        return fitted.hull.accuracy[-1]
