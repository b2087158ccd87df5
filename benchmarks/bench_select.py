"""Times of the selection package, written row by row to results/bench/select.csv.

    python benchmarks/bench_select.py [--data estimates.npz] [--limit 60] [--solver-budgets 10]

The problem is made of the fitted predictor's estimates for COCO where `make results` has left them, or
is synthetic, of the same size (61,643 x 4). The general solvers get the whole model and `--limit` seconds
per budget; `--solver-budgets 0` leaves them out. Column `ratio`: for a general solver its time over that of
`exact` at the same budget, a lower bound for one that was not done at its limit; for `dual_price`,
`frontier` and `choose_all` the target time over the time (1 or more meets it). The benchmarks named `item_*`
have a cost for every item and service, and no base.
"""

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from frugalmct.market import Market
from frugalmct.paper.stages.estimate import RepetitionEstimates
from frugalmct.paper.studies.guarded import GRACE, OutOfTime, guarded
from frugalmct.seeds import generator
from frugalmct.select import OnlineSelector, Problem, dual_price, frontier, solve

ESTIMATES = Path("results/estimates/COCO/0.npz")
COCO_ITEMS = 61_643
COSTS = np.array([0.01, 6.0, 10.0, 15.0])
GROWTH = (1_000, 10_000, 100_000, 1_000_000)
ITEM_GROWTH, ITEM_SERVICES = (1_000, 10_000, 61_643, 300_000), 11
BUDGETS = 10
REPEATS = 5
PRICE_TARGET, FRONTIER_TARGET, ONLINE_TARGET = 0.05, 0.5, 5e6


@dataclass(frozen=True)
class Data:
    accuracy: np.ndarray
    costs: np.ndarray
    base: int | None

    def budgets(self, count: int = BUDGETS) -> list[float]:
        """From a twentieth of what is worth spending to all but a twentieth of it."""
        worth = frontier(self.accuracy, self.costs, self.base).budgets
        return (worth[0] + np.linspace(0.05, 0.95, count) * (worth[-1] - worth[0])).tolist()

    def problem(self, budget: float) -> Problem:
        return Problem(self.accuracy, self.costs, self.base, budget)


@dataclass(frozen=True)
class Row:
    benchmark: str
    n: int
    k: int
    budget: float | str
    method: str
    seconds: float
    accuracy: float | str = ""
    bound: float | str = ""
    proven: bool | str = ""
    ratio: float | str = ""


def synthetic(items: int) -> Data:
    """Estimates like a forest's: services differ by a little, items by more."""
    rng = generator("bench", "select", items)
    accuracy = rng.normal([0.60, 0.65, 0.70, 0.75], 0.10, (items, 4))
    accuracy += rng.normal(0, 0.15, (items, 1))
    return Data(np.clip(accuracy, 0, 1), COSTS, 0)


def from_estimates(path: Path) -> Data:
    """The test estimates of the workflow's own run, of the first base it used."""
    market = Market.load(path.parents[2] / "markets" / f"{path.parent.name}.npz")
    base, own = min(RepetitionEstimates.load(path, market.price_list).by_base.items())
    return Data(own.test.estimated, own.test.prices, base)


def typical_seconds(run: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - started)
    return median(seconds), result


def exact_row(name: str, data: Data, budget: float, repeats: int) -> Row:
    seconds, solution = typical_seconds(lambda: solve(data.problem(budget)), repeats)
    n, k = data.accuracy.shape
    return Row(name, n, k, budget, "exact", seconds, solution.accuracy, solution.bound, solution.proven)


def bench_exact(data: Data) -> Iterator[Row]:
    """Every budget of the problem, proven."""
    for budget in data.budgets():
        yield exact_row("exact", data, budget, REPEATS)


def bench_growth() -> Iterator[Row]:
    """How the time of `exact` grows with the number of items."""
    for items in GROWTH:
        data = synthetic(items)
        for budget in data.budgets():
            yield exact_row("growth", data, budget, repeats=3 if items < 1_000_000 else 1)


def with_item_costs(items: int, services: int = ITEM_SERVICES, decimals: int | None = None) -> Data:
    """Like calls of language models: long questions cost more at every service, no two calls the same."""
    rng = generator("bench", "item costs", items)
    costs = rng.gamma(2, 1, (items, 1)) * np.linspace(0.1, 3, services)
    costs *= rng.uniform(0.7, 1.3, costs.shape)
    accuracy = rng.normal(np.linspace(0.5, 0.75, services), 0.15, costs.shape)
    accuracy = np.clip(accuracy + rng.normal(0, 0.15, (items, 1)), 0, 1)
    return Data(accuracy if decimals is None else accuracy.round(decimals), costs, None)


def bench_item_growth() -> Iterator[Row]:
    """How the time of `exact` grows where every call has its own cost: any estimates, and of 3 decimals."""
    for items in ITEM_GROWTH:
        for name, decimals in (("item_growth", None), ("item_growth_3_decimals", 3)):
            data = with_item_costs(items, decimals=decimals)
            for budget in data.budgets(3):
                yield exact_row(name, data, budget, repeats=3 if items < 300_000 else 1)


def bench_item_solvers(limit: float) -> Iterator[Row]:
    """CBC and HiGHS on 10,000 items with their own costs, against `exact`."""
    data = with_item_costs(10_000)
    n, k = data.accuracy.shape
    budget = data.budgets(3)[1]
    ours = exact_row("item_solvers", data, budget, REPEATS)
    yield ours
    for method in ("cbc", "highs"):
        seconds, *reached = general_solver(data.problem(budget), method, limit)
        yield Row("item_solvers", n, k, budget, method, seconds, *reached, seconds / ours.seconds)


def bench_dual_price(data: Data) -> Iterator[Row]:
    n, k = data.accuracy.shape
    for budget in data.budgets():
        problem = data.problem(budget)
        seconds, _ = typical_seconds(lambda problem=problem: dual_price(problem))
        yield Row("dual_price", n, k, budget, "dual_price", seconds, ratio=PRICE_TARGET / seconds)


def bench_frontier(data: Data) -> Iterator[Row]:
    n, k = data.accuracy.shape
    seconds, _ = typical_seconds(lambda: frontier(data.accuracy, data.costs, data.base))
    yield Row("frontier", n, k, "", "frontier", seconds, ratio=FRONTIER_TARGET / seconds)


def bench_choose_all(data: Data) -> Iterator[Row]:
    """At the right price, and at half of it, where the money runs out on the way."""
    n, k = data.accuracy.shape
    for budget in data.budgets(3):
        price = dual_price(data.problem(budget))
        for name, used in (("choose_all", price), ("choose_all_until_broke", price / 2)):

            def run(budget: float = budget, used: float = used) -> np.ndarray:
                return OnlineSelector(data.costs, data.base, budget, n, used).choose_all(data.accuracy)

            seconds, choices = typical_seconds(run)
            accuracy = data.problem(budget).mean_accuracy(choices)
            yield Row(name, n, k, budget, "online", seconds, accuracy, ratio=n / seconds / ONLINE_TARGET)


def bench_general_solvers(data: Data, limit: float, count: int) -> Iterator[Row]:
    """CBC and HiGHS on the whole model, and on what fixing leaves, against `exact` at the same budget."""
    budgets = data.budgets()
    spread = np.linspace(0, len(budgets) - 1, min(count, len(budgets))).round().astype(int)
    n, k = data.accuracy.shape
    for budget in [budgets[i] for i in spread]:
        ours = exact_row("general_solvers", data, budget, REPEATS)
        yield ours
        for method in ("cbc_reduced", "highs_reduced", "cbc", "highs"):
            seconds, *reached = general_solver(data.problem(budget), method, limit)
            yield Row("general_solvers", n, k, budget, method, seconds, *reached, seconds / ours.seconds)


def general_solver(
    problem: Problem, method: str, limit: float
) -> tuple[float, float | str, float | str, bool]:
    """Seconds, accuracy, bound and proof; ended at 1.5 times its limit if it does not stop by itself."""
    started = time.perf_counter()
    try:
        found = guarded(lambda: None, lambda: solve(problem, method, limit), GRACE * limit)
    except OutOfTime:
        return time.perf_counter() - started, "", "", False
    return found.seconds, found.accuracy, found.bound, found.proven


def all_rows(data: Data, limit: float, solver_budgets: int) -> Iterator[Row]:
    yield from bench_dual_price(data)
    yield from bench_frontier(data)
    yield from bench_choose_all(data)
    yield from bench_choose_all(synthetic(1_000_000))
    yield from bench_exact(data)
    yield from bench_growth()
    yield from bench_item_growth()
    if solver_budgets:
        yield from bench_item_solvers(limit)
    yield from bench_general_solvers(data, limit, solver_budgets)


def write(rows: Iterator[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(Row.__dataclass_fields__))
        writer.writeheader()
        for row in rows:
            writer.writerow(asdict(row))
            file.flush()
            budget = f"{row.budget:.4g}" if row.budget != "" else "-"
            print(
                f"{row.benchmark:24} n={row.n:<8} budget={budget:8} {row.method:14} {row.seconds:10.4f} s",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ESTIMATES, help="estimates of a run")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each run of a general solver")
    parser.add_argument("--solver-budgets", type=int, default=BUDGETS, help="budgets the general solvers get")
    parser.add_argument("--output", type=Path, default=Path("results/bench/select.csv"))
    options = parser.parse_args()
    data = from_estimates(options.data) if options.data.exists() else synthetic(COCO_ITEMS)
    write(all_rows(data, options.limit, options.solver_budgets), options.output)


if __name__ == "__main__":
    main()
