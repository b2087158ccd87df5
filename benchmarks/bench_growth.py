"""How time and memory of every step grow with items, labels and services.

    python benchmarks/bench_growth.py [--quick] [--axes items labels services] [--most 1000000]
        [--seconds 90] [--gib 8]

Steps: simulate a market, search the combiners of one base, learn a combiner, fit the forest, estimate (by a
forest of 10,000 items), find the price p̂, the exact optimum, online choices as a stream of blocks of which
none is kept, both of the last where every call has its own cost, and a router, item by item.
Each measurement has a process of its own. A step is not measured beyond the size at which it takes more than
`--seconds` or `--gib`; the table then says so. Writes results/bench/growth_{items,labels,services}.csv
and a figure of each, and prints by which power of the size time and memory grow. `seconds` is time by the
clock, `processor_seconds` what the process used of a core: other programs lengthen only the former.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from growth_steps import FEWER, OF_MARKETS, STEPS, Size
from matplotlib.figure import Figure
from own_process import in_own_process, peak_mib

from frugalmct.paper.plotting import legend_below, picture, plain_log, save_figure, title_of
from frugalmct.paper.tables import write_table

OUTPUT = Path("results/bench")
# What the selection of so many items among four services may take.
TARGET_ITEMS = 10_000_000
MOST_SECONDS, MOST_MIB, CONSTANT = 60, 4096, 1.1
# What learning from so many items may take, and by which power of the items any step may grow.
LEARNT_ITEMS, LEARNING_MIB, MOST_EXPONENT = 1_000_000, 2048, 1.1
# Less than this is the price of calls, not of work.
LEAST_SECONDS, LEAST_MIB = 0.01, 1.0
# `own_mib` is the part of the peak that is above the bare program with its libraries.
NOT_MEASURED = dict.fromkeys(("seconds", "processor_seconds", "peak_mib", "own_mib"), np.nan)


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
        started, busy = time.perf_counter(), time.process_time()
        work()
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
        times = {"seconds": round(seconds, 4), "processor_seconds": round(busy, 4)}
        peak = peak_mib()
        return times | {"peak_mib": peak, "own_mib": round(peak - without, 1), "status": "ok"}
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
        if value > limits.most:
            continue
        for step in STEPS:
            fixed = axis.market if step in OF_MARKETS else axis.estimates
            if fixed is None:
                continue
            size = replace(fixed, **{axis.name: value})
            size = replace(size, items=size.items // FEWER.get(step, 1))
            market_file = folder / f"{value}.npz"
            obstacle = _obstacle(axis.name, getattr(size, axis.name), rows[step], limits.seconds)
            if step in OF_MARKETS and step != "simulate" and not market_file.exists():
                obstacle = "no market of this size"
            found = {"status": obstacle} if obstacle else measured(step, size, market_file, limits)
            print(f"{step:22} {asdict(size)} {found}", flush=True)
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
    took = [max(row["processor_seconds"], LEAST_SECONDS) for row in (first, last)]
    power = max(np.log(took[1] / took[0]) / np.log(last[axis] / first[axis]), 0.0)
    expected = took[1] * (value / last[axis]) ** power
    return f"would take {expected:.0f} s" if expected > most else None


def exponents(axis: str, table: pd.DataFrame) -> pd.DataFrame:
    """By which power of the size time and memory grow: the slope between logarithms, by least squares."""
    rows = []
    for step, found in table.dropna(subset=["seconds"]).groupby("step", sort=False):
        timed = found[found["processor_seconds"] >= LEAST_SECONDS]
        held = found[found["own_mib"] >= LEAST_MIB]
        rows.append(
            {
                "step": step,
                "time_exponent": _slope(timed[axis], timed["processor_seconds"]),
                "memory_exponent": _slope(held[axis], held["own_mib"]),
                f"most_{axis}": found[axis].max(),
            }
        )
    return pd.DataFrame(rows)


def _slope(size: pd.Series, value: pd.Series) -> float:
    return round(float(np.polyfit(np.log(size), np.log(value), 1)[0]), 2) if len(size) > 1 else float("nan")


@picture("Growth", "processor_seconds", "peak_mib")
def plot_growth(table: pd.DataFrame, axis: str) -> Figure:
    figure = Figure(figsize=(9, 4))
    panels = figure.subplots(1, 2)
    shown = {"processor_seconds": "processor seconds", "peak_mib": "peak MiB"}
    for panel, (column, word) in zip(panels, shown.items(), strict=True):
        for step, rows in table.groupby("step", sort=False):
            panel.plot(rows[axis], rows[column], "o-", markersize=3, label=step)
        plain_log(panel.xaxis)
        plain_log(panel.yaxis)
        panel.set_xlabel(axis)
        panel.set_title(word)
        panel.grid(True)
    title_of(figure, f"Time and memory as {axis} grow")
    legend_below(figure, panels, columns=6)
    return figure


def learning_verdicts(table: pd.DataFrame, powers: pd.DataFrame) -> Iterator[str]:
    """The targets of learning, where their size was measured, and of growth."""
    found = table.dropna(subset=["seconds"]).set_index(["step", "items"])
    for step in ("combine", "learned combiner", "fit", "estimate"):
        if (step, LEARNT_ITEMS) not in found.index:
            yield f"{step}: no verdict, as {LEARNT_ITEMS:,} items were not measured"
            continue
        seconds, peak = found.loc[(step, LEARNT_ITEMS), ["processor_seconds", "peak_mib"]]
        line = f"{step}, {LEARNT_ITEMS:,} items: {seconds:.0f} s, {peak:.0f} MiB (at most {LEARNING_MIB} MiB)"
        yield f"{line}: {_word(peak <= LEARNING_MIB)}"
    steep = powers[powers["time_exponent"] > MOST_EXPONENT]
    named = f" but for {', '.join(steep['step'])}" if len(steep) else ""
    yield f"time grows by at most the power {MOST_EXPONENT} of the items{named}: {_word(steep.empty)}"


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
    parser.add_argument("--most", type=int, default=10**9, help="nothing larger is measured")
    parser.add_argument("--gib", type=float, default=8, help="the most memory that it may ask for")
    names = [axis.name for axis in AXES]
    parser.add_argument("--axes", nargs="+", choices=names, default=names, help="what grows")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--size", help=argparse.SUPPRESS)
    parser.add_argument("--market", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        size = Size(**json.loads(options.size))
        print(json.dumps(measure(options.step, size, options.market, options.gib)))
        return
    for axis in AXES:
        if axis.name not in options.axes:
            continue
        with tempfile.TemporaryDirectory() as folder:
            table = pd.DataFrame(grow(axis, options, Path(folder)))
        write_table(table, OUTPUT / f"growth_{axis.name}.csv")
        save_figure(plot_growth(table, axis.name), [OUTPUT / f"growth_{axis.name}.svg"])
        powers = exponents(axis.name, table)
        print(powers.to_string(index=False))
        if axis.name == "items":
            print(*verdicts(table), *learning_verdicts(table, powers), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
