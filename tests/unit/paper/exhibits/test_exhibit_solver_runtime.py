from drawings import drawn_text
from made_up_tables import made_up_tables

from frugalmct.paper.exhibits.solver_runtime import plot_each


def test_stopped_solvers_are_marked_with_their_gap(tmp_path):
    table = made_up_tables()["solver_runtime"]
    shown = drawn_text(plot_each(table), tmp_path)
    assert "gap 0.03" in shown and "stopped" in shown
    assert "stopped" not in drawn_text(plot_each(table[~table["stopped"]]), tmp_path)
