"""Time and memory of making every configured market at full size, and of loading it again.

Each dataset has a process of its own, one after the other, so that its peak memory is its own.
Writes results/bench/markets.csv.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
import yaml
from own_process import in_own_process, peak_mib

from frugalmct.market import Market
from frugalmct.paper.config import selected_datasets, validate
from frugalmct.paper.tables import write_table
from frugalmct.sources import load_market

PROJECT = Path(__file__).parents[1]
OUTPUT = PROJECT / "results" / "bench" / "markets.csv"
LOADS = 5
# What the design asks for, on two cores.
MOST_SECONDS, MOST_MIB, MOST_LOAD_SECONDS = 180, 2048, 1.0


def measure(dataset: str, config: dict[str, Any]) -> dict[str, Any]:
    """One market: made, saved, and loaded a few times."""
    start = time.perf_counter()
    market = load_market(dataset, config["datasets"][dataset], seed=config["seed"])
    made = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "market.npz"
        start = time.perf_counter()
        market.save(path)
        saved = time.perf_counter() - start
        # Before loading: the market held twice is no part of making it.
        peak = peak_mib()
        size = path.stat().st_size / 1e6
        loads = []
        for _ in range(LOADS):
            start = time.perf_counter()
            Market.load(path)
            loads.append(time.perf_counter() - start)
    return {
        "dataset": dataset,
        "items": len(market),
        "make_seconds": round(made, 3),
        "save_seconds": round(saved, 3),
        "load_seconds": round(median(loads), 3),
        "peak_mib": peak,
        "file_mb": round(size, 1),
    }


def main(datasets: list[str]) -> None:
    config = validate(yaml.safe_load((PROJECT / "config.yaml").read_text(encoding="utf-8")))
    if datasets:
        print(json.dumps(measure(datasets[0], config)))
        return
    table = pd.DataFrame([in_own_process(__file__, dataset) for dataset in selected_datasets(config)])
    write_table(table, OUTPUT)
    print(table.to_string(index=False))
    for what, reached, most in [
        (
            "all markets made and saved, s",
            (table["make_seconds"] + table["save_seconds"]).sum(),
            MOST_SECONDS,
        ),
        ("largest peak, MiB", table["peak_mib"].max(), MOST_MIB),
        ("slowest load, s", table["load_seconds"].max(), MOST_LOAD_SECONDS),
    ]:
        print(f"{what}: {reached:.2f} (at most {most}): {'reached' if reached <= most else 'MISSED'}")


if __name__ == "__main__":
    main(sys.argv[1:])
