"""The README's table of savings against a full run, where one is there."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PROJECT = Path(__file__).parents[2]
TABLES = PROJECT / "results" / "tables"
README = (PROJECT / "README.md").read_text(encoding="utf-8")
ROWS = {
    "the paper's method, simulated": "frugalmct_online",
    "FrugalMCT plus, simulated": "frugalmct_plus",
    "FrugalML, simulated": "frugalml",
    "DAP (a dummy predictor), simulated": "dap",
}
REPETITIONS = 5
POINT = 0.5 + 1e-6
"""The table has whole per cent."""


def told() -> dict[str, dict[str, float]]:
    """Row -> column -> per cent."""
    lines = re.search(r"(?m)^\| saving \|.*\n\|[-|]+\n((?:\|.*\n)+)", README)
    heads = [cell.strip() for cell in re.search(r"(?m)^\| saving \|(.*)\|$", README)[1].split("|")]
    found = {}
    for line in lines[1].splitlines():
        name, *values = (cell.strip() for cell in line.strip("|").split("|"))
        found[name] = dict(zip(heads, (float(value.removesuffix(" %")) for value in values), strict=True))
    return found


def not_full(tables: Path) -> str:
    """Why these are not the tables of a full run of the default configuration; empty if they are."""
    files = [tables / f"{name}.csv" for name in ("cost_savings", "dataset_statistics")]
    if not all(map(Path.is_file, files)):
        return f"there is no run in {tables.parent.name}/"
    savings, statistics = map(pd.read_csv, files)
    datasets = set(next(iter(told().values()))) - {"mean"}
    if set(statistics["dataset"]) != datasets or set(statistics["data"]) != {"simulated"}:
        return "the run is not of the nine simulated datasets"
    if (statistics["items"] != statistics["paper_items"]).any() or savings["repetitions"].max() < REPETITIONS:
        return f"the run is not of full size, or has fewer than {REPETITIONS} repetitions"
    return ""


def differences(tables: Path) -> list[str]:
    savings = pd.read_csv(tables / "cost_savings.csv").set_index(["method", "dataset"])["saving"]
    wrong = []
    for row, method in ROWS.items():
        ours = {name: 100 * savings[method, name] for name in told()[row] if name != "mean"}
        ours["mean"] = float(np.mean(list(ours.values())))
        wrong += [
            f"{row}, {name}: {said:g} %, but the run gives {ours[name]:.1f} %"
            for name, said in told()[row].items()
            if not abs(said - ours[name]) <= POINT
        ]
    return wrong


def test_the_table_is_that_of_the_full_run():
    if reason := not_full(TABLES):
        pytest.skip(f"the README's savings are not compared: {reason} (make results makes a full one)")
    assert not differences(TABLES)


def test_a_number_that_differs_is_found(tmp_path):
    assert "no run" in not_full(tmp_path)
    rows = [
        {"method": method, "dataset": name, "saving": said / 100}
        for row, method in ROWS.items()
        for name, said in told()[row].items()
        if name != "mean"
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "cost_savings.csv")
    assert not differences(tmp_path)
    rows[0]["saving"] += 0.01
    pd.DataFrame(rows).to_csv(tmp_path / "cost_savings.csv")
    (line,) = differences(tmp_path)
    assert line.startswith("the paper's method, simulated, PASCAL: 35 %, but the run gives 36.0 %")
