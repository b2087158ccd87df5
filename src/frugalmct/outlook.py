"""What a budget buys and what each service is worth, by the training items out of sample.

A strategy keeps estimates of its training items by trees that did not see them. Here dual prices come from
four fifths of the items and are tried on the rest, fold by fold, so that every item counts once with choices
that were made without it. Of learned combiners the accuracies are those of folds they have not seen; only by
the paper's method a combiner's two numbers were chosen on all items. Where calls have costs of their own,
budgets are kept to with the true ones.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import Cascade, State
from frugalmct.errors import FrugalError
from frugalmct.mixing import CascadePlan
from frugalmct.percall import PerCallStrategy
from frugalmct.percall.training import OnTrial, Trained
from frugalmct.planning import Planner
from frugalmct.plans import DELTA, check_pays
from frugalmct.seeds import generator
from frugalmct.strategy import Strategy
from frugalmct.training import folds

LOG = logging.getLogger("frugalmct.steps")

STEPS = 40
DRAWS = 300

AnyStrategy = Strategy | PerCallStrategy


@dataclass(frozen=True, eq=False)
class Outlook:
    """Accuracy at each budget: `reached` is (budgets, items), of the base that does best there."""

    budgets: NDArray[np.float64]
    bases: tuple[str, ...]
    reached: NDArray[np.float64]

    @property
    def accuracy(self) -> NDArray[np.float64]:
        return self.reached.mean(axis=1)

    def cheapest(self, accuracy: float) -> dict[str, Any]:
        """The cheapest budget that reaches an accuracy, and where 95 % of samples of as many items put it.

        `budget` is None when none does; `high` is None when some samples never reach it.
        """
        found = _first(self.budgets, self.accuracy[None], accuracy)[0]
        rng = generator(0, "outlook")
        items = self.reached.shape[1]
        weights = rng.multinomial(items, np.full(items, 1 / items), size=DRAWS) / items
        drawn = np.sort(_first(self.budgets, weights @ self.reached.T, accuracy))
        low, high = drawn[int(0.025 * DRAWS)], drawn[int(np.ceil(0.975 * DRAWS)) - 1]
        return {
            "accuracy": accuracy,
            "budget": _or_none(found),
            "low": _or_none(low),
            "high": _or_none(high),
            "base": None if np.isinf(found) else self.bases[int(np.searchsorted(self.budgets, found))],
            "highest_accuracy": float(self.accuracy.max()),
            "at_budget": float(self.budgets[self.accuracy.argmax()]),
        }


class OneBase(Protocol):
    """One base of a strategy, on trial with the training items.

    base: whom it asks for every item; least, most: the budget that pays for that, and one that pays for all
    that it could be worth.
    """

    @property
    def base(self) -> State: ...

    @property
    def least(self) -> float: ...

    @property
    def most(self) -> float: ...

    def tried(self, budget: float) -> NDArray[np.float64]:
        """(items,) the true accuracy of what is chosen for each, at dual prices of the other folds."""

    def without(self, service: int) -> "OneBase":
        """As if there were no such service, which is none of the base."""


@dataclass(frozen=True, eq=False)
class _Cascaded:
    """A base whose answer is combined with those of add-ons."""

    strategy: Strategy
    cascade: Cascade

    @property
    def base(self) -> State:
        return self.cascade.start

    @property
    def least(self) -> float:
        return self.cascade.start_cost

    @property
    def most(self) -> float:
        others = np.delete(self.strategy.prices, self.base)
        return self.least + float(np.sort(others)[-self.strategy.steps :].sum())

    def tried(self, budget: float) -> NDArray[np.float64]:
        delta, training = self.strategy.plan_near(budget).delta, self.strategy.training
        return training.tried(self.cascade, budget, delta, folds(len(training), self.strategy.made.seed))

    def without(self, service: int) -> "_Cascaded":
        return replace(self, cascade=self.cascade.without(service))


class _PerCall:
    """Services asked first, of which one's answer stands, or that of another."""

    def __init__(self, base: State, trained: Trained, seed: int) -> None:
        self.base, self.least, self._seed = base, trained.curve.lowest, seed
        self.most = self.least + (float(trained.curve.budgets[-1]) - self.least) / (1 - DELTA)
        self._on_trial = OnTrial(trained, folds(len(trained), seed))
        self.tried = self._on_trial.tried

    def without(self, service: int) -> "_PerCall":
        return _PerCall(self.base, self._on_trial.trained.without(service), self._seed)


def _bases(strategy: AnyStrategy) -> Sequence[OneBase]:
    if isinstance(strategy, PerCallStrategy):
        training, seed = strategy.training, strategy.made.seed
        return [_PerCall(first, training.first(first), seed) for first in strategy.models]
    return [_Cascaded(strategy, strategy.training.cascade(base)) for base in strategy.bases]


def outlook(strategy: AnyStrategy, budgets: Sequence[float] | None = None) -> Outlook:
    """Over all budgets from the cheapest base to one that pays for every add-on, unless they are given."""
    bases = _bases(strategy)
    lowest, highest = min(own.least for own in bases), max(own.most for own in bases)
    points = np.linspace(lowest, highest, STEPS) if budgets is None else np.sort(np.asarray(budgets, float))
    found = []
    for number, budget in enumerate(points.tolist(), 1):
        LOG.info("budget %d of %d", number, len(points))
        found.append(_best(bases, budget))
    return Outlook(
        points, tuple(strategy.names(base) for base, _ in found), np.array([reached for _, reached in found])
    )


def service_worth(strategy: AnyStrategy, budget: float) -> list[dict[str, Any]]:
    """One row per service: accuracy at the budget with all services and without it, and what it saves.

    `price`: where calls have costs of their own, the mean. `budget_without`: what must be spent without the
    service for the accuracy that the budget reaches with it; None when nothing does. A base is left out
    together with its model.
    """
    bases = _bases(strategy)
    check_pays("Strategy", budget, min(own.least for own in bases))
    base, values = _best(bases, budget)
    accuracy = float(values.mean())
    rows, several = [], len(strategy.services) > 1
    for index, service in enumerate(strategy.services):
        LOG.info("doing without %s", service)
        rest = [own.without(index) for own in bases if several and index not in own.base]
        row: dict[str, Any] = {
            "service": service,
            "price": float(strategy.prices[index]),
            "base": index in base,
        }
        row |= {"accuracy": accuracy, "accuracy_without": None, "budget_without": None}
        if rest and min(own.least for own in rest) <= budget:
            row["accuracy_without"] = float(_best(rest, budget)[1].mean())
        if rest:
            points = np.linspace(budget, budget + float(strategy.prices.max()) * 1.5, STEPS // 2)
            row["budget_without"] = _cheapest_of(rest, points, accuracy)
        rows.append(row)
    return rows


def _cheapest_of(bases: Sequence[OneBase], points: NDArray[np.float64], accuracy: float) -> float | None:
    """The first of rising budgets that reaches an accuracy; those beyond it are not tried."""
    for budget in points.tolist():
        payable = any(own.least <= budget for own in bases)
        if payable and _best(bases, budget)[1].mean() >= accuracy:
            return budget
    return None


def promised(strategy: Strategy, plan: CascadePlan) -> float:
    """The mean accuracy of a plan's base and δ at its budget; of two that are mixed that of both."""
    trials = folds(len(strategy.training), strategy.made.seed)
    return float(Planner(strategy.training, trials).promised(plan).mean())


def _best(bases: Sequence[OneBase], budget: float) -> tuple[State, NDArray[np.float64]]:
    """The base that does best at a budget, and the true accuracy of what is then chosen for each item."""
    tried = {own.base: own.tried(budget) for own in bases if own.least <= budget}
    base = max(tried, key=lambda base: tried[base].mean())
    return base, tried[base]


def _first(budgets: np.ndarray, curves: np.ndarray, accuracy: float) -> NDArray[np.float64]:
    """(curves,) the first budget at which each reaches the accuracy; infinite where it never does."""
    enough = curves >= accuracy
    return np.where(enough.any(axis=1), budgets[enough.argmax(axis=1)], np.inf)


def _or_none(value: float) -> float | None:
    return None if np.isinf(value) else float(value)


def checked_accuracy(value: float) -> float:
    if not 0 < value <= 1:
        raise FrugalError(f"The accuracy is {value!r}; give a number above 0 and up to 1, such as 0.9.")
    return value
