"""One item's combined answer from plain numbers: what `apply` gives for matrices of one row, only sooner.

Answers are label -> score, as is what is kept. Every number is worked out by the same operations in the same
order as there, so that it is the same to its last digit.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from frugalmct.combine.boosting import BoostedTrees
from frugalmct.combine.candidates import MAX_CONTEXT, MOST_COMBINED, NOT_GIVEN, SILENT, VALUE_STEPS
from frugalmct.combine.kept import TIE, KeptSet
from frugalmct.combine.records import LABEL_BITS, PRIOR, Records, log_odds
from frugalmct.combine.union import TOLERANCE

Answer = Mapping[int, float]

# numpy adds up to this many numbers one by one.
ADDED_IN_ORDER = 7


def mix_one(
    base: Answer,
    addon: Answer,
    weight: float,
    threshold: float,
    labels_per_item: int | None = None,
    abstain: bool = False,
) -> dict[int, float]:
    """What `combine` gives for one item, in the order of its labels."""
    labels = sorted({*base, *addon})
    if abstain and not (base and addon):
        scores = {label: base.get(label, 0.0) + addon.get(label, 0.0) for label in labels}
    else:
        scores = {
            label: weight * base.get(label, 0.0) + (1 - weight) * addon.get(label, 0.0) for label in labels
        }
    least = threshold - TOLERANCE
    if labels_per_item is None:
        return {label: score for label, score in scores.items() if score >= least}
    leading = set(_from_the_highest(labels, scores.__getitem__)[:labels_per_item])
    return {label: score for label, score in scores.items() if score >= least and label in leading}


def _from_the_highest(labels: Sequence[int], value: Callable[[int], float]) -> list[int]:
    return sorted(labels, key=value, reverse=True)  # of equals the first stays first


class OneItem:
    """A learned combiner, asked about one item at a time."""

    def __init__(self, records: Records, trees: BoostedTrees, rule: KeptSet) -> None:
        self._trees, self._rule = trees, rule
        givers, labels, both, pairs = records.givers, records.labels, records.given_labels, records.pairs
        self._overall = float((givers.right.sum() + 0.5) / (givers.given.sum() + 1))
        self._givers = dict(zip(givers.keys.tolist(), self._shares(records, "givers"), strict=True))
        seen = np.log1p(labels.counts(labels.given, np.arange(len(labels.keys)), None)).tolist()
        shares = self._shares(records, "labels")
        self._labels = dict(zip(labels.keys.tolist(), zip(shares, seen, strict=True), strict=True))
        who = givers.places(both.keys & ((1 << MOST_COMBINED) - 1))
        expected = givers.share(who, np.full(len(who), self._overall), None)
        self._both = dict(
            zip(both.keys.tolist(), both.share(np.arange(len(who)), expected, None).tolist(), strict=True)
        )
        named = labels.places(pairs.keys >> LABEL_BITS)
        usual = labels.share(named, np.full(len(named), self._overall), None)
        lift = log_odds(pairs.share(np.arange(len(named)), usual, None)) - log_odds(usual)
        self._lifts = dict(zip(pairs.keys.tolist(), lift.tolist(), strict=True))

    def _shares(self, records: Records, name: str) -> list[float]:
        tally = getattr(records, name)
        known = np.arange(len(tally.keys))
        return tally.share(known, np.full(len(known), self._overall), None).tolist()

    def probabilities(self, answers: Sequence[Answer]) -> dict[int, float]:
        """Every label that a service gave, in order, with the probability that it is true."""
        labels = sorted({label for answer in answers for label in answer})
        if not labels:
            return {}
        table = np.array(self._table(labels, answers), dtype=np.float32)
        return dict(zip(labels, self._trees.probabilities(table).tolist(), strict=True))

    def apply(self, answers: Sequence[Answer]) -> dict[int, float]:
        """The kept labels, in order, with the probability that each is true."""
        return keep_one(self._rule, self.probabilities(answers))

    def _table(self, labels: list[int], answers: Sequence[Answer]) -> list[list[float]]:
        """One row per label: the columns of `Candidates`, then those of the records."""
        sizes = [len(answer) for answer in answers]
        highest = [max(answer.values(), default=0.0) for answer in answers]
        absent = [NOT_GIVEN if size else SILENT for size in sizes]
        given = [[label in answer for answer in answers] for label in labels]
        agreed = sum(sum(who) > 1 for who in given)
        contexts = self._contexts(labels, answers)
        rows = []
        for label, who, context in zip(labels, given, contexts, strict=True):
            scores = [answer.get(label, 0.0) for answer in answers]
            shown = [score if own else other for score, own, other in zip(scores, who, absent, strict=True)]
            margin = [
                score - most if own else NOT_GIVEN
                for score, own, most in zip(scores, who, highest, strict=True)
            ]
            counts = (sum(who), agreed, len(labels), sum_of(scores))
            rows.append([*shown, *margin, *highest, *sizes, *counts, *self._known(label, who), context])
        return rows

    def _known(self, label: int, who: list[bool]) -> tuple[float, float, float, float]:
        """How often its givers were right, its label, both; and how well known the label is."""
        mask = sum([1 << service for service, own in enumerate(who) if own])
        unknown = PRIOR * self._overall / PRIOR
        givers = self._givers.get(mask, unknown)
        share, seen = self._labels.get(label, (unknown, 0.0))
        both = self._both.get((label << MOST_COMBINED) | mask)
        return givers, share, PRIOR * givers / PRIOR if both is None else both, seen

    def _contexts(self, labels: list[int], answers: Sequence[Answer]) -> list[float]:
        """How much the labels beside each speak for it."""
        leading, lifts = _leading(labels, answers), self._lifts
        contexts = []
        for label in labels:
            total, first = 0.0, label << LABEL_BITS
            for other in leading:
                if other != label:
                    total += lifts.get(first | other, 0.0)
            contexts.append(total)
        return contexts


def _leading(labels: list[int], answers: Sequence[Answer]) -> list[int]:
    """The few of the highest scores, the highest first: what they say is added up in this order."""
    highest = {label: _stepped(max([answer.get(label, 0.0) for answer in answers])) for label in labels}
    return _from_the_highest(labels, highest.__getitem__)[:MAX_CONTEXT]


def keep_one(rule: KeptSet, likely: dict[int, float]) -> dict[int, float]:
    """What `rule.keep` keeps of one item's labels."""
    steps = {label: _stepped(value) for label, value in likely.items()}
    order = _from_the_highest(list(likely), steps.__getitem__)
    most = len(order) if rule.labels_per_item is None else rule.labels_per_item
    if rule.threshold is not None:
        kept = {label for label in order[:most] if likely[label] >= rule.threshold}
    else:
        kept = set(order[: _best_length(rule, [likely[label] for label in order], most)])
    return {label: value for label, value in likely.items() if label in kept}


def _best_length(rule: KeptSet, values: list[float], most: int) -> int:
    """Of the prefix that is worth most; of equals the longest."""
    total = 0.0
    shared = [total := total + value for value in values]
    true = total + rule.missed
    if rule.metric == "f1":
        worth = [2 * own / (true + size) for size, own in enumerate(shared[:most], start=1)]
    else:
        worth = [own / (true + size - own) for size, own in enumerate(shared[:most], start=1)]
    least = max(worth, default=0.0) - TIE
    return max((size for size, own in enumerate(worth, start=1) if own >= least), default=0)


def _stepped(value: float) -> int:
    """A value from 0 to 1 in whole steps, as candidates are ordered by."""
    return round(value * VALUE_STEPS)


def sum_of(values: list[float]) -> float:
    """To its last digit as numpy adds up."""
    if len(values) > ADDED_IN_ORDER:
        return float(np.sum(np.array(values)))
    total = 0.0
    for value in values:
        total += value
    return total
