"""General integer programming solvers, on the whole model and on what fixing leaves of it.

A backend takes a `Model` and tells in a `Run` what it really reached; models, budget checks and statuses are
shared. Solvers may overrun a constraint by their feasibility tolerance, so their selection is checked against
the budget policy, and where it fails the model is solved again with a little less money.
"""

import math
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.select.checks import FloatArray
from frugalmct.select.exact import good_selection
from frugalmct.select.problem import IntArray, Outcome, Problem
from frugalmct.select.relaxation import Moves, Relaxation, moves_below, relax, working_units
from frugalmct.select.tiers import Picks

MEAN_TOLERANCE = 1e-9
"""How close in mean accuracy a finished solver's selection must be to its bound to count as proven."""

OVERTIME = 1.5
"""How far beyond its limit a solver is let run before it is ended, with what it had then lost."""

_ATTEMPTS = 4


@dataclass(frozen=True, eq=False)
class Model:
    """Choose one variable per row: maximise the summed value with summed cost at most `capacity`.

    Row r has the variables `first[r]` to `first[r + 1]` (excluded). Costs are scaled to at most 1 and values
    to about 1, because solver tolerances are absolute.
    """

    value: FloatArray
    cost: FloatArray
    first: IntArray
    capacity: float

    @property
    def rows(self) -> int:
        return self.first.size - 1

    @property
    def variables(self) -> int:
        return self.value.size

    @property
    def row_of(self) -> IntArray:
        return np.repeat(np.arange(self.rows), np.diff(self.first))

    def chosen(self, solution: NDArray[np.floating]) -> IntArray:
        """Each row's largest variable: a solver's 0 and 1 are such only to its tolerance."""
        return np.lexsort((-solution, self.row_of))[self.first[:-1]]


@dataclass(frozen=True, eq=False)
class Run:
    """chosen: each row's variable, None without a solution; bound: the solver's upper bound on the objective,
    None if it tells none; finished: it claims optimality; status: in one word."""

    chosen: IntArray | None
    bound: float | None
    finished: bool
    status: str


Backend = Callable[[Model, float | None], Run]


@dataclass(frozen=True, eq=False)
class Formulation:
    """A model of a problem and the way back: from chosen variables to services, from the objective to mean
    accuracy; with a selection and a bound for when the solver has none."""

    model: Model
    choices: Callable[[IntArray], IntArray]
    mean: Callable[[float], float]
    fallback: IntArray
    bound: Callable[[], float]


def solve_with(problem: Problem, time_limit: float | None, backend: Backend, reduced: bool) -> Outcome:
    """Formulate the whole problem, or what fixing leaves of it, and run a backend on it."""
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    if not reduced:
        return _run(problem, whole_formulation(problem), backend, deadline)
    relaxation = relax(problem)
    picks, value = good_selection(problem, relaxation, deadline)
    limit = relaxation.gap - value - relaxation.tolerance
    kinds = moves_below(relaxation, limit)
    if not kinds:
        bound = relaxation.mean_bound(value + relaxation.tolerance)
        return Outcome(relaxation.tiers.services(picks), bound, True, "optimal")
    return _run(problem, reduced_formulation(relaxation, kinds, picks), backend, deadline)


def _run(problem: Problem, formulation: Formulation, backend: Backend, deadline: float) -> Outcome:
    model, bound = formulation.model, math.inf
    known = problem.mean_accuracy(formulation.fallback)
    for attempt in range(_ATTEMPTS):
        left = deadline - time.perf_counter()
        if attempt > 0 and left <= 0:
            break
        run = backend(model, None if math.isinf(left) else max(left, 0.01))
        if math.isinf(bound):  # a later attempt bounds a tighter problem
            bound = formulation.bound() if run.bound is None else formulation.mean(run.bound)
            bound = max(bound, known)  # fixing keeps only what could be better than the known selection
        if run.chosen is None:
            return Outcome(formulation.fallback, bound, False, "no_solution")
        choices = formulation.choices(run.chosen)
        if problem.within_budget(choices):
            accuracy = problem.mean_accuracy(choices)
            if known > accuracy:  # what fixing left out may be what the known selection is made of
                accuracy, choices = known, formulation.fallback
            proven = run.finished and bound - accuracy <= MEAN_TOLERANCE
            return Outcome(choices, bound, proven, run.status)
        overrun = float(model.cost[run.chosen].sum()) - formulation.model.capacity
        less = 2.0 ** (attempt + 1) * max(overrun, 1e-12 * model.capacity)
        model = replace(model, capacity=model.capacity - less)
    return Outcome(formulation.fallback, bound, False, "over_budget")


def whole_formulation(problem: Problem) -> Formulation:
    """One variable per item and service."""
    distinct, index = np.unique(problem.addon_costs, return_inverse=True)
    affordable = distinct <= problem.allowance
    units = working_units(distinct[affordable], problem.capacity, problem.items)
    costs = np.append(units.costs, np.full(distinct.size - units.costs.size, 2 * units.capacity + 1))
    cost, capacity = _solver_money(costs, units.capacity, units.whole)
    first = np.arange(problem.items + 1, dtype=np.int64) * problem.services
    return Formulation(
        model=Model(
            value=problem.accuracy.ravel(),
            cost=np.tile(cost[index], problem.items),
            first=first,
            capacity=capacity,
        ),
        choices=lambda chosen: chosen - first[:-1],
        mean=lambda objective: objective / problem.items,
        fallback=np.full(problem.items, problem.base, dtype=np.int64),
        bound=lambda: _dual_bound(relax(problem)),
    )


def reduced_formulation(relaxation: Relaxation, kinds: list[Moves], fallback: Picks) -> Formulation:
    """One variable per item with a move left: to stay, and one for each of its moves."""
    tiers = relaxation.tiers
    items, rows = np.unique(np.concatenate([kind.items for kind in kinds]), return_inverse=True)
    stays = relaxation.picks[items].astype(np.int64)
    row = np.concatenate([np.arange(items.size), rows])
    stop = np.concatenate([stays, *(np.full(kind.items.size, kind.stop) for kind in kinds)])
    order = np.lexsort((stop, row))
    row, stop = row[order], stop[order]
    table = np.column_stack([column[items] for column in tiers.columns])
    gain = table[row, stop] - table[row, stays[row]]
    money = relaxation.room + float(tiers.costs[stays].sum())
    cost, capacity = _solver_money(tiers.costs, money, relaxation.whole)

    def choices(chosen: IntArray) -> IntArray:
        moved = relaxation.picks.copy()
        moved[items] = stop[chosen]
        return tiers.services(moved)

    return Formulation(
        model=Model(
            # Gains over the picks in units of the gap: the solver's tolerances then resolve the gap well.
            value=gain / relaxation.gap,
            cost=cost[stop],
            first=np.append(np.searchsorted(row, np.arange(items.size)), row.size),
            capacity=capacity,
        ),
        choices=choices,
        mean=lambda objective: relaxation.mean_bound(objective * relaxation.gap),
        fallback=tiers.services(fallback),
        bound=lambda: _dual_bound(relaxation),
    )


def _solver_money(costs: FloatArray, capacity: float, whole: bool) -> tuple[FloatArray, float]:
    """Costs of at most 1, by a power of two so that whole costs keep their sums exact. With whole costs a
    quarter of a unit changes nothing but keeps selections that use all money off the solver's edge."""
    scale = 2.0 ** math.ceil(math.log2(max(float(costs[-1]), 1e-300)))
    return costs / scale, (capacity + 0.25 * whole) / scale


def _dual_bound(relaxation: Relaxation) -> float:
    return relaxation.mean_bound(relaxation.gap)


def solve_cbc(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_cbc, reduced=False)


def solve_cbc_reduced(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_cbc, reduced=True)


def solve_highs(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_highs, reduced=False)


def solve_highs_reduced(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_highs, reduced=True)


def run_highs(model: Model, time_limit: float | None) -> Run:
    import highspy

    solver = highspy.Highs()
    solver.silent()
    options: dict[str, Any] = {
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": 1e-9,
        "primal_feasibility_tolerance": 1e-9,
        "dual_feasibility_tolerance": 1e-9,
    }
    if time_limit is not None:
        options["time_limit"] = time_limit
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.passModel(_highs_model(highspy, model))
    solver.run()
    status, info = solver.getModelStatus(), solver.getInfo()
    solved = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    chosen = model.chosen(np.array(solver.getSolution().col_value)) if solved else None
    bound = info.mip_dual_bound if math.isfinite(info.mip_dual_bound) else None
    words = {highspy.HighsModelStatus.kOptimal: "optimal", highspy.HighsModelStatus.kTimeLimit: "time_limit"}
    word = words.get(status, solver.modelStatusToString(status).lower().replace(" ", "_"))
    return Run(chosen, bound, word == "optimal", word)


def _highs_model(highspy: Any, model: Model) -> Any:
    """Column-wise: each variable has an entry in its row and, if it costs something, one in the last row."""
    n, rows = model.variables, model.rows
    paid = model.cost > 0
    starts = np.append(0, np.cumsum(1 + paid))
    index = np.empty(starts[-1], dtype=np.int32)
    entry = np.ones(starts[-1])
    index[starts[:-1]] = model.row_of
    index[starts[:-1][paid] + 1] = rows
    entry[starts[:-1][paid] + 1] = model.cost[paid]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, rows + 1
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = model.value
    lp.col_lower_, lp.col_upper_ = np.zeros(n), np.ones(n)
    lp.row_lower_ = np.append(np.ones(rows), -np.inf)
    lp.row_upper_ = np.append(np.ones(rows), model.capacity)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = starts.astype(np.int32)
    lp.a_matrix_.index_ = index
    lp.a_matrix_.value_ = entry
    lp.integrality_ = [highspy.HighsVarType.kInteger] * n
    return lp


def run_cbc(model: Model, time_limit: float | None) -> Run:
    import pulp

    started = time.perf_counter()
    program, variables = _pulp_model(pulp, model)
    left = None if time_limit is None else max(0.01, time_limit - (time.perf_counter() - started))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "cbc.log"
        solver = pulp.COIN_CMD(
            path=_cbc_path(pulp) if left is None else _stoppable(_cbc_path(pulp), left, Path(folder)),
            msg=False,
            timeLimit=left,
            gapRel=0.0,
            gapAbs=1e-11,
            # CBC's defaults ignore improvements below 1e-5 and overruns below 1e-7.
            options=["increment 1e-11", "primalTolerance 1e-9", "integerTolerance 1e-9"],
            logPath=str(log),
        )
        solver.tmpDir = folder
        try:
            program.solve(solver)
        except pulp.PulpSolverError as error:
            report = log.read_text() if log.exists() else ""
            if left is None or time.perf_counter() - started < left:
                raise RuntimeError(f"CBC failed; the end of its log: {report[-500:]}") from error
            return Run(None, None, False, "time_limit")
        report = log.read_text()
    return _read_cbc(pulp, model, program, variables, report)


def _stoppable(cbc: str | None, limit: float, folder: Path) -> str | None:
    """CBC looks at its clock so rarely that it may take three times its limit: end it at 1.5 times."""
    cbc, stop = cbc or shutil.which("cbc"), shutil.which("timeout")
    if cbc is None or stop is None:
        return cbc
    script = folder / "cbc_within_limit"
    seconds = OVERTIME * limit + 5
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(stop)} -s KILL {seconds:.3f} {shlex.quote(cbc)} "$@"\n')
    script.chmod(0o755)
    return str(script)


def _cbc_path(pulp: Any) -> str | None:
    """PuLP's own CBC where it still brings one, else the one on the PATH."""
    bundled = getattr(getattr(pulp, "PULP_CBC_CMD", None), "pulp_cbc_path", None)
    return str(bundled) if bundled and Path(bundled).exists() else None


def _pulp_model(pulp: Any, model: Model) -> tuple[Any, list[Any]]:
    program = pulp.LpProblem("selection", pulp.LpMaximize)
    make = getattr(program, "add_variable", pulp.LpVariable)
    variables = [make(f"z{i}", 0, 1, cat=pulp.LpInteger) for i in range(model.variables)]
    program.setObjective(pulp.LpAffineExpression(dict(zip(variables, model.value.tolist(), strict=True))))
    first = model.first.tolist()
    for row in range(model.rows):
        one_each = pulp.LpAffineExpression(dict.fromkeys(variables[first[row] : first[row + 1]], 1))
        program.addConstraint(pulp.LpConstraint(one_each, pulp.LpConstraintEQ, rhs=1))
    paid = {v: c for v, c in zip(variables, model.cost.tolist(), strict=True) if c > 0}
    if paid:
        money = pulp.LpAffineExpression(paid)
        program.addConstraint(pulp.LpConstraint(money, pulp.LpConstraintLE, rhs=model.capacity))
    return program, variables


def _read_cbc(pulp: Any, model: Model, program: Any, variables: list[Any], report: str) -> Run:
    """PuLP calls a stopped run with a solution `Optimal`; its `sol_status` and CBC's log tell the truth."""
    finished = program.sol_status == pulp.LpSolutionOptimal and "Result - Stopped" not in report
    has_solution = program.sol_status in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible)
    solution = np.array([variable.varValue or 0.0 for variable in variables])
    chosen = model.chosen(solution) if has_solution else None
    if finished and chosen is not None:
        return Run(chosen, float(model.value[chosen].sum()), True, "optimal")
    status = "time_limit" if "Stopped on time" in report else pulp.LpStatus[program.status].lower()
    return Run(chosen, printed_bound(report), False, status)


def printed_bound(report: str) -> float | None:
    """The upper bound in CBC's log, raised by what rounding to the printed digits may have taken off."""
    found = re.search(r"^Upper bound:\s+(\S+)", report, re.MULTILINE)
    if found is None:
        return None
    text = found.group(1)
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    bound = float(text)
    return bound + 0.5 * 10.0 ** (int(exponent or 0) - decimals) if math.isfinite(bound) else None
