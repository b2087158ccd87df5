import numpy as np
from study_cases import case_at, sets, small_market

from frugalmct.paper.studies.per_label import run, shared_counts


def test_shared_labels_are_counted_by_label():
    truth, answers = sets([[0, 1], [1], [], [2]]), sets([[1, 2], [1], [0], [2]], 0.0)
    assert shared_counts(truth, answers).tolist() == [0, 2, 1]


def test_precision_and_recall_by_hand():
    table = run(case_at(3.0))
    assert table["label"].tolist() == ["ant", "bee", "cat"] * 5
    assert set(table["occurrences"]) == {2}
    found = table.set_index(["method", "label"])
    assert found.loc[("single:dear", "cat"), ["predicted", "correct"]].tolist() == [4, 2]
    assert found.loc[("single:dear", "cat"), ["precision", "recall"]].tolist() == [0.5, 1.0]
    assert found.loc[("single:base", "cat"), "recall"] == 0
    assert np.isnan(found.loc[("single:base", "cat"), "precision"]), "what is never said is never wrong"
    frugal = found.loc["frugalmct"]
    assert np.all(frugal[["precision", "recall"]] == 1)
    assert list(table["method"].unique()) == [
        "single:base", "single:cheap", "single:dear", "majority_vote", "frugalmct",
    ]  # fmt: skip


def test_a_label_that_nobody_knows_has_no_row():
    market = small_market()
    table = run(case_at(3.0, market=market.subset([0] * 8)))
    assert set(table["label"]) == {"ant", "cat"}
    assert table.set_index(["method", "label"]).loc[("single:dear", "cat"), "occurrences"] == 0
