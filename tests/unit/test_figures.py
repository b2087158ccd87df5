import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from frugalmct.errors import FrugalError
from frugalmct.figures import plot_label_distribution, save_figure


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


@pytest.mark.parametrize(("data", "stamped"), [("simulated", True), ("recorded", False)])
def test_simulated_data_are_stamped(tmp_path, data, stamped):
    save_figure(plot_label_distribution(table(["a", "b"], data), "D"), [tmp_path / "x.svg"])
    assert ("SIMULATED DATA" in texts(tmp_path / "x.svg")) == stamped


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
    code = "import sys, frugalmct.figures; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
