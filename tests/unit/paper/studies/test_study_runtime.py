import numpy as np
from study_cases import case_at, small_market

from frugalmct.model import AccuracyModel
from frugalmct.paper.studies.runtime import COLUMNS, run, timed
from frugalmct.predict import make_predictor


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


def test_frugalmct_learns_every_base_as_frugalml_does(monkeypatch):
    learnt = []
    fit = AccuracyModel.fit.__func__

    def recorded(cls, market, base, *given):
        learnt.append(base)
        return fit(cls, market, base, *given)

    monkeypatch.setattr(AccuracyModel, "fit", classmethod(recorded))
    table = run(case_at(3.0)).set_index("method")["measured"]
    assert learnt == [0, 1, 2]
    assert "every base learnt" in table["frugalmct"] and "every base" in table["frugalml"]
    forest = make_predictor("random_forest")
    assert f"{forest.rows_per_tree:,} items and {forest.max_columns} columns" in table["frugalmct"]


def test_the_papers_seconds_stand_beside_its_own_case():
    case = case_at(6.0, market=small_market("COCO"))
    table = run(case).set_index("method")
    assert table.loc["frugalml", ["paper_training_seconds", "paper_inference_seconds"]].tolist() == [
        6627,
        1.24,
    ]
