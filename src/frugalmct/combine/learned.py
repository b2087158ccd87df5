"""The learned combiner: one answer out of any number of services' answers.

Every label that at least one of them gave is a candidate. Boosted trees estimate how likely it is to be true,
from who gave it at which score, how many labels each gave, how often that label was right in the past when
these services gave it, and what the labels beside it tell. Kept is the set that is best on average (`kept`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from frugalmct.arrays import Described
from frugalmct.combine.boosting import TYPES, BoostedTrees
from frugalmct.combine.candidates import MOST_COMBINED, Candidates, float32_columns
from frugalmct.combine.kept import KeptSet, Ranked, best_rule
from frugalmct.combine.one_item import Answer, OneItem
from frugalmct.combine.records import COLUMNS, Records
from frugalmct.combine.union import checked_scores
from frugalmct.combine.weight_threshold import check_labels_per_item
from frugalmct.errors import FrugalError
from frugalmct.metrics import metric_from_counts, set_metric
from frugalmct.seeds import generator, small_seed
from frugalmct.sparse import set_sizes, sorted_labels, take_rows
from frugalmct.values import Fields, shown

# A model that has seen two thirds of the items tells as well as one of four fifths which combiner is better.
FOLDS = 3
# Trees of this size learn nothing more from more; how often labels were right is still counted over all.
ENOUGH_CANDIDATES = 20_000
# Which of a few rules is best is seen on so many.
ENOUGH_TO_TELL = 100_000
COMBINER = "learned"

# Labels, of all services together, that are judged at once.
LABELS_AT_ONCE = 1 << 17

Kept = Callable[[Candidates, NDArray[np.float64]], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class LearnedCombiner:
    """Fitted for the answers of `services` services, always given in the same order.

    Of the training items judged there are, until it is saved: fold (items,); out_of_fold (items,), the
    accuracy of each by a model that has not seen its fold; likely, that model's probabilities of every label
    given.
    """

    services: int
    records: Records
    trees: BoostedTrees
    rule: KeptSet
    fold: NDArray[np.int64] | None = None
    out_of_fold: NDArray[np.float64] | None = None
    likely: csr_matrix | None = None

    @classmethod
    def fit(
        cls,
        truth: csr_matrix,
        answers: Sequence[csr_matrix],
        metric: str = "accuracy",
        *,
        labels_per_item: int | None = None,
        judged: NDArray[np.int64] | None = None,
        seed: int = 0,
        jobs: int = 1,
    ) -> "LearnedCombiner":
        """Learns from items x labels matrices: the truth, and one service's answers each.

        judged: the items, in order, that are wanted out of fold, if not all of them. How often labels were
        right is counted over all.
        """
        check_labels_per_item(labels_per_item)
        candidates = Candidates.of(answers)
        fold, folds = folds_of(candidates.items, seed)
        records = Records.of(candidates, candidates.members(truth), fold, folds)
        sample = _sample(candidates, small_seed(seed, COMBINER))
        looked_at = wanted = np.arange(candidates.items)
        if judged is not None:
            looked_at = np.union1d(judged, sample)
            wanted = np.searchsorted(looked_at, judged)
            truth = take_rows(truth, looked_at)
            candidates = Candidates.of([take_rows(own, looked_at) for own in answers])
        learning = _Learning(candidates, truth, records, fold[looked_at], np.isin(looked_at, sample))
        likely, trees = learning.learn(folds, small_seed(seed, COMBINER), jobs)
        rule, reached = learning.best_rule(likely, metric, labels_per_item)
        return cls(
            len(answers),
            records.summed(),
            trees,
            rule,
            fold=fold[looked_at][wanted],
            out_of_fold=reached[wanted],
            likely=candidates.matrix(likely, np.ones(len(candidates), dtype=bool))[wanted],
        )

    def probabilities(self, answers: Sequence[csr_matrix]) -> csr_matrix:
        """Every label that a service gave, with the probability that it is true."""
        return self._matrix(answers, lambda candidates, _: np.ones(len(candidates), dtype=bool))

    def apply(self, answers: Sequence[csr_matrix]) -> csr_matrix:
        """The kept labels, with the probability that each is true."""
        return self._matrix(answers, self._kept)

    def _matrix(self, answers: Sequence[csr_matrix], kept: Kept) -> csr_matrix:
        parts = [found.matrix(likely, kept(found, likely)) for found, likely in self._judged(answers)]
        return parts[0] if len(parts) == 1 else sorted_labels(vstack(parts, format="csr"))

    def _kept(self, candidates: Candidates, likely: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self.rule.keep(Ranked.of(candidates, likely))

    def apply_one(self, answers: Sequence[Answer]) -> dict[int, float]:
        """What `apply` gives for one item, whose answers are label -> score."""
        return self._one.apply(answers)

    @cached_property
    def _one(self) -> OneItem:
        return OneItem(self.records, self.trees, self.rule)

    def accuracy(
        self, truth: csr_matrix, answers: Sequence[csr_matrix], metric: str = "accuracy"
    ) -> NDArray[np.float64]:
        """(items,): how good the kept labels are."""
        return set_metric(checked_scores("truth", truth), self.apply(answers), metric)

    def _judged(self, answers: Sequence[csr_matrix]) -> Iterator[tuple[Candidates, NDArray[np.float64]]]:
        """Some items after the other, so many that what is known of their labels stays in a core's cache."""
        if len(answers) != self.services:
            raise FrugalError(
                f"This combiner was learnt for {self.services} services' answers, but was given "
                f"{len(answers)}; give those it was learnt for, in the same order."
            )
        items = answers[0].shape[0]
        block = max(items * LABELS_AT_ONCE // max(sum(each.nnz for each in answers), 1), 1)
        for start in range(0, max(items, 1), block):
            candidates = Candidates.of([each[start : start + block] for each in answers])
            known = self.records.look_up(candidates).columns()
            yield candidates, self.trees.probabilities(float32_columns([candidates.columns(), known]))

    def to_arrays(self) -> Described:
        """A JSON-able header and plain arrays, all that `apply` needs."""
        header = {
            "combiner": COMBINER,
            "services": self.services,
            "offset": self.trees.offset,
            "rule": self.rule.to_dict(),
        }
        return header, self.records.arrays() | self.trees.arrays()

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "LearnedCombiner":
        """Reads what `to_arrays` gave; data that cannot have come from it is refused."""
        try:
            fields = Fields("its header", header)
            kind, services = fields.text("combiner"), fields.whole("services", least=1, most=MOST_COMBINED)
            if kind != COMBINER:
                raise FrugalError(f"its header says {shown(kind)}")
            trees = BoostedTrees.from_arrays(
                fields.number("offset"), {name: arrays[name] for name in TYPES}, _columns_for(services)
            )
            rule = KeptSet.from_dict(fields.take("rule"))
            fields.done()
            return cls(services, Records.from_arrays(arrays), trees, rule)
        except (FrugalError, KeyError, TypeError, ValueError) as error:
            raise FrugalError(
                f"The saved learned combiner is damaged ({error}); train and save it again."
            ) from None


def folds_of(items: int, seed: int) -> tuple[NDArray[np.int64], int]:
    """(items,) the fold of every item, all but equally many in each; and how many folds there are."""
    if items < 2:
        raise FrugalError(f"A learned combiner cannot learn from {items} item(s); give at least 2.")
    folds = min(FOLDS, items)
    return generator(seed, COMBINER, "folds").permutation(items) % folds, folds


@dataclass(frozen=True, eq=False)
class _Learning:
    """What trees learn from; fold, sampled: (items,), whether trees are grown on an item."""

    candidates: Candidates
    truth: csr_matrix
    records: Records
    fold: NDArray[np.int64]
    sampled: NDArray[np.bool_]

    @cached_property
    def is_true(self) -> NDArray[np.bool_]:
        return self.candidates.members(self.truth)

    def best_rule(
        self, likely: NDArray[np.float64], metric: str, labels_per_item: int | None
    ) -> tuple[KeptSet, NDArray[np.float64]]:
        """The rule of the highest mean accuracy, on some items if they are enough to tell, and the (items,)
        accuracies."""
        true_sizes = set_sizes(self.truth)
        step = -(-len(self.candidates) // ENOUGH_TO_TELL) or 1
        few, some = self.candidates.every(step)
        ranked, is_true, sizes = Ranked.of(few, likely[some]), self.is_true[some], true_sizes[::step]
        rule = best_rule(
            metric,
            labels_per_item,
            lambda rule: float(_accuracy(few, rule.keep(ranked), is_true, sizes, metric).mean()),
        )
        kept = rule.keep(Ranked.of(self.candidates, likely))
        return rule, _accuracy(self.candidates, kept, self.is_true, true_sizes, metric)

    def learn(self, folds: int, seed: int, jobs: int) -> tuple[NDArray[np.float64], BoostedTrees]:
        """Out-of-fold probabilities of the candidates, and the trees of all items."""
        columns, lookup = self.candidates.columns(), self.records.look_up(self.candidates)
        own, sample = self.fold[self.candidates.rows], self.sampled[self.candidates.rows]

        def table(chosen: NDArray[np.bool_], held_out: int | None) -> NDArray[np.float32]:
            # Column by column, as they lie in memory.
            own = columns.T.compress(chosen, axis=1).T
            return float32_columns([own, lookup.take(chosen).columns(self.fold, held_out)])

        likely = np.zeros(len(self.candidates))
        for held_out in range(folds):
            tested = own == held_out
            learnt = sample & ~tested
            trees = BoostedTrees.fit(table(learnt, held_out), self.is_true[learnt], seed, jobs)
            likely[tested] = trees.probabilities(table(tested, held_out))
        return likely, BoostedTrees.fit(table(sample, None), self.is_true[sample], seed, jobs)


def _sample(candidates: Candidates, seed: int) -> NDArray[np.int64]:
    """The items that trees are grown on: as many as make up ENOUGH_CANDIDATES."""
    if len(candidates) <= ENOUGH_CANDIDATES:
        return np.arange(candidates.items)
    order = generator(seed, "sample").permutation(candidates.items)
    enough = np.cumsum(np.diff(candidates.starts)[order]) <= ENOUGH_CANDIDATES
    return np.sort(order[enough])


def _accuracy(
    candidates: Candidates,
    kept: NDArray[np.bool_],
    is_true: NDArray[np.bool_],
    true_sizes: NDArray[np.int64],
    metric: str,
) -> NDArray[np.float64]:
    shared = np.bincount(candidates.rows[kept & is_true], minlength=candidates.items)
    predicted = np.bincount(candidates.rows[kept], minlength=candidates.items)
    return metric_from_counts(metric, shared, true_sizes, predicted)


def _columns_for(services: int) -> int:
    """How many columns a candidate of so many services has."""
    return 4 * services + 4 + COLUMNS
