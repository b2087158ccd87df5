import numpy as np
import pandas as pd
import pytest
from estimates_by_hand import PRICES, SERVICES, repetition

from frugalmct.paper.exhibits.predictor_quality import quality_rows
from frugalmct.paper.stages.estimate import RepetitionEstimates
from frugalmct.plans import Plan


def quality_table(cells: dict, predictor: str) -> pd.DataFrame:
    return pd.DataFrame(
        [row for cell, (made, plans) in cells.items() for row in quality_rows(cell, made, plans, predictor)]
    )


def test_quality_has_the_predictor_the_dummy_and_the_papers_numbers():
    truth = np.array([[0.0, 1.0], [1.0, 0.0]])
    made, plans = repetition(truth, truth), [Plan(1.0, 0, 0.01)]
    cells = {("own", 0): (made, plans), ("PASCAL", 1): (made, plans)}
    table = quality_table(cells, "random_forest")
    assert table["repetition"].tolist() == [0, 0, 1, 1]
    assert table["predictor"].tolist() == ["random_forest", "mean"] * 2
    assert table["rmse"].tolist() == [0, 0.5, 0, 0.5] and table["pcc"].tolist() == pytest.approx([1, 0, 1, 0])
    assert table["paper_rmse"].tolist()[2:] == [0.28, 0.35]
    assert table["paper_pcc"].tolist()[2:] == [0.55, 0.012]
    assert table["paper_rmse"].isna().tolist()[:2] == [True, True]
    assert set(table["base"]) == {"base"}


@pytest.mark.parametrize(("predictor", "rows"), [("mean", ["mean"]), ("flaml", ["flaml", "mean"])])
def test_a_predictor_that_is_the_dummy_or_not_in_the_paper(predictor, rows):
    truth = np.array([[0.0, 1.0], [1.0, 0.0]])
    table = quality_table({("PASCAL", 0): (repetition(truth, truth), [Plan(1.0, 0, 0.01)])}, predictor)
    assert table["predictor"].tolist() == rows
    assert table["paper_rmse"].isna().tolist() == [name == "flaml" for name in rows]


def test_every_base_of_a_plan_has_its_quality():
    truth = np.array([[0.0, 1.0], [1.0, 0.0]])
    both = repetition(truth, truth).by_base | repetition(1 - truth, truth, base=1).by_base
    made = RepetitionEstimates(SERVICES, PRICES, both)
    plans = [Plan(1.0, 0, 0.01), Plan(4.0, 1, 0.01), Plan(5.0, 1, 0.01)]
    assert quality_table({("own", 0): (made, plans[:1])}, "mean")["base"].tolist() == ["base"]
    table = quality_table({("own", 0): (made, plans)}, "mean")
    assert table["base"].tolist() == ["base", "addon"] and table["pcc"].tolist() == pytest.approx([1, -1])
