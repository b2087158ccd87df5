"""The general solvers: honest statuses and bounds, budgets kept, and what happens without them."""

import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from select_instances import random_problem

from frugalmct.errors import FrugalError
from frugalmct.select import METHODS, Problem, available_methods, methods, solve
from frugalmct.select.solvers import cbc, highs
from frugalmct.select.solvers.cbc import printed_bound
from frugalmct.select.solvers.formulation import solve_with
from frugalmct.select.solvers.model import Model, Run


def tight_problem(items: int = 3000) -> Problem:
    """Large and correlated enough that no general solver finishes in an instant."""
    rng = np.random.default_rng(4)
    costs = np.array([0.0, 3.1415, 7.77111, 10.0])
    return Problem(np.clip(0.06 * costs + 0.3 * rng.random((items, 4)), 0, 1), costs, 0, 2.0)


@pytest.mark.parametrize("method", ["cbc", "highs"])
@pytest.mark.parametrize("limit", [0.05, 1.0])
def test_a_stopped_solver_is_not_called_optimal(method, limit):
    problem = tight_problem()
    best = solve(problem)
    stopped = solve(problem, method, time_limit=limit)
    assert best.proven
    assert stopped.bound >= best.accuracy - 1e-12
    assert problem.within_budget(stopped.choices)
    assert stopped.accuracy <= best.accuracy + 1e-12
    if not stopped.proven:  # a fast machine may finish
        assert stopped.status in ("time_limit", "no_solution")
        assert stopped.bound > stopped.accuracy
    if stopped.status == "no_solution":
        assert (stopped.choices == problem.base).all()


def test_pulp_calls_a_stopped_cbc_optimal_and_we_do_not():
    """The trap itself: status `Optimal`, sol_status `Solution Found`, and `Stopped on time` in the log."""
    import pulp

    model = Model(np.array([0.5, 0.7]), np.array([0.0, 1.0]), np.array([0, 2]), 1.0)
    program, variables = cbc._pulp_model(pulp, model)
    program.status, program.sol_status = pulp.LpStatusOptimal, pulp.LpSolutionIntegerFeasible
    variables[0].varValue, variables[1].varValue = 1.0, 0.0
    log = "Result - Stopped on time limit\n\nObjective value:     0.5\nUpper bound:        0.7\nGap:   0.40\n"
    run = cbc._read_cbc(pulp, model, program, variables, log)
    assert (run.finished, run.status, run.chosen.tolist()) == (False, "time_limit", [0])
    assert run.bound == pytest.approx(0.75)
    program.sol_status = pulp.LpSolutionNoSolutionFound
    assert cbc._read_cbc(pulp, model, program, variables, log).chosen is None
    program.sol_status = pulp.LpSolutionOptimal
    finished = cbc._read_cbc(pulp, model, program, variables, "Result - Optimal solution found\n")
    assert (finished.finished, finished.status, finished.bound) == (True, "optimal", 0.5)


@pytest.mark.parametrize(
    "text, bound",
    [("1066.486", 1066.4865), ("12", 12.5), ("1.5e+03", 1550.0), ("0.250", 0.2505), ("1e+50", 1.5e50)],
)
def test_printed_bounds_are_rounded_up(text, bound):
    assert printed_bound(
        f"No feasible solution found\nUpper bound:                    {text}\n"
    ) == pytest.approx(bound)


def test_a_bound_that_is_not_printed_is_replaced_by_our_own():
    assert printed_bound("Result - Stopped on time limit\n") is None
    assert printed_bound("Upper bound:     inf\n") is None
    problem = random_problem(3)
    stopped = solve_with(
        problem, None, lambda model, limit: Run(None, None, False, "time_limit"), reduced=False
    )
    assert (stopped.status, stopped.proven) == ("no_solution", False)
    assert stopped.bound >= solve(problem).accuracy
    assert (stopped.choices == problem.base).all()


@pytest.mark.parametrize("reduced", [False, True])
def test_a_solver_that_overruns_the_budget_is_asked_again(reduced):
    rng = np.random.default_rng(2)
    problem = Problem(rng.random((40, 4)), np.sqrt([0.0, 2.0, 3.0, 5.0]), 0, 0.5)
    asked = []

    def careless(model: Model, time_limit: float | None) -> Run:
        """Right, but for allowing itself 0.3 percent more money."""
        asked.append(model.capacity)
        run = highs.run_highs(replace(model, capacity=1.003 * model.capacity), time_limit)
        return Run(run.chosen, run.bound, True, "optimal")

    best = solve(problem)
    outcome = solve_with(problem, None, careless, reduced)
    assert len(asked) > 1 and asked == sorted(asked, reverse=True)
    assert problem.within_budget(outcome.choices)
    assert outcome.bound >= best.accuracy - 1e-12
    assert best.accuracy - 0.01 <= problem.mean_accuracy(outcome.choices) <= best.accuracy + 1e-12
    assert outcome.status == "unproven" and not outcome.proven  # its bound is that of the first, larger model


def test_a_solver_that_never_keeps_to_the_budget_is_not_believed():
    problem = Problem(np.tile([0.1, 0.9], (5, 1)), [0.0, 1.0], 0, 0.5)

    def greedy(model: Model, time_limit: float | None) -> Run:
        del time_limit
        return Run(model.first[1:] - 1, 4.5, True, "optimal")

    outcome = solve_with(problem, None, greedy, reduced=False)
    assert (outcome.status, outcome.proven) == ("over_budget", False)
    assert (outcome.choices == 0).all()


def test_a_claim_of_optimality_below_the_bound_is_not_believed():
    problem = Problem(np.tile([0.1, 0.9], (5, 1)), [0.0, 1.0], 0, 5.0)

    def lazy(model: Model, time_limit: float | None) -> Run:
        del time_limit
        return Run(model.first[:-1], 4.5, True, "optimal")

    assert not solve_with(problem, None, lazy, reduced=False).proven


@pytest.mark.parametrize("number", range(40))
def test_the_reduced_model_keeps_what_is_known_when_its_solver_finds_nothing(number):
    problem = random_problem(number)
    outcome = solve_with(
        problem, None, lambda model, limit: Run(None, None, False, "time_limit"), reduced=True
    )
    best = solve(problem)
    assert problem.within_budget(outcome.choices)
    assert outcome.bound >= best.accuracy * (1 - 1e-12)
    assert outcome.proven == (outcome.status == "optimal")
    if outcome.proven:
        assert problem.mean_accuracy(outcome.choices) == pytest.approx(best.accuracy, abs=1e-12)


def test_reduced_models_are_small():
    rng = np.random.default_rng(2)
    problem = Problem(rng.random((20_000, 4)), [0.01, 6.0, 10.0, 15.0], 0, 3.0)
    seen = []

    def watch(model: Model, time_limit: float | None) -> Run:
        seen.append(model)
        return highs.run_highs(model, time_limit)

    outcome = solve_with(problem, 60.0, watch, reduced=True)
    assert outcome.proven
    assert all(model.variables < 8_000 for model in seen)
    assert problem.mean_accuracy(outcome.choices) == pytest.approx(solve(problem).accuracy, abs=1e-9)


def test_an_absent_package_is_named_with_how_to_install_it(monkeypatch):
    monkeypatch.setattr(methods, "find_spec", lambda module: None)
    assert available_methods() == ["exact", "lp"]
    for method, (_, package) in methods.PACKAGES.items():
        with pytest.raises(FrugalError, match=f"pip install {package}"):
            solve(random_problem(1), method)


def test_a_missing_licence_is_reported(monkeypatch):
    class Refused(Exception):
        pass

    def refuse(*arguments, **named):
        raise Refused("No licence found.")

    gurobi = types.SimpleNamespace(GurobiError=Refused, Env=refuse)
    mosek = types.SimpleNamespace(Error=Refused, Env=refuse)
    monkeypatch.setitem(sys.modules, "gurobipy", gurobi)
    monkeypatch.setitem(sys.modules, "mosek", mosek)
    monkeypatch.setattr(methods, "find_spec", lambda module: module)
    for method in ("gurobi", "mosek"):
        assert method not in available_methods()
        with pytest.raises(FrugalError, match="licence") as error:
            solve(random_problem(1), method)
        assert str(error.value).count(".") == 1


def test_a_package_that_can_not_be_loaded_is_a_plain_sentence(monkeypatch):
    def broken(model: Model, time_limit: float | None) -> Run:
        raise ImportError("undefined symbol: _ZN5Highs.")

    monkeypatch.setattr(highs, "run_highs", broken)
    with pytest.raises(FrugalError, match="cannot be loaded"):
        solve(random_problem(1), "highs")


def test_ones_own_method_can_be_registered_and_is_held_to_the_budget(monkeypatch):
    module = types.ModuleType("somebodys_solver")
    module.all_base = lambda problem, limit: methods_outcome(problem, problem.base)
    module.spendthrift = lambda problem, limit: methods_outcome(problem, int(problem.costs.argmax()))
    monkeypatch.setitem(sys.modules, "somebodys_solver", module)
    monkeypatch.setattr(METHODS, "_targets", dict(METHODS._targets))
    METHODS.register("all_base", "somebodys_solver:all_base")
    METHODS.register("spendthrift", "somebodys_solver:spendthrift")
    problem = Problem(np.tile([0.1, 0.9], (5, 1)), [0.0, 1.0], 0, 0.5)
    assert "all_base" in available_methods()
    assert solve(problem, "all_base").accuracy == pytest.approx(0.1)
    with pytest.raises(AssertionError, match="over budget"):
        solve(problem, "spendthrift")


def methods_outcome(problem: Problem, service: int):
    from frugalmct.select.problem import Outcome

    return Outcome(np.full(problem.items, service), 1.0, False, "guessed")


def stand_in_for_cbc(monkeypatch, folder, commands: str) -> None:
    program = folder / "cbc"
    program.write_text(f"#!/bin/sh\n{commands}\n")
    program.chmod(0o755)
    monkeypatch.setattr(cbc, "cbc_path", lambda pulp: str(program))


def test_a_cbc_that_does_not_look_at_its_clock_is_ended(monkeypatch, tmp_path):
    stand_in_for_cbc(monkeypatch, tmp_path, "exec sleep 600")
    problem = tight_problem(50)
    stopped = solve(problem, "cbc", time_limit=0.2)
    assert (stopped.status, stopped.proven) == ("no_solution", False)
    assert stopped.seconds < 60
    assert stopped.bound >= solve(problem).accuracy - 1e-12


def test_a_cbc_that_breaks_down_is_not_taken_for_one_that_ran_out_of_time(monkeypatch, tmp_path):
    stand_in_for_cbc(monkeypatch, tmp_path, "echo out of order; exit 3")
    with pytest.raises(RuntimeError, match="out of order"):
        solve(tight_problem(50), "cbc", time_limit=30.0)
