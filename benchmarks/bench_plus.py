"""FrugalMCT plus beside the paper's method on recorded answers of real services, part by part.

    python benchmarks/bench_plus.py --data FOLDER [--datasets PASCAL RAFDB COCO-tags COCO-text] [--simulated]

FOLDER holds `FrugalMCT/` and `FrugalML/`, the authors' releases, and `PracticalDL/`, what
`examples/coco-tags/make_coco_tags.py` reads. Every repetition is a random half to learn from and the other
half to test on, the same for all methods. Seconds are those of one core. With --simulated the time to train
on half of the simulated COCO is measured instead. Writes results/bench/plus.csv, or plus_simulated.csv.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import pandas as pd
import yaml

from frugalmct.market import LabelMarket
from frugalmct.model import Learning
from frugalmct.paper.config import validate
from frugalmct.paper.intervals import with_intervals
from frugalmct.paper.tables import write_table
from frugalmct.sources import load_market
from frugalmct.splits import split
from frugalmct.strategy import Strategy

PROJECT = Path(__file__).parents[1]
OUTPUT = PROJECT / "results" / "bench"
SEED = 2022

# Task, prices, labels an item has at most, and budgets.
DATASETS: dict[str, tuple[str, dict[str, float], int | None, list[float]]] = {
    "PASCAL": ("MIC", {"Everypixel": 6, "Microsoft": 10, "Google": 15}, None, [7, 8, 10, 12, 15]),
    "RAFDB": ("FER", {"CNN": 0.01, "FacePP": 5, "Microsoft": 10, "Google": 15}, 1, [1, 2, 5, 8, 10, 12, 15]),
    "COCO-tags": ("MIC", {"Google": 15, "Amazon": 10, "Microsoft": 10}, None, [10, 12, 14, 16, 20]),
    "COCO-text": ("STR", {"Google": 15, "Amazon": 10, "Microsoft": 10}, None, [10, 12, 14, 16, 20]),
}
# The bars, in percent.
BARS = {
    "PASCAL": {8: 78.5, 10: 79.9, 12: 80.3},
    "RAFDB": {2: 67.5, 5: 73.2, 8: 76.0, 10: 76.8, 12: 77.5},
    "COCO-tags": {12: 46.0, 16: 48.0, 20: 48.5},
}
# Each adds one part to the one before.
METHODS: dict[str, dict[str, Any]] = {
    "paper": {"method": "paper"},
    "settings": {"method": "paper", "learning": Learning()},
    "folds": {"combiner": "weight_threshold"},
    "learned": {"steps": 1},
    "plus": {},
}


def source(name: str, data: Path, scratch: Path) -> dict[str, str]:
    if name.startswith("COCO-"):
        script = PROJECT / "examples" / "coco-tags" / "make_coco_tags.py"
        command = [sys.executable, str(script), str(data / "PracticalDL"), "--out", str(scratch)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {"kind": "jsonl", "path": str(scratch / f"{name.lower()}.jsonl")}
    release, kind = ("FrugalML", "frugalml") if name == "RAFDB" else ("FrugalMCT", "frugalmct")
    return {"kind": kind, "path": str(data / release / "dataset" / f"mlserviceperformance_{name}")}


def halves(market: LabelMarket, repetition: int) -> tuple[LabelMarket, LabelMarket]:
    parts = split(len(market), seed=SEED, dataset=market.name, repetition=repetition)
    return market.subset(parts.whole_train), market.subset(parts.test)


def saved_size(strategy: Any, scratch: Path) -> float:
    """Megabytes."""
    strategy.save(scratch / "strategy.npz")
    return (scratch / "strategy.npz").stat().st_size / 1e6


def measured(
    market: LabelMarket,
    budgets: list[float],
    labels: int | None,
    repetition: int,
    scratch: Path,
    methods: Sequence[str] = tuple(METHODS),
) -> Iterator[dict[str, Any]]:
    train, test = halves(market, repetition)
    for method in methods:
        start = time.process_time()
        strategy = Strategy.fit(train, budgets, **METHODS[method], labels_per_item=labels, seed=repetition)
        seconds, size = time.process_time() - start, saved_size(strategy, scratch)
        for budget in budgets:
            found = strategy.evaluate(test, budget)
            yield {
                "dataset": market.name,
                "repetition": repetition,
                "method": method,
                "budget": budget,
                "accuracy": 100 * found.accuracy,
                "cost": found.cost,
                "over": found.cost > budget * (1 + 1e-12),
                "seconds": seconds,
                "megabytes": size,
            }


def recorded(
    data: Path, names: list[str], methods: list[str], repetitions: int, scratch: Path
) -> pd.DataFrame:
    rows = []
    for name in names:
        task, prices, labels, budgets = DATASETS[name]
        market = load_market(name, {"task": task, "source": source(name, data, scratch), "prices": prices})
        own = []
        for repetition in range(repetitions):
            own += measured(market, budgets, labels, repetition, scratch, methods)
        report(pd.DataFrame(own))
        rows += own
    return pd.DataFrame(rows)


def simulated(scratch: Path) -> pd.DataFrame:
    config = validate(yaml.safe_load((PROJECT / "config.yaml").read_text(encoding="utf-8")))
    market = load_market("COCO", config["datasets"]["COCO"], seed=config["seed"])
    rows = list(measured(market, [2.0, 4.0, 6.0, 8.0, 10.0], None, 0, scratch, ("paper", "settings", "plus")))
    report(pd.DataFrame(rows))
    return pd.DataFrame(rows)


def report(rows: pd.DataFrame) -> None:
    """One row per method and one column per budget, in percent with 95 % intervals."""
    name = rows["dataset"].iloc[0]
    summary = with_intervals(rows, ["method", "budget"], "accuracy", "cost", "seconds", "megabytes")
    summary["shown"] = [
        f"{mean:.1f} ± {half:.1f}" for mean, half in zip(summary["accuracy"], summary["half"], strict=True)
    ]
    print(f"\n{name}, {market_kind(name, rows)}; over budget: {int(rows['over'].sum())} times")
    print(
        summary.pivot(index="method", columns="budget", values="shown")
        .loc[[m for m in METHODS if m in set(rows["method"])]]
        .to_string()
    )
    print(summary.groupby("method", sort=False)[["seconds", "megabytes"]].mean().round(2).to_string())
    reached = summary[summary["method"] == "plus"].set_index("budget")["accuracy"]
    if "cost" in summary and len(reached):
        costs = summary[summary["method"] == "plus"].set_index("budget")["cost"].round(2)
        print(f"mean cost of plus: {costs.to_dict()}")
    for budget, least in BARS.get(name, {}).items() if len(reached) else ():
        verdict = "reached" if round(reached[budget], 1) >= least else "MISSED"
        print(f"plus at {budget:g}: {reached[budget]:.1f} (at least {least}): {verdict}", flush=True)


def market_kind(name: str, rows: pd.DataFrame) -> str:
    kind = "REAL DATA" if name in DATASETS else "simulated"
    return f"{kind}, {rows['repetition'].nunique()} repetition(s)"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="the folder of recorded answers")
    parser.add_argument("--datasets", nargs="+", choices=list(DATASETS), default=list(DATASETS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--simulated", action="store_true", help="half of the simulated COCO instead")
    given = parser.parse_args()
    if not given.simulated and (given.data is None or not given.data.is_dir()):
        parser.error("name the folder of recorded answers with --data, or give --simulated")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        if given.simulated:
            write_table(simulated(scratch), OUTPUT / "plus_simulated.csv")
        else:
            found = recorded(given.data, given.datasets, given.methods, given.repetitions, scratch)
            write_table(found, OUTPUT / "plus.csv")


if __name__ == "__main__":
    main()
