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
