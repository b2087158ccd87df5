import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from drawings import drawn_text

from frugalmct.paper.exhibits.label_distribution import plot_each
from frugalmct.paper.plotting import save_figure, stamp_of


def table(labels: list[str], data: str = "simulated") -> pd.DataFrame:
    share = 0.6 / np.arange(1, len(labels) + 1)
    return pd.DataFrame({"dataset": "D", "label": labels, "items": 1, "share": share, "data": data})


def test_same_bytes_every_time_and_no_trace_of_when(tmp_path):
    for run in ("one", "two"):
        figure = plot_each(table(["a", "b"]))
        save_figure(figure, [tmp_path / f"{run}.svg", tmp_path / f"{run}.png"])
    for kind in ("svg", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    assert b"<dc:date>" not in (tmp_path / "one.svg").read_bytes()
    assert b"matplotlib version" not in (tmp_path / "one.png").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.png", "one.svg", "two.png", "two.svg"]


@pytest.mark.parametrize(
    ("data", "stamp"), [("simulated", "SIMULATED DATA"), ("release", "REAL DATA"), ("recorded", None)]
)
def test_the_kind_of_data_is_stamped(tmp_path, data, stamp):
    shown = drawn_text(plot_each(table(["a", "b"], data)), tmp_path)
    assert [words for words in ("SIMULATED DATA", "REAL DATA") if words in shown] == (
        [stamp] if stamp else []
    )


@pytest.mark.parametrize(
    ("kinds", "stamp"),
    [
        (["release", "simulated"], "SIMULATED DATA"),
        (["recorded", "simulated"], "SIMULATED DATA"),
        (["release", "recorded"], None),
        (["release", None], None),
    ],
)
def test_of_mixed_data_the_stamp_is_simulated_if_any_is_and_real_only_if_all_are(kinds, stamp):
    assert stamp_of(pd.DataFrame({"data": kinds})) == stamp
    assert stamp_of(pd.DataFrame({"items": kinds})) is None


def test_no_window_system_is_touched():
    code = (
        "import sys; from frugalmct.paper.exhibits.registry import all_exhibits; all_exhibits();"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
