"""Precision and recall of every label, for each service, the vote of all, and FrugalMCT."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.baselines.votes import majority_vote
from frugalmct.paper.names import FRUGALMCT, MAJORITY, single
from frugalmct.paper.studies.case import Case
from frugalmct.paper.tables import stacked
from frugalmct.sparse import entry_keys

Counts = NDArray[np.int64]

NEEDS = ("market", "split", "combination", "plans", "estimates")
SETTINGS = ("budget", "block", "prices")


def run(case: Case) -> pd.DataFrame:
    """One row per method and label that occurs or is predicted; most frequent labels first, ties by name."""
    truth, labels = case.test.truth, case.test.labels
    counts = {
        method: (label_counts(answers), shared_counts(truth, answers)) for method, answers in _answers(case)
    }
    occurrences = label_counts(truth)
    seen = np.flatnonzero(occurrences + sum(predicted for predicted, _ in counts.values()))
    order = seen[np.lexsort((labels[seen], -occurrences[seen]))]
    return stacked(
        pd.DataFrame(
            {
                "dataset": case.dataset,
                "budget": case.budget,
                "method": method,
                "label": labels[order],
                "occurrences": occurrences[order],
                "predicted": predicted[order],
                "correct": correct[order],
                "precision": _share(correct[order], predicted[order]),
                "recall": _share(correct[order], occurrences[order]),
                "data": case.market.data,
            }
        )
        for method, (predicted, correct) in counts.items()
    )


def _answers(case: Case) -> Iterator[tuple[str, csr_matrix]]:
    for service, scores in zip(case.test.services, case.test.scores, strict=True):
        yield single(service), scores
    yield MAJORITY, majority_vote(case.test, labels_per_item=case.combiners.labels_per_item)
    yield FRUGALMCT, case.answers


def label_counts(answers: csr_matrix) -> Counts:
    """How many items have each label."""
    return np.bincount(answers.indices, minlength=answers.shape[1])


def shared_counts(truth: csr_matrix, answers: csr_matrix) -> Counts:
    """In how many items each label is both true and predicted."""
    both = np.intersect1d(entry_keys(truth), entry_keys(answers), assume_unique=True)
    return np.bincount(both % max(truth.shape[1], 1), minlength=truth.shape[1])


def _share(part: Counts, whole: Counts) -> NDArray[np.float64]:
    """part / whole; unknown where the whole is nothing."""
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
