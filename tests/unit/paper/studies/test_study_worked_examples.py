import numpy as np
from study_cases import LABELS, case_at, sets

from frugalmct.paper.studies.worked_examples import (
    COLUMNS,
    Kind,
    Outcomes,
    answer_text,
    label_text,
    pick_items,
    run,
)


def test_rows_can_be_checked_by_hand():
    table = run(case_at(3.0))
    assert list(table.columns) == COLUMNS
    enough, corrected = (table.iloc[place] for place in range(2))
    assert enough["example"] == "The base alone is enough" and enough["item"] == "i4"
    assert (enough["decision"], enough["cost"]) == ("base alone", 1.0)
    assert enough["addon_answer"] == "(not asked)" and enough["combined_answer"] == "ant 0.90"
    assert corrected["example"] == "The cheapest add-on corrects the base"
    assert corrected["base_answer"] == "bee 0.90" and corrected["addon_answer"] == "bee 0.80, cat 0.80"
    assert corrected["combined_answer"] == "bee 0.85, cat 0.40" and corrected["truth"] == "bee, cat"
    assert corrected["decision"] == "call cheap" and corrected["cost"] == 5.0
    assert (corrected["base_accuracy"], corrected["result_accuracy"]) == (0.5, 1.0)
    assert corrected["estimates"] == "base 0.500, cheap 0.900, dear 0.900"
    assert len(table) == 2, "nothing here shows the other kinds"


def test_kinds_by_hand():
    """Service 0 is the base, 1 the cheapest add-on, 2 a more expensive one; an item for each kind."""
    alone = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [0.5, 0.2, 0], [0, 0, 1]], float)
    combined = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 1, 0], [0.5, 0.1, 0], [0, 0, 1]], float)
    outcomes = Outcomes(np.array([0, 1, 2, 1, 1, 0]), 0, 1, alone, combined)
    shown = {kind.example: np.flatnonzero(kind.shows).tolist() for kind in outcomes.kinds()}
    assert list(shown.values()) == [[0], [1, 3], [2], [3], [4], [5]]
    assert [item for _, item in pick_items(outcomes.kinds(), np.full(6, 2))] == [0, 1, 2, 3, 4, 5]


def test_readable_then_clear_then_first_and_none_twice():
    everywhere = np.ones(4, dtype=bool)
    kinds = [
        Kind("a", everywhere, np.array([1.0, 0.2, 0.7, 0.7])),
        Kind("b", everywhere, np.array([1.0, 0.2, 0.7, 0.7])),
        Kind("c", ~everywhere, np.zeros(4)),
        Kind("d", everywhere, np.array([0.0, 0.0, 0.0, 0.0])),
        Kind("e", everywhere, np.zeros(4)),
        Kind("f", everywhere, np.zeros(4)),
    ]
    picked = list(pick_items(kinds, np.array([1, 9, 3, 2])))
    assert picked == [("a", 2), ("b", 3), ("d", 0), ("e", 1)]


def test_text_of_answers():
    assert answer_text(sets([[0, 2]], 0.5), 0, LABELS) == "ant 0.50, cat 0.50"
    assert answer_text(sets([[0], []], 0.5), 1, LABELS) == "(nothing)"
    assert label_text(sets([[], [1, 2]]), 1, LABELS) == "bee, cat"
    assert label_text(sets([[], [1, 2]]), 0, LABELS) == "(nothing)"
