"""Past one machine's memory: a stream through the selector, and the dual price from a sample.

    python benchmarks/bench_scale.py [--full]

The stream: made-up estimates of four services come in blocks of 100,000, are chosen for within the budget and
forgotten; 2,000,000 items, 100,000,000 with --full. The sample: the dual price of n items drawn at random
against that of all 1,000,000; how far what all items then spend lies from the budget, at most in 40 draws,
against the bound of docs/scale.md. Writes results/bench/scale.csv.
"""

import argparse
import csv
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from own_process import peak_mib

from frugalmct.select import OnlineSelector, Problem, dual_price

OUTPUT = Path("results/bench/scale.csv")
PRICES = np.array([0.01, 6.0, 10.0, 15.0])
BASE, BUDGET, BLOCK = 0, 8.0, 100_000
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
DRAWS, ALPHA = 40, 0.05


def estimates(block: int, rows: int = BLOCK) -> NDArray[np.float64]:
    """Accuracies that the base's answer lets one expect: the better the base looks, the less others add."""
    rng = np.random.default_rng([2022, block])
    table = np.empty((rows, len(PRICES)))
    table[:, BASE] = rng.beta(4, 2, rows)
    for service, share in ((1, 0.3), (2, 0.45), (3, 0.55)):
        table[:, service] = table[:, BASE] + (1 - table[:, BASE]) * share * rng.random(rows)
    return table


def blocks(items: int) -> Iterator[NDArray[np.float64]]:
    for block in range(math.ceil(items / BLOCK)):
        yield estimates(block, min(BLOCK, items - block * BLOCK))


def stream(items: int) -> dict[str, object]:
    """Constant memory: the peak after a hundredth of the items is that after all of them."""
    price = dual_price(Problem(estimates(0), PRICES, BASE, BUDGET), delta=0.0)
    selector = OnlineSelector(PRICES, BASE, BUDGET, items, price)
    reached, seconds, early = 0.0, 0.0, math.nan
    for table in blocks(items):
        started = time.process_time()
        choices = selector.choose_all(table)
        seconds += time.process_time() - started
        reached += float(table[np.arange(len(table)), choices].sum())
        if math.isnan(early) and selector.seen >= items / 100:
            early = peak_mib()
    if selector.spent > BUDGET * items:
        raise SystemExit(f"The budget did not hold: {selector.spent} of {BUDGET * items}")
    return {
        "what": "stream",
        "items": items,
        "processor_seconds": round(seconds, 2),
        "items_per_second": round(items / seconds),
        "peak_mib_early": round(early),
        "peak_mib": round(peak_mib()),
        "cost": round(selector.spent / items, 4),
        "accuracy": round(reached / items, 5),
    }


def spend(table: NDArray[np.float64], price: float) -> tuple[float, float]:
    """Mean cost and accuracy of all items at a dual price, with all the money they want."""
    addon = np.where(np.arange(len(PRICES)) == BASE, 0.0, PRICES)
    choices = np.argmax(table - price * addon, axis=1)
    return PRICES[BASE] + addon[choices].mean(), float(table[np.arange(len(table)), choices].mean())


def bound(items: int) -> float:
    """What all items spend at any dual price lies this close to what the sample does, in 95 % of samples."""
    levels = len(PRICES) - 1
    return float(PRICES.max()) * math.sqrt(math.log(2 * levels / ALPHA) / (2 * items))


def samples(table: NDArray[np.float64]) -> Iterator[dict[str, object]]:
    best = dual_price(Problem(table, PRICES, BASE, BUDGET), delta=0.0)
    _, accuracy = spend(table, best)
    rng = np.random.default_rng(1)
    for size in SIZES:
        off, lost = [], []
        for _ in range(DRAWS):
            rows = rng.choice(len(table), size, replace=False)
            price = dual_price(Problem(table[rows], PRICES, BASE, BUDGET), delta=0.0)
            cost, found = spend(table, price)
            off.append(cost - BUDGET)
            # Over budget the money ends early: the last items go to the base alone.
            share = min(1.0, (BUDGET - PRICES[BASE]) / (cost - PRICES[BASE]))
            lost.append(accuracy - (share * found + (1 - share) * float(table[:, BASE].mean())))
        yield {
            "what": "sample",
            "items": size,
            "spend_off_mean": round(float(np.mean(np.abs(off))), 4),
            "spend_off_most": round(float(np.max(np.abs(off))), 4),
            "bound": round(bound(size), 4),
            "points_lost_mean": round(100 * float(np.mean(lost)), 4),
            "points_lost_most": round(100 * float(np.max(lost)), 4),
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="100,000,000 items instead of 2,000,000")
    options = parser.parse_args()
    rows = [stream(100_000_000 if options.full else 2_000_000)]
    print("  ".join(f"{name}: {value}" for name, value in rows[0].items()), flush=True)
    for row in samples(np.concatenate(list(blocks(1_000_000)))):
        print("  ".join(f"{name}: {value}" for name, value in row.items()), flush=True)
        rows.append(row)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    with OUTPUT.open("w", encoding="utf-8", newline="") as handle:
        columns = list(dict.fromkeys(name for row in rows for name in row))
        table = csv.DictWriter(handle, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
