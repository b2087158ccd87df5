"""What a budget buys and what each service is worth, by the training items out of sample.

A strategy keeps estimates of its training items by trees that did not see them. Here dual prices come from
four fifths of the items and are tried on the rest, fold by fold, so that every item counts once with choices
that were made without it. Of learned combiners the accuracies are those of folds they have not seen; only by
the paper's method a combiner's two numbers were chosen on all items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import Cascade, CascadePlan, State
from frugalmct.errors import FrugalError
from frugalmct.plans import check_budget
from frugalmct.seeds import generator
from frugalmct.strategy import Strategy
from frugalmct.training import folds

STEPS = 40
DRAWS = 300


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
    prices, base_cost = strategy.prices, strategy.training.base_cost
    lowest = min(map(base_cost, strategy.bases))
    highest = max(
        base_cost(base) + np.sort(np.delete(prices, base))[-strategy.steps :].sum() for base in strategy.bases
    )
    points = np.linspace(lowest, highest, STEPS) if budgets is None else np.sort(np.asarray(budgets, float))
    cascades = _cascades(strategy)
    found = [_best(strategy, cascades, budget) for budget in points.tolist()]
    return Outlook(
        points, tuple(strategy.names(base) for base, _ in found), np.array([reached for _, reached in found])
    )


def service_worth(strategy: Strategy, budget: float) -> list[dict[str, Any]]:
    """One row per service: accuracy at the budget with all services and without it, and what it saves.

    `budget_without`: what must be spent without the service for the accuracy that the budget reaches with it;
    None when nothing does. A base is left out together with its model.
    """
    check_budget("Strategy", strategy.prices, budget, strategy.bases)
    base, values = _best(strategy, _cascades(strategy), budget)
    accuracy = float(values.mean())
    rows = []
    for index, service in enumerate(strategy.services):
        rest = [cascade.without(index) for cascade in _cascades(strategy) if index not in cascade.start]
        row: dict[str, Any] = {
            "service": service,
            "price": float(strategy.prices[index]),
            "base": index in base,
        }
        row |= {"accuracy": accuracy, "accuracy_without": None, "budget_without": None}
        if rest and min(cascade.start_cost for cascade in rest) <= budget:
            row["accuracy_without"] = float(_best(strategy, rest, budget)[1].mean())
        if rest:
            points = np.linspace(budget, budget + float(strategy.prices.max()) * 1.5, STEPS // 2)
            row["budget_without"] = _cheapest_of(strategy, rest, points, accuracy)
        rows.append(row)
    return rows


def _cheapest_of(
    strategy: Strategy, cascades: Sequence[Cascade], points: NDArray[np.float64], accuracy: float
) -> float | None:
    """The first of rising budgets that reaches an accuracy; those beyond it are not tried."""
    for budget in points.tolist():
        payable = any(cascade.start_cost <= budget for cascade in cascades)
        if payable and _best(strategy, cascades, budget)[1].mean() >= accuracy:
            return budget
    return None


def _cascades(strategy: Strategy) -> list[Cascade]:
    return [strategy.training.cascade(base) for base in strategy.bases]


def promised(strategy: Strategy, plan: CascadePlan) -> float:
    """The mean accuracy of a plan's base and δ at its budget."""
    trials = folds(len(strategy.training), strategy.made.seed)
    cascade = strategy.training.cascade(plan.base)
    return float(strategy.training.tried(cascade, plan.budget, plan.delta, trials).mean())


def _best(
    strategy: Strategy, cascades: Sequence[Cascade], budget: float
) -> tuple[State, NDArray[np.float64]]:
    """The base that does best at a budget, and the true accuracy of what is then chosen for each item, at the
    dual price of the other folds."""
    delta, training = strategy.plan_near(budget).delta, strategy.training
    trials = folds(len(training), strategy.made.seed)
    tried = {
        cascade.start: training.tried(cascade, budget, delta, trials)
        for cascade in cascades
        if cascade.start_cost <= budget
    }
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
