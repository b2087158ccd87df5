import numpy as np
import pytest

from frugalmct.market import LabelMarket
from frugalmct.paper.exhibits.simulation_fidelity import (
    COLUMNS,
    accuracy_statistics,
    applies,
    fidelity_table,
    majority_accuracy,
)
from frugalmct.paper.printed import printed_of
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


def test_only_simulated_markets_of_the_paper_are_compared():
    assert fidelity_table(small_market(), printed_of("PASCAL")).empty
    nothing = fidelity_table(small_market(data="simulated"), {})
    assert nothing.empty and nothing.columns.tolist() == [column.name for column in COLUMNS]


def test_it_applies_where_a_dataset_of_the_paper_is_simulated():
    assert applies({"mine": "recorded", "PASCAL": "simulated"})
    assert not applies({"mine": "simulated", "PASCAL": "release"})
