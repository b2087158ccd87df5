import pandas as pd
from drawings import drawn_text
from made_up_tables import made_up_tables

from frugalmct.paper.exhibits.case_study import plot_each


def test_case_study_without_solvers_says_so(tmp_path):
    table = made_up_tables()["case_study"]
    shown = drawn_text(plot_each(table, pd.DataFrame()), tmp_path)
    assert "no solver was timed" in shown
    assert "p̂ = 0.006" in shown
    only = table[table["part"] == "shares"]
    assert "no curve in the table" in drawn_text(plot_each(only), tmp_path)


def test_costs_of_a_case_study_are_in_the_dataset_s_unit():
    table = made_up_tables()["case_study"]
    units = {table["dataset"].iloc[0]: "EUR per 1,000 items"}
    labels = [axis.get_xlabel() + axis.get_ylabel() for axis in plot_each(table, units=units).axes]
    assert sum("cost (EUR per 1,000 items)" in label for label in labels) == 2
    assert not any("USD" in label for label in labels)
