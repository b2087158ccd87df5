import numpy as np
import pytest

from frugalmct.fidelity import COLUMNS, accuracy_statistics, fidelity_table, majority_accuracy
from frugalmct.market import Market
from frugalmct.paper import figures_of
from frugalmct.sparse import label_matrix


def small_market(**changes) -> Market:
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
    return Market(**(values | changes))


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
    assert fidelity_table(small_market(), figures_of("PASCAL")).empty
    assert list(fidelity_table(small_market(simulated=True), {}).columns) == COLUMNS
