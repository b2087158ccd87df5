"""What the simulated markets predict of the paper's method, and how they compare with recorded answers.

    python benchmarks/bench_simulation.py [--data FOLDER] [--items 8000]

For each of the paper's datasets, on at most so many simulated items and one split: what the paper's method
costs at the accuracy of the best single service. With FOLDER, which holds `FrugalMCT/`, the authors'
release: how the three paid services of PASCAL answer and score, real beside simulated. Writes
results/bench/simulation.csv and results/bench/simulation_real.csv; docs/simulated-data.md tells what they
say.
"""

import argparse
import os
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
import yaml
from sklearn.metrics import roc_auc_score

from frugalmct.market import LabelMarket
from frugalmct.model import AccuracyModel, Learning
from frugalmct.paper.config import validate
from frugalmct.paper.exhibits import simulation_fidelity as fidelity
from frugalmct.paper.printed import printed_of
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import RepetitionEstimates
from frugalmct.paper.tables import write_table
from frugalmct.sources import load_market
from frugalmct.sparse import entry_keys, set_sizes
from frugalmct.splits import split

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "results" / "bench"
SEED, DELTA, BUDGETS = 2022, 0.01, 50
PAID = {"Everypixel": 6, "Microsoft": 10, "Google": 15}


def prediction(name: str, block: dict[str, Any], items: int) -> dict[str, Any]:
    """Cost and saving at the best single service's accuracy, beside the paper's."""
    printed = printed_of(name)
    market = load_market(name, block, seed=SEED, scale=min(1.0, items / printed["items"]))
    parts = split(len(market), seed=SEED, dataset=name)
    learning = Learning.paper(seed=SEED)
    combination = Combination.fit(market, parts, "auto", learning)
    estimates = RepetitionEstimates.fit(market, parts, combination, learning)
    alone = market.subset(parts.test).service_accuracy().mean(axis=0)
    best = int(alone.argmax())
    price = float(market.prices[best])
    cost = cost_at(reached(estimates, parts, price), float(alone[best]))
    paper = printed["paper"]
    return {
        "dataset": name,
        "best_service": market.services[best],
        "best_accuracy": float(alone[best]),
        "cost": cost,
        "saving": None if cost is None else 1 - cost / price,
        "paper_cost": paper["frugalmct_cost_at_that_accuracy"],
        "paper_saving": paper["saving_pct"] / 100,
    }


def reached(estimates: RepetitionEstimates, parts: Any, price: float) -> list[tuple[float, float]]:
    """(cost, accuracy) of the paper's method at budgets up to the best service's price."""
    cheapest = float(estimates.prices.min())
    budgets = np.maximum(np.arange(1, BUDGETS + 1) / BUDGETS * price, cheapest).tolist()
    points = []
    for plan in estimates.plans(parts, budgets, DELTA):
        own = estimates.by_base[plan.base]
        choices = own.route(plan)
        points.append((own.test.cost(choices), float(own.test.reached(choices).mean())))
    return points


def cost_at(points: list[tuple[float, float]], accuracy: float) -> float | None:
    """Where the straight lines between budgets first reach the accuracy; None if they never do."""
    before = None
    for cost, found in points:
        if found >= accuracy:
            if before is None or found == before[1]:
                return cost
            return before[0] + (cost - before[0]) * (accuracy - before[1]) / (found - before[1])
        before = cost, found
    return None


def recorded_pascal(folder: Path, config: dict[str, Any]) -> LabelMarket:
    path = folder / "FrugalMCT" / "dataset" / "mlserviceperformance_PASCAL"
    own = {"task": "MIC", "source": {"kind": "frugalmct", "path": str(path)}, "prices": PAID}
    return load_market("PASCAL", validate(config | {"datasets": {"PASCAL": own}})["datasets"]["PASCAL"])


def described(market: LabelMarket, data: str) -> list[dict[str, Any]]:
    """A row per quantity; those of the whole market have no service."""
    parts = split(len(market), seed=SEED, dataset=market.name)
    train, test = market.subset(parts.whole_train), market.subset(parts.test)
    whole = {
        "best_pair": fidelity.best_pair_accuracy(train, test),
        "frugalml": fidelity.frugalml_accuracy(train, test),
        "majority_vote": fidelity.majority_accuracy(test),
        "weighted_majority_vote": fidelity.weighted_majority_accuracy(train, test),
    }
    rows = [{"data": data, "service": "", "quantity": key, "value": value} for key, value in whole.items()]
    gains, true = fidelity.threshold_gains(train, test), entry_keys(market.truth)
    for k, service in enumerate(market.services):
        right = np.isin(entry_keys(market.scores[k]), true)
        model = AccuracyModel.fit(train, k, Learning.paper(seed=SEED))
        own = {
            "auc": roc_auc_score(right, market.scores[k].data),
            "right_labels": right.mean(),
            "silent": np.mean(set_sizes(market.scores[k]) == 0),
            "threshold_gain": gains[service],
        }
        own |= model.estimates(test, "accuracy").quality()
        rows += [{"data": data, "service": service, "quantity": q, "value": float(v)} for q, v in own.items()]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the recorded answers")
    parser.add_argument("--items", type=int, default=8000, help="items of each simulated dataset")
    arguments = parser.parse_args()
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    blocks = validate(config)["datasets"]
    if arguments.data:
        simulated = load_market("PASCAL", blocks["PASCAL"], seed=SEED).with_services(tuple(PAID))
        rows = described(recorded_pascal(arguments.data, config), "recorded") + described(
            simulated, "simulated"
        )
        table = pd.DataFrame(rows)
        write_table(table, OUTPUT / "simulation_real.csv")
        print(table.pivot(index=["quantity", "service"], columns="data", values="value").round(3).to_string())
    table = pd.DataFrame([prediction(name, block, arguments.items) for name, block in blocks.items()])
    write_table(table, OUTPUT / "simulation.csv")
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
