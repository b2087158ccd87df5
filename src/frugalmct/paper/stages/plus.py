"""FrugalMCT plus at every budget: learnt from the same items as the paper's method, tested on the same."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.made import PLUS as PLUS_METHOD
from frugalmct.market import LabelMarket, Market
from frugalmct.model import Learning
from frugalmct.paper.names import OK, PLUS
from frugalmct.paper.stages.select import COLUMNS
from frugalmct.seeds import small_seed
from frugalmct.strategy import Strategy
from frugalmct.sweep import sweep


def plus_learning(
    dataset: str, repetition: int, block: Mapping[str, Any], seed: int, threads: int = 1
) -> Learning:
    """How plus learns in a repetition: with its own forest, whatever predicts for the paper's method."""
    features = block["features"]
    return Learning(
        features=None if features == "auto" else features,
        metric=block["metric"],
        labels_per_item=block["labels_per_item"],
        seed=small_seed(seed, dataset, repetition),
        jobs=threads,
    )


def sweep_plus(
    train: Market, test: Market, budgets: Sequence[float], base: str, learning: Learning, repetition: int
) -> pd.DataFrame:
    """One row per budget; a market that plus cannot learn from has rows that say so."""
    head = {"dataset": test.name, "method": PLUS, "repetition": repetition}
    if isinstance(train, LabelMarket):
        rows = _reached(train, test, budgets, base, learning)
    else:
        status = f"plus needs answers that are label sets, not {train.kind}"
        rows = ({"budget": float(budget), "accuracy": np.nan, "status": status} for budget in budgets)
    return pd.DataFrame([head | row for row in rows], columns=COLUMNS)


def _reached(
    train: LabelMarket, test: Market, budgets: Sequence[float], base: str, learning: Learning
) -> Iterator[dict[str, Any]]:
    # Also where every call has its own cost: at their means, as the other methods.
    strategy = Strategy.fit(train, budgets, method=PLUS_METHOD, base=base, learning=learning)
    assert isinstance(strategy, Strategy)  # not one of costs per call
    for budget, found in zip(budgets, sweep(strategy, test, budgets), strict=True):
        plan = strategy.plan(budget)
        yield {
            "budget": float(budget),
            "accuracy": found.accuracy,
            "cost": found.cost,
            "status": OK,
            "base": strategy.plan_names(plan),
            "delta": plan.delta,
            "dual_price": plan.dual_price,
        }
