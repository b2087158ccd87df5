"""Combiners to estimates, of training items (out of sample) and test items; every method uses them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile, open_arrays
from frugalmct.errors import FrugalError, listed
from frugalmct.estimates import Estimates
from frugalmct.files import write_arrays
from frugalmct.market import Market
from frugalmct.model import AccuracyModel, Learning
from frugalmct.paper.stages.combine import Combination
from frugalmct.plans import Plan, make_plans
from frugalmct.seeds import small_seed
from frugalmct.splits import Split
from frugalmct.values import MAX_SERVICES, REMAKE

PARTS = ("train", "test")
TABLES = ("estimated", "actual")


def learning_for(
    dataset: str, repetition: int, block: Mapping[str, Any], settings: Mapping[str, Any], threads: int = 1
) -> Learning:
    """How a repetition learns, as the paper does: its dataset's block, and the run's settings."""
    features = block["features"]
    return Learning.paper(
        predictor=settings["predictor"],
        options=settings["options"],
        features=None if features == "auto" else features,
        metric=block["metric"],
        labels_per_item=block.get("labels_per_item"),
        abstain=settings["silence"] == "abstain",
        seed=small_seed(settings["seed"], dataset, repetition),
        jobs=threads,
    )


@dataclass(frozen=True, eq=False)
class BaseEstimates:
    """One base: estimates of the training items, from which dual prices come, and of the test items."""

    train: Estimates
    test: Estimates

    @classmethod
    def of(cls, model: AccuracyModel, test: Market, metric: str) -> "BaseEstimates":
        """Of a model that was just fitted, for its training items and the test items."""
        return cls(model.training, model.estimates(test, metric))

    def dummy(self) -> "BaseEstimates":
        """The paper's DAP: every item's estimate is the service's mean training accuracy."""
        means = self.train.truth.mean(axis=0)
        return BaseEstimates(self.train.flat(means), self.test.flat(means))

    def route(self, plan: Plan) -> NDArray[np.int64]:
        """The test items by Algorithm 1, at the dual price of the training items."""
        return self.test.route(plan.budget, self.train.dual_price(plan.budget, plan.delta))


@dataclass(frozen=True, eq=False)
class RepetitionEstimates:
    """One repetition of one dataset: the estimates of every base that may be chosen."""

    services: tuple[str, ...]
    prices: NDArray[np.float64]
    by_base: Mapping[int, BaseEstimates]

    @classmethod
    def fit(
        cls, market: Market, parts: Split, combination: Combination, learning: Learning
    ) -> "RepetitionEstimates":
        train, test = market.subset(parts.whole_train), market.subset(parts.test)
        by_base = {}
        for base, combiners in combination.combiners.items():
            model = AccuracyModel.fit(train, base, learning, combiners)
            by_base[base] = BaseEstimates.of(model, test, learning.metric)
        return cls(market.services, market.prices, by_base)

    def plans(self, parts: Split, budgets: Sequence[float], delta: float | str) -> list[Plan]:
        """Base and δ for every budget, chosen on the validation part of the training items."""
        held_out = np.searchsorted(parts.whole_train, parts.validation)
        return make_plans([found.train for found in self.by_base.values()], held_out, budgets, delta)

    def save(self, path: str | Path) -> None:
        arrays = {
            f"base{base}.{part}.{name}": np.asarray(getattr(getattr(estimates, part), name), np.float64)
            for base, estimates in self.by_base.items()
            for part in PARTS
            for name in TABLES
        }
        write_arrays(path, {"services": np.array(self.services)} | arrays)

    @classmethod
    def load(cls, path: str | Path, prices: Mapping[str, float]) -> "RepetitionEstimates":
        """At these prices of the services, which the file does not hold: they may change, and it stays."""
        with open_arrays(path, "estimates file", REMAKE) as file:
            services = file.names("services", most=MAX_SERVICES)
            if missing := [service for service in services if service not in prices]:
                raise FrugalError(f"it holds estimates of {listed(missing)}, which have no price")
            costs = np.array([prices[service] for service in services], dtype=np.float64)
            bases = [k for k in range(len(services)) if f"base{k}.{PARTS[0]}.{TABLES[0]}" in file]
            if not bases:
                raise FrugalError("it holds the estimates of no base")
            by_base = {
                base: BaseEstimates(*(_read(file, base, part, costs) for part in PARTS)) for base in bases
            }
            return cls(services, costs, by_base)


def _read(file: ArrayFile, base: int, part: str, prices: NDArray[np.float64]) -> Estimates:
    """The truth has the shape of the estimates."""
    estimated, actual = (f"base{base}.{part}.{name}" for name in TABLES)
    found = file.floats(estimated, (None, len(prices)), least=0, most=1)
    return Estimates(base, prices, found, file.floats(actual, found.shape, least=0, most=1))
