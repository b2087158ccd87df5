"""A base's combiner with each service: what is learnt of a market, saved, and applied to answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.combine.union import Union, checked_scores
from frugalmct.combine.weight_threshold import (
    GRID,
    WeightThreshold,
    check_labels_per_item,
    check_share,
    combine,
    search,
)
from frugalmct.errors import FrugalError
from frugalmct.metrics import metric_from_counts
from frugalmct.sparse import set_sizes
from frugalmct.values import Fields, one_line

if TYPE_CHECKING:
    from frugalmct.market import LabelMarket


@dataclass(frozen=True, eq=False)
class Combiners:
    """One base service's combiner with each service, itself included."""

    base: int
    weight: NDArray[np.float64]
    threshold: NDArray[np.float64]
    labels_per_item: int | None = None
    abstain: bool = False

    def __post_init__(self) -> None:
        if self.weight.ndim != 1 or self.weight.shape != self.threshold.shape:
            raise FrugalError(
                f"Combiners have weights {self.weight.shape} and thresholds {self.threshold.shape}; "
                "each must be one number per service."
            )
        if not 0 <= self.base < len(self.weight):
            raise FrugalError(f"Combiners: base {self.base} is not one of the {len(self.weight)} services.")
        for weight, threshold in zip(self.weight, self.threshold, strict=True):
            check_share("weight", weight)
            check_share("threshold", threshold)
        check_labels_per_item(self.labels_per_item)

    def apply(self, base_scores: csr_matrix, addon_scores: csr_matrix, k: int) -> csr_matrix:
        """The combined answers, given the base's answers and those of service `k` to the same items."""
        if not 0 <= k < len(self.weight):
            raise FrugalError(f"Combiners: {k} is not one of the {len(self.weight)} services.")
        return combine(
            base_scores,
            addon_scores,
            self.weight[k],
            self.threshold[k],
            labels_per_item=self.labels_per_item,
            abstain=self.abstain,
        )

    def accuracy(
        self, truth: csr_matrix, scores: Sequence[csr_matrix], metric: str = "accuracy"
    ) -> NDArray[np.float64]:
        """(items, services): the true accuracy of each combination, which predictors learn to estimate."""
        if len(scores) != len(self.weight):
            raise FrugalError(
                f"Combiners were learnt for {len(self.weight)} services, not for {len(scores)}; "
                "give the services they were learnt on, or fit again."
            )
        base_scores = checked_scores("base_scores", scores[self.base])
        true_sizes = set_sizes(truth)
        columns = []
        for addon_scores, weight, threshold in zip(scores, self.weight, self.threshold, strict=True):
            union = Union.of(base_scores, checked_scores("addon_scores", addon_scores))
            kept = union.kept(union.scores(weight, self.abstain), threshold, self.labels_per_item)
            shared = np.bincount(union.rows[kept & union.members(truth)], minlength=truth.shape[0])
            predicted = np.bincount(union.rows[kept], minlength=truth.shape[0])
            columns.append(metric_from_counts(metric, shared, true_sizes, predicted))
        return np.column_stack(columns)

    def seen_from(self, service: int) -> WeightThreshold:
        """The combiner with a service, were that one the base."""
        return WeightThreshold(round(1 - float(self.weight[service]), 12), float(self.threshold[service]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "base": self.base,
            "weight": self.weight.tolist(),
            "threshold": self.threshold.tolist(),
            "labels_per_item": self.labels_per_item,
            "abstain": self.abstain,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Combiners":
        try:
            fields = Fields("combiners", values)
            combiners = cls(
                base=fields.whole("base"),
                weight=np.array(fields.numbers("weight")),
                threshold=np.array(fields.numbers("threshold")),
                labels_per_item=fields.optional_whole("labels_per_item", least=1),
                abstain=fields.flag("abstain"),
            )
            fields.done()
        except FrugalError as error:
            raise FrugalError(f"{one_line(error)}; save the combiners again.") from None
        return combiners


def fit_market_combiners(
    market: "LabelMarket", base: int, metric: str = "accuracy", **options: Any
) -> Combiners:
    """`fit_combiners` on a market with truth."""
    return fit_combiners(market.truth, market.scores, base, metric, **options)


def fit_combiners(
    truth: csr_matrix,
    scores: Sequence[csr_matrix],
    base: int,
    metric: str = "accuracy",
    grid: int = GRID,
    *,
    labels_per_item: int | None = None,
    abstain: bool = False,
    known: Mapping[int, Combiners] | None = None,
) -> Combiners:
    """The best (w, θ) of the base with each service; with itself only θ is searched.

    truth, scores: (items, labels), the latter one matrix per service. known: what was found for other
    bases: who of two was asked first makes no difference to what both said.
    """
    if not 0 <= base < len(scores):
        raise FrugalError(f"fit_combiners: base {base} is not one of the {len(scores)} services.")
    options: dict[str, Any] = {"labels_per_item": labels_per_item, "abstain": abstain}
    known = known or {}
    found = [
        known[service].seen_from(base)
        if service in known
        else search(truth, scores[base], addon_scores, metric, grid, **options)
        for service, addon_scores in enumerate(scores)
    ]
    return Combiners(
        base=base,
        weight=np.array([pair.weight for pair in found]),
        threshold=np.array([pair.threshold for pair in found]),
        **options,
    )
