import os
import subprocess
import sys
import time

import numpy as np
import pytest

from frugalmct.errors import FrugalError
from frugalmct.predictions import BasePredictions
from frugalmct.select import available_methods
from frugalmct.strategy import Plan
from frugalmct.studies import solvers
from frugalmct.studies.guarded import OutOfTime, guarded
from frugalmct.studies.solvers import COLUMNS, sizes_within, slowest, solver_study

CONTRACT = ["solver", "dataset", "items", "budget", "seconds", "accuracy", "bound", "proven", "status"]
PLAN = Plan(3.0, 0, 0.0)


@pytest.fixture(scope="module")
def predicted():
    rng = np.random.default_rng(5)
    estimates = rng.random((60, 3))
    return BasePredictions(0, np.array([1.0, 4.0, 9.0]), estimates, estimates, estimates, 1 - estimates)


@pytest.fixture(scope="module")
def table(predicted):
    return solver_study("made_up", predicted, PLAN, [20, 1000, 5000], 30.0, "simulated")


def test_sizes_beyond_the_available_become_all_once():
    assert sizes_within([1000, 3000, 10000], 6165) == [1000, 3000, 6165]
    assert sizes_within([1000, 3000], 50) == [50]
    assert sizes_within([30, 10], 50) == [10, 30]


def test_every_solver_has_a_row_at_every_size(table):
    assert list(table.columns) == COLUMNS and COLUMNS[: len(CONTRACT)] == CONTRACT
    assert table.groupby("items")["solver"].apply(list).tolist() == [["online", *available_methods()]] * 2
    assert set(table["items"]) == {20, 60}
    assert set(table["data"]) == {"simulated"} and set(table["time_limit"]) == {30.0}


def test_exact_solvers_agree_and_nobody_is_over_budget(table):
    proven = table[table["proven"].astype(bool)]
    assert {"exact", "cbc", "highs", "cbc_reduced", "highs_reduced"} <= set(proven["solver"])
    assert np.all(proven.groupby("items")["accuracy"].agg(np.ptp) < 1e-9)
    assert np.all(proven["shortfall"] < 1e-9) and np.all(table["shortfall"] >= 0)
    assert np.all(table["cost"] <= 3.0 * (1 + 1e-12)) and not table["stopped"].any()
    assert table["true_accuracy"].to_numpy() == pytest.approx(1 - table["accuracy"].to_numpy())


def test_online_proves_nothing(table):
    online = table[table["solver"] == "online"]
    assert set(online["status"]) == {"online"} and online["bound"].isna().all()
    assert not online["proven"].any() and np.all(online["seconds"] < 1)


def test_a_solver_in_trouble_is_a_gap_with_its_reason(predicted, monkeypatch):
    def broken(problem, method, time_limit=None):
        raise FrugalError("no licence for so many items")

    monkeypatch.setattr(solvers, "solve", broken)
    monkeypatch.setattr(solvers, "available_methods", lambda: ["cbc"])
    row = solver_study("made_up", predicted, PLAN, [20], 1.0, "simulated").set_index("solver").loc["cbc"]
    assert row["status"] == "failed: no licence for so many items"
    assert np.isnan(row["accuracy"]) and not row["proven"] and not row["stopped"]


def test_a_solver_that_does_not_stop_is_ended(predicted, monkeypatch):
    real = solvers.solve

    def endless(problem, method, time_limit=None):
        if method == "highs" and problem.items > solvers.WARM_UP_ITEMS:
            time.sleep(60)
        return real(problem, method, time_limit)

    monkeypatch.setattr(solvers, "solve", endless)
    monkeypatch.setattr(solvers, "available_methods", lambda: ["highs", "lp"])
    started = time.perf_counter()
    table = solver_study("made_up", predicted, PLAN, [60], 2.0, "simulated").set_index("solver")
    assert time.perf_counter() - started < 30
    highs = table.loc["highs"]
    assert (highs["status"], highs["stopped"], highs["proven"]) == ("no_solution", True, False)
    assert highs["accuracy"] == pytest.approx(predicted.test_estimates[:, 0].mean())
    assert highs["bound"] == pytest.approx(table.loc["lp", "bound"]) and highs["gap"] > 0
    assert len(list(slowest(table.reset_index()))) == 3


def test_guarded_work_returns_its_result_and_tells_of_its_trouble():
    assert guarded(lambda: None, lambda: np.arange(3).tolist(), 20) == [0, 1, 2]
    with pytest.raises(FrugalError, match="division by zero"):
        guarded(lambda: None, lambda: 1 / 0, 20)
    with pytest.raises(FrugalError, match="without an answer"):
        guarded(lambda: None, lambda: os._exit(1), 20)


def test_what_guarded_work_started_ends_with_it(tmp_path):
    told = tmp_path / "pid"

    def start_and_wait():
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        told.write_text(str(child.pid))
        child.wait()

    with pytest.raises(OutOfTime):
        guarded(lambda: None, start_and_wait, 3)
    pid, deadline = int(told.read_text()), time.monotonic() + 10
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    """Not merely waiting to be buried by whoever inherited it."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")
