"""What readings say of own data: no more than the numbers tell, and nothing of the paper."""

import pandas as pd

from frugalmct.paper.exhibits import dataset_statistics, service_worth


def worth(*losses):
    columns = ["dataset", "service", "loss", "loss_low", "loss_high"]
    return pd.DataFrame([("mine", name, *loss) for name, *loss in losses], columns=columns)


def test_a_service_is_judged_by_its_interval():
    sure, unsure = ("Deep", 0.03, 0.02, 0.04), ("Fast", 0.01, -0.01, 0.03)
    assert service_worth.reading(worth(sure)) == [
        "mine: without Deep -3.0 points of accuracy, the most; all services earn their place."
    ]
    assert service_worth.reading(worth(sure, unsure))[0].endswith(
        "the most; whether Fast can be dropped, these items do not tell."
    )
    idle = ("Old", -0.01, -0.02, 0.0)
    assert service_worth.reading(worth(sure, unsure, idle))[0].endswith(
        "the most; Old can be dropped; whether Fast can be dropped, these items do not tell."
    )


def test_own_data_alone_are_not_held_against_the_paper():
    table = pd.DataFrame({"dataset": ["mine"], "items": [3000], "data": ["recorded"], "paper_items": [None]})
    assert dataset_statistics.reading(table) == ["1 dataset with 3,000 items, recorded."]
