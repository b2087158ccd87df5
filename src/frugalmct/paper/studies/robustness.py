"""What online selection loses against offline: by number of items, buffer δ, order, mix, prices and metric.

Test items are drawn with their estimates, with replacement, so that there can be more than there are. Where
prices change, base and dual price are chosen again from the training estimates; only for another metric is
anything learnt again.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.estimates import Choices, Estimates
from frugalmct.model import AccuracyModel
from frugalmct.paper.names import OFFLINE, ONLINE
from frugalmct.paper.printed import APPENDIX_PRICES, printed_of
from frugalmct.paper.stages.estimate import BaseEstimates
from frugalmct.paper.studies.case import Case
from frugalmct.paper.studies.draws import COLUMNS, DRAWS, FEWER_DRAWS, Outcome, draws, halves, summary
from frugalmct.plans import Plan, make_plans
from frugalmct.select import chosen, solve
from frugalmct.select.methods import METHODS

NEEDS = ("market", "split", "combination", "plans", "estimates")
SETTINGS = ("budget", "block", "learning", "seed", "prices")
PLUGINS = METHODS.modules("exact")
SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000)
DELTAS = (-0.1, -0.05, -0.02, 0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
METRICS = ("accuracy", "f1")
TOO_LOW = -0.05
"""A δ at which p̂ is too low, and the money does not last: only then can the order of the items matter."""

FIXED, THEOREM, GROWING = "fixed δ", "δ of Theorem 2", "δ of Theorem 2, N training items"
"""How δ is set as the number of items N grows; in the last, p̂ comes from N training items too."""

ROUNDING = 1e-12

CHANCE = 0.05
"""The theorem's ε: it holds with probability 1 - ε."""


def run(case: Case) -> pd.DataFrame:
    """Two rows, online and offline, for each setting of each part."""
    parts = (by_items, by_delta, by_order, by_mix, by_prices, by_metric)
    rows = [row for part in parts for row in part(case)]
    return pd.DataFrame(rows, columns=COLUMNS).assign(dataset=case.dataset, data=case.market.data)


# ---- the parts


def by_items(case: Case) -> Iterator[dict[str, Any]]:
    """The regret as the number of items N grows, with δ fixed, and with δ as Theorem 2 sets it."""
    own, plan, train_items = case.own, case.plan, len(case.own.train)
    for items in SIZES:
        samples = draws(case, own.test, items)
        offline = [best(sample, plan.budget) for sample in samples]
        bound = shape(items, train_items)
        fixed = [own.train.dual_price(plan.budget, plan.delta)] * DRAWS
        yield from _rows(case, "items", FIXED, plan, samples, fixed, offline, bound, train_items)
        wary = replace(plan, delta=min(bound, 1.0))
        at_bound = [own.train.dual_price(plan.budget, wary.delta)] * DRAWS
        yield from _rows(case, "items", THEOREM, wary, samples, at_bound, offline, bound, train_items)
        bound = shape(items, items)
        wary = replace(plan, delta=min(bound, 1.0))
        each = [train.dual_price(plan.budget, wary.delta) for train in draws(case, own.train, items, "train")]
        yield from _rows(case, "items", GROWING, wary, samples, each, offline, bound, items)


def by_delta(case: Case) -> Iterator[dict[str, Any]]:
    """From a buffer that lets p̂ spend too much to one that holds a fifth of the money back."""
    samples = draws(case, case.own.test)
    offline = [best(sample, case.plan.budget) for sample in samples]
    for delta in DELTAS:
        plan = replace(case.plan, delta=delta)
        yield from _compared(case, "delta", f"{delta:g}", case.own.train, plan, samples, offline)


def by_order(case: Case) -> Iterator[dict[str, Any]]:
    """The same items as they come: at random, the hard ones first, the easy ones first."""
    samples = draws(case, case.own.test)
    offline = [best(sample, case.plan.budget) for sample in samples]
    hard_first = [sample.rows(hardest_first(sample)) for sample in samples]
    easy_first = [sample.rows(hardest_first(sample)[::-1]) for sample in samples]
    orders = {"random": samples, "hard first": hard_first, "easy first": easy_first}
    for delta in dict.fromkeys((case.plan.delta, TOO_LOW)):
        plan = replace(case.plan, delta=delta)
        for name, ordered in orders.items():
            setting = f"{name}, δ {delta:g}"
            yield from _compared(case, "order", setting, case.own.train, plan, ordered, offline)


def by_mix(case: Case) -> Iterator[dict[str, Any]]:
    """p̂ comes from the usual items; what then comes is the usual mix, or one half of it."""
    for name, rows in halves(hardest_first(case.own.test)).items():
        samples = draws(case, case.own.test.rows(np.sort(rows)))
        yield from _compared(case, "mix", name, case.own.train, case.plan, samples)


def by_prices(case: Case) -> Iterator[dict[str, Any]]:
    """Other prices at the same budget and at twice as much: who is the base is chosen again."""
    for name, prices in price_settings(case).items():
        for budget in (case.budget, 2 * case.budget):
            plan = planned_again(case, prices, budget)
            if plan is not None:
                own = at_prices(case.estimates.by_base[plan.base], prices)
                samples = draws(case, own.test)[:FEWER_DRAWS]
                yield from _compared(case, "prices", name, own.train, plan, samples)


def by_metric(case: Case) -> Iterator[dict[str, Any]]:
    """Decisions made for the dataset's metric, scored by others; and decisions made for those."""
    if case.market.kind != "labels":
        return
    for metric in METRICS:
        scored = replace(case.own.test, actual=case.test.choice_accuracy(case.combiners, metric))
        yield from _compared(case, "metric", metric, case.own.train, case.plan, draws(case, scored))
        if metric != case.metric:
            own = learnt_for(case, metric)
            setting = f"{metric}, learnt for it"
            yield from _compared(case, "metric", setting, own.train, case.plan, draws(case, own.test))


# ---- what they are made of


def outcome_of(items: Estimates, choices: Choices) -> Outcome:
    estimated = float(chosen(items.estimated, choices).mean())
    return Outcome(estimated, float(items.reached(choices).mean()), items.cost(choices))


def best(items: Estimates, budget: float) -> Outcome:
    """Offline: the best selection by the estimates when all items are seen at once."""
    return outcome_of(items, solve(items.problem(budget), "exact").choices)


def hardest_first(items: Estimates) -> NDArray[np.int64]:
    """By the base's estimated accuracy: hard items are those for which more is wanted than the base."""
    return np.argsort(items.estimated[:, items.base], kind="stable")


def shape(items: int, train_items: int) -> float:
    """What Theorem 2 allows to lose, and its δ, each but for a constant: sqrt(log(N/ε)/N) of both sets."""
    return sum(math.sqrt(math.log(count / CHANCE) / count) for count in (items, train_items))


def price_settings(case: Case) -> dict[str, NDArray[np.float64]]:
    """The prices as they are; the paper's free model at what its appendix says it costs; half and double."""
    services, prices = case.estimates.services, case.estimates.prices
    found = {"as configured": prices}
    appendix = APPENDIX_PRICES if printed_of(case.dataset) else {}
    for k, service in enumerate(services):
        changes = {"half": prices[k] / 2, "double": prices[k] * 2}
        if service in appendix:
            changes = {f"at {appendix[service]:g}": appendix[service]} | changes
        for change, price in changes.items():
            found[f"{service} {change}"] = np.where(np.arange(len(prices)) == k, price, prices)
    return found


def at_prices(own: BaseEstimates, prices: NDArray[np.float64]) -> BaseEstimates:
    return BaseEstimates(replace(own.train, prices=prices), replace(own.test, prices=prices))


def learnt_for(case: Case, metric: str) -> BaseEstimates:
    """The plan's base, its combiners and estimates learnt again for another metric."""
    learning = replace(case.learning, metric=metric)
    return BaseEstimates.of(AccuracyModel.fit(case.train, case.plan.base, learning), case.test, metric)


def planned_again(case: Case, prices: NDArray[np.float64], budget: float) -> Plan | None:
    """As the run plans, with other prices; None if the budget pays for no base."""
    candidates = [replace(found.train, prices=prices) for found in case.estimates.by_base.values()]
    if all(candidate.base_cost > budget for candidate in candidates):
        return None
    held_out = np.searchsorted(case.split.whole_train, case.split.validation)
    return make_plans(candidates, held_out, [budget], case.plan.delta)[0]


def _compared(
    case: Case,
    part: str,
    setting: str,
    train: Estimates,
    plan: Plan,
    samples: Sequence[Estimates],
    offline: Sequence[Outcome] | None = None,
) -> Iterator[dict[str, Any]]:
    """Online at the p̂ of all training items, beside offline."""
    offline = offline or [best(sample, plan.budget) for sample in samples]
    at = [train.dual_price(plan.budget, plan.delta)] * len(samples)
    return _rows(case, part, setting, plan, samples, at, offline, None, len(train))


def _rows(
    case: Case,
    part: str,
    setting: str,
    plan: Plan,
    samples: Sequence[Estimates],
    dual_prices: Sequence[float],
    offline: Sequence[Outcome],
    bound: float | None,
    train_items: int,
) -> Iterator[dict[str, Any]]:
    online = [
        outcome_of(sample, sample.route(plan.budget, dual_price))
        for sample, dual_price in zip(samples, dual_prices, strict=True)
    ]
    shared = {
        "part": part, "setting": setting, "items": len(samples[0]), "train_items": train_items,
        "budget": plan.budget, "base": case.estimates.services[plan.base], "delta": plan.delta,
        "bound": bound,
    }  # fmt: skip
    alone = {"kept_by_price": kept_by_price(samples, dual_prices, plan.budget)}
    for method, outcomes in ((ONLINE, online), (OFFLINE, offline)):
        yield {**shared, "method": method, **summary(outcomes, offline)} | (alone if method == ONLINE else {})


def kept_by_price(samples: Sequence[Estimates], dual_prices: Sequence[float], budget: float) -> float:
    """The share of the samples in which the dual price alone keeps to the budget: Algorithm 1 is given more
    money than all services cost, so that it never has to withhold one."""
    costs = [
        sample.cost(sample.route(float(sample.prices.sum()), dual_price))
        for sample, dual_price in zip(samples, dual_prices, strict=True)
    ]
    return float(np.mean(np.array(costs) <= budget * (1 + ROUNDING)))
