"""How often labels were right, against counting in loops."""

from collections import Counter

import numpy as np
import pytest

from frugalmct.combine import records
from frugalmct.combine.candidates import Candidates
from frugalmct.combine.records import LABEL_BITS, LEAST_PAIRS, PRIOR, Held, Records, Tally
from frugalmct.sparse import label_matrix

LABELS, FOLDS = 4, 3


@pytest.fixture
def training():
    draw = np.random.default_rng(0)
    dense = [draw.random((90, LABELS)) * (draw.random((90, LABELS)) < 0.5) for _ in range(2)]
    answers = []
    for table in dense:
        rows, labels = np.nonzero(table)
        starts = np.searchsorted(rows, np.arange(91))
        answers.append(label_matrix(starts, labels, table[rows, labels], LABELS))
    candidates = Candidates.of(answers)
    return candidates, draw.random(len(candidates)) < 0.6, np.arange(90) % FOLDS


def test_a_count_leaves_out_the_own_fold_and_the_one_held_out(training):
    candidates, is_true, fold = training
    own = fold[candidates.rows]
    tally = Tally.of(candidates.labels, is_true, own, FOLDS)
    for held_out in (None, 0, 2):
        counts = tally.counts(tally.right, tally.places(candidates.labels), Held(own, held_out))
        for number, label in enumerate(candidates.labels):
            known = (own != own[number]) & (own != held_out)
            assert counts[number] == np.count_nonzero(is_true & (candidates.labels == label) & known)


def test_unknown_keys_have_never_been_seen():
    seen = np.array([3, 3, 5]), np.array([True, False, True]), np.zeros(3, int), 1
    tally = Tally.of(*seen)
    assert tally.places(np.array([5, 4, 3, 9])).tolist() == [1, -1, 0, -1]
    assert tally.counts(tally.given, np.array([-1, 0]), None).tolist() == [0, 2]
    np.testing.assert_allclose(tally.share(np.array([-1]), np.array([0.3]), None), 0.3)
    assert Tally.of(*seen, least=2).keys.tolist() == [3] and Tally.of(*seen, most=1).keys.tolist() == [3]
    assert len(Tally.of(*seen, least=3).keys) == 0


def test_columns_of_new_items_are_shares_of_all_that_was_counted(training):
    candidates, is_true, fold = training
    records = Records.of(candidates, is_true, fold, FOLDS).summed()
    columns = records.look_up(candidates).columns()
    overall = (is_true.sum() + 0.5) / (len(is_true) + 1)

    def share(among, expected):
        return (is_true[among].sum() + PRIOR * expected) / (among.sum() + PRIOR)

    for number in range(0, len(candidates), 7):
        label, givers = candidates.labels[number], candidates.givers[number]
        of_givers = share(candidates.givers == givers, overall)
        of_label = share(candidates.labels == label, overall)
        of_both = share((candidates.labels == label) & (candidates.givers == givers), of_givers)
        seen = np.count_nonzero(candidates.labels == label)
        np.testing.assert_allclose(
            columns[number, :4], [of_givers, of_label, of_both, np.log1p(seen)], rtol=1e-5
        )
        context = 0.0
        for other in candidates.labels[(candidates.rows == candidates.rows[number])]:
            with_other = np.isin(candidates.rows, candidates.rows[candidates.labels == other])
            among = with_other & (candidates.labels == label)
            if other != label and among.sum() >= LEAST_PAIRS:
                pair = share(among, of_label)
                context += np.log(pair / (1 - pair)) - np.log(of_label / (1 - of_label))
        assert columns[number, 4] == pytest.approx(context, rel=1e-4, abs=1e-6)


def test_the_truth_of_a_fold_held_out_does_not_reach_any_column(training):
    candidates, is_true, fold = training
    turned = np.where(fold[candidates.rows] == 1, ~is_true, is_true)
    ours, theirs = (
        Records.of(candidates, truth, fold, FOLDS).look_up(candidates).columns(fold, 1)
        for truth in (is_true, turned)
    )
    np.testing.assert_array_equal(ours, theirs)


def test_a_part_of_the_candidates_sees_what_it_sees_among_all(training):
    candidates, is_true, fold = training
    lookup = Records.of(candidates, is_true, fold, FOLDS).look_up(candidates)
    part = np.random.default_rng(1).random(len(candidates)) < 0.4
    np.testing.assert_array_equal(lookup.take(part).columns(fold, 0), lookup.columns(fold, 0)[part])


def test_of_many_pairs_those_of_every_so_many_items_are_counted(training, monkeypatch):
    candidates, is_true, fold = training
    pairs = sum(len(who) for who, _ in candidates.neighbours())
    # An item's own place beside itself is no pair, but takes part in the estimate of how many there are.
    monkeypatch.setattr(records, "PAIRS_COUNTED", pairs)
    found = Records.of(candidates, is_true, fold, FOLDS).pairs
    counted = Counter()
    for who, others in candidates.neighbours():
        for one, other in zip(who, others, strict=True):
            if candidates.rows[one] % 2 == 0:
                counted[int(candidates.labels[one]), int(candidates.labels[other])] += 1
    expected = {pair: count for pair, count in counted.items() if count >= LEAST_PAIRS}
    keys = [(int(key) >> LABEL_BITS, int(key) & ((1 << LABEL_BITS) - 1)) for key in found.keys]
    assert dict(zip(keys, found.given.sum(axis=0).tolist(), strict=True)) == expected
