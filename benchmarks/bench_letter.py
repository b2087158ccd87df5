"""What the readings of the paper's method change, on recorded answers of real services.

    python benchmarks/bench_letter.py --data FOLDER [--datasets PASCAL RAFDB] [--repetitions 5]
    python benchmarks/bench_letter.py --datasets MTWI --repetitions 1 --readings letter "all columns"

The second is on simulated answers: text has more labels than a forest sees by default, the others have not.
FOLDER holds `FrugalMCT/` and `FrugalML/`, the authors' releases. Every repetition is a random half to learn
from and the other half to test on, the same for all readings. Differences are paired, with 95 % intervals
corrected for overlapping splits. Writes results/bench/letter.csv; docs/deviations.md tells what it says.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
import yaml

from frugalmct.combine import Combiners
from frugalmct.combine.weight_threshold import GRID, best_of, grid_steps, mean_metric
from frugalmct.market import LabelMarket
from frugalmct.model import AccuracyModel, Learning
from frugalmct.paper.config import validate
from frugalmct.paper.intervals import paired_difference
from frugalmct.paper.tables import write_table
from frugalmct.plans import make_plans
from frugalmct.sources import load_market
from frugalmct.splits import Split, split

OUTPUT = Path(__file__).parents[1] / "results" / "bench"
PROJECT = Path(__file__).parents[1]
SEED, TEST_SHARE, SIMULATED = 2022, 0.5, "simulated"

# Release, prices, labels an item has at most, and budgets.
DATASETS: dict[str, tuple[str, dict[str, float], int | None, list[float]]] = {
    "PASCAL": ("FrugalMCT", {"Everypixel": 6, "Microsoft": 10, "Google": 15}, None, [6.9, 7.9, 10, 12]),
    "RAFDB": ("FrugalML", {"CNN": 0.01, "FacePP": 5, "Microsoft": 10, "Google": 15}, 1, [2, 5, 8, 10, 12]),
    "MTWI": (SIMULATED, {}, None, [8.5, 15, 30, 81]),
}


@dataclass(frozen=True)
class Reading:
    """What differs from `Learning.paper()`; in_sample: p̂ from the forest's own fit to what it has seen;
    combiners: a base's, changed."""

    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    in_sample: bool = False
    combiners: Callable[[LabelMarket, Combiners, str], Combiners] | None = None


def one_for_all(market: LabelMarket, own: Combiners, metric: str) -> Combiners:
    """The same (w, θ) with every add-on: the best on average over them; the base alone has the same θ."""
    base = market.scores[own.base]
    options: dict[str, Any] = {"labels_per_item": own.labels_per_item, "abstain": own.abstain}
    others = [scores for service, scores in enumerate(market.scores) if service != own.base]
    surfaces = [mean_metric(market.truth, base, scores, metric, **options) for scores in others]
    weight, threshold = best_of(np.mean(surfaces, axis=0), grid_steps(GRID), grid_steps(GRID))
    same = np.ones(len(market.scores))
    return replace(own, weight=weight * same, threshold=threshold * same)


def base_as_it_is(market: LabelMarket, own: Combiners, metric: str) -> Combiners:
    """No θ for an item that is left to the base alone."""
    return replace(own, threshold=np.where(np.arange(len(own.threshold)) == own.base, 0.0, own.threshold))


EVERYTHING = {"share_per_tree": 1.0, "rows_per_tree": 10**9, "max_features": 1.0}
READINGS = {
    "letter": Reading(),
    "in-sample p̂": Reading(in_sample=True),
    "scikit-learn's forest": Reading(EVERYTHING),
    "a silent service abstains": Reading(settings={"abstain": True}),
    "leaf by out-of-bag error": Reading({"leaf": None}),
    "one (w, θ) for all add-ons": Reading(combiners=one_for_all),
    "no θ for the base alone": Reading(combiners=base_as_it_is),
    "all columns": Reading({"max_columns": 10**9}),
}


def market_of(name: str, data: Path) -> LabelMarket:
    release, prices, _, _ = DATASETS[name]
    if release == SIMULATED:
        blocks = validate(yaml.safe_load((PROJECT / "config.yaml").read_text(encoding="utf-8")))["datasets"]
        return load_market(name, blocks[name], seed=SEED)
    source = {
        "kind": release.lower(),
        "path": str(data / release / "dataset" / f"mlserviceperformance_{name}"),
    }
    return load_market(name, {"task": "MIC", "source": source, "prices": prices})


def reached(
    market: LabelMarket, parts: Split, budgets: list[float], learning: Learning, how: Reading
) -> Iterator[dict[str, float]]:
    """One row per budget; the base is always chosen by out-of-bag estimates."""
    train, test = market.subset(parts.whole_train), market.subset(parts.test)
    start = time.process_time()
    models = [fitted(train, base, learning, how) for base in range(len(market.services))]
    seconds = time.process_time() - start
    held_out = np.searchsorted(parts.whole_train, parts.validation)
    for plan in make_plans([model.training for model in models], held_out, budgets):
        model = models[plan.base]
        seen = model.training
        if how.in_sample:
            seen = replace(seen, estimated=model.estimate(train.evidence(plan.base)))
        test_items = model.estimates(test, learning.metric)
        dual_price = seen.dual_price(plan.budget, plan.delta)
        choices = test_items.route(plan.budget, dual_price)
        yield {
            "budget": plan.budget,
            "accuracy": 100 * test_items.reached(choices).mean(),
            "cost": test_items.cost(choices),
            "dual_price": dual_price,
            "seconds": seconds,
        }


def fitted(train: LabelMarket, base: int, learning: Learning, how: Reading) -> AccuracyModel:
    if how.combiners is None:
        return AccuracyModel.fit(train, base, learning)
    own = how.combiners(train, learning.combiners(train, base), learning.metric)
    return AccuracyModel.fit(train, base, learning, own)


def measured(name: str, data: Path, repetitions: int, readings: list[str]) -> Iterator[dict[str, Any]]:
    market, (_, _, labels, budgets) = market_of(name, data), DATASETS[name]
    for repetition in range(repetitions):
        parts = split(len(market), seed=SEED, dataset=name, repetition=repetition)
        for reading in readings:
            how = READINGS[reading]
            learning = Learning.paper(
                seed=repetition, labels_per_item=labels, options=how.options, **how.settings
            )
            for row in reached(market, parts, budgets, learning, how):
                yield {"dataset": name, "repetition": repetition, "reading": reading} | row


def report(rows: pd.DataFrame) -> None:
    """Means, and differences from the letter."""
    for (dataset, budget), cell in rows.groupby(["dataset", "budget"], sort=False):
        by_reading = cell.pivot(index="repetition", columns="reading", values="accuracy")
        for reading in cell["reading"].unique():
            own = cell[cell["reading"] == reading]
            gain = paired_difference(by_reading[reading], by_reading["letter"], TEST_SHARE)
            print(
                f"{dataset} {budget:5g} {reading:26s} {own['accuracy'].mean():6.2f} ({gain.mean:+.2f} ± "
                f"{gain.half:.2f}) cost {own['cost'].mean():6.2f} dual price {own['dual_price'].mean():.4f} "
                f"{own['seconds'].mean():5.1f} s"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=["PASCAL", "RAFDB"])
    parser.add_argument("--readings", nargs="+", choices=READINGS, default=list(READINGS)[:-1])
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args()
    rows = pd.DataFrame(
        [
            row
            for name in given.datasets
            for row in measured(name, given.data, given.repetitions, given.readings)
        ]
    )
    report(rows)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    write_table(rows, OUTPUT / "letter.csv")


if __name__ == "__main__":
    main()
