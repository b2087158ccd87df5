from pathlib import Path

import numpy as np
import pandas as pd
from drawings import drawn_text, texts, words
from long_tables import long_table, row
from made_up_tables import PAPER_DATASETS, made_up_tables

from frugalmct.paper.exhibit import Inputs, draw, load_exhibit, rows_of
from frugalmct.paper.exhibits.tradeoff import COLUMNS, build, plot, plot_each
from frugalmct.paper.plotting import grid_shape
from frugalmct.paper.stages.select import COLUMNS as STAGE_COLUMNS
from frugalmct.paper.tables import write_table


def test_columns_are_those_of_the_sweeps():
    assert [column.name for column in COLUMNS] == STAGE_COLUMNS


def test_rows_keep_their_order_and_the_contract_comes_first(tmp_path):
    first = long_table(row("b", 1, 0.5) | {"base": "x", "dual_price": 0.1})
    second = long_table(row("a", 1, np.nan, status="stopped"))
    write_table(first, tmp_path / "first.csv")
    write_table(second, tmp_path / "second.csv")
    write_table(long_table(row("c", 1, 0.6)), tmp_path / "third.csv")
    files = {"selections": ["first.csv"], "plus": ["third.csv"], "baselines": ["second.csv"]}
    files = {stage: [tmp_path / name for name in names] for stage, names in files.items()}
    files |= {"per_call": [], "routers": []}
    table = build(Inputs(files), {})
    contract = ["dataset", "method", "budget", "repetition", "accuracy", "cost", "status"]
    assert table.columns.tolist()[:7] == contract
    assert table["method"].tolist() == ["b", "c", "a"]
    assert table["base"].tolist()[0] == "x" and pd.isna(table["base"][1]) and pd.isna(table["accuracy"][2])
    assert table["dual_price"][0] == 0.1


def test_failed_cells_leave_the_rest_drawn(tmp_path):
    table = made_up_tables()["tradeoff"]
    failed = table.assign(accuracy=np.nan, status="failed: no memory")
    assert "every row is without a value (failed: no memory)" in drawn_text(plot(failed), tmp_path)
    table.loc[table["method"] == "frugalml", "accuracy"] = np.nan
    shown = drawn_text(plot(table), tmp_path)
    assert "FrugalMCT offline" in shown and "FrugalML" not in shown


def test_the_grid_holds_any_number_of_datasets(tmp_path):
    for count in (1, 4, 5):
        figure = plot(made_up_tables(PAPER_DATASETS[:count], 2)["tradeoff"])
        assert sum(axis.axison for axis in figure.axes) == count
        assert all(name in drawn_text(figure, tmp_path) for name in PAPER_DATASETS[:count])


def test_the_picture_of_one_dataset_has_its_services_and_votes(tmp_path):
    table = made_up_tables()["tradeoff"]
    shown = drawn_text(plot_each(rows_of(table, "COCO")), tmp_path)
    assert "FrugalMCT plus" in shown
    for name in ("COCO", "Microsoft", "Everypixel", "Majority vote", "Weighted majority vote"):
        assert name in shown
    assert "PASCAL" not in shown


def cost_labels(figure):
    return [label for axis in figure.axes if (label := axis.get_xlabel())]


def test_costs_are_in_the_unit_of_the_dataset(tmp_path):
    names = PAPER_DATASETS[:4]
    table = made_up_tables(names, 2)["tradeoff"]
    usual, own = "cost (USD per 10,000 items)", "cost (USD per 1,000 calls)"
    units = {names[1]: "USD per 1,000 calls"}
    # One unit is said once a column, several at every panel.
    assert cost_labels(plot(table)) == [usual] * grid_shape(4)[1]
    assert cost_labels(plot(table, units)) == [usual, own, usual, usual]
    assert cost_labels(plot_each(rows_of(table, names[1]), units)) == [own]
    assert cost_labels(plot_each(rows_of(table, names[0]), units)) == [usual]
    # As a run draws it: what the settings say comes to the file.
    files = [str(tmp_path / "tradeoff" / f"{name}.svg") for name in names[:2]]
    Path(files[0]).parent.mkdir()
    draw(load_exhibit("tradeoff"), [table], files, units)
    said = ["USD per 1,000 calls" in texts(Path(file)) for file in files]
    assert said == [False, True]


def test_a_dataset_alone_is_drawn_large():
    rows = rows_of(made_up_tables()["tradeoff"], "COCO")
    alone, large = plot(rows), plot_each(rows)
    assert words(alone) == words(large) and (alone.get_size_inches() == large.get_size_inches()).all()


def test_beside_the_papers_datasets_own_ones_are_not_in_the_grid(tmp_path):
    table = made_up_tables(("PASCAL", "COCO"), data="release")["tradeoff"]
    own = rows_of(table, "COCO").assign(dataset="tickets", data="recorded")
    shown = drawn_text(plot(pd.concat([own, table])), tmp_path)
    assert "PASCAL" in shown and "COCO" in shown and "tickets" not in shown
    assert "REAL DATA" in shown, "which own data need not be"
    assert "tickets" in drawn_text(plot(own), tmp_path)
