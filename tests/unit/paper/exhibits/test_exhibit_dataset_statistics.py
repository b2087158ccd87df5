from helpers import small_market
from saved_markets import saved

from frugalmct.paper.exhibits.dataset_statistics import build


def test_statistics_stand_beside_the_papers(tmp_path):
    markets = [small_market(), small_market(name="COCO", data="simulated")]
    statistics = build(saved(tmp_path, *markets), {"dropped": {}})
    assert statistics["dataset"].tolist() == ["small", "COCO"]
    assert statistics["data"].tolist() == ["recorded", "simulated"]
    assert (
        statistics[["items", "label_occurrences", "distinct_labels"]].to_numpy().tolist() == [[4, 4, 4]] * 2
    )
    assert statistics["paper_items"].isna().tolist() == [True, False]
    assert statistics["paper_items"].iloc[1] == 123287
    assert statistics["labels_per_item"].tolist() == [1.0, 1.0]


def test_services_left_out_are_named(tmp_path):
    inputs = saved(tmp_path, small_market(data="release"), small_market(name="other"))
    statistics = build(inputs, {"dropped": {"small": {"SSD": [], "Google": []}}})
    assert statistics["dropped_services"].fillna("none").tolist() == ["SSD, Google", "none"]
    assert statistics["data"].tolist() == ["release", "recorded"]
