"""The combiner against the same rules written out over dictionaries."""

import json
from itertools import pairwise, product

import numpy as np
import pytest
from helpers import small_market
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from frugalmct.combine import (
    Combiners,
    WeightThreshold,
    combine,
    fit_combiners,
    fit_market_combiners,
    mean_metric,
    search,
    weight_threshold,
)
from frugalmct.combine.union import TOLERANCE
from frugalmct.combine.weight_threshold import grid_steps
from frugalmct.errors import FrugalError
from frugalmct.metrics import METRICS, metric_from_counts, set_metric
from frugalmct.sparse import label_matrix

LABELS = 5
PERSON, CAR, BIKE = range(3)

# Few distinct scores, so that ties, stored zeros and scores on the grid's thresholds are common.
SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.9, 1.0]) | st.floats(0, 1)
ANSWERS = st.dictionaries(st.integers(0, LABELS - 1), SCORES)
ITEMS = st.lists(st.tuples(ANSWERS, ANSWERS, st.sets(st.integers(0, LABELS - 1))), min_size=1, max_size=8)
LIMITS = st.none() | st.integers(1, 3)


def matrix(sets, labels=LABELS) -> csr_matrix:
    starts = np.cumsum([0, *map(len, sets)])
    names = [label for answer in sets for label in sorted(answer)]
    scores = [answer[label] for answer in sets for label in sorted(answer)]
    return label_matrix(starts, names, scores, labels)


def markets(items):
    base, addon, truth = zip(*items, strict=True)
    return matrix(base), matrix(addon), matrix([dict.fromkeys(labels, 1.0) for labels in truth])


def as_dicts(combined: csr_matrix) -> list[dict[int, float]]:
    ends = combined.indptr
    return [
        dict(zip(combined.indices[a:b].tolist(), combined.data[a:b].tolist(), strict=True))
        for a, b in pairwise(ends)
    ]


def by_hand(base, addon, weight, threshold, limit=None, abstain=False) -> dict[int, float]:
    if abstain and not (base and addon):
        union = base or addon
    else:
        union = {
            label: weight * base.get(label, 0.0) + (1 - weight) * addon.get(label, 0.0)
            for label in sorted(base.keys() | addon.keys())
        }
    ranked = sorted(union, key=lambda label: (-union[label], label))[:limit]
    return {label: union[label] for label in sorted(ranked) if union[label] >= threshold - TOLERANCE}


def paper_example() -> tuple[csr_matrix, csr_matrix]:
    return matrix([{PERSON: 0.8, CAR: 0.7}], 3), matrix([{CAR: 0.5, BIKE: 0.4}], 3)


def test_worked_example_of_the_paper():
    # The paper prints 0.46 for the car, but its own formula, 0.3 * 0.7 + 0.7 * 0.5, is 0.56.
    union = as_dicts(combine(*paper_example(), weight=0.3, threshold=0.0))[0]
    assert union == pytest.approx({PERSON: 0.24, CAR: 0.56, BIKE: 0.28})
    kept = as_dicts(combine(*paper_example(), weight=0.3, threshold=0.25))[0]
    assert kept == pytest.approx({CAR: 0.56, BIKE: 0.28})


@given(ITEMS, st.sampled_from([0.0, 0.3, 0.5, 1.0]) | st.floats(0, 1), SCORES, LIMITS, st.booleans())
def test_combine_equals_dictionaries(items, weight, threshold, limit, abstain):
    base, addon, _ = markets(items)
    combined = combine(base, addon, weight, threshold, labels_per_item=limit, abstain=abstain)
    assert combined.shape == base.shape
    assert as_dicts(combined) == [by_hand(b, a, weight, threshold, limit, abstain) for b, a, _ in items]


def test_a_silent_service_rejects_in_the_paper_and_may_abstain():
    base, silent = matrix([{PERSON: 0.6, CAR: 0.2}]), matrix([{}])
    assert as_dicts(combine(base, silent, 0.3, 0.25)) == [{}]
    assert as_dicts(combine(base, silent, 0.3, 0.25, abstain=True)) == [{PERSON: 0.6}]
    assert as_dicts(combine(silent, base, 0.9, 0.25, abstain=True)) == [{PERSON: 0.6}]
    assert as_dicts(combine(silent, silent, 0.9, 0.0, abstain=True)) == [{}]
    # A label given with score 0 is an answer.
    assert as_dicts(combine(base, matrix([{BIKE: 0.0}]), 0.3, 0.25, abstain=True)) == [{}]


@given(ITEMS, st.sampled_from([0.0, 0.4, 1.0]))
def test_threshold_zero_keeps_the_whole_union(items, weight):
    base, addon, _ = markets(items)
    kept = as_dicts(combine(base, addon, weight, 0.0))
    assert [set(answer) for answer in kept] == [b.keys() | a.keys() for b, a, _ in items]


def test_a_score_on_the_threshold_is_kept_despite_rounding():
    for weight, score in product(np.arange(11) / 10, np.arange(11) / 10):
        same = matrix([{0: score}])
        assert combine(same, same, weight, score).nnz == 1
        assert combine(same, same, weight, min(score + 1e-6, 1.0)).nnz == (score == 1.0)


def test_equal_scores_go_to_the_first_label():
    base, addon = matrix([{3: 0.5, 1: 0.5}]), matrix([{2: 0.5}])
    assert as_dicts(combine(base, addon, 0.5, 0.0, labels_per_item=1)) == [{1: 0.25}]


@given(ITEMS, st.sampled_from(sorted(METRICS)), st.sampled_from([1, 2, 5, 10]), LIMITS, st.booleans())
def test_search_equals_a_double_loop(items, metric, grid, limit, abstain):
    base, addon, truth = markets(items)
    options = {"labels_per_item": limit, "abstain": abstain}
    steps = np.arange(grid + 1) / grid
    means = {}
    for weight, threshold in product(steps, steps):
        kept = combine(base, addon, weight, threshold, **options)
        means[weight, threshold] = set_metric(truth, kept, metric).mean()
    surface = mean_metric(truth, base, addon, metric, grid, **options)
    np.testing.assert_allclose(surface.ravel(), list(means.values()), atol=1e-12)

    found = search(truth, base, addon, metric, grid, **options)
    if all(b == a for b, a, _ in items):
        assert found.weight == 1
        found = WeightThreshold(0.0, found.threshold)
    assert means[found] == pytest.approx(max(means.values()), abs=1e-12)


@given(ITEMS, st.sampled_from(sorted(METRICS)), LIMITS, st.integers(1, 3))
def test_many_items_are_searched_block_by_block(items, metric, limit, block):
    base, addon, truth = markets(items)
    whole = mean_metric(truth, base, addon, metric, labels_per_item=limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weight_threshold, "BLOCK", block)
        in_blocks = mean_metric(truth, base, addon, metric, labels_per_item=limit)
    np.testing.assert_allclose(in_blocks, whole, atol=1e-12)


def test_search_breaks_ties_by_threshold_then_by_the_weight_nearest_a_half():
    truth, one, two = matrix([{0: 1.0}]), matrix([{0: 0.9}]), matrix([{0: 0.8}])
    assert search(truth, one, two) == (0.5, 0.0)
    # With three steps 1/3 and 2/3 are equally near: the smaller.
    assert search(truth, one, two, grid=3) == (1 / 3, 0.0)


def test_search_with_itself_only_looks_for_a_threshold():
    truth = matrix([{0: 1.0}, {1: 1.0}])
    alone = matrix([{0: 0.9, 1: 0.35}, {1: 0.6, 2: 0.2}])
    assert search(truth, alone, alone) == (1.0, 0.4)
    assert search(truth, alone, alone.copy()) == (1.0, 0.4)


def test_search_prefers_the_better_service():
    truth = matrix([{0: 1.0}, {1: 1.0}, {2: 1.0}])
    right = matrix([{0: 0.6}, {1: 0.6}, {2: 0.6}])
    wrong = matrix([{3: 0.9}, {4: 0.9}, {3: 0.9}])
    weight, threshold = search(truth, wrong, right)
    assert set_metric(truth, combine(wrong, right, weight, threshold)).tolist() == [1, 1, 1]


@given(ITEMS, st.sampled_from(sorted(METRICS)), LIMITS, st.booleans())
def test_accuracy_equals_the_metric_of_what_apply_gives(items, metric, limit, abstain):
    base, addon, truth = markets(items)
    combiners = Combiners(1, np.array([0.3, 1.0]), np.array([0.25, 0.5]), limit, abstain)
    columns = [
        set_metric(truth, combiners.apply(base, other, k), metric) for k, other in enumerate((addon, base))
    ]
    np.testing.assert_array_equal(combiners.accuracy(truth, (addon, base), metric), np.column_stack(columns))


def test_fit_combiners_is_a_search_for_each_service():
    market = small_market()
    combiners = fit_combiners(market.truth, market.scores, base=1, metric="f1", grid=5)
    expected = [search(market.truth, market.scores[1], scores, "f1", 5) for scores in market.scores]
    assert combiners.base == 1 and combiners.weight[1] == 1
    found = zip(combiners.weight.tolist(), combiners.threshold.tolist(), strict=True)
    assert list(found) == [tuple(pair) for pair in expected]


def test_what_was_found_for_another_base_is_not_searched_for_again():
    market = small_market()
    known = {0: fit_market_combiners(market, 0)}
    again = fit_market_combiners(market, 1, known=known)
    alone = fit_market_combiners(market, 1)
    assert again.weight[0] == pytest.approx(1 - known[0].weight[1], abs=1e-12)
    assert again.threshold[0] == known[0].threshold[1]
    assert again.weight[1] == alone.weight[1] and again.threshold[1] == alone.threshold[1]
    worth = [own.accuracy(market.truth, market.scores).mean(axis=0) for own in (again, alone)]
    np.testing.assert_allclose(*worth, rtol=1e-12)


def test_combiners_survive_json():
    combiners = fit_market_combiners(small_market(), 0, labels_per_item=1, abstain=True)
    again = Combiners.from_dict(json.loads(json.dumps(combiners.to_dict())))
    assert again.to_dict() == combiners.to_dict() and again.labels_per_item == 1 and again.abstain


def test_the_inputs_stay_as_they_were():
    base, addon = paper_example()
    before = [part.copy() for part in (base.data, base.indices, addon.data, addon.indices)]
    combine(base, addon, 0.3, 0.25)
    for old, new in zip(before, (base.data, base.indices, addon.data, addon.indices), strict=True):
        np.testing.assert_array_equal(old, new)


def test_unsorted_and_other_sparse_input_is_taken_as_the_set_it_is():
    base, addon = paper_example()
    unsorted = csr_matrix((base.data[::-1].copy(), base.indices[::-1].copy(), base.indptr), shape=base.shape)
    expected = as_dicts(combine(base, addon, 0.3, 0.25))
    assert as_dicts(combine(unsorted, addon, 0.3, 0.25)) == expected
    assert as_dicts(combine(base.tocsc(), addon.tocoo(), 0.3, 0.25)) == expected


def test_no_labels_at_all():
    nothing = matrix([{}, {}])
    assert combine(nothing, nothing, 0.5, 0.5).nnz == 0
    assert search(matrix([{0: 1.0}, {}]), nothing, matrix([{}, {1: 0.5}])) == (0.9, 0.1)


ONE = matrix([{0: 0.5}])
THREE_SERVICES = Combiners(0, np.ones(3), np.ones(3))
NOT_A_NUMBER = csr_matrix((np.array([np.nan]), np.array([0]), np.array([0, 1])), shape=ONE.shape)
TWICE = csr_matrix((np.array([0.1, 0.2]), np.array([0, 0]), np.array([0, 2])), shape=ONE.shape)


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: combine(ONE, ONE, 1.5, 0.5), "weight is 1.5"),
        (lambda: combine(ONE, ONE, "a", 0.5), "weight is 'a'"),
        (lambda: combine(ONE, ONE, 0.5, float("nan")), "threshold is nan"),
        (lambda: combine(ONE.toarray(), ONE, 0.5, 0.5), "base_scores is a ndarray"),
        (lambda: combine(ONE, matrix([{}, {}]), 0.5, 0.5), "must be alike"),
        (lambda: combine(NOT_A_NUMBER, ONE, 0.5, 0.5), "outside [0, 1]"),
        (lambda: combine(ONE, ONE * 3, 0.5, 0.5), "outside [0, 1]"),
        (lambda: combine(TWICE, ONE, 0.5, 0.5), "a label twice"),
        (lambda: combine(ONE, ONE, 0.5, 0.5, labels_per_item=0), "labels_per_item is 0"),
        (lambda: search(matrix([{}, {}]), ONE, ONE), "must be alike"),
        (lambda: search(ONE, ONE, ONE, grid=0), "grid is 0"),
        (lambda: search(ONE, ONE, ONE, metric="guess"), "Unknown metric 'guess'"),
        (lambda: search(matrix([]), matrix([]), matrix([])), "no items"),
        (lambda: fit_market_combiners(small_market(), 2), "base 2"),
        (lambda: Combiners(2, np.ones(2), np.ones(2)), "base 2"),
        (lambda: Combiners(0, np.ones(2), np.ones(3)), "one number per service"),
        (lambda: Combiners(0, np.array([2.0]), np.ones(1)), "weight is"),
        (
            lambda: small_market().choice_accuracy(Combiners(0, np.ones(3), np.ones(3))),
            "3 services, not for 2",
        ),
        (lambda: Combiners(0, np.ones(2), np.ones(2)).apply(ONE, ONE, 2), "2 is not one"),
        (lambda: Combiners.from_dict({"base": 0}), "save the combiners again"),
    ],
)
def test_malformed_input_is_answered_in_one_sentence(call, part):
    with pytest.raises(FrugalError) as caught:
        call()
    assert part in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("grid", [1, 2, 3, 7, 10, 50, 100])
def test_thresholds_passed_are_those_that_a_search_finds(grid):
    limits = grid_steps(grid) - TOLERANCE
    at_hand = [limits, np.nextafter(limits, 2), np.nextafter(limits, -1), limits + 2 * TOLERANCE]
    scores = np.concatenate([np.random.default_rng(grid).random(1_000), np.clip(at_hand, 0, 1).ravel()])
    found = weight_threshold._passed(scores, grid_steps(grid))
    assert found.tolist() == np.searchsorted(limits, scores, side="right").tolist()


def test_counts_over_thresholds_by_hand():
    # Union scores at w = 0.5: label 0 has 0.45, label 1 has 0.2, label 2 (wrong) 0.3.
    truth = matrix([{0: 1.0, 1: 1.0}])
    base, addon = matrix([{0: 0.9, 2: 0.6}]), matrix([{1: 0.4}])
    surface = mean_metric(truth, base, addon, grid=10, weights=np.array([0.5]))
    expected = [2 / 3] * 3 + [1 / 3] + [1 / 2] + [0] * 6
    np.testing.assert_allclose(surface[0], expected)
    assert metric_from_counts("accuracy", [1], [2], [2])[0] == pytest.approx(expected[3])
