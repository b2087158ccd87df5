"""What the paper claims, checked on this run's numbers; where a claim fails, it is said where."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.curves import mean_by_budget
from frugalmct.paper.exhibits.cost_savings import of_method
from frugalmct.paper.names import DAP, FRUGALML, OFFLINE, ONLINE

CLOSE = 0.01
# Tables are written with ten digits.
ROUNDING = 1e-8
NEARLY_ALL = 0.9
Tables = dict[str, pd.DataFrame]


class Claim(NamedTuple):
    """A sentence, whether it holds (None: cannot be tested), and the numbers behind it."""

    sentence: str
    holds: bool | None
    numbers: str


def checked_claims(tables: Tables) -> list[Claim]:
    return [claim for check in CHECKS for claim in check(tables)]


def _cheaper(tables: Tables) -> Iterator[Claim]:
    savings = of_method(tables.get("cost_savings", pd.DataFrame()))
    sentence = "FrugalMCT reaches the best service's accuracy at a lower cost on every dataset"
    if not {"cost", "best_cost"} <= set(savings):
        yield Claim(sentence, None, "the table of savings is missing")
        return
    cheaper = savings["cost"] < savings["best_cost"]
    failed = listed(savings.loc[~cheaper, "dataset"].astype(str)) if not cheaper.all() else ""
    numbers = f"{cheaper.sum()} of {len(savings)} datasets" + (f"; not on {failed}" if failed else "")
    yield Claim(sentence, bool(cheaper.all()), numbers)


def _online_is_offline(tables: Tables) -> Iterator[Claim]:
    sentence = f"Online is within {CLOSE:g} of offline at every budget"
    means = mean_by_budget(tables.get("tradeoff", pd.DataFrame()))
    if not {ONLINE, OFFLINE} <= set(means):
        yield Claim(sentence, None, "online or offline is missing")
        return
    difference = (means[OFFLINE] - means[ONLINE]).dropna()
    dataset, budget = difference.abs().idxmax()
    worst = difference.loc[(dataset, budget)]
    where = f"largest difference {100 * worst:.2f} points, on {dataset} at budget {budget:g}"
    outside = int((difference.abs() > CLOSE + ROUNDING).sum())
    numbers = f"{where}; {outside} of {len(difference)} budgets outside" if outside else where
    yield Claim(sentence, outside == 0, numbers)


def _within_budget(tables: Tables) -> Iterator[Claim]:
    sentence = "FrugalMCT never spends more than the budget"
    rows = tables.get("tradeoff", pd.DataFrame())
    if not {"method", "cost", "budget"} <= set(rows):
        yield Claim(sentence, None, "the table of accuracies and costs is missing")
        return
    rows = rows[rows["method"].isin([ONLINE, OFFLINE])].dropna(subset=["cost"])
    overrun = max(float((rows["cost"] - rows["budget"]).max()), 0.0) if len(rows) else 0.0
    yield Claim(sentence, overrun <= ROUNDING, f"largest overrun {overrun:.3g} in {len(rows):,} runs")


def _beats(other: str, name: str) -> Callable[[Tables], Iterator[Claim]]:
    def check(tables: Tables) -> Iterator[Claim]:
        sentence = f"FrugalMCT is at or above {name} at nearly all budgets"
        means = mean_by_budget(tables.get("tradeoff", pd.DataFrame()))
        if not {ONLINE, other} <= set(means):
            yield Claim(sentence, None, f"FrugalMCT or {name} is missing")
            return
        ahead = (means[ONLINE] - means[other]).dropna() >= -ROUNDING
        behind = ahead[~ahead].groupby(level="dataset", sort=False).size()
        where = ", ".join(f"{dataset} at {count}" for dataset, count in behind.items())
        numbers = f"{ahead.sum()} of {len(ahead)} budgets" + (f"; below it on {where}" if where else "")
        yield Claim(sentence, bool(ahead.mean() >= NEARLY_ALL), numbers)

    return check


CHECKS: tuple[Callable[[Tables], Iterator[Claim]], ...] = (
    _cheaper,
    _online_is_offline,
    _within_budget,
    _beats(FRUGALML, "FrugalML"),
    _beats(DAP, "the dummy predictor (DAP)"),
)
