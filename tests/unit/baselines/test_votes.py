import numpy as np
import pytest
from helpers import random_market, small_market

from frugalmct.baselines.votes import WeightedMajorityVote, majority_vote, vote_cost
from frugalmct.errors import FrugalError
from frugalmct.metrics import set_metric
from frugalmct.paper.exhibits.simulation_fidelity import majority_accuracy
from frugalmct.sparse import label_matrix


def dicts(matrix) -> list[dict[int, float]]:
    """Per item label -> score."""
    bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    return [
        dict(zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True)) for a, b in bounds
    ]


def sums_by_dict(market, ballot):
    totals = [{} for _ in range(len(market))]
    for k, scores in enumerate(market.scores):
        for total, answer in zip(totals, dicts(scores), strict=True):
            for label, score in answer.items():
                total[label] = total.get(label, 0) + ballot(k, score)
    return totals


def assert_same_sets(matrix, wanted):
    assert len(dicts(matrix)) == len(wanted)
    for ours, theirs in zip(dicts(matrix), wanted, strict=True):
        assert ours == pytest.approx(theirs)


@pytest.mark.parametrize("services", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_majority_is_at_least_half_of_the_services(seed, services):
    market = random_market(seed, services=services)
    wanted = [
        {label: votes / services for label, votes in total.items() if 2 * votes >= services}
        for total in sums_by_dict(market, lambda k, score: 1)
    ]
    assert_same_sets(majority_vote(market), wanted)


def test_a_vote_counts_even_with_score_zero():
    market = small_market()
    assert market.scores[0][0, 1] == 0
    assert dicts(majority_vote(market))[0] == {1: 1.0, 2: 0.5}


@pytest.mark.parametrize("services", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_a_silent_service_that_abstains_has_no_say(seed, services):
    market = random_market(seed, services=services)
    answers = [dicts(scores) for scores in market.scores]
    assert any(not answer for own in answers for answer in own)
    wanted = []
    for item, total in enumerate(sums_by_dict(market, lambda k, score: 1)):
        spoke = sum(bool(own[item]) for own in answers)
        wanted.append({label: votes / spoke for label, votes in total.items() if 2 * votes >= spoke})
    assert_same_sets(majority_vote(market, abstain=True), wanted)


@pytest.mark.parametrize("seed", range(3))
def test_the_weighted_vote_counts_those_who_speak(seed):
    train, test = random_market(seed), random_market(seed + 50)
    vote = WeightedMajorityVote(abstain=True).fit(train)
    assert vote.weights == pytest.approx(WeightedMajorityVote().fit(train).weights)
    answers = [dicts(scores) for scores in test.scores]
    wanted = []
    for item, total in enumerate(sums_by_dict(test, lambda k, score: vote.weights[k] * score)):
        whole = sum(weight for weight, own in zip(vote.weights, answers, strict=True) if own[item])
        wanted.append({label: score / whole for label, score in total.items()})
    assert_same_sets(vote.label_scores(test), wanted)
    # Its threshold is the best on the training items.
    reached = set_metric(train.truth, vote.answer(train)).mean()
    for threshold in np.arange(101) / 100:
        vote.threshold = float(threshold)
        assert reached >= set_metric(train.truth, vote.answer(train)).mean() - 1e-12


def test_who_alone_speaks_and_weighs_nothing_divides_by_nothing():
    truth = label_matrix([0, 1, 2], [0, 1], None, 3)
    market = small_market(
        items=np.array(["a", "b"]),
        labels=np.array(["x", "y", "z"]),
        services=("right", "wrong"),
        prices=np.array([1.0, 2.0]),
        truth=truth,
        scores=(label_matrix([0, 1, 1], [0], [1.0], 3), label_matrix([0, 1, 2], [2, 2], [0.9, 0.9], 3)),
    )
    vote = WeightedMajorityVote(abstain=True).fit(market)
    assert vote.weights.tolist() == [0.5, 0.0]
    assert_same_sets(vote.label_scores(market), [{0: 1.0, 2: 0.0}, {2: 0.0}])


@pytest.mark.parametrize("seed", range(4))
def test_simulation_fidelity_measures_the_same_vote(seed):
    market = random_market(seed, items=200)
    accuracy = set_metric(market.truth, majority_vote(market)).mean()
    assert accuracy == pytest.approx(majority_accuracy(market))


def weighted_by_dict(market, weights):
    whole = sum(weights)
    totals = sums_by_dict(market, lambda k, score: weights[k] * score)
    return [{label: score / whole for label, score in total.items()} for total in totals]


def jaccard(true, accepted):
    return len(true & accepted) / len(true | accepted) if true | accepted else 1.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("grid", [10, 37])
def test_weighted_vote_is_the_best_threshold_on_weighted_scores(seed, grid):
    train, test = random_market(seed), random_market(seed + 100)
    vote = WeightedMajorityVote(grid=grid).fit(train)
    truths = [set(row) for row in dicts(train.truth)]
    weights = [
        np.mean([jaccard(t, set(a)) for t, a in zip(truths, dicts(s), strict=True)]) for s in train.scores
    ]
    assert vote.weights == pytest.approx(weights)
    scored = weighted_by_dict(train, weights)

    def mean_accuracy(threshold):
        accepted = [{label for label, s in row.items() if s >= threshold - 1e-9} for row in scored]
        return np.mean([jaccard(t, a) for t, a in zip(truths, accepted, strict=True)])

    values = [mean_accuracy(step / grid) for step in range(grid + 1)]
    assert mean_accuracy(vote.threshold) == pytest.approx(max(values))
    assert vote.threshold == pytest.approx(np.flatnonzero(np.isclose(values, max(values)))[0] / grid)
    wanted = [
        {label: s for label, s in row.items() if s >= vote.threshold - 1e-9}
        for row in weighted_by_dict(test, weights)
    ]
    assert_same_sets(vote.answer(test), wanted)


@pytest.mark.parametrize("metric", ["f1", "recall"])
def test_weighted_vote_maximises_the_metric_asked_for(metric):
    market = random_market(11, items=80)
    vote = WeightedMajorityVote().fit(market, metric)
    reached = set_metric(market.truth, vote.answer(market), metric).mean()
    for threshold in (0.0, 0.2, 0.5, 0.8):
        vote.threshold = threshold
        assert reached >= set_metric(market.truth, vote.answer(market), metric).mean() - 1e-12


def test_accuracy_decides_whom_the_weighted_vote_follows():
    truth = label_matrix([0, 1, 2], [0, 1], None, 3)
    wrong = label_matrix([0, 1, 2], [2, 2], [0.9, 0.9], 3)
    market = small_market(
        items=np.array(["a", "b"]),
        labels=np.array(["x", "y", "z"]),
        services=("right", "wrong", "empty"),
        prices=np.array([1.0, 2.0, 4.0]),
        truth=truth,
        scores=(truth, wrong, label_matrix([0, 0, 0], [], [], 3)),
    )
    vote = WeightedMajorityVote().fit(market)
    assert vote.weights.tolist() == [1, 0, 0]
    assert_same_sets(vote.answer(market), [{0: 1.0}, {1: 1.0}])
    assert_same_sets(majority_vote(market), [{}, {}])
    assert vote_cost(market) == 7


def test_services_that_are_always_wrong_vote_alike():
    truth = label_matrix([0, 1], [0], None, 2)
    wrong = label_matrix([0, 1], [1], [0.5], 2)
    market = small_market(
        items=np.array(["a"]), labels=np.array(["x", "y"]), truth=truth, scores=(wrong, wrong)
    )
    vote = WeightedMajorityVote().fit(market)
    assert vote.weights.tolist() == [1, 1]
    assert vote.answer(market).nnz <= 1


def test_one_label_data_keep_the_leading_label():
    one = [label_matrix([0, 1, 2], labels, [0.9, 0.6], 3) for labels in ([0, 1], [0, 1], [1, 2], [1, 2])]
    market = small_market(
        items=np.array(["a", "b"]),
        labels=np.array(["x", "y", "z"]),
        services=("a", "b", "c", "d"),
        prices=np.ones(4),
        truth=label_matrix([0, 1, 2], [0, 1], None, 3),
        scores=tuple(one),
    )
    assert [set(row) for row in dicts(majority_vote(market))] == [{0, 1}, {1, 2}]
    assert [set(row) for row in dicts(majority_vote(market, labels_per_item=1))] == [{0}, {1}]
    vote = WeightedMajorityVote(labels_per_item=1).fit(market)
    assert [set(row) for row in dicts(vote.answer(market))] == [{0}, {1}]


def test_nobody_answers():
    empty = label_matrix([0, 0, 0, 0, 0], [], [], 4)
    market = small_market(scores=(empty, empty))
    assert majority_vote(market).nnz == 0
    assert WeightedMajorityVote().fit(market).answer(market).nnz == 0
    assert majority_vote(market.subset([])).shape == (0, 4)


def test_misuse_is_told_in_a_sentence():
    market = small_market()
    with pytest.raises(FrugalError, match="call fit first"):
        WeightedMajorityVote().answer(market)
    with pytest.raises(FrugalError, match="no items"):
        WeightedMajorityVote().fit(market.subset([]))
    with pytest.raises(FrugalError, match="has 1 services, but the weighted vote learnt from 2"):
        WeightedMajorityVote().fit(market).answer(market.with_services(["Google"]))
    with pytest.raises(FrugalError, match="Unknown metric"):
        WeightedMajorityVote().fit(market, "guess")
