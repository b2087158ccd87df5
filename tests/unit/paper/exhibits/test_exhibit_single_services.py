import numpy as np
import pytest
from made_up_tables import made_up_tables

from frugalmct.paper.exhibits.single_services import reading, single_services


def test_every_service_has_the_papers_and_the_releases_accuracy_beside_its_own():
    tradeoff = made_up_tables(("PASCAL", "COCO"))["tradeoff"]
    tradeoff = tradeoff[~((tradeoff["dataset"] == "PASCAL") & (tradeoff["method"] == "single:SSD"))]
    table = single_services(tradeoff, ["PASCAL", "COCO"])
    assert table["service"].tolist() == ["SSD", "Everypixel", "Microsoft", "Google"] * 2
    pascal = table[table["dataset"] == "PASCAL"].set_index("service")
    assert np.isnan(pascal.loc["SSD", "accuracy"]) and pascal.loc["SSD", "release_accuracy"] == 0.4932
    assert pascal.loc["Microsoft", "paper_accuracy"] == 0.748
    assert pascal["paper_accuracy"].notna().sum() == 1, "the paper prints the best service alone"
    assert pascal.loc["Microsoft", "release_minus_paper"] == pytest.approx(0.0002)


def test_a_dataset_that_is_not_the_papers_has_its_own_numbers_only():
    table = single_services(made_up_tables(("mine",))["tradeoff"], ["mine"])
    assert len(table) == 4 and table["accuracy"].notna().all()
    assert table[["paper_accuracy", "release_accuracy"]].isna().all(axis=None)


def test_the_reading_names_the_datasets_on_which_paper_and_release_differ():
    tradeoff = made_up_tables(("PASCAL", "CONLL", "GMB"))["tradeoff"]
    first, *_ = reading(single_services(tradeoff, ["PASCAL", "CONLL", "GMB"]))
    assert first.startswith("Of 3 services that the paper prints, the release measures 2 differently: ")
    assert "CONLL +8.8 points" in first and "GMB +7.6 points" in first
