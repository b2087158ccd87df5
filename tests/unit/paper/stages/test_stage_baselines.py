from two_services import two_services

from frugalmct.paper.stages.baselines import sweep_baselines
from frugalmct.paper.stages.select import COLUMNS


def test_rows_beside_frugalmct_by_hand():
    market = two_services()
    rows = sweep_baselines(market, market, [1.0, 3.0], "accuracy", 7, 0)
    assert rows.columns.tolist() == COLUMNS
    assert (
        set(rows["repetition"]) == {7} and set(rows["dataset"]) == {"two"} and set(rows["status"]) == {"ok"}
    )
    assert rows["method"].tolist() == [
        "single:base", "single:addon", "majority_vote", "weighted_majority_vote", "frugalml", "frugalml",
    ]  # fmt: skip
    found = rows.set_index("method")
    # Each service is right on one of the two items; a vote of both pays both and keeps both labels.
    assert found.loc["single:base", ["budget", "accuracy", "cost"]].tolist() == [1.0, 0.5, 1.0]
    assert found.loc["single:addon", ["budget", "accuracy", "cost"]].tolist() == [4.0, 0.5, 4.0]
    assert found.loc["majority_vote", ["accuracy", "cost"]].tolist() == [0.5, 5.0]
    frugalml = found.loc["frugalml"]
    assert frugalml["budget"].tolist() == [1.0, 3.0] and (frugalml["cost"] <= frugalml["budget"]).all()
