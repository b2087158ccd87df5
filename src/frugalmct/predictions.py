"""What was learnt in one repetition: plans, combiners, and estimates that every method and budget re-uses.

Scoring and deciding are apart: estimates are made once and stored; selection only reads them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.accuracy_model import AccuracyModel, Estimates, Learning
from frugalmct.combine import Combiners, fit_combiners
from frugalmct.files import arrays_in, replacing, write_text
from frugalmct.market import Market, Split
from frugalmct.seeds import small_seed
from frugalmct.select.dual import Frontier, frontier
from frugalmct.strategy import Plan, make_plans

TABLES = ("train_estimates", "train_accuracy", "test_estimates", "test_accuracy")


def learning_of(
    block: Mapping[str, Any], learning: Mapping[str, Any], wildcards: Any, threads: int
) -> Learning:
    """How a workflow job learns: its dataset's block, the run's settings, its dataset and repetition."""
    features = block["features"]
    return Learning(
        predictor=learning["predictor"],
        features=None if features == "auto" else features,
        metric=block["metric"],
        labels_per_item=block.get("labels_per_item"),
        seed=small_seed(learning["seed"], wildcards.dataset, int(wildcards.repetition)),
        jobs=threads,
    )


@dataclass(frozen=True)
class Combination:
    """The plan of each budget, and the combiners of every base that a plan uses."""

    plans: tuple[Plan, ...]
    combiners: Mapping[int, Combiners]

    @classmethod
    def fit(
        cls,
        market: Market,
        parts: Split,
        budgets: Sequence[float],
        base: str,
        delta: float | str,
        learning: Learning,
    ) -> "Combination":
        """Searched for on all training items; what is `auto` is first chosen on the validation part."""
        train = market.subset(parts.whole_train)
        held_out = np.searchsorted(parts.whole_train, parts.validation)
        plans = make_plans(train, held_out, budgets, base, delta, learning)
        bases = sorted({plan.base for plan in plans})
        found = {
            b: fit_combiners(train, b, learning.metric, labels_per_item=learning.labels_per_item)
            for b in bases
        }
        return cls(tuple(plans), found)

    @property
    def labels_per_item(self) -> int | None:
        """The most labels an answer may have, the same for all combiners."""
        return next(iter(self.combiners.values())).labels_per_item

    def save(self, path: str | Path) -> None:
        plans = [{key: value for key, value in asdict(plan).items() if key != "price"} for plan in self.plans]
        combiners = {str(base): found.to_dict() for base, found in self.combiners.items()}
        write_text(path, json.dumps({"plans": plans, "combiners": combiners}, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Combination":
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        return cls(
            tuple(Plan(**plan) for plan in values["plans"]),
            {int(base): Combiners.from_dict(found) for base, found in values["combiners"].items()},
        )


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
    def make(cls, model: AccuracyModel, train: Market, test: Market, metric: str) -> "BasePredictions":
        return cls(
            base=model.base,
            prices=model.prices,
            train_estimates=model.predictor.training_estimates,
            train_accuracy=model.accuracy(train, metric),
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
    """One repetition of one dataset: the estimates of every base that a plan uses."""

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
            by_base[base] = BasePredictions.make(model, train, test, learning.metric)
        return cls(market.services, market.prices, by_base)

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
