import numpy as np
import pandas as pd
import pytest
from drawings import drawn_text
from helpers import small_market
from saved_markets import saved

from frugalmct.market import Market
from frugalmct.paper.exhibits.label_distribution import build, draws, label_distribution, plot_each
from frugalmct.sparse import label_matrix


def test_labels_are_ordered_by_frequency_then_name_and_must_occur():
    truth = label_matrix([0, 2, 3, 3, 4], [1, 3, 3, 0], None, 4)
    table = label_distribution(small_market(truth=truth))
    assert table["label"].tolist() == ["猫", "bike", "car"]
    assert table["items"].tolist() == [2, 1, 1]
    np.testing.assert_allclose(table["share"], [0.5, 0.25, 0.25])


def test_markets_are_held_one_at_a_time(tmp_path, monkeypatch):
    read = []
    load = Market.load
    monkeypatch.setattr(Market, "load", lambda file: read.append(load(file).name) or load(file))
    inputs = saved(tmp_path, small_market(name="a"), small_market(name="b"))
    markets = inputs.markets()
    assert next(markets).name == "a" and read == ["a"], "the second is not read before it is wanted"
    assert build(inputs, {})["dataset"].unique().tolist() == ["a", "b"]


def test_labels_are_drawn_of_the_papers_dataset_and_of_ones_own():
    assert draws("COCO") and draws("mine") and not draws("PASCAL")


def table(labels: list[str], data: str = "simulated") -> pd.DataFrame:
    share = 0.6 / np.arange(1, len(labels) + 1)
    return pd.DataFrame({"dataset": "D", "label": labels, "items": 1, "share": share, "data": data})


@pytest.mark.filterwarnings("ignore:Glyph")  # in the SVG the reader's own fonts show it
def test_names_are_text_never_markup_or_formula(tmp_path):
    odd = ["$x^2$", "<b>&amp;", "100 $", "a_b", "猫", "x" * 300]
    shown = drawn_text(plot_each(table(odd)), tmp_path)
    for name in odd[:-1]:
        assert name in shown
    assert "x" * 23 + "…" in shown


@pytest.mark.parametrize("count", [1, 41, 5000])
def test_any_number_of_labels(tmp_path, count):
    shown = drawn_text(plot_each(table([f"label {n}" for n in range(count)])), tmp_path)
    assert ("80 most frequent of" in shown) == (count > 80)
    assert f"label {min(count, 80) - 1}" in shown
    assert "label 80" not in shown


def test_bars_of_the_second_column_stay_inside():
    flat = table([f"label {n}" for n in range(60)]).assign(share=0.5)
    for axis in plot_each(flat).axes:
        assert axis.get_xlim()[1] >= 50


def test_a_dataset_without_labels_is_a_gap(tmp_path):
    assert "Nothing to show: the table has no rows" in drawn_text(plot_each(table([])), tmp_path)
