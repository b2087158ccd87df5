"""CBC, through PuLP, on the whole problem and on the reduced one."""

import math
import re
import shlex
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from frugalmct.select.problem import Outcome, Problem
from frugalmct.select.solvers.formulation import solve_with
from frugalmct.select.solvers.model import Model, Run

OVERTIME = 1.5
"""How far beyond its limit a solver is let run before it is ended, with what it had then lost."""


def solve_cbc(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_cbc, reduced=False)


def solve_cbc_reduced(problem: Problem, time_limit: float | None) -> Outcome:
    return solve_with(problem, time_limit, run_cbc, reduced=True)


def run_cbc(model: Model, time_limit: float | None) -> Run:
    import pulp

    started = time.perf_counter()
    program, variables = _pulp_model(pulp, model)
    left = None if time_limit is None else max(0.01, time_limit - (time.perf_counter() - started))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "cbc.log"
        solver = pulp.COIN_CMD(
            path=cbc_path(pulp) if left is None else _stoppable(cbc_path(pulp), left, Path(folder)),
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


def cbc_path(pulp: Any) -> str | None:
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
