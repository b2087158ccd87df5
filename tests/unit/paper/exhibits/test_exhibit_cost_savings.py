import numpy as np
import pandas as pd
import pytest
from drawings import drawn_text, words
from long_tables import T_OF_ONE_DEGREE, long_table, online, only_row, row, singles
from made_up_tables import made_up_tables

from frugalmct.paper.exhibits.cost_savings import COLUMNS, cost_savings, plot, reading
from frugalmct.paper.names import ONLINE
from frugalmct.paper.tables import read_table, write_table


def test_savings_between_two_budgets():
    table = long_table(*singles(), *online((0, 0.4), (2, 0.6), (4, 0.8)))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert (found["best_service"], found["best_accuracy"], found["best_cost"]) == ("dear", 0.7, 10)
    assert found["cost"] == pytest.approx(3) and found["saving"] == pytest.approx(0.7)
    assert (found["task"], found["reached"], found["repetitions"]) == ("MIC", 1, 1)
    assert found["method"] == ONLINE
    assert found[["saving_low", "saving_high", "cost_low", "paper_saving", "reason"]].isna().all()


def test_savings_are_meant_over_repetitions_each_with_its_own_target():
    table = long_table(
        *singles(0), *online((0, 0.4), (2, 0.6), (4, 0.8)),
        *singles(1, shift=0.05), *online((0, 0.45), (10, 0.95), repetition=1),
    )  # fmt: skip
    found = only_row(cost_savings(table, {"own": "MIC"}))
    # Costs 3 (for 0.7) and 6 (for 0.75).
    assert found["cost"] == pytest.approx(4.5) and found["saving"] == pytest.approx(0.55)
    assert found["best_accuracy"] == pytest.approx(0.725)
    assert found["cost_high"] == pytest.approx(4.5 + T_OF_ONE_DEGREE * 1.5)
    assert found["cost_low"] == 0 and found["saving_high"] == 1, "cut where no cost can be"


def test_savings_that_are_not_reached_are_empty_with_a_reason():
    table = long_table(*singles(), *online((0, 0.4), (10, 0.6)))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert pd.isna(found["saving"]) and found["reached"] == 0
    assert found["reason"] == "the best service's accuracy is not reached"
    table = long_table(
        *singles(0), *singles(1), *online((0, 0.4), (10, 0.6)), *online((5, 0.7), repetition=1)
    )
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert (found["cost"], found["reached"]) == (5, 1)
    assert found["reason"] == "the best service's accuracy is not reached in 1 of 2 repetitions"


def test_of_equally_good_services_the_cheaper_is_the_best():
    services = {"b": (0.7, 9.0), "a": (0.7, 5.0), "c": (0.7, 5.0)}
    table = long_table(*singles(services=services), *online((2.5, 0.7)))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert (found["best_service"], found["saving"]) == ("a", 0.5)


def test_a_free_best_service_leaves_nothing_to_save():
    table = long_table(*singles(services={"free": (0.7, 0.0)}), *online((0.0, 0.7)))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert found["cost"] == 0 and pd.isna(found["saving"])
    assert found["reason"] == "the best service costs nothing"


def test_savings_stand_beside_the_papers_and_a_dataset_without_rows_has_its_row():
    table = long_table(*singles(dataset="PASCAL"), *online((3, 0.7), dataset="PASCAL"))
    found = cost_savings(table, {"own": "NER", "PASCAL": "MIC"})
    assert found.columns.tolist() == [column.name for column in COLUMNS]
    assert found["dataset"].tolist() == ["own", "PASCAL"]
    assert found["reason"][0] == "no result of any single service"
    paper = found.loc[1, ["paper_accuracy", "paper_best_cost", "paper_cost", "paper_saving"]]
    assert paper.tolist() == pytest.approx([0.748, 10, 1.4, 0.86])


def test_failed_rows_are_gaps_and_tell_their_status():
    table = long_table(*singles(), row(ONLINE, 3, np.nan, np.nan, status="out of memory"))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert pd.isna(found["cost"])
    assert found["reason"] == f"no result of {ONLINE} (out of memory)"


def test_a_dataset_named_by_digits_is_found_again(tmp_path):
    write_table(long_table(*singles(dataset="007"), *online((3, 0.7), dataset="007")), tmp_path / "t.csv")
    found = only_row(cost_savings(read_table(tmp_path / "t.csv"), {"007": "MIC"}))
    assert (found["best_service"], found["cost"]) == ("dear", 3)


def test_a_dataset_that_never_gets_there_is_marked(tmp_path):
    table = made_up_tables()["cost_savings"]
    table.loc[0, ["cost", "saving"]] = np.nan
    assert "not reached" in drawn_text(plot(table), tmp_path)


def test_every_method_that_was_run_has_its_row():
    rows = [
        *singles(dataset="PASCAL"),
        *online((0, 0.4), (4, 0.8), dataset="PASCAL"),
        *online((0, 0.4), (8, 0.8), dataset="PASCAL", method="frugalml"),
        *online((0, 0.4), (8, 0.6), dataset="PASCAL", method="dap"),
    ]
    found = cost_savings(long_table(*rows), {"PASCAL": "MIC"}).set_index("method")
    assert found.index.tolist() == [ONLINE, "frugalml", "dap"], "plus was not run"
    assert found["saving"].tolist()[:2] == pytest.approx([0.7, 0.4])
    assert found.loc["dap", "reason"] == "the best service's accuracy is not reached"
    # What the paper prints of FrugalMCT is not said of another.
    assert found["paper_accuracy"].tolist() == [0.748] * 3
    assert found["paper_saving"].notna().tolist() == [True, False, False]
    plus = online((0, 0.4), (2, 0.8), dataset="PASCAL", method="frugalmct_plus")
    wider = cost_savings(long_table(*rows, *plus), {"PASCAL": "MIC"})
    assert wider["method"].tolist() == [ONLINE, "frugalmct_plus", "frugalml", "dap"]
    assert cost_savings(long_table(*rows), {"PASCAL": "MIC"}, ["frugalml"])["method"].tolist() == ["frugalml"]


def test_the_reading_compares_on_datasets_that_both_reach():
    rows = [*singles(), *online((0, 0.4), (4, 0.8)), *online((0, 0.4), (8, 0.8), method="frugalml")]
    rows += [*singles(dataset="two"), *online((1, 0.9), dataset="two")]
    rows += online((1, 0.5), dataset="two", method="frugalml")
    table = cost_savings(long_table(*rows), {"own": "MIC", "two": "MIC"})
    lines = reading(table)
    assert lines[0] == "The mean saving of FrugalMCT is 80 % over 2 datasets."
    assert lines[2].endswith("FrugalML 40 % where FrugalMCT saves 70 % (1 dataset).")


def test_the_figure_is_of_frugalmct_alone():
    rows = [*singles(), *online((0, 0.4), (4, 0.8)), *online((0, 0.4), (8, 0.8), method="frugalml")]
    table = cost_savings(long_table(*rows), {"own": "MIC"})
    alone = table[table["method"] == ONLINE]
    assert words(plot(table)) == words(plot(alone))
