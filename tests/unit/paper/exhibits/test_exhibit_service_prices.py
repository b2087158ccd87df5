import pandas as pd
import pytest

from frugalmct.paper.exhibit import Inputs, load_exhibit
from frugalmct.paper.exhibits.service_prices import build
from frugalmct.paper.printed import printed
from frugalmct.paper.tables import read_table, write_table


def service_prices(
    datasets: dict[str, tuple[str, dict[str, float]]], dropped=None, units=None
) -> pd.DataFrame:
    """Of datasets given by their task and prices."""
    settings = {
        "tasks": {name: task for name, (task, _) in datasets.items()},
        "prices": {name: prices for name, (_, prices) in datasets.items()},
        "dropped": dropped or {},
        "data": dict.fromkeys(datasets, "recorded"),
        "units": dict.fromkeys(datasets, "USD per 10,000 items") | (units or {}),
    }
    return build(Inputs({}), settings)


def test_prices_of_the_paper_are_its_table():
    table = service_prices(
        {name: (facts["task"], facts["prices_usd_per_10k"]) for name, facts in printed().items()}
    )
    assert len(table) == 12
    assert table["price_usd_per_10k"].tolist() == table["paper_price_usd_per_10k"].tolist()
    assert table["datasets"].unique().tolist() == ["PASCAL MIR COCO", "MTWI ReCTS LSVT", "CONLL ZHNER GMB"]


def test_prices_that_differ_get_rows_of_their_own():
    table = service_prices({"COCO": ("MIC", {"Google": 12.0}), "mine": ("MIC", {"Google": 15.0})})
    assert table["price_usd_per_10k"].tolist() == [12.0, 15.0]
    assert table["paper_price_usd_per_10k"].iloc[0] == 15
    assert pd.isna(table["paper_price_usd_per_10k"].iloc[1])


def test_prices_in_another_unit_are_not_in_a_table_of_usd_per_10_000():
    given = {"COCO": ("MIC", {"Google": 12.0}), "mine": ("MIC", {"Google": 0.9})}
    table = service_prices(given, units={"mine": "EUR per 1,000 items"})
    assert table["datasets"].tolist() == ["COCO"] and table["price_usd_per_10k"].tolist() == [12.0]


def test_own_data_alone_have_no_table_of_the_paper_s_services():
    exhibit = load_exhibit("service_prices")
    assert not exhibit.applies({"mine": "recorded"}, set())
    assert exhibit.applies({"mine": "recorded", "COCO": "simulated"}, set())


def test_services_left_out_are_shown_with_the_reason():
    dropped = {"PASCAL": {"SSD": ["Model100000_PredictedLabel.txt"]}}
    table = service_prices({"PASCAL": ("MIC", {"Google": 15.0})}, dropped)
    assert table["service"].tolist() == ["Google", "SSD"] and table["reason"].isna().tolist() == [True, False]
    assert pd.isna(table["price_usd_per_10k"].iloc[1]) and table["paper_price_usd_per_10k"].iloc[1] == 0.01


@pytest.mark.parametrize("price", [3.75e-6, 0.01, 1e9])
def test_prices_keep_their_digits(tmp_path, price):
    write_table(service_prices({"x": ("MIC", {"a": price})}), tmp_path / "prices.csv")
    assert read_table(tmp_path / "prices.csv")["price_usd_per_10k"].tolist() == [price]


def test_datasets_of_another_kind_get_rows_of_their_own():
    settings = {
        "tasks": dict.fromkeys("ab", "MIC"),
        "prices": {name: {"Google": 15.0} for name in "ab"},
        "dropped": {},
        "data": {"a": "simulated", "b": "release"},
        "units": dict.fromkeys("ab", "USD per 10,000 items"),
    }
    table = build(Inputs({}), settings)
    assert table[["datasets", "data"]].to_numpy().tolist() == [["a", "simulated"], ["b", "release"]]
