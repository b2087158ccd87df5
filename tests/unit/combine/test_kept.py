"""Which candidates are kept, against all subsets written out."""

from itertools import combinations, product

import numpy as np
import pytest

from frugalmct.combine.candidates import Candidates
from frugalmct.combine.kept import MISSED, KeptSet, Ranked, best_rule
from frugalmct.metrics import metric_from_counts
from frugalmct.sparse import label_matrix


def candidates_of(sizes):
    starts = np.cumsum([0, *sizes])
    labels = [label for size in sizes for label in range(size)]
    return Candidates.of([label_matrix(starts, labels, None, max(sizes))])


def kept_sets(rule, sizes, likely):
    candidates = candidates_of(sizes)
    kept = rule.keep(Ranked.of(candidates, np.asarray(likely)))
    return [set(np.flatnonzero(kept[candidates.rows == row]).tolist()) for row in range(len(sizes))]


def ratio_worth(chosen, likely, missed, metric):
    shared, true = sum(likely[i] for i in chosen), sum(likely) + missed
    return 2 * shared / (true + len(chosen)) if metric == "f1" else shared / (true + len(chosen) - shared)


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
@pytest.mark.parametrize("limit", [None, 1, 2])
def test_no_other_set_is_worth_more(metric, limit):
    draw = np.random.default_rng(0)
    for _ in range(60):
        likely = draw.random(5)
        missed = float(draw.choice([0, 0.3, 2]))
        (kept,) = kept_sets(KeptSet(metric, missed, labels_per_item=limit), [5], likely)
        sets = [s for n in range(1, (limit or 5) + 1) for s in combinations(range(5), n)]
        best = max(ratio_worth(s, likely, missed, metric) for s in sets)
        assert ratio_worth(kept, likely, missed, metric) == pytest.approx(best)


def test_the_ratio_picks_sets_as_good_as_the_true_expectation():
    """The expected accuracy over all 2^n truths, by brute force: next to nothing is lost by the ratio."""
    draw, loss = np.random.default_rng(1), []
    for _ in range(40):
        likely = draw.random(4)
        worlds = np.array(list(product([0, 1], repeat=4)))
        weight = np.prod(np.where(worlds, likely, 1 - likely), axis=1)

        def expected(chosen, worlds=worlds, weight=weight):
            shared = worlds[:, sorted(chosen)].sum(axis=1)
            return weight @ metric_from_counts("accuracy", shared, worlds.sum(axis=1), len(chosen))

        best = max(expected(s) for n in range(1, 5) for s in combinations(range(4), n))
        loss.append(best - expected(kept_sets(KeptSet(), [4], likely)[0]))
    assert np.mean(loss) < 0.01 and min(loss) >= -1e-12


def test_items_are_judged_apart_and_some_have_no_candidate():
    rule = KeptSet("accuracy")
    sizes, likely = [3, 0, 1, 2], [0.9, 0.1, 0.8, 0.05, 0.5, 0.5]
    together = kept_sets(rule, sizes, likely)
    assert together == [{0, 2}, set(), {0}, {0, 1}]
    assert kept_sets(rule, [3], likely[:3])[0] == together[0]


def test_the_most_missed_keep_everything_and_thresholds_cut():
    likely = [0.9, 0.01, 0.4]
    assert kept_sets(KeptSet(missed=MISSED[-1]), [3], likely) == [{0, 1, 2}]
    assert kept_sets(KeptSet("recall", threshold=0.4), [3], likely) == [{0, 2}]
    assert kept_sets(KeptSet("recall", threshold=0.0, labels_per_item=2), [3], likely) == [{0, 2}]


def test_the_best_rule_is_the_one_that_scores_highest():
    assert best_rule("accuracy", None, lambda rule: -abs(rule.missed - 0.5)).missed == 0.5
    assert best_rule("subset", None, lambda rule: -abs(rule.threshold - 0.35)).threshold == pytest.approx(
        0.35
    )
    assert best_rule("accuracy", 1, lambda rule: 0.0).labels_per_item == 1


def test_equal_probabilities_stay_together_and_the_first_label_leads():
    assert kept_sets(KeptSet(labels_per_item=1), [3], [0.5, 0.5, 0.5]) == [{0}]
