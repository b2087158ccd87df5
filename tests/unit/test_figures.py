import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from made_up_tables import PAPER_DATASETS, made_up_tables

from frugalmct.errors import FrugalError
from frugalmct.figures.base import half_width, read_for_figure, rows_of, save_figure, simulated_datasets
from frugalmct.figures.case_study import plot_case_study
from frugalmct.figures.ensembles import plot_ensembles
from frugalmct.figures.labels import plot_label_distribution
from frugalmct.figures.losses import plot_loss_split
from frugalmct.figures.methods import LOOKS, in_order, look_of
from frugalmct.figures.per_label import plot_per_label
from frugalmct.figures.predictor_study import plot_predictors
from frugalmct.figures.predictors import plot_predictor_quality
from frugalmct.figures.savings import plot_cost_savings
from frugalmct.figures.solvers import plot_solver_runtime
from frugalmct.figures.tradeoff import plot_dataset_tradeoff, plot_tradeoff
from frugalmct.figures.training import plot_training_size

# Table -> what is drawn of it.
PLOTS = {
    "tradeoff": plot_tradeoff,
    "cost_savings": plot_cost_savings,
    "ensembles": plot_ensembles,
    "predictor_quality": plot_predictor_quality,
    "predictors": plot_predictors,
    "training_size": plot_training_size,
    "solver_runtime": plot_solver_runtime,
    "per_label": plot_per_label,
    "case_study": plot_case_study,
    "beyond": plot_loss_split,
}


def table(labels: list[str], data: str = "simulated") -> pd.DataFrame:
    share = 0.6 / np.arange(1, len(labels) + 1)
    return pd.DataFrame({"dataset": "D", "label": labels, "items": 1, "share": share, "data": data})


def texts(svg: Path) -> str:
    return " ".join(ElementTree.parse(svg).getroot().itertext())


def test_same_bytes_every_time_and_no_trace_of_when(tmp_path):
    for run in ("one", "two"):
        figure = plot_label_distribution(table(["a", "b"]), "D")
        save_figure(figure, [tmp_path / f"{run}.svg", tmp_path / f"{run}.png"])
    for kind in ("svg", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    assert b"<dc:date>" not in (tmp_path / "one.svg").read_bytes()
    assert b"matplotlib version" not in (tmp_path / "one.png").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.png", "one.svg", "two.png", "two.svg"]


@pytest.mark.parametrize(
    ("data", "stamp"), [("simulated", "SIMULATED DATA"), ("released", "REAL DATA"), ("recorded", None)]
)
def test_the_kind_of_data_is_stamped(tmp_path, data, stamp):
    save_figure(plot_label_distribution(table(["a", "b"], data), "D"), [tmp_path / "x.svg"])
    shown = texts(tmp_path / "x.svg")
    assert [words for words in ("SIMULATED DATA", "REAL DATA") if words in shown] == (
        [stamp] if stamp else []
    )


@pytest.mark.filterwarnings("ignore:Glyph")  # in the SVG the reader's own fonts show it
def test_names_are_text_never_markup_or_formula(tmp_path):
    odd = ["$x^2$", "<b>&amp;", "100 $", "a_b", "猫", "x" * 300]
    save_figure(plot_label_distribution(table(odd), "D"), [tmp_path / "x.svg"])
    shown = texts(tmp_path / "x.svg")
    for name in odd[:-1]:
        assert name in shown
    assert "x" * 23 + "…" in shown


@pytest.mark.parametrize("count", [1, 41, 5000])
def test_any_number_of_labels(tmp_path, count):
    save_figure(
        plot_label_distribution(table([f"label {n}" for n in range(count)]), "D"), [tmp_path / "x.svg"]
    )
    shown = texts(tmp_path / "x.svg")
    assert ("80 most frequent of" in shown) == (count > 80)
    assert f"label {min(count, 80) - 1}" in shown
    assert "label 80" not in shown


def test_bars_of_the_second_column_stay_inside():
    flat = table([f"label {n}" for n in range(60)]).assign(share=0.5)
    for axis in plot_label_distribution(flat, "D").axes:
        assert axis.get_xlim()[1] >= 50


def test_unknown_dataset():
    with pytest.raises(FrugalError, match="No labels of X in the table; it has D"):
        plot_label_distribution(table(["a"]), "X")


def test_no_window_system_is_touched():
    code = "import sys, frugalmct.figures.labels; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


every_plot = pytest.mark.parametrize("name", PLOTS)


def drawn_text(figure, folder: Path) -> str:
    save_figure(figure, [folder / "drawn.svg"])
    return texts(folder / "drawn.svg")


@every_plot
def test_every_plot_has_the_same_bytes_every_time(tmp_path, name):
    for run in ("one", "two"):
        figure = PLOTS[name](made_up_tables()[name], {"PASCAL", "COCO"})
        save_figure(figure, [tmp_path / f"{run}.svg", tmp_path / f"{run}.png"])
    for kind in ("svg", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


@every_plot
def test_every_plot_is_stamped_if_its_data_are_simulated(tmp_path, name):
    table = made_up_tables()[name].drop(columns="data", errors="ignore")
    assert "SIMULATED DATA" in drawn_text(PLOTS[name](table, {"COCO"}), tmp_path)
    assert "SIMULATED DATA" not in drawn_text(PLOTS[name](table, {"another"}), tmp_path)


@every_plot
def test_every_plot_is_stamped_as_real_if_all_of_its_data_are(tmp_path, name):
    table = made_up_tables()[name].drop(columns="data", errors="ignore")
    real = {"PASCAL", "COCO"}
    assert "REAL DATA" in drawn_text(PLOTS[name](table, released=real), tmp_path)
    assert "REAL DATA" not in drawn_text(PLOTS[name](table, {"COCO"}, released=real), tmp_path)
    assert "REAL DATA" not in drawn_text(PLOTS[name](table, released={"another"}), tmp_path)


@every_plot
def test_a_table_without_rows_columns_or_values_is_a_gap_that_says_so(tmp_path, name):
    table = made_up_tables()[name]
    assert "Nothing to show: the table has no rows in this run." in drawn_text(
        PLOTS[name](table.head(0)), tmp_path
    )
    assert "Nothing to show: the table has no rows" in drawn_text(PLOTS[name](pd.DataFrame()), tmp_path)
    other = pd.DataFrame({"something": [1]})
    assert "Nothing to show: no column" in drawn_text(PLOTS[name](other), tmp_path)


@every_plot
def test_one_repetition_has_no_band_and_one_dataset_is_enough(tmp_path, name):
    table = made_up_tables(("COCO",), repeats=1)[name]
    assert "COCO" in drawn_text(PLOTS[name](table), tmp_path)


@every_plot
def test_names_of_data_are_never_markup_or_formula(tmp_path, name):
    odd = "<b>$x$&"
    table = made_up_tables(("COCO",))[name].replace({"COCO": odd, "Microsoft": odd})
    assert odd in drawn_text(PLOTS[name](table), tmp_path)


def test_failed_cells_leave_the_rest_drawn(tmp_path):
    table = made_up_tables()["tradeoff"]
    failed = table.assign(accuracy=np.nan, status="failed: no memory")
    assert "every row is without a value (failed: no memory)" in drawn_text(plot_tradeoff(failed), tmp_path)
    table.loc[table["method"] == "frugalml", "accuracy"] = np.nan
    shown = drawn_text(plot_tradeoff(table), tmp_path)
    assert "FrugalMCT offline" in shown and "FrugalML" not in shown


def test_the_grid_holds_any_number_of_datasets(tmp_path):
    for count in (1, 4, 5):
        figure = plot_tradeoff(made_up_tables(PAPER_DATASETS[:count], 2)["tradeoff"])
        assert sum(axis.axison for axis in figure.axes) == count
        assert all(name in drawn_text(figure, tmp_path) for name in PAPER_DATASETS[:count])


def test_the_picture_of_one_dataset_has_its_services_and_votes(tmp_path):
    table = made_up_tables()["tradeoff"]
    shown = drawn_text(plot_dataset_tradeoff(rows_of(table, "COCO")), tmp_path)
    for name in ("COCO", "Microsoft", "Everypixel", "Majority vote", "Weighted majority vote"):
        assert name in shown
    assert "PASCAL" not in shown


def test_stopped_solvers_are_marked_with_their_gap(tmp_path):
    table = made_up_tables()["solver_runtime"]
    shown = drawn_text(plot_solver_runtime(table), tmp_path)
    assert "gap 0.03" in shown and "stopped" in shown
    assert "stopped" not in drawn_text(plot_solver_runtime(table[~table["stopped"]]), tmp_path)


def test_a_dataset_that_never_gets_there_is_told(tmp_path):
    table = made_up_tables()["cost_savings"]
    table.loc[0, ["frugalmct_cost", "saving"]] = np.nan
    assert "not reached" in drawn_text(plot_cost_savings(table), tmp_path)


def test_case_study_without_solvers_says_so(tmp_path):
    table = made_up_tables()["case_study"]
    shown = drawn_text(plot_case_study(table, (), pd.DataFrame()), tmp_path)
    assert "no solver was timed" in shown
    assert "p̂ = 0.006" in shown
    only = table[table["part"] == "shares"]
    assert "no curve in the table" in drawn_text(plot_case_study(only), tmp_path)


def test_intervals_are_students():
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(4.302653 / np.sqrt(3))
    assert np.isnan(half_width([1.0]))


def test_methods_keep_their_look():
    assert look_of("frugalmct") is look_of("frugalmct_online")
    assert look_of("single:Google").name == "Google"
    assert look_of("mine").name == "mine"
    assert len({(look.color, look.line, look.marker) for look in LOOKS.values()}) == len(LOOKS)
    assert in_order(["mine", "dap", "frugalmct"]) == ["frugalmct", "dap", "mine"]


def test_tables_without_content_are_read_as_empty(tmp_path):
    (tmp_path / "empty.csv").touch()
    assert read_for_figure(tmp_path / "empty.csv").empty
    assert simulated_datasets(pd.DataFrame()) == set()
    assert rows_of(pd.DataFrame({"x": [1]}), "COCO").empty
