"""Which candidates to keep, once each has a probability of being true: the set that is best on average.

For accuracy (shared / union) and F1 the best set is a prefix of the item's candidates, the likeliest first.
What a prefix is worth is estimated by the ratio of its expected parts, as if the item had `missed` true
labels more that nobody gave: a number learnt from the training items. On real data this beats one threshold
for all items by 0.1 to 0.4 points: where little is certain, less certain labels are worth keeping.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.combine.candidates import Candidates
from frugalmct.errors import FrugalError, listed
from frugalmct.metrics import METRICS
from frugalmct.values import Fields, shown

# Labels missed, as tried; with the last one every candidate is kept.
MISSED = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0, 1e9)
THRESHOLDS = tuple(np.arange(20) / 20)

# Of prefixes worth the same to this much the longest is kept.
TIE = 1e-12


@dataclass(frozen=True)
class KeptSet:
    """A rule. With a `threshold` the candidates at least that likely are kept; else the best prefix for the
    metric, with so many labels `missed`. Never more than `labels_per_item`, if that is given."""

    metric: str = "accuracy"
    missed: float = 0.0
    threshold: float | None = None
    labels_per_item: int | None = None

    def keep(self, ranked: "Ranked") -> NDArray[np.bool_]:
        """(candidates,): whether each is kept."""
        allowed = True if self.labels_per_item is None else ranked.size <= self.labels_per_item
        if self.threshold is not None:
            kept = allowed & (ranked.likely >= self.threshold)
        else:
            candidates = ranked.candidates
            worth = np.where(allowed, self._worth(ranked), -1.0)
            top = worth >= candidates.highest(worth)[candidates.rows] - TIE
            kept = ranked.size <= candidates.highest(np.where(top, ranked.size, 0))[candidates.rows]
        return ranked.unsorted(kept)

    def _worth(self, ranked: "Ranked") -> NDArray[np.float64]:
        """What the prefix that ends with each candidate is worth."""
        true = ranked.total + self.missed
        if self.metric == "f1":
            return 2 * ranked.shared / (true + ranked.size)
        return ranked.shared / (true + ranked.size - ranked.shared)

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_dict(cls, values: Any) -> "KeptSet":
        fields = Fields("its rule", values)
        rule = cls(
            fields.text("metric"),
            fields.number("missed", least=0),
            fields.optional_number("threshold", least=0),
            fields.optional_whole("labels_per_item", least=1),
        )
        fields.done()
        if rule.metric not in METRICS:
            raise FrugalError(f"its rule is for the metric {shown(rule.metric)}; known: {listed(METRICS)}")
        return rule


@dataclass(frozen=True, eq=False)
class Ranked:
    """Candidates from the likeliest of each item down: all that the rules have in common, found once.

    likely, size, shared: of each candidate in that order its probability, the length of the prefix that it
    ends, and how many of that prefix are true on average; total: how many of all its item's candidates are.
    """

    candidates: Candidates
    order: NDArray[np.int64]
    likely: NDArray[np.float64]
    size: NDArray[np.int64]
    shared: NDArray[np.float64]
    total: NDArray[np.float64]

    @classmethod
    def of(cls, candidates: Candidates, likely: NDArray[np.float64]) -> "Ranked":
        order = candidates.order(likely)
        likely = likely[order]
        running = np.concatenate([[0.0], np.cumsum(likely)])
        before = running[candidates.starts[:-1]][candidates.rows]
        total = running[candidates.starts[1:]][candidates.rows] - before
        return cls(candidates, order, likely, candidates.places + 1, running[1:] - before, total)

    def unsorted(self, values: NDArray) -> NDArray:
        """Values of the candidates in this order, in their own."""
        out = np.empty_like(values)
        out[self.order] = values
        return out


def best_rule(metric: str, labels_per_item: int | None, score: Callable[[KeptSet], float]) -> KeptSet:
    """The rule of the highest score; of equally good ones the first."""
    limit = labels_per_item
    if metric not in ("accuracy", "f1"):
        rules = [KeptSet(metric, threshold=float(t), labels_per_item=limit) for t in THRESHOLDS]
    elif limit == 1:
        return KeptSet(metric, labels_per_item=1)  # the likeliest, whatever was missed
    else:
        rules = [KeptSet(metric, missed, labels_per_item=limit) for missed in MISSED]
    return max(rules, key=score)
