"""Ours beside what others publish, on the same problems, on the same machine, in one table.

    python benchmarks/bench_peers.py [--quick] [--seconds 60] [--data estimates.npz] [--llm FOLDER]

Solvers: with one price per service, and with a cost for every call (the prices times how large an item is).
The problems are made of the fitted predictor's estimates for COCO where `make results` has left them, or are
synthetic. Peers: HiGHS (LP and MILP), CBC, OR-tools' CP-SAT and SCIP; the last two come with
`pip install 'frugalmct[solvers]'`. Every run has a process of its own (the packages clash in one) and
includes the making of the solver's model. `frontier` answers for every budget at once: its peer is the LP;
the others are peers of `exact`.

Rules (`peer_rules.py`): FrugalML trained on a grid, as its authors describe it, against our exact hull, on a
simulated market; PORT's online routing against our selector, on markets of prompts: the recorded ones in the
folder `--llm` (docs/llm-routing.md), or the made-up one of the example. Both sides have the same estimates.

Writes all rows, with versions and ratios, to results/bench/peers.csv, and a figure of the solvers.
"""

import argparse
import json
import math
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bench_select import COCO_ITEMS, ESTIMATES, Data, from_estimates, synthetic
from matplotlib.figure import Figure
from own_process import in_own_process, peak_mib
from rule_rows import rule_rows

from frugalmct.paper.plotting import legend_below, picture, plain_log, save_figure, title_of
from frugalmct.paper.tables import write_table
from frugalmct.seeds import generator
from frugalmct.select import Problem, frontier, solve

OUTPUT = Path("results/bench/peers.csv")
ITEMS, QUICK_ITEMS = (1_000, 10_000, COCO_ITEMS), (1_000, 3_000)
# Of all that is worth spending, the share that may be spent.
SHARE = 0.5
PRICES, CALLS = "price per service", "cost for every call"


def run_frontier(problem: Problem, _: float) -> dict[str, Any]:
    started = time.perf_counter()
    everything = frontier(problem.accuracy, problem.costs, problem.base)
    seconds = time.perf_counter() - started
    reached = float(everything.accuracy(problem.budget))
    return {"seconds": seconds, "accuracy": reached, "bound": reached, "proven": True, "status": "optimal"}


def run_highs_lp(problem: Problem, limit: float) -> dict[str, Any]:
    """The relaxed problem by the matrix of the MILP, without its whole numbers of services and of money."""
    import highspy

    from frugalmct.select.solvers.formulation import whole_formulation
    from frugalmct.select.solvers.highs import highs_model

    started = time.perf_counter()
    formulation = whole_formulation(problem)
    unit = problem.addon_costs.max() / formulation.model.cost.max()
    program = highs_model(highspy, replace(formulation.model, capacity=problem.capacity / unit))
    program.integrality_ = []
    solver = highspy.Highs()
    solver.silent()
    options = {"time_limit": limit, "primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.passModel(program)
    solver.run()
    seconds = time.perf_counter() - started
    done = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    reached = formulation.mean(solver.getInfo().objective_function_value) if done else math.nan
    status = "optimal" if done else "time_limit"
    return {"seconds": seconds, "accuracy": reached, "bound": reached, "proven": done, "status": status}


def by_method(method: str) -> Callable[[Problem, float], dict[str, Any]]:
    def run(problem: Problem, limit: float) -> dict[str, Any]:
        found = solve(problem, method, time_limit=limit)
        return {key: getattr(found, key) for key in ("seconds", "accuracy", "bound", "proven", "status")}

    return run


# Solver -> its run and the package whose version counts; ours first, as the others are compared with them.
SOLVERS: dict[str, tuple[Callable[[Problem, float], dict[str, Any]], str]] = {
    "exact": (by_method("exact"), "frugalmct"),
    "frontier": (run_frontier, "frugalmct"),
    "highs_lp": (run_highs_lp, "highspy"),
    "highs": (by_method("highs"), "highspy"),
    "cbc": (by_method("cbc"), "pulp"),
    "cp_sat": (by_method("cp_sat"), "ortools"),
    "scip": (by_method("scip"), "pyscipopt"),
}


# Solver -> which of ours it is compared with, if not `exact`.
OURS = {"frontier": "frontier", "highs_lp": "frontier"}


def version_of(solver: str) -> str | None:
    """The version of its package, with the solver's own where the package only wraps it; None without it."""
    package = SOLVERS[solver][1]
    try:
        version = f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return None
    inside = {"cbc": _cbc_version, "scip": _scip_version}.get(solver)
    return f"{version} ({inside()})" if inside else version


def _cbc_version() -> str:
    import pulp

    from frugalmct.select.solvers.cbc import cbc_path

    printed = subprocess.run(
        [cbc_path(pulp) or "cbc", "-quit"], capture_output=True, text=True, check=False
    ).stdout
    found = re.search(r"Version:\s*(\S+)", printed)
    return f"CBC {found[1]}" if found else "CBC"


def _scip_version() -> str:
    import pyscipopt

    return f"SCIP {pyscipopt.Model().version()}"


def problem_of(path: Path, items: int, kind: str) -> Problem:
    """The first items of the estimates, at a budget of half of what is worth spending."""
    data = from_estimates(path) if path.exists() else synthetic(COCO_ITEMS)
    accuracy, costs = np.ascontiguousarray(data.accuracy[:items]), data.costs
    if kind == CALLS:
        rng = generator("bench", "peers", items)
        costs = costs * rng.lognormal(-0.08, 0.4, (len(accuracy), 1)) * rng.uniform(0.8, 1.2, accuracy.shape)
    data = Data(accuracy, costs, data.base)
    worth = frontier(data.accuracy, data.costs, data.base).budgets
    return data.problem(worth[0] + SHARE * (worth[-1] - worth[0]))


def measure(solver: str, items: int, options: argparse.Namespace) -> dict[str, Any]:
    version = version_of(solver)
    problem = problem_of(options.data, items, options.kind)
    row = _head(solver, options.kind) | {
        "version": version or "",
        "items": problem.items,
        "services": problem.services,
        "budget": problem.budget,
    }
    if version is None:
        return row | {"status": "not installed"}
    return row | SOLVERS[solver][0](problem, options.seconds) | {"peak_mib": peak_mib()}


def measured(solver: str, kind: str, items: int, options: argparse.Namespace) -> dict[str, Any]:
    arguments = ["--solver", solver, "--kind", kind, "--items", str(items), "--data", str(options.data)]
    # A solver is asked to stop in time; one that does not hear is stopped.
    patience = 2 * options.seconds + 30
    try:
        return in_own_process(__file__, *arguments, "--seconds", str(options.seconds), seconds=patience)
    except subprocess.TimeoutExpired:
        return _head(solver, kind) | {"items": items, "seconds": patience, "status": "did not stop in time"}


def _head(solver: str, kind: str) -> dict[str, str]:
    return {"question": f"the best selection, a {kind}", "method": solver}


def all_rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A solver whose time was over is not tried on more items of the same kind."""
    for kind in (PRICES, CALLS):
        too_many: dict[str, int] = {}
        for items in QUICK_ITEMS if options.quick else ITEMS:
            ours: dict[str, float] = {}
            for solver in SOLVERS:
                if solver in too_many:
                    status = f"not tried: not done at {too_many[solver]:,} items"
                    yield _head(solver, kind) | {"items": items, "status": status}
                    continue
                row = measured(solver, kind, items, options)
                seconds = row.get("seconds", math.nan)
                ours[solver] = seconds
                row["times_ours"] = seconds / ours[OURS.get(solver, "exact")]
                if seconds > options.seconds:
                    too_many[solver] = items
                words = f"{items:>7,} {kind:17} {solver:9} {seconds:10.4f} s  {row['status']}"
                print(words, row.get("version", ""), flush=True)
                yield row


LINES = {_head("", PRICES)["question"]: "-", _head("", CALLS)["question"]: ":"}


@picture("Solvers on the same problems", "seconds")
def plot_peers(table: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(6.5, 4))
    axis = figure.subplots()
    for (question, solver), rows in table.dropna(subset=["seconds"]).groupby(
        ["question", "method"], sort=False
    ):
        (line,) = axis.plot(rows["items"], rows["seconds"], LINES[question], label=f"{solver}, {question}")
        proven = rows["proven"].astype(str) == "True"
        for shown, fill in ((proven, line.get_color()), (~proven, "white")):
            axis.plot(
                rows.loc[shown, "items"], rows.loc[shown, "seconds"], "o",
                color=line.get_color(), markerfacecolor=fill, markersize=5,
            )  # fmt: skip
    plain_log(axis.xaxis)
    plain_log(axis.yaxis)
    axis.set_xlabel("items")
    axis.set_ylabel("seconds (hollow: not proven optimal)")
    axis.grid(True)
    title_of(figure, "Solvers on the same problems")
    legend_below(figure, [axis])
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small problems only")
    parser.add_argument("--seconds", type=float, default=60, help="the most that a solver gets for a problem")
    parser.add_argument("--data", type=Path, default=ESTIMATES, help="estimates of a run")
    parser.add_argument("--llm", type=Path, help="folder of recorded prompts")
    parser.add_argument("--kind", default=PRICES, help=argparse.SUPPRESS)
    parser.add_argument("--solver", help=argparse.SUPPRESS)
    parser.add_argument("--items", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.solver:
        print(json.dumps(measure(options.solver, options.items, options), default=lambda value: value.item()))
        return
    solvers = pd.DataFrame(all_rows(options))
    save_figure(plot_peers(solvers), [OUTPUT.with_suffix(".svg")])
    table = pd.concat([solvers, pd.DataFrame(rule_rows(options.llm, options.quick))])
    write_table(table, OUTPUT)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
