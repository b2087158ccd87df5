from dataclasses import replace

import numpy as np
import pytest

from frugalmct.estimates import Estimates
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates
from frugalmct.paper.studies import solver_agreement
from frugalmct.paper.studies.case import Case
from frugalmct.paper.studies.solver_agreement import COLUMNS, run
from frugalmct.plans import Plan

ESTIMATES = np.array([[0.2, 0.8], [0.5, 0.6], [0.1, 0.9], [0.4, 0.4]])


def case(plans: list[Plan], repetition: int = 0) -> Case:
    prices = np.array([1.0, 4.0])
    own = Estimates(0, prices, ESTIMATES, ESTIMATES)
    estimates = RepetitionEstimates(("base", "addon"), prices, {0: BaseEstimates(own, own)})
    return Case("own", repetition, estimates=estimates, plans=plans, settings={"time_limit": 30})


def test_solvers_agree():
    plans = [Plan(1.0, 0, 0.01), Plan(2.0, 0, 0.01), Plan(5.0, 0, 0.01)]
    table = run(case(plans, repetition=3))
    assert table.columns.tolist() == COLUMNS and len(table) == 9
    assert table["proven"].all() and set(table["status"]) == {"optimal"} and set(table["repetition"]) == {3}
    assert table["difference"].tolist() == [0] * 9
    by_budget = table[table["solver"] == "exact"].set_index("budget")["accuracy"]
    assert by_budget.tolist() == pytest.approx([1.2 / 4, 2.0 / 4, 2.7 / 4])


def test_a_solver_that_cannot_run_leaves_a_gap_with_its_reason(monkeypatch):
    monkeypatch.setattr("frugalmct.select.methods.find_spec", lambda module: None)
    plans = [Plan(2.0, 0, 0.01)]
    table = run(case(plans), ["exact", "highs_reduced"])
    assert table["accuracy"].isna().tolist() == [False, True]
    assert table["proven"].tolist() == [True, False]
    assert "highspy" in table["status"][1]


def test_a_stopped_solver_shows_nothing_that_would_differ_from_run_to_run(monkeypatch):
    real = solver_agreement.solve
    monkeypatch.setattr(solver_agreement, "solve", lambda *given: replace(real(*given), status="time_limit"))
    table = run(case([Plan(2.0, 0, 0.01)]), ["exact"])
    assert table[["accuracy", "bound", "difference"]].isna().all(axis=None)
    assert table["status"].tolist() == ["time_limit"]


def test_a_solver_that_was_stopped_has_less_time_at_later_budgets(monkeypatch):
    """A tenth of it; the first solver, which others are held against, always has all."""
    given: list[tuple[float, str, float]] = []

    def solved(items, budget, solver, time_limit):
        given.append((budget, solver, time_limit))
        late = budget == 2.0 or (solver == "exact" and budget == 1.0)
        status = "time_limit" if late else "optimal"
        return {"solver": solver, "accuracy": 0.5, "bound": 0.5, "proven": not late, "status": status}

    monkeypatch.setattr(solver_agreement, "_solved", solved)
    run(case([Plan(budget, 0, 0.01) for budget in (1.0, 2.0, 5.0)]), ["exact", "cbc_reduced"])
    assert given == [
        (1.0, "exact", 30), (1.0, "cbc_reduced", 30),
        (2.0, "exact", 30), (2.0, "cbc_reduced", 30),
        (5.0, "exact", 30), (5.0, "cbc_reduced", pytest.approx(3)),
    ]  # fmt: skip
