"""One set of services asked first: what their answers tell of every service's accuracy and cost."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile, Described
from frugalmct.checks import MAX_MONEY
from frugalmct.errors import FrugalError
from frugalmct.market import Known, Market
from frugalmct.model import Learning
from frugalmct.percall.columns import AUTO, AnswerColumns, ItemColumns, ServiceColumns, Table
from frugalmct.percall.costs import CostModel
from frugalmct.percall.spending import NOBODY, REPRICE_EVERY, DualPriceCurve, Spending, most_worth
from frugalmct.predict import Predictor, make_predictor, predictor_from_arrays
from frugalmct.seeds import small_seed
from frugalmct.select import frontier
from frugalmct.values import Fields, shown

LOG = logging.getLogger("frugalmct.steps")

Numbers = NDArray[np.float64]
First = tuple[int, ...]
"""Who is asked first: a sorted tuple of services, which may be empty."""

MOST_CORNERS = 1_000
TRIAL_ROUNDS, NEARBY = 4, (0.8, 1.0, 1.25)
# The whole sample, drawn anew, for every tree: with texts among the features this was worth 0.3 points.
FORESTS, FOREST = ("random_forest", "extra_trees"), {"trees": 150, "share_per_tree": 1.0}
PILOT = {"trees": 25, "leaf": 5}


@dataclass(frozen=True, eq=False)
class FirstModel:
    """Estimates once the services `first` have answered, and the dual price at every budget."""

    first: First
    answers: AnswerColumns
    predictor: Predictor
    costs: CostModel
    curve: DualPriceCurve

    def estimate(self, known: Known, items: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(items, services) accuracies and costs; items: the columns known beforehand."""
        table = joined_table(items, self.answers.table(known))
        return self.predictor.estimate(table), self.costs.estimate(table)

    def at_prices(self, prices: Numbers, factors: Numbers, curve: DualPriceCurve) -> "FirstModel":
        """At new prices of calls, which is so many times what they were."""
        return replace(
            self,
            answers=self.answers.at_prices(factors),
            costs=self.costs.at_prices(prices, factors),
            curve=curve,
        )

    def to_arrays(self, prefix: str) -> Described:
        header, arrays = self.predictor.to_arrays()
        cost_header, cost_arrays = self.costs.to_arrays()
        described = {
            "first": list(self.first),
            "answers": [own.to_dict() for own in self.answers.services],
            "predictor": header,
            "costs": cost_header,
        }
        found = {f"predictor.{name}": part for name, part in arrays.items()}
        found |= {f"costs.{name}": part for name, part in cost_arrays.items()}
        found["curve"] = np.column_stack([self.curve.budgets, self.curve.dual_prices])
        found["least"] = np.array([self.curve.least, self.curve.deviation])
        return described, {f"{prefix}{name}": part for name, part in found.items()}

    @classmethod
    def read(cls, described: Any, file: ArrayFile, prefix: str, services: int, items: int) -> "FirstModel":
        """items: how many columns are known beforehand."""
        fields = Fields("a model", described)
        first = checked_first(fields.take("first"), services)
        answers = AnswerColumns(tuple(map(ServiceColumns.from_dict, _list(fields.take("answers")))))
        if answers.services and tuple(own.service for own in answers.services) != first:
            raise FrugalError("a model's columns are of services that are not asked first")
        predictor = predictor_from_arrays(fields.take("predictor"), file.group(f"{prefix}predictor."))
        columns = max(items + answers.columns, 1)
        if (predictor.columns, predictor.services) != (columns, services):
            raise FrugalError(f"a model wants {predictor.columns} columns, its features give {columns}")
        costs = CostModel.read(fields.take("costs"), file, f"{prefix}costs.", services, columns)
        fields.done()
        return cls(first, answers, predictor, costs, _read_curve(file, prefix))


def _read_curve(file: ArrayFile, prefix: str) -> DualPriceCurve:
    corners = file.floats(f"{prefix}curve", (None, 2), least=0, most=MAX_MONEY)
    least, deviation = file.floats(f"{prefix}least", (2,), least=0, most=MAX_MONEY).tolist()
    if not 0 < len(corners) <= MOST_CORNERS or np.any(np.diff(corners[:, 0]) < 0):
        raise FrugalError(f"{prefix}curve must have 1 to {MOST_CORNERS} budgets in rising order")
    return DualPriceCurve(corners[:, 0].copy(), corners[:, 1].copy(), least, deviation)


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise FrugalError(f"a model's answers are {shown(value)} where a list was expected")
    return value


def checked_first(value: Any, services: int) -> First:
    whole = type(value) is list and all(type(k) is int and 0 <= k < services for k in value)
    if not whole or value != sorted(set(value)):
        raise FrugalError(f"who is asked first is {shown(value)}; it must be some services in rising order")
    return tuple(value)


def joined_table(items: Table, answers: Table) -> Table:
    """One column of zeros where nothing is known: every item then looks alike."""
    table = np.hstack([items, answers])
    return table if table.shape[1] else np.zeros((len(table), 1), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Learnt:
    """A model with the estimates of the items it learnt from, out of sample."""

    model: FirstModel
    accuracy: NDArray[np.float64]
    costs: NDArray[np.float64]


class Learner:
    """Fits models of different firsts to one market; what is known beforehand is computed once."""

    def __init__(self, market: Market, learning: Learning) -> None:
        self.market, self.learning = market, learning
        self.kind = learning.features or AUTO
        self.quality = market.service_accuracy(learning.metric)
        self.items = ItemColumns.fit(
            market.known(), self.kind, small_seed(learning.seed, market.name, "text")
        )
        self.table = self.items.table(market.known())

    def learn(self, first: First, pilot: "Learnt | None" = None) -> Learnt:
        """`pilot`: a model whose cost estimates will do, for a trial with a small forest."""
        LOG.info("learning whom to ask with %s asked first", self.market.names(first) or "nobody")
        known, learning, seed = self.market.known(first), self.learning, self._seed(first)
        answers = AnswerColumns.fit(known, self.kind)
        table = joined_table(self.table, answers.table(known))
        options: Mapping[str, Any] = FOREST if learning.predictor in FORESTS else {}
        if pilot is not None and learning.predictor in FORESTS:
            options = FOREST | PILOT
        options = {**options, **(learning.options or {})}
        predictor = make_predictor(learning.predictor, **options, jobs=learning.jobs)
        predictor.fit(table, self.quality, seed=seed)
        if pilot is None:
            costs, estimated = CostModel.fit(table, self.market.costs, seed, learning.jobs)
        else:
            costs, estimated = pilot.model.costs, pilot.costs
        curve = dual_price_curve(predictor.training_estimates, estimated, self.market.costs, first)
        model = FirstModel(first, answers, predictor, costs, curve)
        return Learnt(model, predictor.training_estimates, estimated)

    def _seed(self, first: First) -> int:
        return small_seed(self.learning.seed, self.market.name, self.learning.predictor, *first)


def dual_price_curve(
    accuracy: Numbers, estimated: Numbers, costs: Numbers, first: First = ()
) -> DualPriceCurve:
    """The dual price at every budget, from (items, services) estimates of training items and what their calls
    really cost."""
    true = np.broadcast_to(costs, accuracy.shape)
    expected = estimated.copy()
    expected[:, list(first)] = true[:, list(first)]
    found = frontier(accuracy, expected, list(first) or None)
    least = true[:, list(first)].sum(axis=1) if first else true[np.arange(len(true)), expected.argmin(axis=1)]
    size = len(found.budgets)
    kept = np.unique(np.linspace(0, size - 1, min(size, MOST_CORNERS)).astype(int))
    return DualPriceCurve(
        found.budgets[kept], found.dual_prices[kept], float(least.mean()), float(least.std())
    )


@dataclass(frozen=True, eq=False)
class Walked:
    """asked: (items, services) whose calls were made; choices: (items,) whose answer stands, or NOBODY."""

    asked: NDArray[np.bool_]
    choices: NDArray[np.int64]
    cost: float

    def reached(self, quality: NDArray[np.float64]) -> NDArray[np.float64]:
        """(items,) the quality of each item's answer; 0 where there is none."""
        found = quality[np.arange(len(quality)), np.maximum(self.choices, 0)]
        return np.where(self.choices == NOBODY, 0.0, found)


def walk(spending: Spending, accuracy: np.ndarray, estimated: np.ndarray, true: np.ndarray) -> Walked:
    """Many items in their order: decided on the estimates, settled with the true (items, services) costs."""
    items, services = accuracy.shape
    asked, choices = np.zeros((items, services), dtype=bool), np.full(items, NOBODY)
    order = sorted(spending.first, key=lambda k: float(estimated[:, k].mean()) if items else 0.0)
    before, start, block = spending.spent, 0, np.zeros(0, dtype=np.int64)
    for n in range(items):
        if spending.begin() or n == start + len(block):
            start, rows = n, slice(n, n + REPRICE_EVERY)
            block = spending.wanted(accuracy[rows], estimated[rows])
        answered = ask_first(spending, order, true[n])
        if len(answered) < len(order):
            # Money is at its end: without all of the answers nothing is estimated, the last one stands.
            choices[n] = answered[-1] if answered else NOBODY
        else:
            choices[n] = choice = spending.choose(accuracy[n], estimated[n], int(block[n - start]))
            if choice != NOBODY and choice not in answered:
                spending.pay(choice, float(true[n, choice]))
                answered.append(choice)
        asked[n, answered] = True
    return Walked(asked, choices, (spending.spent - before) / max(items, 1))


def ask_first(spending: Spending, order: Sequence[int], costs: np.ndarray) -> list[int]:
    """Who of those asked first can be paid for, in this order."""
    answered: list[int] = []
    for service in order:
        if not spending.may_ask(service):
            break
        spending.pay(service, float(costs[service]))
        answered.append(service)
    return answered


def trial_score(learnt: Learnt, learner: Learner, budget: float) -> float:
    """The mean quality that out-of-sample estimates of the training items reach at a budget, which their true
    costs keep to (but for what the dual price cannot tell apart). The mean over budgets near it: a set of
    services that is only lucky at one of them is not to be preferred."""
    aims = [max(share * budget, learnt.model.curve.least) for share in NEARBY]
    return float(np.mean([_reached_near(learnt, learner, aim) for aim in aims]))


def _reached_near(learnt: Learnt, learner: Learner, budget: float) -> float:
    curve, first = learnt.model.curve, list(learnt.model.first)
    quality, rows = learner.quality, np.arange(len(learner.quality))
    true = np.broadcast_to(learner.market.costs, quality.shape)
    base = float(true[:, first].sum(axis=1).mean())
    addon = true.copy()
    addon[:, first] = 0.0
    aim, found = budget, 0.0
    for _ in range(TRIAL_ROUNDS):
        choices = most_worth(learnt.accuracy, learnt.costs, first, curve.at(aim))
        found = float(quality[rows, choices].mean())
        over = base + float(addon[rows, choices].mean()) - budget
        if over <= 0:
            break
        aim = max(aim - over, curve.least)
    return found
