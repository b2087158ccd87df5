"""What choosing call by call loses against choosing all at once: by number of items, order, mix, and prices,
and by how far costs are known beforehand.

Test items are drawn with their estimates, with replacement. Online is the method as it runs: it decides on
estimated costs, settles with true ones, and reads its dual price anew as money is spent. Offline is the best
selection by the same estimated qualities when all items, and what every call will cost, are known.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.paper.names import OFFLINE, PER_CALL
from frugalmct.paper.stages.call_estimates import CallEstimates, FirstEstimates
from frugalmct.paper.studies.calls.case import Case
from frugalmct.paper.studies.draws import COLUMNS, FEWER_DRAWS, Outcome, draws, halves, summary
from frugalmct.percall.fitting import best_plan
from frugalmct.percall.model import First
from frugalmct.percall.spending import DualPriceCurve
from frugalmct.percall.training import OnTrial
from frugalmct.plans import DELTA
from frugalmct.select import Problem, chosen, solve
from frugalmct.select.methods import METHODS
from frugalmct.training import folds

NEEDS = ("market", "call_estimates")
SETTINGS = ("seed",)
PLUGINS = METHODS.modules("exact")

SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
MOST_DRAWN = 5000
"""Items in a draw, where it is not their number that is studied."""
REREAD = "a dual price that is read anew"
ESTIMATED, KNOWN = "estimated beforehand", "known beforehand"

Order = NDArray[np.int64]


def run(case: Case) -> pd.DataFrame:
    """Two rows, online and offline, for each setting of each part."""
    parts = (by_items, by_order, by_mix, by_prices, by_costs)
    rows = [row for part in parts for row in part(case)]
    return pd.DataFrame(rows, columns=COLUMNS).assign(dataset=case.dataset, data=case.market.data)


# ---- the parts


def by_items(case: Case) -> Iterator[dict[str, Any]]:
    """The regret as the number of items grows."""
    for items in SIZES:
        samples = sampled(case, case.own.test, items)
        yield from _compared(case, "items", REREAD, case.own.train, case.budget, samples)


def by_order(case: Case) -> Iterator[dict[str, Any]]:
    """The same items as they come: at random, the hard ones first, the easy or the expensive ones first."""
    samples = sampled(case, case.own.test)
    orders: dict[str, Callable[[CallEstimates], Order]] = {
        "hard first": hardest_first,
        "easy first": lambda items: hardest_first(items)[::-1],
    }
    if case.own.test.caps is None:
        orders["expensive first"] = expensive_first
    yield from _compared(case, "order", "random", case.own.train, case.budget, samples)
    for name, order in orders.items():
        ordered = [sample.rows(order(sample)) for sample in samples]
        yield from _compared(case, "order", name, case.own.train, case.budget, ordered)


def by_mix(case: Case) -> Iterator[dict[str, Any]]:
    """The dual price comes from the usual items; what then comes is the usual mix, or one half of it."""
    test = case.own.test
    mixes = halves(hardest_first(test))
    if test.caps is None:
        mixes["expensive half"] = expensive_first(test)[: len(test) // 2]
    for name, rows in mixes.items():
        samples = sampled(case, test.rows(np.sort(rows)))
        yield from _compared(case, "mix", name, case.own.train, case.budget, samples)


def by_prices(case: Case) -> Iterator[dict[str, Any]]:
    """Every call of a service at half and at twice its cost, at the same budget and at twice as much: who is
    asked first is chosen again, and a budget that pays for nobody has no row."""
    services = case.calls.services
    settings = {"as recorded": np.ones(len(services))}
    for k, service in enumerate(services):
        for name, factor in (("half", 0.5), ("double", 2.0)):
            settings[f"{service} {name}"] = np.where(np.arange(len(services)) == k, factor, 1.0)
    for name, factors in settings.items():
        found = {first: at_prices(own, factors) for first, own in case.calls.by_first.items()}
        for budget in (case.budget, 2 * case.budget):
            first = chosen_again(case, found, budget)
            if first is not None:
                samples = sampled(case, found[first].test)[:FEWER_DRAWS]
                yield from _compared(case, "prices", name, found[first].train, budget, samples)


def by_costs(case: Case) -> Iterator[dict[str, Any]]:
    """What a call will cost estimated beforehand, and known: the difference is what estimating loses."""
    own = case.own
    if own.test.caps is not None:
        return
    samples = sampled(case, own.test)
    yield from _compared(case, "costs", ESTIMATED, own.train, case.budget, samples)
    told = [replace(sample, estimated=sample.costs) for sample in samples]
    train = replace(own.train, estimated=own.train.costs)
    yield from _compared(case, "costs", KNOWN, train, case.budget, told)


# ---- what they are made of


def sampled(case: Case, items: CallEstimates, count: int | None = None) -> list[CallEstimates]:
    """Draws of `count` items, or of as many as there are."""
    return draws(case, items, count or min(len(items), MOST_DRAWN))


def hardest_first(items: CallEstimates) -> Order:
    """By the mean of the estimated qualities."""
    return np.argsort(items.accuracy.mean(axis=1), kind="stable")


def expensive_first(items: CallEstimates) -> Order:
    """By what all services together would cost."""
    return np.argsort(-items.costs.sum(axis=1), kind="stable")


def at_prices(own: FirstEstimates, factors: NDArray[np.float64]) -> FirstEstimates:
    """Every call at so many times what it cost."""
    train, test = (
        replace(
            part,
            estimated=part.estimated * factors,
            costs=part.costs * factors,
            caps=None if part.caps is None else part.caps * factors,
        )
        for part in (own.train, own.test)
    )
    return FirstEstimates(train, test)


def chosen_again(case: Case, found: dict[First, FirstEstimates], budget: float) -> First | None:
    """Who of those that the repetition knows is asked first, by trials on training items."""
    payable = [own.train for own in found.values() if own.train.curve.lowest <= budget]
    if not payable:
        return None
    trials = folds(len(payable[0]), case.settings["seed"])
    return best_plan(budget, [OnTrial(train, trials) for train in payable]).first


def online(items: CallEstimates, budget: float, curve: DualPriceCurve) -> Outcome:
    walked = items.walk(budget, curve)
    estimated, accuracy = (float(walked.reached(table).mean()) for table in (items.accuracy, items.quality))
    return Outcome(estimated, accuracy, walked.cost)


def best(items: CallEstimates, budget: float) -> Outcome:
    """Offline: the best selection by the estimated qualities within the budget on true costs."""
    costs = items.costs if items.caps is None else items.caps
    choices = solve(Problem(items.accuracy, costs, items.base, budget), "exact").choices
    estimated = float(chosen(items.accuracy, choices).mean())
    return Outcome(estimated, float(items.reached(choices).mean()), items.cost(choices))


def least_cost(items: CallEstimates) -> float:
    """The mean of what cannot be avoided: those asked first, or the cheapest service of each item."""
    own = items.costs[:, list(items.first)].sum(axis=1) if items.first else items.costs.min(axis=1)
    return float(own.mean())


def _compared(
    case: Case, part: str, setting: str, train: CallEstimates, budget: float, samples: Sequence[CallEstimates]
) -> Iterator[dict[str, Any]]:
    """At the dual prices of the training items, beside offline; draws that no selection could pay for are
    left out, and where that is all of them, the rows."""
    payable = [sample for sample in samples if least_cost(sample) < budget]
    if not payable:
        return
    offline = [best(sample, budget) for sample in payable]
    shared = {
        "part": part, "setting": setting, "items": len(payable[0]), "train_items": len(train),
        "budget": budget, "base": case.calls.names(train.first), "delta": DELTA,
    }  # fmt: skip
    outcomes = {PER_CALL: [online(sample, budget, train.curve) for sample in payable], OFFLINE: offline}
    for method, own in outcomes.items():
        yield {**shared, "method": method, **summary(own, offline)}
