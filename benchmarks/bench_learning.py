"""Time and memory of what is learnt before any service is chosen: combiners, forest, estimates.

On the simulated LSVT (the most labels) and COCO (the most items). Each benchmark has a process of its own,
one after the other, so that its peak memory is its own. Writes results/bench/learning.csv.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from own_process import in_own_process, peak_mib

from frugalmct.combine import Combiners, fit_market_combiners, search
from frugalmct.features import FeatureMap
from frugalmct.market import LabelMarket
from frugalmct.paper.config import validate
from frugalmct.paper.tables import write_table
from frugalmct.predict import make_predictor, predictor_from_arrays
from frugalmct.sources import load_market
from frugalmct.splits import split

PROJECT = Path(__file__).parents[1]
OUTPUT = PROJECT / "results" / "bench" / "learning.csv"
JOBS = 2
BASE, ADDON = 0, 3
# On two cores with nothing else running: `forest` is the predictor alone, `train` the combiners as well.
MOST_SECONDS = {"search_one_pair": 10, "forest_coco_half": 30, "forest_lsvt_half": 20, "train_coco_half": 60}
MOST_MB = {"search_one_pair": 1024}


def market_named(dataset: str) -> LabelMarket:
    config = validate(yaml.safe_load((PROJECT / "config.yaml").read_text(encoding="utf-8")))
    return load_market(dataset, config["datasets"][dataset], seed=config["seed"])


def halves(dataset: str) -> tuple[LabelMarket, LabelMarket]:
    market = market_named(dataset)
    parts = split(len(market), dataset=dataset)
    return market.subset(parts.whole_train), market.subset(parts.test)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    outcome = work()
    return time.perf_counter() - start, outcome


def features_of(market: LabelMarket) -> Any:
    evidence = market.evidence(BASE)
    return FeatureMap.of(evidence, market.task).transform(evidence)


def fitted_forest(market: LabelMarket, combiners: Combiners) -> Any:
    features = features_of(market)
    return make_predictor("random_forest", jobs=JOBS).fit(features, market.choice_accuracy(combiners))


def search_one_pair() -> tuple[LabelMarket, float]:
    market = market_named("LSVT")
    seconds, _ = timed(lambda: search(market.truth, market.scores[BASE], market.scores[ADDON]))
    return market, seconds


def choice_accuracy() -> tuple[LabelMarket, float]:
    market = market_named("LSVT")
    combiners = Combiners(BASE, np.full(4, 0.5), np.full(4, 0.2))
    seconds, _ = timed(lambda: market.choice_accuracy(combiners))
    return market, seconds


def train(dataset: str) -> tuple[LabelMarket, float]:
    """Combiners of one base, features, the forest with its leaf size, and out-of-bag estimates."""
    market, _ = halves(dataset)
    seconds, _ = timed(lambda: fitted_forest(market, fit_market_combiners(market, BASE)))
    return market, seconds


def forest(dataset: str) -> tuple[LabelMarket, float]:
    market, _ = halves(dataset)
    combiners = fit_market_combiners(market, BASE)
    seconds, _ = timed(lambda: fitted_forest(market, combiners))
    return market, seconds


def estimate(dataset: str, *, saved: bool) -> tuple[LabelMarket, float]:
    """Estimates of the test half, by the forest just grown or by one read from its arrays."""
    market, test = halves(dataset)
    predictor = fitted_forest(market, fit_market_combiners(market, BASE))
    if saved:
        predictor = predictor_from_arrays(*predictor.to_arrays(), jobs=JOBS)
    features = features_of(test)
    seconds, _ = timed(lambda: predictor.estimate(features))
    return test, seconds


BENCHMARKS: dict[str, Callable[[], tuple[LabelMarket, float]]] = {
    "search_one_pair": search_one_pair,
    "choice_accuracy": choice_accuracy,
    "forest_coco_half": lambda: forest("COCO"),
    "forest_lsvt_half": lambda: forest("LSVT"),
    "forest_gmb_half": lambda: forest("GMB"),
    "train_coco_half": lambda: train("COCO"),
    "train_lsvt_half": lambda: train("LSVT"),
    "estimate_coco_half": lambda: estimate("COCO", saved=False),
    "estimate_coco_half_saved": lambda: estimate("COCO", saved=True),
}


def measure(benchmark: str) -> dict[str, Any]:
    market, seconds = BENCHMARKS[benchmark]()
    return {
        "benchmark": benchmark,
        "items": len(market),
        "labels": len(market.labels),
        "seconds": round(seconds, 3),
        "peak_mb": peak_mib(),
    }


def main(benchmarks: list[str]) -> None:
    if benchmarks:
        print(json.dumps(measure(benchmarks[0])))
        return
    table = pd.DataFrame([in_own_process(__file__, benchmark) for benchmark in BENCHMARKS])
    write_table(table, OUTPUT)
    print(table.to_string(index=False))
    reached = table.set_index("benchmark")
    for column, limits in [("seconds", MOST_SECONDS), ("peak_mb", MOST_MB)]:
        for benchmark, most in limits.items():
            value = reached.loc[benchmark, column]
            verdict = "reached" if value <= most else "MISSED"
            print(f"{benchmark}, {column}: {value:.2f} (at most {most}): {verdict}")


if __name__ == "__main__":
    main(sys.argv[1:])
