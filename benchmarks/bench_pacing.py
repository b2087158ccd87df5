"""The table of docs/pacing.md: fixed and adaptive pace on the recorded answers of PASCAL.

    python benchmarks/bench_pacing.py [--data FOLDER] [--budgets 7 8 10 12 14] [--repetitions 5]

FOLDER holds `dataset/mlserviceperformance_PASCAL` of the authors' release; without it nothing is measured.
Half the items train (base Everypixel), the other half is the traffic. Writes results/bench/pacing.csv.
"""

import argparse
import csv
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frugalmct.live.pacing import Pacer
from frugalmct.market import Market
from frugalmct.model import AccuracyModel, Learning
from frugalmct.select import Problem, solve
from frugalmct.sources import load_market
from frugalmct.splits import split

OUTPUT = Path("results/bench/pacing.csv")
PRICES = {"Everypixel": 6.0, "Microsoft": 10.0, "Google": 15.0}
DELTA = 0.01


class Feedback:
    """The dual price follows every item's cost: what `adaptive` is compared with."""

    def __init__(self, dual_price: float, rate: float, base_cost: float) -> None:
        self.dual_price, self.rate, self.base_cost = dual_price, rate, base_cost
        self._before = None

    def update(self, money_left: float, items_left: float) -> float:
        if self._before is not None and items_left > 0:
            cost = self._before - money_left
            self.dual_price *= math.exp(0.02 * (cost - money_left / items_left) / self.rate)
        self._before = money_left
        return self.dual_price


PACES = {
    "fixed": lambda *plan: Pacer(*plan, pace="fixed"),
    "adaptive": lambda *plan: Pacer(*plan),
    "feedback": Feedback,
}


def paced(estimates: NDArray, addon: NDArray, pacer: Pacer | Feedback, rate: float) -> NDArray[np.int64]:
    """What is chosen for each item, in order, with the money of all of them at the start."""
    items, money = len(estimates), rate * len(estimates)
    choices = np.empty(items, dtype=np.int64)
    for number, row in enumerate(estimates):
        left = items - number
        dual_price = pacer.update(money, left)
        wanted = int(np.argmax(row - dual_price * addon))
        if addon[wanted] > money - left * pacer.base_cost + 1e-9:
            wanted = int(np.argmin(addon))
        money -= pacer.base_cost + addon[wanted]
        choices[number] = wanted
    return choices


def streams(hardness: NDArray, name: str) -> dict[str, NDArray[np.int64]]:
    """Rows of the traffic. Halves keep the random order they had."""
    order = np.argsort(hardness, kind="stable")
    hard, easy = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    return {
        f"hard half alone ({name})": hard,
        f"easy half alone ({name})": easy,
        f"usual mix, easy half first ({name})": np.concatenate([easy, hard]),
        f"usual mix, hard half first ({name})": np.concatenate([hard, easy]),
    }


def measure(market: Market, repetition: int, budgets: list[float]) -> Iterator[dict[str, object]]:
    base = market.service_index("Everypixel")
    parts = split(len(market), seed=2022, dataset=market.name, repetition=repetition)
    model = AccuracyModel.fit(market.subset(parts.whole_train), base, Learning(seed=repetition))
    test = market.subset(parts.test)
    found = model.estimates(test, "accuracy")
    estimates, accuracy = found.estimated, found.actual
    addon = np.where(np.arange(len(market.prices)) == base, 0.0, market.prices)
    cases = {"usual mix, random order": np.arange(len(test))}
    cases |= streams(accuracy.mean(axis=1), "by truth") | streams(estimates[:, base], "by estimate")
    for budget in budgets:
        plan = (model.training.dual_price(budget, DELTA), budget, float(market.prices[base]))
        for case, rows in cases.items():
            best = solve(Problem(estimates[rows], market.prices, base, budget)).choices
            found = {"offline": best} | {
                pace: paced(estimates[rows], addon, make(*plan), budget) for pace, make in PACES.items()
            }
            for pace, choices in found.items():
                reached = accuracy[rows, choices].mean()
                cost = plan[2] + addon[choices].mean()
                yield {"budget": budget, "case": case, "pace": pace, "accuracy": reached, "cost": cost}


def summary(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Means over the repetitions; accuracies in points."""
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        groups.setdefault((row["budget"], row["case"]), []).append(row)
    table = []
    for (budget, case), members in groups.items():
        line: dict[str, object] = {"budget": budget, "case": case}
        for pace in ("offline", *PACES):
            line[pace] = round(100 * float(np.mean([m["accuracy"] for m in members if m["pace"] == pace])), 2)
        table.append(line)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("data/FrugalMCT"))
    parser.add_argument("--budgets", type=float, nargs="+", default=[7.0, 8.0, 10.0, 12.0, 14.0])
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    folder = options.data / "dataset" / "mlserviceperformance_PASCAL"
    if not folder.is_dir():
        print(f"{folder} is not here: nothing to measure; --data names the folder of the authors' release")
        return
    source = {"kind": "frugalmct", "path": str(folder)}
    market = load_market("PASCAL", {"task": "MIC", "source": source, "prices": PRICES})
    repetitions = range(options.repetitions)
    table = summary([row for number in repetitions for row in measure(market, number, options.budgets)])
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    with OUTPUT.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    for line in table:
        lost = "  ".join(f"{pace} {line[pace] - line['offline']:+.2f}" for pace in PACES)
        print(f"{line['budget']:>5g}  {line['case']:46} offline {line['offline']:.2f}  {lost}")


if __name__ == "__main__":
    main()
