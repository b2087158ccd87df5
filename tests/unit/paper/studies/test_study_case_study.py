import numpy as np
import pytest
from study_cases import case_at

from frugalmct.combine import combine, search
from frugalmct.metrics import set_metric
from frugalmct.paper.printed import printed_case
from frugalmct.paper.studies.case_study import COLUMNS, FIRST, SECOND, TOGETHER, curve_points, run


@pytest.fixture(scope="module")
def table():
    return run(case_at(3.0, 1.0, 3.0))


def test_every_row_says_what_it_is_about(table):
    assert list(table.columns) == COLUMNS
    assert set(table["dataset"]) == {"small"} and set(table["budget"]) == {3.0}
    assert set(table["data"]) == {"simulated"} and set(table["repetition"]) == {0}
    assert list(table["part"].unique()) == ["shares", "dual_price_curve", "comparison", "combiner", "grid"]


def test_shares_by_hand(table):
    shares = table[table["part"] == "shares"].set_index("name")
    assert shares["share"].to_dict() == {"base": 0.5, "cheap": 0.5, "dear": 0.0}
    assert shares["marked"].to_dict() == {"base": True, "cheap": False, "dear": False}
    assert shares.loc["base", ["accuracy", "cost"]].tolist() == [1.0, 1.0]
    assert shares.loc["cheap", ["accuracy", "cost"]].tolist() == [1.0, 5.0]
    assert np.isnan(shares.loc["dear", "accuracy"])


def test_the_curve_falls_to_the_base_as_the_dual_price_rises(table):
    curve = table[table["part"] == "dual_price_curve"]
    assert curve["marked"].sum() == 1 and curve["dual_price"].is_monotonic_increasing
    first, last = curve.iloc[0], curve.iloc[-1]
    assert (first["accuracy"], first["cost"]) == (1.0, 3.0)
    assert (last["accuracy"], last["cost"]) == (0.75, 1.0)
    assert np.all(curve["cost"] <= 3.0)


def test_comparison_by_hand(table):
    compared = table[table["part"] == "comparison"].set_index("name")
    assert list(compared.index) == ["frugalmct", "frugalml", "single:cheap", "majority_vote"]
    assert compared.loc["frugalmct", ["accuracy", "cost"]].tolist() == [1.0, 3.0]
    assert compared.loc["single:cheap", ["accuracy", "cost"]].tolist() == [1.0, 4.0]
    assert compared.loc["majority_vote", "cost"] == 15.0
    assert compared.loc["frugalml", "cost"] <= 3.0


def test_answers_combined_and_alone_by_hand(table):
    """The cheap service is called for the two items of bee and cat, of which the base sees the bee alone."""
    found = table[table["part"] == "combiner"].set_index("name")
    assert found["accuracy"].to_dict() == {TOGETHER: 1.0, FIRST: 0.5, SECOND: 1.0}
    assert set(found["items"]) == {2}


def test_a_finer_grid_is_tried_on_test_items(table):
    case, found = case_at(3.0), table[table["part"] == "grid"].set_index("name")["accuracy"]
    assert list(found.index) == ["M = 10", "M = 20"]
    for steps in (10, 20):
        reached = []
        for service in range(3):
            answers = [case.train.scores[k] for k in (0, service)]
            weight, threshold = search(case.train.truth, *answers, grid=steps)
            kept = combine(case.test.scores[0], case.test.scores[service], weight, threshold)
            reached.append(set_metric(case.test.truth, kept).mean())
        assert found[f"M = {steps}"] == pytest.approx(np.mean(reached))


@pytest.mark.parametrize("learnt", [0.006, 1e-9, 3.0])
def test_dual_prices_around_the_learnt_one(learnt):
    tried = curve_points(learnt, 1.0)
    assert tried[0] == 0 and learnt in tried
    assert len(tried) == len(set(tried.tolist())) == 42
    assert tried[1] == pytest.approx(learnt / 16) and tried[-1] == pytest.approx(learnt * 16)


def test_dual_prices_where_the_budget_is_no_constraint():
    assert curve_points(0.0, 0.1)[[0, -1]].tolist() == [0.0, 0.1]
    assert len(set(curve_points(0.0, 0.0).tolist())) == 41


def test_the_papers_numbers_are_of_its_own_case_only():
    assert printed_case("COCO", 6.0)["dual_price"] == 0.006
    assert sum(printed_case("COCO", 6)["shares"].values()) == pytest.approx(1, abs=2e-3)
    for other in (("COCO", 5), ("PASCAL", 6)):
        assert not any(printed_case(*other).values())
