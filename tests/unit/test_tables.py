import numpy as np
import pandas as pd
import pytest
from helpers import small_market

from frugalmct.paper import paper_figures
from frugalmct.sparse import label_matrix
from frugalmct.tables import describe_markets, label_distribution, read_table, service_prices, write_table


def test_written_tables_have_whole_counts_short_floats_and_unix_lines(tmp_path):
    table = pd.DataFrame({"name": ["a,b", None], "count": [1878682.0, 61643.0], "share": [0.1 + 0.2, 1 / 3]})
    write_table(table, tmp_path / "deep" / "table.csv")
    assert (tmp_path / "deep" / "table.csv").read_bytes() == (
        b'name,count,share\n"a,b",1878682,0.3\n,61643,0.3333333333\n'
    )


def test_labels_that_look_like_missing_values_come_back_as_text(tmp_path):
    labels = ["NA", "null", "nan", 'quo"te', "two\nlines", "猫"]
    write_table(pd.DataFrame({"label": labels, "items": 1}), tmp_path / "table.csv")
    assert read_table(tmp_path / "table.csv")["label"].tolist() == labels


def test_names_that_look_like_numbers_come_back_as_text(tmp_path):
    table = pd.DataFrame({"dataset": ["007", "1e5"], "base": ["1", None], "seed": [0, 1]})
    write_table(table, tmp_path / "table.csv")
    again = read_table(tmp_path / "table.csv")
    assert again["dataset"].tolist() == ["007", "1e5"] and again["seed"].tolist() == [0, 1]
    assert again["base"][0] == "1" and again["base"].isna().tolist() == [False, True]


def test_statistics_stand_beside_the_papers():
    statistics, _ = describe_markets([small_market(), small_market(name="COCO", simulated=True)])
    assert statistics["dataset"].tolist() == ["small", "COCO"]
    assert statistics["data"].tolist() == ["recorded", "simulated"]
    assert (
        statistics[["items", "label_occurrences", "distinct_labels"]].to_numpy().tolist() == [[4, 4, 4]] * 2
    )
    assert statistics["paper_items"].isna().tolist() == [True, False]
    assert statistics["paper_items"].iloc[1] == 123287
    assert statistics["labels_per_item"].tolist() == [1.0, 1.0]


def test_labels_are_ordered_by_frequency_then_name_and_must_occur():
    truth = label_matrix([0, 2, 3, 3, 4], [1, 3, 3, 0], None, 4)
    table = label_distribution(small_market(truth=truth))
    assert table["label"].tolist() == ["猫", "bike", "car"]
    assert table["items"].tolist() == [2, 1, 1]
    np.testing.assert_allclose(table["share"], [0.5, 0.25, 0.25])


def test_markets_are_held_one_at_a_time():
    def markets():
        for name in ("a", "b"):
            alive.append(name)
            yield small_market(name=name)

    alive: list[str] = []
    _, labels = describe_markets(markets())
    assert labels["dataset"].unique().tolist() == alive == ["a", "b"]


def test_prices_of_the_paper_are_its_table():
    figures = paper_figures()
    blocks = {
        name: {"task": facts["task"], "prices": facts["prices_usd_per_10k"]}
        for name, facts in figures.items()
    }
    table = service_prices(blocks)
    assert len(table) == 12
    assert table["price_usd_per_10k"].tolist() == table["paper_price_usd_per_10k"].tolist()
    assert table["datasets"].unique().tolist() == ["PASCAL MIR COCO", "MTWI ReCTS LSVT", "CONLL ZHNER GMB"]


def test_prices_that_differ_get_rows_of_their_own():
    blocks = {
        "COCO": {"task": "MIC", "prices": {"Google": 12.0}},
        "mine": {"task": "MIC", "prices": {"Google": 15.0}},
    }
    table = service_prices(blocks)
    assert table["price_usd_per_10k"].tolist() == [12.0, 15.0]
    assert table["paper_price_usd_per_10k"].iloc[0] == 15
    assert pd.isna(table["paper_price_usd_per_10k"].iloc[1])


def test_services_left_out_are_told_with_the_reason():
    blocks = {"PASCAL": {"task": "MIC", "prices": {"Google": 15.0}}}
    table = service_prices(blocks, {"PASCAL": {"SSD": ["Model100000_PredictedLabel.txt"]}})
    assert table["service"].tolist() == ["Google", "SSD"] and table["reason"].isna().tolist() == [True, False]
    assert pd.isna(table["price_usd_per_10k"].iloc[1]) and table["paper_price_usd_per_10k"].iloc[1] == 0.01
    statistics, _ = describe_markets(
        [small_market(released=True), small_market(name="other")], {"small": {"SSD": [], "Google": []}}
    )
    assert statistics["dropped_services"].fillna("none").tolist() == ["SSD, Google", "none"]
    assert statistics["data"].tolist() == ["released", "recorded"]


@pytest.mark.parametrize("price", [3.75e-6, 0.01, 1e9])
def test_prices_keep_their_digits(tmp_path, price):
    write_table(service_prices({"x": {"task": "MIC", "prices": {"a": price}}}), tmp_path / "prices.csv")
    assert read_table(tmp_path / "prices.csv")["price_usd_per_10k"].tolist() == [price]
