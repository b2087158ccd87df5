"""The case study: who is called, what the dual price does, and how the methods compare."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.combine import fit_market_combiners
from frugalmct.paper.names import BEST_SINGLE, FRUGALMCT, FRUGALML, MAJORITY, SINGLE
from frugalmct.paper.printed import NOTHING, printed_case
from frugalmct.paper.stages.baselines import sweep_baselines
from frugalmct.paper.studies.case import Case
from frugalmct.seeds import small_seed

NEEDS = ("market", "split", "combination", "plans", "estimates")
SETTINGS = ("budget", "block", "seed", "prices")
COLUMNS = [
    "part", "dataset", "budget", "repetition", "name", "items", "share", "dual_price", "marked", "accuracy",
    "cost", "paper_share", "paper_dual_price", "paper_accuracy", "paper_cost", "data",
]  # fmt: skip

TOGETHER, FIRST, SECOND = "base and add-on combined", "the base's answer alone", "the add-on's answer alone"
GRIDS = (10, 20)
"""Steps of w and θ: the paper's, and finer ones."""

STEPS_EACH_WAY = 20
"""Dual prices on either side of p̂, beside p̂ itself and 0."""

FACTOR = 16.0
"""The curve goes from p̂ / FACTOR to p̂ * FACTOR."""


def run(case: Case) -> pd.DataFrame:
    """One row per service called, dual price tried, method compared, answer combined, or grid."""
    rows = [
        *({"part": "shares"} | row for row in service_shares(case)),
        *({"part": "dual_price_curve"} | row for row in dual_price_curve(case)),
        *({"part": "comparison"} | row for row in comparison(case)),
        *({"part": "combiner"} | row for row in combined_answers(case)),
        *({"part": "grid"} | row for row in grids(case)),
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["marked"] = table["marked"].eq(True)
    return table.assign(
        dataset=case.dataset, budget=case.budget, repetition=case.repetition, data=case.market.data
    )


def service_shares(case: Case) -> Iterator[dict[str, Any]]:
    """The share of the test items for which each service is called beside the base; of the base, alone."""
    printed = printed_case(case.dataset, case.budget)["shares"]
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


def dual_price_curve(case: Case) -> Iterator[dict[str, Any]]:
    """What Algorithm 1 reaches within the same budget at dual prices other than p̂."""
    printed = printed_case(case.dataset, case.budget)["dual_price"]
    highest = float(case.own.train.frontier.dual_prices[0])
    for dual_price in curve_points(case.dual_price, highest).tolist():
        choices, marked = case.choices_at(dual_price), dual_price == case.dual_price
        yield {
            "name": FRUGALMCT,
            "items": len(choices),
            "dual_price": dual_price,
            "marked": marked,
            "accuracy": case.reached(choices).mean(),
            "cost": case.cost(choices),
            "paper_dual_price": printed if marked else None,
        }


def curve_points(dual_price: float, highest: float) -> NDArray[np.float64]:
    """0, p̂, and dual prices around it on a logarithmic scale.

    A budget that is no constraint has p̂ = 0; the scale is then even, up to the one that ends all calls.
    """
    if dual_price == 0:
        return np.linspace(0.0, highest or 1.0, 2 * STEPS_EACH_WAY + 1)
    steps = np.arange(-STEPS_EACH_WAY, STEPS_EACH_WAY + 1) / STEPS_EACH_WAY
    return np.append(0.0, dual_price * FACTOR**steps)


def comparison(case: Case) -> Iterator[dict[str, Any]]:
    """Accuracy and cost of FrugalMCT, FrugalML, the best single service, and the vote of all."""
    printed = printed_case(case.dataset, case.budget)["comparison"]
    for role, name, accuracy, cost in _compared(case):
        paper_accuracy, paper_cost = printed.get(role, NOTHING)
        yield {
            "name": name,
            "items": len(case.choices),
            "accuracy": accuracy,
            "cost": cost,
            "marked": role == FRUGALMCT,
            "paper_accuracy": paper_accuracy,
            "paper_cost": paper_cost,
        }


def combined_answers(case: Case) -> Iterator[dict[str, Any]]:
    """Of the test items for which an add-on is called: what is worth more, both answers or either."""
    called = np.flatnonzero(case.choices != case.plan.base)
    if not called.size:
        return
    alone, addon = case.test.service_accuracy(case.metric)[called], case.choices[called]
    found = {
        TOGETHER: case.reached(case.choices)[called],
        FIRST: alone[:, case.plan.base],
        SECOND: alone[np.arange(called.size), addon],
    }
    for name, accuracy in found.items():
        yield {"name": name, "items": called.size, "accuracy": accuracy.mean(), "marked": name == TOGETHER}


def grids(case: Case) -> Iterator[dict[str, Any]]:
    """What the base reaches with each service on test items, on average, by (w, θ) of each grid."""
    known = case.combiners
    for steps in GRIDS:
        combiners = fit_market_combiners(
            case.train,
            case.plan.base,
            case.metric,
            grid=steps,
            labels_per_item=known.labels_per_item,
            abstain=known.abstain,
        )
        accuracy = case.test.choice_accuracy(combiners, case.metric).mean()
        yield {"name": grid_name(steps), "items": len(case.test), "accuracy": accuracy}


def grid_name(steps: int) -> str:
    return f"M = {steps}"


def _compared(case: Case) -> Iterator[tuple[str, str, float, float]]:
    """Role, method, accuracy and cost."""
    others = sweep_baselines(
        case.train,
        case.test,
        [case.budget],
        case.metric,
        case.repetition,
        small_seed(case.settings["seed"], case.dataset, case.repetition),
        labels_per_item=case.combiners.labels_per_item,
    )
    others = others.set_index("method")[["accuracy", "cost"]]
    single = others[others.index.str.startswith(SINGLE)]
    best = single.sort_values(["accuracy", "cost"], ascending=[False, True], kind="stable").index[0]
    yield FRUGALMCT, FRUGALMCT, float(case.reached(case.choices).mean()), case.cost(case.choices)
    for role, name in [(FRUGALML, FRUGALML), (BEST_SINGLE, best), (MAJORITY, MAJORITY)]:
        yield role, name, *others.loc[name]
