"""Routing on two real recorded LLM markets: python benchmarks/bench_llm.py --data FOLDER [--repetitions 5]

FOLDER holds zeroeval.jsonl.gz and llmrouter.jsonl.gz (docs/llm-routing.md). Prints Markdown.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from frugalmct import Strategy
from frugalmct.market import Market
from frugalmct.paper.names import CLUSTERS, NEAREST, ORACLE, RANDOM_MIX, THRESHOLD
from frugalmct.paper.stages.routers import sweep_routers
from frugalmct.sources.jsonl import read_jsonl

BUDGETS = {
    "zeroeval": [0.25, 0.4, 0.5, 0.75, 0.8, 1.0, 1.25, 1.5, 2.0, 2.6],
    "llmrouter": [0.03, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.22, 0.25],
}


OTHERS = (THRESHOLD, NEAREST, CLUSTERS, RANDOM_MIX, ORACLE)


def halves(market: Market, seed: int) -> tuple[Market, Market]:
    order = np.random.default_rng(seed).permutation(len(market))
    return market.subset(order[: len(order) // 2]), market.subset(order[len(order) // 2 :])


def repetition(market: Market, budgets: list[float], seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """(budgets, 2) accuracy and cost; (services, 2) of each alone on the same items; CPU seconds."""
    train, test = halves(market, seed)
    start = time.process_time()
    strategy = Strategy.fit(train, budgets, seed=seed)
    found = [strategy.evaluate(test, budget) for budget in budgets]
    seconds = time.process_time() - start
    for budget, own in zip(budgets, found, strict=True):
        assert own.cost <= budget * (1 + 1e-9) + test.costs.max() / len(test)
    alone = np.column_stack([test.service_accuracy().mean(axis=0), test.costs.mean(axis=0)])
    return np.array([(own.accuracy, own.cost) for own in found]), alone, seconds


def other_routers(market: Market, budgets: list[float], seed: int) -> np.ndarray:
    """(methods, budgets) accuracy of each of OTHERS, learnt from and tested on the same items."""
    table = sweep_routers(*halves(market, seed), budgets, {"seed": seed}, seed)
    wide = table.pivot(index="method", columns="budget", values="accuracy")
    return wide.loc[list(OTHERS), budgets].to_numpy()


def metrics(curve: np.ndarray, alone: np.ndarray, oracle: float) -> dict[str, float]:
    """What people of this field read: CostSave, PerfGain, AIQ and the gap to the oracle."""
    best, best_cost = alone[np.argmax(alone[:, 0])]
    enough = curve[curve[:, 0] >= best, 1]
    within = curve[curve[:, 1] <= best_cost, 0]
    return {
        "saving at the best model's quality": 1 - enough.min() / best_cost if len(enough) else float("nan"),
        "gain at the best model's cost": within.max() - best,
        "AIQ": area(curve, best_cost),
        "gap to the oracle": oracle - curve[:, 0].max(),
    }


def area(curve: np.ndarray, most: float) -> float:
    """RouterBench's AIQ: the mean of the non-decreasing concave hull of (cost, quality) from 0 to `most`."""
    points = sorted([(0.0, 0.0), *((cost, quality) for quality, cost in curve.tolist() if cost <= most)])
    points.append((most, max(quality for _, quality in points)))
    hull: list[tuple[float, float]] = []
    for x, y in points:
        while len(hull) > 1 and _turns_left(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    xs, ys = np.array(hull).T
    return float(np.trapezoid(np.maximum.accumulate(ys), xs) / most)


def _turns_left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) >= (b[1] - a[1]) * (c[0] - a[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    for name, budgets in BUDGETS.items():
        market = read_jsonl(arguments.data / f"{name}.jsonl.gz")
        runs = [repetition(market, budgets, seed) for seed in range(arguments.repetitions)]
        curves, alone = np.array([run[0] for run in runs]), np.array([run[1] for run in runs])
        mean, spread = curves.mean(axis=0), curves[:, :, 0].std(axis=0, ddof=min(len(runs) - 1, 1))
        print(f"\n{name}, **real data**, {len(market):,} items, {len(market.services)} models:\n")
        print("| budget | " + " | ".join(f"{budget:g}" for budget in budgets) + " |")
        print("|---" * (len(budgets) + 1) + "|")
        cells = [f"{100 * a:.1f} ± {100 * s:.1f}" for (a, _), s in zip(mean, spread, strict=True)]
        print("| quality, % | " + " | ".join(cells) + " |")
        print("| mean cost | " + " | ".join(f"{cost:.3f}" for _, cost in mean) + " |", flush=True)
        others = [other_routers(market, budgets, seed) for seed in range(arguments.repetitions)]
        for method, row in zip(OTHERS, np.mean(others, axis=0), strict=True):
            print(f"| `{method}` | " + " | ".join(f"{100 * quality:.1f}" for quality in row) + " |")
        single, oracle = alone.mean(axis=0), float(market.service_accuracy().max(axis=1).mean())
        best = int(np.argmax(single[:, 0]))
        quality, cost = single[best]
        print(f"\nBest model alone: {market.services[best]}, {100 * quality:.1f} % at {cost:.3f}.")
        for what, value in metrics(mean, single, oracle).items():
            print(f"{what}: {100 * value:.1f} %" if what != "AIQ" else f"AIQ: {value:.3f}")
        print(f"CPU seconds to train and evaluate: {np.mean([run[2] for run in runs]):.0f}")


if __name__ == "__main__":
    main()
