"""What a budget buys and what each service is worth, by the training items out of sample.

A strategy keeps estimates of its training items by trees that did not see them. Here dual prices come from
four fifths of the items and are tried on the rest, fold by fold, so that every item counts once with choices
that were made without it. Only the combiners' two numbers per service were chosen on all items.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.errors import FrugalError
from frugalmct.estimates import Estimates
from frugalmct.seeds import generator
from frugalmct.strategy import Strategy

FOLDS = 5
STEPS = 40
DRAWS = 300


def reached_out_of_sample(estimates: Estimates, budget: float, delta: float) -> NDArray[np.float64]:
    """(items,) the true accuracy of what is chosen for each item at the dual price of the other folds."""
    rows = np.arange(len(estimates))
    fold = rows % FOLDS if len(rows) >= 2 * FOLDS else np.zeros(len(rows), dtype=np.int64)
    reached = np.empty(len(rows))
    for number in np.unique(fold):
        others = fold != number if fold.any() else np.ones(len(rows), dtype=bool)
        price = estimates.rows(others).dual_price(budget, delta)
        tried = estimates.rows(fold == number)
        reached[fold == number] = tried.reached(tried.route(budget, price))
    return reached


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


def outlook(strategy: Strategy, budgets: Sequence[float] | None = None) -> Outlook:
    """Over all budgets from the cheapest base to one that pays for every add-on, unless they are given."""
    prices = strategy.prices
    lowest = min(float(prices[base]) for base in strategy.models)
    highest = max(float(prices[base] + np.delete(prices, base).max(initial=0)) for base in strategy.models)
    points = np.linspace(lowest, highest, STEPS) if budgets is None else np.sort(np.asarray(budgets, float))
    bases, reached = [], []
    for budget in points.tolist():
        base, values = _best(strategy, budget)
        bases.append(strategy.services[base])
        reached.append(values)
    return Outlook(points, tuple(bases), np.array(reached))


def service_worth(strategy: Strategy, budget: float) -> list[dict[str, Any]]:
    """One row per service: accuracy at the budget with all services and without it, and what it saves.

    `budget_without`: what must be spent without the service for the accuracy that the budget reaches with it;
    None when nothing does. A base is left out together with its model.
    """
    base, values = _best(strategy, budget)
    accuracy = float(values.mean())
    rows = []
    for index, service in enumerate(strategy.services):
        rest = _without(strategy, index)
        row: dict[str, Any] = {
            "service": service,
            "price": float(strategy.prices[index]),
            "base": index == base,
        }
        row |= {"accuracy": accuracy, "accuracy_without": None, "budget_without": None}
        if rest and min(prices.base_cost for prices, _ in rest) <= budget:
            row["accuracy_without"] = float(max(_tried(rest, budget), key=np.mean).mean())
        if rest:
            points = np.linspace(budget, budget + float(strategy.prices.max()) * 1.5, STEPS // 2)
            curve = [
                max((one.mean() for one in _tried(rest, point)), default=0.0) for point in points.tolist()
            ]
            found = _first(points, np.array([curve]), accuracy)[0]
            row["budget_without"] = _or_none(found)
        rows.append(row)
    return rows


def _best(strategy: Strategy, budget: float) -> tuple[int, NDArray[np.float64]]:
    delta = strategy.plan_at(budget).delta
    tried = {
        base: reached_out_of_sample(own.estimates, budget, delta)
        for base, own in strategy.training.items()
        if own.estimates.base_cost <= budget
    }
    base = max(tried, key=lambda base: tried[base].mean())
    return base, tried[base]


def _without(strategy: Strategy, index: int) -> list[tuple[Estimates, float]]:
    """Estimates of the other bases, in which the service is never worth asking."""
    found = []
    for base, own in strategy.training.items():
        if base != index:
            hidden = own.estimates.estimated.copy()
            hidden[:, index] = 0.0
            plan = next(plan for plan in strategy.plans.values() if plan.base == base)
            found.append((replace(own.estimates, estimated=hidden), plan.delta))
    return found


def _tried(candidates: Sequence[tuple[Estimates, float]], budget: float) -> list[NDArray[np.float64]]:
    return [
        reached_out_of_sample(estimates, budget, delta)
        for estimates, delta in candidates
        if estimates.base_cost <= budget
    ]


def _first(budgets: NDArray, curves: NDArray, accuracy: float) -> NDArray[np.float64]:
    """(curves,) the first budget at which each reaches the accuracy; infinite where it never does."""
    enough = curves >= accuracy
    return np.where(enough.any(axis=1), budgets[enough.argmax(axis=1)], np.inf)


def _or_none(value: float) -> float | None:
    return None if np.isinf(value) else float(value)


def checked_accuracy(value: float) -> float:
    if not 0 < value <= 1:
        raise FrugalError(f"The accuracy is {value!r}; give a number above 0 and up to 1, such as 0.9.")
    return value
