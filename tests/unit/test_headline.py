"""The line that is shown when a dataset is done."""

import pandas as pd

from frugalmct.headline import headline


def rows(dataset: str, method: str, *points: tuple[float, float]) -> pd.DataFrame:
    found = [
        {"dataset": dataset, "method": method, "budget": cost, "seed": 0, "accuracy": accuracy, "cost": cost}
        for cost, accuracy in points
    ]
    return pd.DataFrame(found).assign(status="ok")


def test_best_service_and_saving_are_told_beside_the_papers():
    parts = [
        rows("COCO", "frugalmct_online", (1.0, 0.3), (3.0, 0.5)),
        rows("COCO", "single:Google", (15.0, 0.2)),
        rows("COCO", "single:Microsoft", (10.0, 0.4)),
    ]
    # Half of the way from 1 to 3, and a fifth of 10.
    assert headline("COCO", "MIC", parts) == (
        "COCO is done: best service Microsoft, 40.0 % at 10; FrugalMCT as accurate at 2; "
        "saving 80 % (paper: 70 %)."
    )


def test_what_is_not_reached_is_told():
    parts = [rows("mine", "frugalmct_online", (1.0, 0.3)), rows("mine", "single:Dear", (10.0, 0.4))]
    assert headline("mine", "MIC", parts) == (
        "mine is done: best service Dear, 40.0 % at 10; the best service's accuracy is not reached."
    )
    assert headline("mine", "MIC", parts[:1]) == "mine is done: no result of any single service."
