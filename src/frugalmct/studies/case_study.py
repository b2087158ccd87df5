"""The case study: who is called, what the price does, and how the methods compare."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.evaluate import SINGLE, sweep_baselines
from frugalmct.studies.case import Case
from frugalmct.studies.printed import NOTHING, printed_case
from frugalmct.tables import data_kind

COLUMNS = [
    "part", "dataset", "budget", "seed", "name", "items", "share", "price", "marked", "accuracy", "cost",
    "paper_share", "paper_price", "paper_accuracy", "paper_cost", "data",
]  # fmt: skip

PRICES_EACH_WAY = 20
"""Prices on either side of p̂, beside p̂ itself and 0."""

FACTOR = 16.0
"""The curve goes from p̂ / FACTOR to p̂ * FACTOR."""


def case_study(case: Case, repetition: int, seed: int) -> pd.DataFrame:
    """One row per service called, price tried, or method compared."""
    rows = [
        *({"part": "shares"} | row for row in service_shares(case)),
        *({"part": "price_curve"} | row for row in price_curve(case)),
        *({"part": "comparison"} | row for row in comparison(case, repetition, seed)),
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["marked"] = table["marked"].eq(True)
    return table.assign(
        dataset=case.market.name, budget=case.budget, seed=repetition, data=data_kind(case.market)
    )


def service_shares(case: Case) -> Iterator[dict[str, Any]]:
    """The share of the test items for which each service is called beside the base; of the base, alone."""
    printed = printed_case(case.market.name, case.budget)["shares"]
    reached, counts = case.reached(case.choices), np.bincount(case.choices, minlength=len(case.test.services))
    for k, (service, count) in enumerate(zip(case.test.services, counts.tolist(), strict=True)):
        here = case.choices == k
        yield {
            "name": service,
            "items": count,
            "share": count / len(here),
            "marked": k == case.plan.base,
            "accuracy": reached[here].mean() if count else None,
            "cost": case.cost(case.choices[here]) if count else None,
            "paper_share": printed.get(service),
        }


def price_curve(case: Case) -> Iterator[dict[str, Any]]:
    """What Algorithm 1 reaches within the same budget at prices other than p̂."""
    printed = printed_case(case.market.name, case.budget)["price"]
    for price in curve_prices(case.price, float(case.predicted.frontier.prices[0])).tolist():
        choices, marked = case.choices_at(price), price == case.price
        yield {
            "name": "frugalmct",
            "items": len(choices),
            "price": price,
            "marked": marked,
            "accuracy": case.reached(choices).mean(),
            "cost": case.cost(choices),
            "paper_price": printed if marked else None,
        }


def curve_prices(price: float, highest: float) -> NDArray[np.float64]:
    """0, p̂, and prices around it on a logarithmic scale.

    A budget that is no constraint has p̂ = 0; the scale is then even, up to the price that ends all calls.
    """
    if price == 0:
        return np.linspace(0.0, highest or 1.0, 2 * PRICES_EACH_WAY + 1)
    steps = np.arange(-PRICES_EACH_WAY, PRICES_EACH_WAY + 1) / PRICES_EACH_WAY
    return np.append(0.0, price * FACTOR**steps)


def comparison(case: Case, repetition: int, seed: int) -> Iterator[dict[str, Any]]:
    """Accuracy and cost of FrugalMCT, FrugalML, the best single service, and the vote of all."""
    printed = printed_case(case.market.name, case.budget)["comparison"]
    for role, name, accuracy, cost in _compared(case, repetition, seed):
        paper_accuracy, paper_cost = printed.get(role, NOTHING)
        yield {
            "name": name,
            "items": len(case.choices),
            "accuracy": accuracy,
            "cost": cost,
            "marked": role == "frugalmct",
            "paper_accuracy": paper_accuracy,
            "paper_cost": paper_cost,
        }


def _compared(case: Case, repetition: int, seed: int) -> Iterator[tuple[str, str, float, float]]:
    """Role, method, accuracy and cost."""
    others = sweep_baselines(
        case.market,
        case.parts,
        [case.budget],
        case.metric,
        repetition,
        seed,
        labels_per_item=case.combiners.labels_per_item,
    )
    others = others.set_index("method")[["accuracy", "cost"]]
    single = others[others.index.str.startswith(SINGLE)]
    best = single.sort_values(["accuracy", "cost"], ascending=[False, True], kind="stable").index[0]
    yield "frugalmct", "frugalmct", float(case.reached(case.choices).mean()), case.cost(case.choices)
    for role, name in [("frugalml", "frugalml"), ("best_single", best), ("majority_vote", "majority_vote")]:
        yield role, name, *others.loc[name]
