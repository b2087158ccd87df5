"""What one base service's answer tells: combiners, features and predictor of one base, as one model."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.combine import Combiners, fit_combiners
from frugalmct.features import FeatureMap
from frugalmct.market import Market
from frugalmct.predict import Predictor, make_predictor, predictor_from_arrays
from frugalmct.seeds import small_seed
from frugalmct.select.dual import Frontier, frontier
from frugalmct.sparse import sorted_labels

Estimates = NDArray[np.float64]


def buffered_price(frontier: Frontier, budget: float, delta: float) -> float:
    """The paper's p̂ at a budget: the price of the training items, the buffer δ kept of the add-on budget."""
    return frontier.price(frontier.base_cost + max((1 - delta) * (budget - frontier.base_cost), 0.0))


@dataclass(frozen=True)
class Learning:
    """How models are fitted; the same for every base."""

    predictor: str = "random_forest"
    options: Mapping[str, Any] | None = None
    features: str | None = None
    metric: str = "accuracy"
    labels_per_item: int | None = None
    abstain: bool = True
    seed: int = 0
    jobs: int = 1

    def combiners(self, market: Market, base: int) -> Combiners:
        """The base's combiners with each service, searched for on a market with truth."""
        return fit_combiners(
            market, base, self.metric, labels_per_item=self.labels_per_item, abstain=self.abstain
        )


@dataclass(frozen=True, eq=False)
class AccuracyModel:
    """Estimates, from the base's answer alone, how accurate the base with each service will be.

    Of the items it learnt from, the true accuracy stays at hand until it is saved.
    """

    combiners: Combiners
    features: FeatureMap
    predictor: Predictor
    prices: NDArray[np.float64]
    labels: int
    training_accuracy: Estimates | None = None

    @classmethod
    def fit(
        cls, market: Market, base: int, learning: Learning, combiners: Combiners | None = None
    ) -> "AccuracyModel":
        """Learns from a market with truth; combiners already searched for on it can be given."""
        combiners = combiners or learning.combiners(market, base)
        features = FeatureMap.of(market, learning.features)
        predictor = make_predictor(learning.predictor, **(learning.options or {}), jobs=learning.jobs)
        accuracy = combiners.accuracy_matrix(market, learning.metric)
        seed = small_seed(learning.seed, market.name, base, learning.predictor)
        predictor.fit(features.transform(market, base), accuracy, seed=seed)
        return cls(combiners, features, predictor, market.prices, len(market.labels), accuracy)

    @property
    def base(self) -> int:
        return self.combiners.base

    def estimate(self, market: Market) -> Estimates:
        """(items, services) estimated accuracy; uses the base's answers only, never the truth.

        Where every label is a column, those beyond the labels learnt from have none, and are left out.
        """
        scores, labels = market.scores[self.base], market.labels
        if self.features.kind == "labels":
            scores, labels = sorted_labels(scores[:, : self.labels]), labels[: self.labels]
        return self.predictor.estimate(self.features.rows(scores, labels, market.features))

    def accuracy(self, market: Market, metric: str) -> Estimates:
        """(items, services) true accuracy, for evaluation."""
        return self.combiners.accuracy_matrix(market, metric)

    @cached_property
    def frontier(self) -> Frontier:
        """Price, spend and accuracy at every budget, from out-of-sample estimates of the training items."""
        return frontier(self.predictor.training_estimates, self.prices, self.base)

    def price(self, budget: float, delta: float) -> float:
        return buffered_price(self.frontier, budget, delta)

    def to_arrays(self, prefix: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        header, arrays = self.predictor.to_arrays()
        described = {
            "combiners": self.combiners.to_dict(),
            "features": self.features.to_dict(),
            "predictor": header,
            "labels": self.labels,
        }
        return described, {f"{prefix}{name}": array for name, array in arrays.items()}

    @classmethod
    def from_arrays(
        cls, described: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prices: NDArray[np.float64]
    ) -> "AccuracyModel":
        return cls(
            combiners=Combiners.from_dict(described["combiners"]),
            features=FeatureMap.from_dict(described["features"]),
            predictor=predictor_from_arrays(described["predictor"], arrays),
            prices=prices,
            labels=int(described["labels"]),
        )
