"""Beside our method, where calls have costs of their own: each service alone, a blind mixture, how others
route, and the oracle.

All are fitted on training items, see what is known of an item beforehand, and spend by the same books: a
call is decided on its estimated cost and settled with the true one, and none is made when the money is out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.baselines.mixture import best_mix
from frugalmct.baselines.routers import (
    ClusterMeans,
    Estimated,
    NearestNeighbours,
    Scale,
    ThresholdPair,
    all_pairs,
    best_pair,
    directions,
)
from frugalmct.market import Market
from frugalmct.paper.names import CLUSTERS, NEAREST, OK, ORACLE, RANDOM_MIX, THRESHOLD, single
from frugalmct.paper.stages.select import COLUMNS
from frugalmct.percall.columns import ItemColumns, Table
from frugalmct.percall.fitting import ENOUGH_ITEMS, per_call_learning, thinned
from frugalmct.percall.model import Learner, dual_price_curve, joined_table, walk
from frugalmct.percall.spending import DualPriceCurve, Spending
from frugalmct.plans import DELTA
from frugalmct.seeds import small_seed
from frugalmct.select import Problem, solve
from frugalmct.select.problem import RELATIVE_SLACK
from frugalmct.text import COUNTS

# A threshold that no gain exceeds.
NEVER = 2.0
TOO_LITTLE = "skipped: the budget does not pay for the cheapest service of every test item"
Row = dict[str, Any]


def sweep_routers(
    train: Market, test: Market, budgets: Sequence[float], settings: Mapping[str, Any], repetition: int
) -> pd.DataFrame:
    """One row per service, and one per method and budget."""
    field = Field(train, test, settings)
    rows = [*field.alone()]
    for method, sweep in SWEEPS.items():
        rows += [{"method": method} | row for row in sweep(field, budgets)]
    head = {"dataset": test.name, "repetition": repetition}
    return pd.DataFrame([head | row for row in rows], columns=COLUMNS)


class Field:
    """What all baselines learn from and are tested on."""

    def __init__(self, train: Market, test: Market, settings: Mapping[str, Any]) -> None:
        learning = per_call_learning(train, **settings)
        self.learner = Learner(thinned(train, ENOUGH_ITEMS, learning.seed), learning)
        self.seed, self.test = learning.seed, test
        self.learnt_quality = self.learner.quality
        self.learnt_costs = np.broadcast_to(self.learner.market.costs, self.learnt_quality.shape)
        none = np.zeros((len(self.learner.market), 0), dtype=np.float32)
        self.learnt_table = joined_table(self.learner.table, none)
        self.items = self.learner.items.table(test.known())
        self.table = joined_table(self.items, np.zeros((len(test), 0), dtype=np.float32))
        self.views = _views(self.learnt_table, self.table, self.learner.items)
        self.quality = test.service_accuracy(learning.metric)
        self.costs = np.broadcast_to(test.costs, self.quality.shape)

    def alone(self) -> Iterator[Row]:
        """Each service; as a budget, what a call costs on average."""
        means, costs = self.quality.mean(axis=0), self.costs.mean(axis=0)
        for k, service in enumerate(self.test.services):
            yield {
                "method": single(service),
                "budget": float(self.test.prices[k]),
                "accuracy": float(means[k]),
                "cost": float(costs[k]),
                "status": OK,
            }

    def routed(self, known: Estimated, found: Estimated, budget: float, among: Sequence[int]) -> Row:
        """By estimates of training items, for the dual price, and of test items; only these are asked."""
        curve = dual_price_curve(known.accuracy, known.costs, self.learnt_costs[:, among])
        return self.spent(curve, found, budget, among)

    def spent(self, curve: DualPriceCurve, found: Estimated, budget: float, among: Sequence[int]) -> Row:
        spending = Spending(curve, budget, len(self.test), delta=DELTA)
        walked = walk(spending, found.accuracy, found.costs, self.costs[:, among])
        reached = walked.reached(self.quality[:, among])
        return {"budget": budget, "accuracy": float(reached.mean()), "cost": walked.cost, "status": OK}

    @property
    def everyone(self) -> list[int]:
        return list(range(len(self.test.services)))


def _views(learnt: Table, tested: Table, columns: ItemColumns) -> list[tuple[Table, Table]]:
    """What may be near or far, of training and test items: all columns alike, or the direction of texts and
    given numbers without the counts, as embeddings are compared. Whoever uses them takes the better one."""
    scale = Scale.of(learnt)
    counts = (
        range(0) if columns.text is None else range(columns.text.columns - len(COUNTS), columns.text.columns)
    )
    keep = [column for column in range(learnt.shape[1]) if column not in counts]
    alike = (scale.apply(learnt), scale.apply(tested))
    return [alike, (directions(learnt[:, keep]), directions(tested[:, keep]))] if keep else [alike]


def blind(field: Field, budgets: Sequence[float]) -> Iterator[Row]:
    """The best mixture of two services by training means; who gets which is drawn."""
    means, costs = field.learnt_quality.mean(axis=0), field.learnt_costs.mean(axis=0)
    cheapest = field.learnt_costs[:, int(costs.argmin())]
    # Whom to ask was drawn beforehand: money has no price, it may only end.
    curve = DualPriceCurve(np.zeros(1), np.zeros(1), float(cheapest.mean()), float(cheapest.std()))
    for budget in budgets:
        affordable = max(budget, float(costs.min()))
        drawn = best_mix(RANDOM_MIX, means, costs, affordable, len(field.test), field.seed)
        wanted = Estimated(np.eye(len(costs))[drawn], np.tile(costs, (len(drawn), 1)))
        yield field.spent(curve, wanted, budget, field.everyone)


def threshold(field: Field, budgets: Sequence[float]) -> Iterator[Row]:
    """Two services, and a threshold on how much better the stronger one is estimated to be: RouteLLM's form.
    Pair and threshold are those that serve the training items best at their true costs."""
    learnt = field.learner.learn(())
    estimated, _ = learnt.model.estimate(field.test.known(), field.items)
    pairs = all_pairs(learnt.accuracy, field.learnt_quality, field.learnt_costs)
    means = field.learnt_costs.mean(axis=0)
    for budget in budgets:
        pair = best_pair(pairs, budget)
        among = list(dict.fromkeys([pair.weak, pair.strong]))
        found = Estimated(estimated[:, among], np.tile(means[among], (len(estimated), 1)))
        names = " or ".join(field.test.services[k] for k in among)
        yield field.spent(_curve_of(pair, field), found, budget, among) | {"base": names}


def _curve_of(pair: ThresholdPair, field: Field) -> DualPriceCurve:
    """Where each service costs what it costs on average, a threshold is a dual price times the difference."""
    weak = field.learnt_costs[:, pair.weak]
    more = float(field.learnt_costs[:, pair.strong].mean() - weak.mean())
    prices = np.minimum(pair.thresholds, NEVER) / more if more > 0 else np.zeros(len(pair.thresholds))
    # What one more item costs can be less than nothing: then its threshold costs no more than the one before.
    return DualPriceCurve(np.maximum.accumulate(pair.costs), prices, float(weak.mean()), float(weak.std()))


def nearest(field: Field, budgets: Sequence[float]) -> Iterator[Row]:
    learnt = (field.learnt_quality, field.learnt_costs)
    tried = [(NearestNeighbours(known, *learnt), table) for known, table in field.views]
    model, table = min(tried, key=lambda found: found[0].error)
    found = model.estimate(table)
    for budget in budgets:
        yield field.routed(model.known, found, budget, field.everyone)


def clusters(field: Field, budgets: Sequence[float]) -> Iterator[Row]:
    """The best service per cluster of items at the budget's dual price: Avengers' form."""
    seed = small_seed(field.seed, CLUSTERS) % 2**32
    learnt = (field.learnt_quality, field.learnt_costs)
    tried = [(ClusterMeans(known, *learnt, seed), table) for known, table in field.views]
    model, table = min(tried, key=lambda found: found[0].error)
    found = model.estimate(table)
    for budget in budgets:
        yield field.routed(model.known, found, budget, field.everyone)


def oracle(field: Field, budgets: Sequence[float]) -> Iterator[Row]:
    """The best choice when every answer and its cost is known beforehand: out of reach, and a limit."""
    least = float(field.costs.min(axis=1).mean())
    for budget in budgets:
        if budget < least * (1 - RELATIVE_SLACK / 2):  # as `Problem` has it without a base
            yield {"budget": budget, "accuracy": np.nan, "status": TOO_LITTLE}
            continue
        found = solve(Problem(field.quality, field.test.costs, None, budget), "exact")
        yield {"budget": budget, "accuracy": found.accuracy, "cost": found.cost, "status": found.status}


SWEEPS = {
    RANDOM_MIX: blind,
    THRESHOLD: threshold,
    NEAREST: nearest,
    CLUSTERS: clusters,
    ORACLE: oracle,
}
