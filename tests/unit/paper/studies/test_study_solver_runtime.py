import time
from types import SimpleNamespace

import numpy as np
import pytest

from frugalmct.errors import FrugalError
from frugalmct.estimates import Estimates
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates
from frugalmct.paper.studies import solver_runtime
from frugalmct.paper.studies.case import Case
from frugalmct.paper.studies.solver_runtime import COLUMNS, run, sizes_within, slowest, solver_study
from frugalmct.plans import Plan
from frugalmct.select import available_methods

CONTRACT = ["solver", "dataset", "items", "budget", "seconds", "accuracy", "bound", "proven", "status"]
PLAN = Plan(3.0, 0, 0.0)


@pytest.fixture(scope="module")
def own():
    rng = np.random.default_rng(5)
    prices, estimated = np.array([1.0, 4.0, 9.0]), rng.random((60, 3))
    train = Estimates(0, prices, estimated, estimated)
    return BaseEstimates(train, Estimates(0, prices, estimated, 1 - estimated))


@pytest.fixture(scope="module")
def table(own):
    estimates = RepetitionEstimates(("base", "cheap", "dear"), own.test.prices, {0: own})
    settings = {"budget": 3.0, "solver_study": {"items": [20, 1000, 5000], "time_limit": 30.0}}
    market = SimpleNamespace(data="simulated")
    return run(Case("made_up", 0, market, estimates=estimates, plans=[PLAN], settings=settings))


def test_sizes_beyond_the_available_become_all_once():
    assert sizes_within([1000, 3000, 10000], 6165) == [1000, 3000, 6165]
    assert sizes_within([1000, 3000], 50) == [50]
    assert sizes_within([30, 10], 50) == [10, 30]


def test_every_solver_has_a_row_at_every_size(table):
    assert list(table.columns) == COLUMNS and COLUMNS[: len(CONTRACT)] == CONTRACT
    assert table.groupby("items")["solver"].apply(list).tolist() == [["online", *available_methods()]] * 2
    assert set(table["items"]) == {20, 60}
    assert set(table["data"]) == {"simulated"} and set(table["dataset"]) == {"made_up"}
    assert set(table["budget"]) == {3.0} and set(table["time_limit"]) == {30.0}


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
    assert not online["proven"].any() and np.all(online["seconds"] > 0)


def test_a_solver_in_trouble_is_a_gap_with_its_reason(own, monkeypatch):
    def broken(problem, method, time_limit=None):
        raise FrugalError("no licence for so many items")

    monkeypatch.setattr(solver_runtime, "solve", broken)
    monkeypatch.setattr(solver_runtime, "available_methods", lambda: ["cbc"])
    row = solver_study(own, PLAN, [20], 1.0).set_index("solver").loc["cbc"]
    assert row["status"] == "failed: no licence for so many items"
    assert np.isnan(row["accuracy"]) and not row["proven"] and not row["stopped"]


def test_a_solver_that_does_not_stop_is_ended(own, monkeypatch):
    real = solver_runtime.solve

    def endless(problem, method, time_limit=None):
        if method == "highs" and problem.items > solver_runtime.WARM_UP_ITEMS:
            time.sleep(60)
        return real(problem, method, time_limit)

    monkeypatch.setattr(solver_runtime, "solve", endless)
    monkeypatch.setattr(solver_runtime, "available_methods", lambda: ["highs", "lp"])
    started = time.perf_counter()
    table = solver_study(own, PLAN, [60], 2.0).set_index("solver")
    assert time.perf_counter() - started < 30
    highs = table.loc["highs"]
    assert (highs["status"], highs["stopped"], highs["proven"]) == ("no_solution", True, False)
    assert highs["accuracy"] == pytest.approx(own.test.estimated[:, 0].mean())
    assert highs["bound"] == pytest.approx(table.loc["lp", "bound"]) and highs["gap"] > 0
    assert len(list(slowest(table.reset_index()))) == 3


def test_a_solver_that_was_stopped_is_not_tried_on_more_items(own, monkeypatch):
    def stopped(solver, own, plan, items, time_limit):
        assert items == 20 or solver != "highs"
        return {"solver": solver, "items": items, "seconds": 1.0, "stopped": solver == "highs", "status": "?"}

    monkeypatch.setattr(solver_runtime, "_attempt", stopped)
    monkeypatch.setattr(solver_runtime, "available_methods", lambda: ["highs", "lp"])
    table = solver_study(own, PLAN, [20, 40, 60], 2.0)
    later = table[(table["solver"] == "highs") & (table["items"] > 20)]
    assert later["status"].tolist() == ["not tried: stopped at 20 items"] * 2
    assert later["stopped"].all() and later["seconds"].isna().all()
    assert table.loc[table["solver"] == "lp", "seconds"].notna().all()
    assert any("not tried" in text for text in slowest(table))
