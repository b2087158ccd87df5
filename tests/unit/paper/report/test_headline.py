"""The line that is shown when a dataset is done."""

import pandas as pd

from frugalmct.paper.report.headline import headline
from frugalmct.paper.tables import stacked


def rows(dataset: str, method: str, *points: tuple[float, float]) -> pd.DataFrame:
    found = [
        {"method": method, "budget": cost, "repetition": 0, "accuracy": accuracy, "cost": cost}
        for cost, accuracy in points
    ]
    return pd.DataFrame(found).assign(dataset=dataset, status="ok")


def test_best_service_and_saving_stand_beside_the_papers():
    parts = [
        rows("COCO", "frugalmct_online", (1.0, 0.3), (3.0, 0.5)),
        rows("COCO", "frugalmct_plus", (1.0, 0.4), (3.0, 0.5)),
        rows("COCO", "frugalml", (1.0, 0.4)),
        rows("COCO", "single:Google", (15.0, 0.2)),
        rows("COCO", "single:Microsoft", (10.0, 0.4)),
    ]
    # Half of the way from 1 to 3, and a fifth of 10.
    assert headline("COCO", "MIC", stacked(parts), 50) == (
        "COCO is done: best service Microsoft, 40.0 % at 10; FrugalMCT: as accurate at 2, "
        "saving 80 % (paper: 70 %); FrugalMCT plus: as accurate at 1, saving 90 %."
    )


def test_what_is_not_reached_is_said():
    parts = [rows("mine", "frugalmct_online", (1.0, 0.3)), rows("mine", "single:Dear", (10.0, 0.4))]
    assert headline("mine", "MIC", stacked(parts), 50) == (
        "mine is done: best service Dear, 40.0 % at 10; "
        "FrugalMCT: the best service's accuracy is not reached."
    )
    assert headline("mine", "MIC", parts[0], 50) == "mine is done: no result of any single service."


def test_it_is_withheld_where_chance_decides():
    parts = [rows("mine", "frugalmct_online", (1.0, 0.9)), rows("mine", "single:Dear", (10.0, 0.4))]
    assert headline("mine", "MIC", stacked(parts), 49) == (
        "mine is done. With 49 test items chance decides, and no headline is given below 50; "
        "record more items."
    )
