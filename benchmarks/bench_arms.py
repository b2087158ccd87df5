"""What it takes to learn both methods as the default run does, and what the limits that make it fast cost.

    python benchmarks/bench_arms.py [--repetitions 5] [--datasets COCO LSVT] [--unlimited]

Simulated data at full size. For each split: processor seconds for the paper's combiners of all bases, for its
forests of all bases with their out-of-bag estimates, and for plus with all its states and plans; then the
accuracy of both on the test half, averaged over the budgets. With --unlimited the same is done beside it
without the limits on items, on labels, on the columns tried at a split and on the trees of plus; a
forest still sees the 256 fullest columns, and draws two fifths of the items for a tree. Writes
results/bench/arms.csv.
"""

import argparse
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
import yaml

from frugalmct import plus
from frugalmct.combine import learned
from frugalmct.market import LabelMarket
from frugalmct.model import AccuracyModel
from frugalmct.paper.config import validate
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates, learning_for
from frugalmct.paper.stages.plus import plus_learning
from frugalmct.paper.stages.select import decide_online
from frugalmct.paper.tables import write_table
from frugalmct.sources import load_market
from frugalmct.splits import Split, split
from frugalmct.strategy import Strategy
from frugalmct.sweep import sweep

PROJECT = Path(__file__).parents[1]
OUTPUT = PROJECT / "results" / "bench" / "arms.csv"
MOST_MINUTES = 8
# What the default run's forests may take of each: here as much as there is.
UNLIMITED = 10**9
PAPER_FOREST = {"rows_per_tree": UNLIMITED, "max_features": 0.25}
PLUS_FOREST = {"rows_per_tree": UNLIMITED, "max_features": 0.5, "trees": 100}
PLUS_LIMITS = ("ENOUGH_ITEMS", "ENOUGH_LABELS")
COMBINER_LIMITS = ("ENOUGH_CANDIDATES", "ENOUGH_TO_TELL")


@contextmanager
def without_limits() -> Iterator[None]:
    with ExitStack() as stack:
        for module, names in ((plus, PLUS_LIMITS), (learned, COMBINER_LIMITS)):
            stack.enter_context(patch.multiple(module, **dict.fromkeys(names, UNLIMITED)))
        yield


class Clock:
    """Processor seconds since it was last read."""

    def __init__(self) -> None:
        self._last = time.process_time()

    def read(self) -> float:
        before, self._last = self._last, time.process_time()
        return round(self._last - before, 2)


def learn(
    config: Mapping[str, Any], market: LabelMarket, parts: Split, repetition: int, unlimited: bool
) -> dict[str, Any]:
    block, name = config["datasets"][market.name], market.name
    options = {} if not unlimited else PAPER_FOREST
    chosen = {"predictor": config["predictor"], "options": options, "silence": config["silence"]}
    learning = learning_for(name, repetition, block, chosen | {"seed": config["seed"]})
    train, test, clock = market.subset(parts.whole_train), market.subset(parts.test), Clock()
    combination = Combination.fit(market, parts, block["base"], learning)
    combiners = clock.read()
    models = [AccuracyModel.fit(train, base, learning, own) for base, own in combination.combiners.items()]
    forests = clock.read()
    by_base = {model.base: BaseEstimates.of(model, test, learning.metric) for model in models}
    estimates = RepetitionEstimates(market.services, market.prices, by_base)
    own = plus_learning(name, repetition, block, config["seed"])
    if unlimited:
        own = replace(own, options=PLUS_FOREST)
    clock.read()
    strategy = Strategy.fit(train, block["budgets"], method="plus", base=block["base"], learning=own)
    both = clock.read()
    by_paper = [
        _reached(estimates, plan) for plan in estimates.plans(parts, block["budgets"], config["delta"])
    ]
    by_plus = [found.accuracy for found in sweep(strategy, test, block["budgets"])]
    return {
        "dataset": name,
        "repetition": repetition,
        "limits": "none" if unlimited else "default",
        "combiners_seconds": combiners,
        "forests_seconds": forests,
        "plus_seconds": both,
        "paper_accuracy": float(np.mean(by_paper)),
        "plus_accuracy": float(np.mean(by_plus)),
        "data": market.data,
    }


def _reached(estimates: RepetitionEstimates, plan: Any) -> float:
    own = estimates.by_base[plan.base]
    return float(own.test.reached(decide_online(own, plan, 0).choices).mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    config = validate(yaml.safe_load((PROJECT / "config.yaml").read_text(encoding="utf-8")))
    parser.add_argument("--repetitions", type=int, default=config["repeats"])
    parser.add_argument("--datasets", nargs="+", default=list(config["datasets"]))
    parser.add_argument("--unlimited", action="store_true", help="also without the limits")
    options = parser.parse_args()
    rows = []
    for name in options.datasets:
        market = load_market(name, config["datasets"][name], seed=config["seed"])
        assert isinstance(market, LabelMarket)
        for repetition in range(options.repetitions):
            parts = split(
                len(market),
                train_share=config["train_share"],
                validation_share=config["validation_share"],
                seed=config["seed"],
                dataset=name,
                repetition=repetition,
            )
            rows.append(learn(config, market, parts, repetition, False))
            if options.unlimited:
                with without_limits():
                    rows.append(learn(config, market, parts, repetition, True))
        print(pd.DataFrame(rows[-1:]).to_string(index=False, header=len(rows) < 3), flush=True)
    table = pd.DataFrame(rows)
    write_table(table, OUTPUT)
    means = table.groupby(["dataset", "limits"], sort=False).mean(numeric_only=True)
    print(means.drop(columns="repetition").round(4).to_string())
    default = table[table["limits"] == "default"]
    minutes = default.filter(like="_seconds").to_numpy().sum() / 60
    verdict = "reached" if minutes <= MOST_MINUTES else "MISSED"
    print(f"all of it, default limits: {minutes:.1f} processor minutes (at most {MOST_MINUTES}): {verdict}")


if __name__ == "__main__":
    main()
