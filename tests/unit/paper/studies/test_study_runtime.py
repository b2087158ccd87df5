import numpy as np
from study_cases import case_at, small_market

from frugalmct.paper.studies.runtime import COLUMNS, run, timed


def test_what_is_timed_is_returned():
    result, seconds = timed(lambda: sum(range(1000)))
    assert result == 499500 and seconds > 0


def test_training_and_inference_of_each_method():
    case = case_at(3.0)
    table = run(case)
    assert list(table.columns) == COLUMNS
    table = table.set_index("method")
    assert list(table.index) == ["frugalmct", "frugalml", "majority_vote"]
    assert np.isnan(table.loc["majority_vote", "training_seconds"])
    assert table.loc["frugalml", "training_items"] == 4 and set(table["test_items"]) == {4}
    assert np.all(table["inference_seconds"] > 0) and np.all(table["training_seconds"].dropna() > 0)
    assert table["paper_training_seconds"].isna().all()


def test_the_papers_seconds_stand_beside_its_own_case():
    case = case_at(6.0, market=small_market("COCO"))
    table = run(case).set_index("method")
    assert table.loc["frugalml", ["paper_training_seconds", "paper_inference_seconds"]].tolist() == [
        6627,
        1.24,
    ]
