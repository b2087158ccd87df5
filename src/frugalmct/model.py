"""What one base's answer tells: combiners, features and predictor of one base, as one model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.combine import Combiners
from frugalmct.estimates import Estimates
from frugalmct.features import FeatureMap
from frugalmct.market import Evidence, Market
from frugalmct.predict import Predictor, make_predictor
from frugalmct.registry import Registry
from frugalmct.seeds import small_seed
from frugalmct.sparse import sorted_labels

FITTERS = Registry("kind of market", {"labels": "frugalmct.combine:fit_market_combiners"})
"""Kind of market -> how its combiners are learnt."""


PAPER_PREDICTOR, PAPER_FOREST = "random_forest", {"leaf": 1}
"""Full trees: the paper tunes nothing of its forest, and names no other setting of it."""


@dataclass(frozen=True)
class Learning:
    """How models are fitted; the same for every base.

    summary: whether predictors see summary columns beside the answer; abstain: whether a silent service has
    no say, instead of speaking against every label of the other.
    """

    predictor: str = "extra_trees"
    options: Mapping[str, Any] | None = None
    features: str | None = None
    summary: bool = True
    metric: str = "accuracy"
    labels_per_item: int | None = None
    abstain: bool = True
    seed: int = 0
    jobs: int = 1

    @classmethod
    def paper(cls, **settings: Any) -> "Learning":
        """As the paper has it to the letter: a random forest of full trees that sees the answer alone, and a
        silent service rejects.

        settings: fields that differ from that; options are added to the forest's own.
        """
        said: dict[str, Any] = {"predictor": PAPER_PREDICTOR, "summary": False, "abstain": False}
        learning = cls(**(said | settings))
        if learning.predictor != PAPER_PREDICTOR:
            return learning
        return replace(learning, options=PAPER_FOREST | dict(learning.options or {}))

    def combiners(self, market: Market, base: int, known: Mapping[int, Combiners] | None = None) -> Combiners:
        """The base's combiners with each service, learnt on a market with truth; known: those of other bases
        learnt on it."""
        fit = FITTERS.load(market.kind)
        return fit(
            market,
            base,
            self.metric,
            labels_per_item=self.labels_per_item,
            abstain=self.abstain,
            known=known,
        )


@dataclass(frozen=True, eq=False)
class AccuracyModel:
    """Estimates, from the base's answer alone, how accurate the base with each service will be.

    `training` are out-of-sample estimates of the items it learnt from; they stay behind when it is saved.
    """

    combiners: Combiners
    features: FeatureMap
    predictor: Predictor
    prices: NDArray[np.float64]
    labels: int
    training: Estimates

    @classmethod
    def fit(
        cls, market: Market, base: int, learning: Learning, combiners: Combiners | None = None
    ) -> "AccuracyModel":
        """Learns from a market with truth; combiners already searched for on it can be given."""
        combiners = combiners or learning.combiners(market, base)
        evidence = market.evidence(base)
        features = FeatureMap.of(evidence, market.task, learning.features, learning.summary)
        predictor = make_predictor(learning.predictor, **(learning.options or {}), jobs=learning.jobs)
        accuracy = market.choice_accuracy(combiners, learning.metric)
        seed = small_seed(learning.seed, market.name, base, learning.predictor)
        predictor.fit(features.transform(evidence), accuracy, seed=seed)
        training = Estimates(base, market.prices, predictor.training_estimates, accuracy)
        return cls(combiners, features, predictor, market.prices, len(evidence.labels), training)

    @property
    def base(self) -> int:
        return self.combiners.base

    def estimate(self, evidence: Evidence) -> NDArray[np.float64]:
        """(items, services) estimated accuracy, from the base's answers.

        Where every label is a column, those beyond the labels learnt from have none, and are left out.
        """
        if self.features.kind == "labels" and len(evidence.labels) > self.labels:
            evidence = Evidence(
                sorted_labels(evidence.scores[:, : self.labels]),
                evidence.labels[: self.labels],
                evidence.given,
            )
        return self.predictor.estimate(self.features.transform(evidence))

    def estimates(self, market: Market, metric: str) -> Estimates:
        """Estimated and, to hold them against, true accuracies of a market's items."""
        estimated = self.estimate(market.evidence(self.base))
        return Estimates(self.base, self.prices, estimated, market.choice_accuracy(self.combiners, metric))
