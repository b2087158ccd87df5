from itertools import product

import numpy as np
import pandas as pd
import pytest

from frugalmct.market import LabelMarket
from frugalmct.paper.exhibits.simulation_fidelity import (
    COLUMNS,
    TOLERANCES,
    _tables,
    accuracy_statistics,
    applies,
    best_pair_accuracy,
    fidelity_table,
    frugalml_accuracy,
    majority_accuracy,
    predictor_measured,
    predictor_targets,
    targets,
    threshold_gains,
    weighted_majority_accuracy,
)
from frugalmct.paper.printed import printed, printed_of
from frugalmct.sparse import label_matrix


def small_market(**changes) -> LabelMarket:
    values = {
        "name": "tiny",
        "task": "MIC",
        "items": np.array(["a", "b"]),
        "labels": np.array(["p", "q", "r"]),
        "services": ("A", "B", "C"),
        "prices": np.array([0.0, 1.0, 2.0]),
        "truth": label_matrix([0, 2, 3], [0, 1, 2], None, 3),
        "scores": (
            label_matrix([0, 1, 2], [0, 2], None, 3),
            label_matrix([0, 2, 3], [0, 1, 0], None, 3),
            label_matrix([0, 1, 2], [2, 2], None, 3),
        ),
    }
    return LabelMarket(**(values | changes))


def test_statistics_by_hand():
    accuracy = np.array([[0.0, 1.0], [1.0, 1.0], [0.5, 0.0], [0.5, 0.0]])
    found = accuracy_statistics(accuracy, ("A", "B"))
    assert found["accuracy", "A"] == 0.5 and found["accuracy", "B"] == 0.5
    assert found["share_exactly_zero", "A"] == 0.25 and found["share_exactly_one", "B"] == 0.5
    assert found["accuracy_std", "A"] == pytest.approx(np.sqrt(0.125))
    assert found["oracle_accuracy", ""] == pytest.approx((1 + 1 + 0.5 + 0.5) / 4)
    assert found["accuracy_correlation", "A & B"] == pytest.approx(0.0)


def test_majority_needs_at_least_half():
    # Item a: p has two votes of three, q and r one each -> {p} of {p, q}; item b: r has two -> {r}.
    assert majority_accuracy(small_market()) == pytest.approx((0.5 + 1) / 2)


def scored_market() -> LabelMarket:
    """Three items, two services: what a threshold, a pair and FrugalML are worth can be counted."""
    return small_market(
        items=np.array(["a", "b", "c"]),
        services=("A", "B"),
        prices=np.array([1.0, 2.0]),
        truth=label_matrix([0, 1, 2, 4], [0, 1, 0, 2], None, 3),
        scores=(
            label_matrix([0, 2, 3, 4], [0, 1, 1, 1], [0.9, 0.2, 0.8, 0.1], 3),
            label_matrix([0, 0, 1, 3], [0, 0, 2], [0.3, 0.6, 0.9], 3),
        ),
    )


def sets_of(market: LabelMarket) -> tuple[list[set], list[list[dict]]]:
    truth = [set(row.indices.tolist()) for row in market.truth]
    answers = [
        [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in s] for s in market.scores
    ]
    return truth, answers


def brute_pair(market: LabelMarket, first: int, second: int) -> float:
    """The best mean accuracy of all (w, θ), label by label."""
    truth, answers = sets_of(market)
    best = 0.0
    for w, theta in product(range(11), range(11)):
        total = 0.0
        for true, a, b in zip(truth, answers[first], answers[second], strict=True):
            mixed = {label: (w * a.get(label, 0) + (10 - w) * b.get(label, 0)) / 10 for label in a | b}
            kept = {label for label, score in mixed.items() if score >= theta / 10 - 1e-9}
            total += len(kept & true) / len(kept | true)
        best = max(best, total / len(truth))
    return best


def test_a_threshold_of_its_own_by_hand():
    # A without a threshold: 1/2, 1, 0; with 0.3 the wrong label of a goes: 1, 1, 0. B: 0, 0, 1 with any.
    market = scored_market()
    assert threshold_gains(market, market) == pytest.approx({"A": 1 / 6, "B": 0.0})


def test_the_best_pair_is_that_of_all_weights_and_thresholds():
    market = scored_market()
    assert best_pair_accuracy(market, market) == pytest.approx(brute_pair(market, 0, 1))
    three = small_market()
    wanted = max(brute_pair(three, a, b) for a, b in [(0, 1), (0, 2), (1, 2)])
    assert best_pair_accuracy(three, three) == pytest.approx(wanted)


def test_frugalml_at_its_best_by_hand():
    # Ask A; where its mean score is below 0.55 (only c: 0.1) take B's answer: 1/2, 1, 1.
    market = scored_market()
    assert frugalml_accuracy(market, market) == pytest.approx(2.5 / 3)


def test_the_weighted_vote_by_hand():
    # Weights 1/2 and 1/3 alone, hence 0.6 and 0.4 of the vote. a: 0 has 0.54, 1 has 0.12; b: 1 has 0.48,
    # 0 has 0.12; c: 0 has 0.24, 2 has 0.36, 1 has 0.06. With 0.13 to 0.24 all are right.
    market = scored_market()
    assert weighted_majority_accuracy(market, market) == pytest.approx(1.0)


def test_every_target_of_the_paper_has_a_tolerance():
    for dataset in printed():
        wanted = targets(printed_of(dataset)) | predictor_targets(printed_of(dataset))
        assert {quantity for quantity, _ in wanted} == set(TOLERANCES)
        assert len(wanted) == 3 + 4 * 4 + 6 + 1 + 4 + 4 + 2


def test_rows_say_whether_the_difference_is_tolerated():
    wanted = {("accuracy", "A"): 0.5, ("label_occurrences", ""): 1000.0, ("threshold_gain", "A"): 0.0}
    measured = {("accuracy", "A"): 0.511, ("label_occurrences", ""): 1019.0, ("threshold_gain", "A"): -0.01}
    table = fidelity_table("tiny", wanted, measured)
    assert table.columns.tolist() == [column.name for column in COLUMNS]
    assert table["within"].tolist() == [False, True, True]
    assert table["difference"].tolist() == pytest.approx([0.011, 19.0, -0.01])


def quality(**changes) -> dict:
    row = {"dataset": "PASCAL", "predictor": "random_forest", "base": "A", "rmse": 0.3, "pcc": 0.5}
    return row | changes


def test_the_predictor_is_the_forest_on_the_free_services_answers():
    others = [quality(base="B", rmse=9), quality(predictor="mean", rmse=9), quality(dataset="MIR", rmse=9)]
    table = pd.DataFrame([quality(), quality(rmse=0.2), *others])
    found = predictor_measured("PASCAL", "A", table)
    assert found == pytest.approx({("predictor_rmse", ""): 0.25, ("predictor_correlation", ""): 0.5})
    assert predictor_measured("PASCAL", "C", table) == {}


def test_only_simulated_markets_of_the_paper_are_compared():
    nothing = pd.DataFrame([quality()])
    assert not list(_tables(small_market(name="PASCAL"), nothing))
    assert not list(_tables(small_market(data="simulated"), nothing))


def test_it_applies_where_a_dataset_of_the_paper_is_simulated():
    assert applies({"mine": "recorded", "PASCAL": "simulated"})
    assert not applies({"mine": "simulated", "PASCAL": "release"})
