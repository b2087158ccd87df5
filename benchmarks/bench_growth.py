"""How time and memory of every step grow with items, labels and services.

    python benchmarks/bench_growth.py [--quick] [--seconds 90] [--gib 8]

Steps: simulate a market, search the combiners of one base, fit the forest, estimate (by a forest of 10,000
items), find the price p̂, the exact optimum, and online choices as a stream of blocks of which none is kept.
Each measurement has a process of its own. A step is not measured beyond the size at which it takes more than
`--seconds` or `--gib`; the table then says so. Writes results/bench/growth_{items,labels,services}.csv
and a figure of each, and prints by which power of the size time and memory grow.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from own_process import in_own_process, peak_mib

from frugalmct.combine import Combiners, fit_market_combiners
from frugalmct.features import FeatureMap
from frugalmct.market import Market
from frugalmct.paper.plotting import legend_below, picture, plain_log, save_figure, title_of
from frugalmct.paper.tables import write_table
from frugalmct.predict import make_predictor
from frugalmct.seeds import generator
from frugalmct.select import OnlineSelector, Problem, dual_price, solve
from frugalmct.sources import load_market

OUTPUT = Path("results/bench")
BASE, BLOCK, FOREST_ITEMS = 0, 100_000, 10_000
# What the selection of so many items among four services may take.
TARGET_ITEMS = 10_000_000
MOST_SECONDS, MOST_MIB, CONSTANT = 60, 4096, 1.1
# Less than this is the price of calls, not of work.
LEAST_SECONDS, LEAST_MIB = 0.01, 1.0
# `own_mib` is the part of the peak that is above the bare program with its libraries.
NOT_MEASURED = {"seconds": np.nan, "peak_mib": np.nan, "own_mib": np.nan}
SERVICE = {
    "recall": 1.0, "mistakes": 0.5, "difficulty": 1.0, "noise": 0.3,
    "level": 0.5, "separation": 2.0, "candour": 0.8, "spread": 1.5, "decimals": 4,
}  # fmt: skip
MARKET = {
    "kind": "simulated", "popularity": 0.95, "head": 4.0, "topic_share": 0.6, "size_shape": 3.0,
    "phantoms": 1.5, "confusion": 0.3, "visibility": 1.0, "label_skill": 1.0, "group_skill": 0.3,
    "ease": 1.0, "blind": 0.05, "trouble_mistakes": 0.5, "world": 0,
}  # fmt: skip
LABELS_PER_ITEM, TOPICS = 3, 6


@dataclass(frozen=True)
class Size:
    items: int
    labels: int = 80
    services: int = 4

    @property
    def prices(self) -> dict[str, float]:
        """The first is nearly free, the others rise evenly to 15."""
        paid = np.linspace(6, 15, self.services - 1).round(2).tolist()
        return {f"service {k}": price for k, price in enumerate([0.01, *paid])}


def simulated(size: Size) -> Market:
    labels = [f"label {number}" for number in range(size.labels)]
    source = MARKET | {
        "items": size.items,
        "label_occurrences": LABELS_PER_ITEM * size.items,
        "labels": labels,
        "topics": {f"topic {number}": labels[number::TOPICS] for number in range(TOPICS)},
        "services": {name: SERVICE | {"recall": 1 + 0.1 * k} for k, name in enumerate(size.prices)},
    }
    return load_market("growth", {"task": "MIC", "source": source, "prices": size.prices}, seed=1)


def blocks(size: Size) -> Iterator[np.ndarray]:
    """Estimates like a forest's, a block at a time: services differ by a little, items by more."""
    level = np.linspace(0.60, 0.75, size.services)
    for first in range(0, size.items, BLOCK):
        rng = generator("bench", "growth", first)
        count = min(BLOCK, size.items - first)
        block = rng.normal(level, 0.10, (count, size.services)) + rng.normal(0, 0.15, (count, 1))
        yield np.clip(block, 0, 1)


def problem_of(size: Size) -> Problem:
    accuracy = np.empty((size.items, size.services))
    for first, block in zip(range(0, size.items, BLOCK), blocks(size), strict=True):
        accuracy[first : first + BLOCK] = block
    return Problem(accuracy, list(size.prices.values()), BASE, budget=6)


# ---- steps: what is prepared, and then timed


def simulate(size: Size, market_file: Path) -> Callable[[], Any]:
    return lambda: simulated(size).save(market_file)


def combine(size: Size, market_file: Path) -> Callable[[], Any]:
    market = Market.load(market_file)
    return lambda: fit_market_combiners(market, BASE)


def _features(market: Market) -> Any:
    evidence = market.evidence(BASE)
    return FeatureMap.of(evidence, market.task).transform(evidence)


def _table(market: Market) -> tuple[Any, np.ndarray]:
    services = len(market.services)
    combiners = Combiners(BASE, np.full(services, 0.5), np.full(services, 0.2))
    return _features(market), market.choice_accuracy(combiners)


def fit(size: Size, market_file: Path) -> Callable[[], Any]:
    features, accuracy = _table(Market.load(market_file))
    return lambda: make_predictor("random_forest").fit(features, accuracy)


def estimate(size: Size, market_file: Path) -> Callable[[], Any]:
    market = Market.load(market_file)
    predictor = make_predictor("random_forest").fit(*_table(market.subset(np.arange(FOREST_ITEMS))))
    features = _features(market)
    return lambda: predictor.estimate(features)


def price(size: Size, _: Path) -> Callable[[], Any]:
    problem = problem_of(size)
    return lambda: dual_price(problem)


def exact(size: Size, _: Path) -> Callable[[], Any]:
    problem = problem_of(size)

    def proven() -> None:
        if not solve(problem).proven:
            raise AssertionError("the optimum was not proven")

    return proven


def online(size: Size, _: Path) -> Callable[[], Any]:
    """At the price of the first block; the stream is made as it is read, and its making is timed too."""
    first = next(blocks(size))
    costs = list(size.prices.values())
    right = dual_price(Problem(first, costs, BASE, budget=6))

    def stream() -> None:
        selector = OnlineSelector(costs, BASE, budget=6, items=size.items, price=right)
        for block in blocks(size):
            selector.choose_all(block)

    return stream


OF_MARKETS = {"simulate": simulate, "combine": combine, "fit": fit, "estimate": estimate}
OF_ESTIMATES = {"price": price, "exact": exact, "online": online}
STEPS = OF_MARKETS | OF_ESTIMATES


@dataclass(frozen=True)
class Axis:
    """One thing that grows, its values, and what stays the same for either kind of step."""

    name: str
    values: tuple[int, ...]
    market: Size
    estimates: Size | None
    quick: tuple[int, ...]


AXES = (
    Axis("items", (10_000, 100_000, 1_000_000, 10_000_000), Size(0), Size(0), (10_000, 100_000)),
    Axis("labels", (20, 200, 2_000, 20_000), Size(20_000), None, (20, 2_000)),
    Axis("services", (2, 4, 8, 12), Size(20_000), Size(1_000_000), (2, 8)),
)


def measure(step: str, size: Size, market_file: Path, gib: float) -> dict[str, Any]:
    resource.setrlimit(resource.RLIMIT_AS, (int(gib * 2**30),) * 2)
    without = peak_mib()
    try:
        work = STEPS[step](size, market_file)
        started = time.perf_counter()
        work()
        seconds, peak = round(time.perf_counter() - started, 4), peak_mib()
        return {"seconds": seconds, "peak_mib": peak, "own_mib": round(peak - without, 1), "status": "ok"}
    except MemoryError:
        return {"status": f"needs more than {gib:g} GiB"}


def measured(step: str, size: Size, market_file: Path, limits: argparse.Namespace) -> dict[str, Any]:
    arguments = ["--step", step, "--size", json.dumps(asdict(size)), "--market", str(market_file)]
    # To load libraries and prepare the step takes its time too.
    patience = 2 * limits.seconds + 60
    try:
        return in_own_process(__file__, *arguments, "--gib", str(limits.gib), seconds=patience)
    except subprocess.TimeoutExpired:
        return {"status": f"was not done after {patience:g} s"}


def grow(axis: Axis, limits: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """Every step at every value, until it gets too long or too large."""
    rows: dict[str, list[dict[str, Any]]] = {step: [] for step in STEPS}
    for value in axis.quick if limits.quick else axis.values:
        for step in STEPS:
            fixed = axis.market if step in OF_MARKETS else axis.estimates
            if fixed is None:
                continue
            size = replace(fixed, **{axis.name: value})
            market_file = folder / f"{value}.npz"
            obstacle = _obstacle(axis.name, value, rows[step], limits.seconds)
            if step in OF_MARKETS and step != "simulate" and not market_file.exists():
                obstacle = "no market of this size"
            found = {"status": obstacle} if obstacle else measured(step, size, market_file, limits)
            print(f"{step:9} {asdict(size)} {found}", flush=True)
            rows[step].append({"step": step, **asdict(size), **NOT_MEASURED} | found)
            yield rows[step][-1]
        (folder / f"{value}.npz").unlink(missing_ok=True)


def _obstacle(axis: str, value: int, before: list[dict[str, Any]], most: float) -> str | None:
    """Why a step need not be tried: it was too much before, or would be if it goes on growing as it did."""
    if before and before[-1]["status"] != "ok":
        return before[-1]["status"]
    if len(before) < 2:
        return None
    first, last = before[-2:]
    power = max(np.log(last["seconds"] / first["seconds"]) / np.log(last[axis] / first[axis]), 0.0)
    expected = last["seconds"] * (value / last[axis]) ** power
    return f"would take {expected:.0f} s" if expected > most else None


def exponents(axis: str, table: pd.DataFrame) -> pd.DataFrame:
    """By which power of the size time and memory grow: the slope between logarithms, by least squares."""
    rows = []
    for step, found in table.dropna(subset=["seconds"]).groupby("step", sort=False):
        timed = found[found["seconds"] >= LEAST_SECONDS]
        held = found[found["own_mib"] >= LEAST_MIB]
        rows.append(
            {
                "step": step,
                "time_exponent": _slope(timed[axis], timed["seconds"]),
                "memory_exponent": _slope(held[axis], held["own_mib"]),
                f"most_{axis}": found[axis].max(),
            }
        )
    return pd.DataFrame(rows)


def _slope(size: pd.Series, value: pd.Series) -> float:
    return round(float(np.polyfit(np.log(size), np.log(value), 1)[0]), 2) if len(size) > 1 else float("nan")


@picture("Growth", "seconds", "peak_mib")
def plot_growth(table: pd.DataFrame, axis: str) -> Figure:
    figure = Figure(figsize=(9, 4))
    panels = figure.subplots(1, 2)
    for panel, column, word in zip(panels, ("seconds", "peak_mib"), ("seconds", "peak MiB"), strict=True):
        for step, rows in table.groupby("step", sort=False):
            panel.plot(rows[axis], rows[column], "o-", markersize=3, label=step)
        plain_log(panel.xaxis)
        plain_log(panel.yaxis)
        panel.set_xlabel(axis)
        panel.set_title(word)
        panel.grid(True)
    title_of(figure, f"Time and memory as {axis} grow")
    legend_below(figure, panels, columns=7)
    return figure


def verdicts(table: pd.DataFrame) -> Iterator[str]:
    """The targets of the selection, where their size was measured."""
    found = table.dropna(subset=["seconds"]).set_index(["step", "items"])
    for step in ("exact", "online"):
        if (step, TARGET_ITEMS) not in found.index:
            yield f"{step}: no verdict, as {TARGET_ITEMS:,} items were not measured"
            continue
        seconds, peak = found.loc[(step, TARGET_ITEMS), ["seconds", "peak_mib"]]
        line = f"{step}, {TARGET_ITEMS:,} items: {seconds:.1f} s, {peak:.0f} MiB"
        if step == "exact":
            limits = f"at most {MOST_SECONDS} s and {MOST_MIB} MiB"
            yield f"{line} ({limits}): {_word(seconds <= MOST_SECONDS and peak <= MOST_MIB)}"
        else:
            growth = peak / found.loc[(step, TARGET_ITEMS // 10), "peak_mib"]
            yield f"{line}, {growth:.2f} times that of a tenth of them: {_word(growth <= CONSTANT)}"


def _word(met: bool) -> str:
    return "reached" if met else "MISSED"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="two sizes of each, in about a minute")
    parser.add_argument("--seconds", type=float, default=90, help="the most that a step may take")
    parser.add_argument("--gib", type=float, default=8, help="the most memory that it may ask for")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--size", help=argparse.SUPPRESS)
    parser.add_argument("--market", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        size = Size(**json.loads(options.size))
        print(json.dumps(measure(options.step, size, options.market, options.gib)))
        return
    for axis in AXES:
        with tempfile.TemporaryDirectory() as folder:
            table = pd.DataFrame(grow(axis, options, Path(folder)))
        write_table(table, OUTPUT / f"growth_{axis.name}.csv")
        save_figure(plot_growth(table, (), axis.name), [OUTPUT / f"growth_{axis.name}.svg"])
        print(exponents(axis.name, table).to_string(index=False))
        if axis.name == "items":
            print(*verdicts(table), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
