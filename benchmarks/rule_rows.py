"""What published rules and ours reach on the same estimates: the rows of `bench_peers.py`."""

import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from bench_llm import BUDGETS, halves
from growth_steps import Size, simulated
from peer_rules import grid_accuracy, grid_points, port, split_by_efficiency, split_by_first

from frugalmct import Strategy
from frugalmct.baselines.frugalml import FrugalML
from frugalmct.baselines.quality import quality_scores
from frugalmct.market import Market
from frugalmct.sources.jsonl import read_jsonl

EXAMPLE = Path(__file__).parents[1] / "examples" / "llm-routing" / "prompts.jsonl"
EXAMPLE_BUDGETS = 3
GRIDS = (10, 100, 1_000)
PAPER = "written here, after the paper"


def rule_rows(folder: Path | None, quick: bool) -> Iterator[dict[str, Any]]:
    yield from frugalml_rows(5_000 if quick else 30_000)
    for name, market, budgets in markets(folder, quick):
        yield from port_rows(name, market, budgets)


def ours() -> str:
    return f"frugalmct {metadata.version('frugalmct')}"


# ---- FrugalML: its training accuracy, which is what training maximises


def frugalml_rows(items: int) -> Iterator[dict[str, Any]]:
    """Mean over nine budgets, from a tenth to nine tenths of the most expensive service's price."""
    market = simulated(Size(items))
    quality, accuracy, costs = quality_scores(market), market.service_accuracy(), market.prices
    budgets = np.linspace(0.1, 0.9, 9) * costs.max()
    started = time.process_time()
    exact = FrugalML().fit(quality, accuracy, costs)
    best = [exact.mixture(budget).accuracy for budget in budgets]
    seconds = time.process_time() - started
    head = {"market": "simulated", "items": items, "question": "training FrugalML"}
    yield head | _row("exact hull, ours", ours(), seconds, 1.0, best, best)
    for steps in GRIDS:
        started = time.process_time()
        points = grid_points(quality, accuracy, costs, steps)
        reached = [grid_accuracy(points, budget) for budget in budgets]
        took = time.process_time() - started
        yield head | _row(f"grid, M = {steps:,}", PAPER, took, took / seconds, reached, best)


def _row(
    method: str, version: str, seconds: float, times: float, reached: list[float], best: list[float]
) -> dict[str, Any]:
    return {
        "method": method,
        "version": version,
        "seconds": round(seconds, 4),
        "times_ours": round(times, 2),
        "accuracy": round(float(np.mean(reached)), 5),
        "points_below_ours": round(100 * float(np.mean(np.subtract(best, reached))), 3),
        "most_points_below": round(100 * float(np.max(np.subtract(best, reached))), 3),
    }


# ---- PORT


def markets(folder: Path | None, quick: bool) -> Iterator[tuple[str, Market, list[float]]]:
    """Recorded prompts, or the example's; with the budgets compared."""
    if folder is None:
        market = read_jsonl(EXAMPLE)
        means = np.sort(market.costs.mean(axis=0))
        yield "made up", market, np.linspace(means[0], means[-1], EXAMPLE_BUDGETS + 2)[1:-1].tolist()
        return
    for name, budgets in BUDGETS.items():
        market = read_jsonl(folder / f"{name}.jsonl.gz")
        if quick:
            market = market.subset(np.random.default_rng(0).permutation(len(market))[:1_000])
        yield f"{name}, recorded", market, budgets[::3]


def port_rows(name: str, market: Market, budgets: list[float]) -> Iterator[dict[str, Any]]:
    """Half of the items train the estimates of both; nobody is asked first, as PORT asks nobody."""
    train, test = halves(market, seed=0)
    strategy = Strategy.fit(train, budgets, base="none", seed=0)
    truth = test.service_accuracy(), np.broadcast_to(test.costs, (len(test), len(test.services)))
    for budget in budgets:
        estimates = strategy.estimate(test, budget)
        found = strategy.evaluate(test, budget)
        lost = float((found.choices < 0).mean())
        head = {"market": name, "items": len(test), "question": "online routing", "budget": budget}
        yield head | _routed("one dual price, ours", ours(), found.accuracy, found.cost, lost, found.accuracy)
        splits = {
            "by quality per cost": split_by_efficiency(*estimates),
            "as the first queries spend": split_by_first(*estimates, budget),
        }
        for words, split in splits.items():
            reached = port(estimates, truth, budget, split, seed=0)
            yield head | _routed(f"PORT, money split {words}", PAPER, *reached, found.accuracy)
        reached = port(estimates, truth, budget, split, seed=0, fall_back=True)
        method = "the same, and the next model where money is out, not PORT's"
        yield head | _routed(method, PAPER, *reached, found.accuracy)


def _routed(
    method: str, version: str, accuracy: float, cost: float, lost: float, our_accuracy: float
) -> dict[str, Any]:
    return {
        "method": method,
        "version": version,
        "accuracy": round(accuracy, 5),
        "cost": round(cost, 5),
        "lost": round(lost, 4),
        "points_below_ours": round(100 * (our_accuracy - accuracy), 2),
    }
