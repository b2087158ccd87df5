"""What was learnt in one repetition: combiners, and estimates that every method and budget re-uses.

Scoring and deciding are apart: estimates are made once and stored; selection only reads them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.accuracy_model import AccuracyModel, Estimates, Learning
from frugalmct.combine import Combiners
from frugalmct.files import arrays_in, replacing, write_text
from frugalmct.market import Market, Split
from frugalmct.seeds import small_seed
from frugalmct.select.dual import Frontier, frontier
from frugalmct.strategy import Candidate, Plan, bases_to_try, make_plans

TABLES = ("train_estimates", "train_accuracy", "test_estimates", "test_accuracy")


def learning_of(
    block: Mapping[str, Any], learning: Mapping[str, Any], wildcards: Any, threads: int
) -> Learning:
    """How a workflow job learns: its dataset's block, the run's settings, its dataset and repetition."""
    features = block["features"]
    return Learning(
        predictor=learning["predictor"],
        options=learning["options"],
        features=None if features == "auto" else features,
        metric=block["metric"],
        labels_per_item=block.get("labels_per_item"),
        abstain=learning["silence"] == "abstain",
        seed=small_seed(learning["seed"], wildcards.dataset, int(wildcards.repetition)),
        jobs=threads,
    )


@dataclass(frozen=True)
class Combination:
    """The combiners of every base that may be chosen."""

    combiners: Mapping[int, Combiners]

    @classmethod
    def fit(cls, market: Market, parts: Split, base: str, learning: Learning) -> "Combination":
        """Searched for on all training items, for the base of that name or for each when it is `auto`."""
        train = market.subset(parts.whole_train)
        return cls({b: learning.combiners(train, b) for b in bases_to_try(market, base)})

    @property
    def labels_per_item(self) -> int | None:
        """The most labels an answer may have, the same for all combiners."""
        return next(iter(self.combiners.values())).labels_per_item

    def save(self, path: str | Path) -> None:
        combiners = {str(base): found.to_dict() for base, found in self.combiners.items()}
        write_text(path, json.dumps(combiners, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Combination":
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        return cls({int(base): Combiners.from_dict(found) for base, found in values.items()})


@dataclass(frozen=True, eq=False)
class BasePredictions:
    """(items, services) of one base: out-of-sample estimates and the truth they are held against."""

    base: int
    prices: NDArray[np.float64]
    train_estimates: Estimates
    train_accuracy: Estimates
    test_estimates: Estimates
    test_accuracy: Estimates

    @classmethod
    def make(cls, model: AccuracyModel, test: Market, metric: str) -> "BasePredictions":
        """Of a model that was just fitted, for its training items and the test items."""
        return cls(
            base=model.base,
            prices=model.prices,
            train_estimates=model.predictor.training_estimates,
            train_accuracy=model.training_accuracy,
            test_estimates=model.estimate(test),
            test_accuracy=model.accuracy(test, metric),
        )

    @cached_property
    def frontier(self) -> Frontier:
        """Of the training items, from which the price at any budget is read."""
        return frontier(self.train_estimates, self.prices, self.base)

    def dummy(self) -> "BasePredictions":
        """The paper's DAP: every item's estimate is the service's mean training accuracy."""
        mean = self.train_accuracy.mean(axis=0)
        return replace(
            self,
            train_estimates=np.tile(mean, (len(self.train_accuracy), 1)),
            test_estimates=np.tile(mean, (len(self.test_accuracy), 1)),
        )


@dataclass(frozen=True, eq=False)
class Predictions:
    """One repetition of one dataset: the estimates of every base that may be chosen."""

    services: tuple[str, ...]
    prices: NDArray[np.float64]
    by_base: Mapping[int, BasePredictions]

    @classmethod
    def make(
        cls, market: Market, parts: Split, combination: Combination, learning: Learning
    ) -> "Predictions":
        train, test = market.subset(parts.whole_train), market.subset(parts.test)
        by_base = {}
        for base, combiners in combination.combiners.items():
            model = AccuracyModel.fit(train, base, learning, combiners)
            by_base[base] = BasePredictions.make(model, test, learning.metric)
        return cls(market.services, market.prices, by_base)

    def plans(self, parts: Split, budgets: Sequence[float], delta: float | str) -> list[Plan]:
        """Base and δ for every budget, chosen on the validation part of the training items."""
        candidates = [
            Candidate(found.base, found.prices, found.train_estimates, found.train_accuracy)
            for found in self.by_base.values()
        ]
        held_out = np.searchsorted(parts.whole_train, parts.validation)
        return make_plans(candidates, held_out, budgets, delta)

    def save(self, path: str | Path) -> None:
        arrays = {
            f"base{base}.{name}": getattr(predicted, name)
            for base, predicted in self.by_base.items()
            for name in TABLES
        }
        with replacing(path) as temporary, temporary.open("wb") as handle:
            np.savez(handle, services=np.array(self.services), prices=self.prices, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Predictions":
        with arrays_in(path, "predictions file", "make it with `snakemake predictions`") as arrays:
            bases = sorted({int(name[4:].split(".")[0]) for name in arrays if name.startswith("base")})
            prices = arrays["prices"]
            by_base = {
                base: BasePredictions(base, prices, *(arrays[f"base{base}.{name}"] for name in TABLES))
                for base in bases
            }
            return cls(tuple(arrays["services"].tolist()), prices, by_base)
