import numpy as np
import pytest
from helpers import small_market

from frugalmct.combine import Combiners
from frugalmct.diagnose import (
    AGREEMENT_COLUMNS,
    foreseen_budget,
    ideal_accuracy,
    quality_table,
    solver_agreement,
    sweep_beside,
)
from frugalmct.evaluate import COLUMNS
from frugalmct.market import Market, Split
from frugalmct.predictions import BasePredictions, Combination, Predictions
from frugalmct.sparse import label_matrix
from frugalmct.strategy import Plan


def two_services() -> Market:
    """Two items with one true label each. The base knows the first, the add-on the second; both shout."""
    sets = {"indptr": [0, 1, 2], "columns": 2}
    return Market(
        name="two",
        task="MIC",
        items=np.array(["a", "b"]),
        labels=np.array(["x", "y"]),
        services=("base", "addon"),
        prices=np.array([1.0, 4.0]),
        truth=label_matrix(sets["indptr"], [0, 1], None, 2),
        scores=(
            label_matrix(sets["indptr"], [0, 0], [1.0, 1.0], 2),
            label_matrix(sets["indptr"], [1, 1], [1.0, 1.0], 2),
        ),
    )


KEEP_ALL = Combiners(0, np.array([1.0, 0.5]), np.array([0.0, 0.0]))


def predictions(estimates, truth, base=0):
    table = BasePredictions(base, np.array([1.0, 4.0]), estimates, truth, estimates, truth)
    return Predictions(("base", "addon"), np.array([1.0, 4.0]), {base: table})


def test_the_ideal_combiner_takes_the_best_of_three():
    market = two_services()
    # Both labels kept: half right on both items; the ideal takes the one answer that is right.
    assert KEEP_ALL.accuracy_matrix(market).tolist() == [[1.0, 0.5], [0.0, 0.5]]
    assert ideal_accuracy(market, KEEP_ALL, "accuracy").tolist() == [[1.0, 1.0], [0.0, 1.0]]


def test_rows_beside_frugalmct():
    market = two_services()
    both = np.array([0, 1])
    parts = Split(train=both, validation=np.array([], dtype=np.int64), test=both)
    plans = [Plan(1.0, 0, 0.01), Plan(3.0, 0, 0.01)]
    rows = sweep_beside(market, parts, Combination({0: KEEP_ALL}), plans, "accuracy", 7, 0)
    assert rows.columns.tolist() == COLUMNS
    assert set(rows["seed"]) == {7} and set(rows["dataset"]) == {"two"}
    ideal = rows[rows["method"] == "ideal_combiner"].set_index("budget")
    # With 3 a call of 4 beside the base's 1 is paid for one of the two items: the one that needs it.
    assert ideal["accuracy"].tolist() == [0.5, 1.0] and ideal["cost"].tolist() == [1.0, 3.0]
    assert {"single:base", "single:addon", "frugalml", "majority_vote"} <= set(rows["method"])


def test_quality_has_the_predictor_the_dummy_and_the_papers_numbers():
    truth = np.array([[0.0, 1.0], [1.0, 0.0]])
    made, plans = predictions(truth, truth), [Plan(1.0, 0, 0.01)]
    cells = [("own", 0, made, plans), ("PASCAL", 1, made, plans)]
    table = quality_table(cells, "random_forest")
    assert table["predictor"].tolist() == ["random_forest", "mean"] * 2
    assert table["rmse"].tolist() == [0, 0.5, 0, 0.5] and table["pcc"].tolist() == pytest.approx([1, 0, 1, 0])
    assert table["paper_rmse"].tolist()[2:] == [0.28, 0.35]
    assert table["paper_pcc"].tolist()[2:] == [0.55, 0.012]
    assert table["paper_rmse"].isna().tolist()[:2] == [True, True]
    assert set(table["base"]) == {"base"}


@pytest.mark.parametrize(("predictor", "rows"), [("mean", ["mean"]), ("flaml", ["flaml", "mean"])])
def test_a_predictor_that_is_the_dummy_or_not_in_the_paper(predictor, rows):
    truth = np.array([[0.0, 1.0], [1.0, 0.0]])
    table = quality_table([("PASCAL", 0, predictions(truth, truth), [Plan(1.0, 0, 0.01)])], predictor)
    assert table["predictor"].tolist() == rows
    assert table["paper_rmse"].isna().tolist() == [name == "flaml" for name in rows]


def test_every_base_of_a_plan_has_its_quality():
    truth = np.array([[0.0, 1.0], [1.0, 0.0]])
    both = predictions(truth, truth).by_base | predictions(1 - truth, truth, base=1).by_base
    made = Predictions(("base", "addon"), np.array([1.0, 4.0]), both)
    plans = [Plan(1.0, 0, 0.01), Plan(4.0, 1, 0.01), Plan(5.0, 1, 0.01)]
    assert quality_table([("own", 0, made, plans[:1])], "mean")["base"].tolist() == ["base"]
    table = quality_table([("own", 0, made, plans)], "mean")
    assert table["base"].tolist() == ["base", "addon"] and table["pcc"].tolist() == pytest.approx([1, -1])


ESTIMATES = np.array([[0.2, 0.8], [0.5, 0.6], [0.1, 0.9], [0.4, 0.4]])


def test_solvers_agree():
    plans = [Plan(1.0, 0, 0.01), Plan(2.0, 0, 0.01), Plan(5.0, 0, 0.01)]
    table = solver_agreement("own", 3, predictions(ESTIMATES, ESTIMATES), plans, 30)
    assert table.columns.tolist() == AGREEMENT_COLUMNS and len(table) == 9
    assert table["proven"].all() and set(table["status"]) == {"optimal"} and set(table["seed"]) == {3}
    assert table["difference"].tolist() == [0] * 9
    by_budget = table[table["solver"] == "exact"].set_index("budget")["accuracy"]
    assert by_budget.tolist() == pytest.approx([1.2 / 4, 2.0 / 4, 2.7 / 4])


def test_a_solver_that_can_not_run_leaves_a_gap_with_its_reason(monkeypatch):
    monkeypatch.setattr("frugalmct.select.methods.find_spec", lambda module: None)
    plans = [Plan(2.0, 0, 0.01)]
    table = solver_agreement(
        "own", 0, predictions(ESTIMATES, ESTIMATES), plans, 30, ["exact", "highs_reduced"]
    )
    assert table["accuracy"].isna().tolist() == [False, True]
    assert table["proven"].tolist() == [True, False]
    assert "highspy" in table["status"][1]


def test_a_stopped_solver_shows_nothing_that_would_differ_from_run_to_run(monkeypatch):
    from dataclasses import replace

    from frugalmct import diagnose

    real = diagnose.solve
    monkeypatch.setattr(diagnose, "solve", lambda *given: replace(real(*given), status="time_limit"))
    table = solver_agreement("own", 0, predictions(ESTIMATES, ESTIMATES), [Plan(2.0, 0, 0.01)], 30, ["exact"])
    assert table[["accuracy", "bound", "difference"]].isna().all(axis=None)
    assert table["status"].tolist() == ["time_limit"]


def test_budgets_are_foreseen_with_the_cheapest_base():
    foresee = foreseen_budget(predictions(ESTIMATES, ESTIMATES))
    assert foresee(0.3) == pytest.approx(1)
    # The best upgrade gains 0.8 / 4 for 4 / 4: halfway there costs half of it.
    assert foresee(0.4) == pytest.approx(1.5)
    assert np.isnan(foresee(0.7))
    other = predictions(1 - 0 * ESTIMATES, ESTIMATES, base=1).by_base
    both = Predictions(
        ("base", "addon"), np.array([1.0, 4.0]), predictions(ESTIMATES, ESTIMATES).by_base | other
    )
    assert foreseen_budget(both)(0.4) == pytest.approx(1.5)
    assert foreseen_budget(both)(0.7) == pytest.approx(4)


def test_names_beyond_ascii_survive():
    market = small_market()
    combiners = Combiners(1, np.array([0.5, 1.0]), np.array([0.0, 0.0]))
    assert ideal_accuracy(market, combiners, "accuracy").shape == (4, 2)
