"""Plans: what to do at a budget, chosen by trying it on training items held out for that."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import MAX_MONEY
from frugalmct.errors import FrugalError, listed
from frugalmct.estimates import Estimates
from frugalmct.values import shown

if TYPE_CHECKING:
    from frugalmct.market import Market

AUTO = "auto"
DELTA = 0.01
# The paper's candidates: δ = α log N / N.
ALPHAS = range(-10, 11)

AnyPlan = TypeVar("AnyPlan")


@dataclass(frozen=True)
class Plan:
    """What to do at one budget: the base always asked, and the buffer δ; estimates give its dual price."""

    budget: float
    base: int
    delta: float


def make_plans(
    candidates: Sequence[Estimates],
    held_out: NDArray[np.int64],
    budgets: Sequence[float],
    delta: float | str = DELTA,
) -> list[Plan]:
    """Base and δ for every budget, by the accuracy reached on the held-out rows.

    Each candidate holds one base's estimates of the training items; dual prices come from the rows that are
    not held out. No forest is grown for it: estimates of training items are out of sample.
    """
    deltas = deltas_to_try(delta, len(candidates[0]))
    if len(candidates) == 1 and len(deltas) == 1:
        return [Plan(float(budget), candidates[0].base, deltas[0]) for budget in budgets]
    kept = np.setdiff1d(np.arange(len(candidates[0])), held_out)
    trials = [_Trial(candidate.rows(kept), candidate.rows(held_out)) for candidate in candidates]
    return [_best_plan(trials, budget, deltas) for budget in budgets]


@dataclass(frozen=True, eq=False)
class _Trial:
    """A base: dual prices come from some of the training items, and are tried on the others."""

    priced_on: Estimates
    tried_on: Estimates

    def score(self, budget: float, delta: float) -> float:
        """Mean accuracy reached."""
        choices = self.tried_on.route(budget, self.priced_on.dual_price(budget, delta))
        return float(self.tried_on.reached(choices).mean())


def _best_plan(trials: Sequence[_Trial], budget: float, deltas: Sequence[float]) -> Plan:
    """First the base, at the ordinary δ; then δ for that base: as the paper does, one after the other."""
    usual = min(deltas, key=lambda delta: abs(delta - DELTA))
    affordable = [trial for trial in trials if trial.priced_on.base_cost <= budget]
    best = max(affordable, key=lambda trial: trial.score(budget, usual))
    delta = max(deltas, key=lambda delta: (best.score(budget, delta), -abs(delta - DELTA)))
    return Plan(float(budget), best.priced_on.base, delta)


def budget_list(budgets: Sequence[float] | float) -> list[float]:
    """One budget is a list of one; none comes twice."""
    given: list[Any] = [budgets]
    if isinstance(budgets, np.ndarray) and budgets.ndim == 0:
        given = [budgets.item()]
    elif isinstance(budgets, Iterable) and not isinstance(budgets, str | Mapping):
        given = list(budgets)
    if not given:
        raise FrugalError("Strategy.fit: no budgets were given; give at least one.")
    return list(dict.fromkeys(one_budget(budget) for budget in given))


def one_budget(value: object) -> float:
    """A budget as given, if it is a number at all."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise FrugalError(
            f"Strategy: a budget is {shown(value)}; give a number, the mean cost that an item may incur."
        )
    return float(value)


def trained_plan(plans: Mapping[float, AnyPlan], budget: float) -> AnyPlan:
    """That of the budget, of a strategy's plans by budget."""
    if one_budget(budget) not in plans:
        raise FrugalError(
            f"This strategy was not trained for budget {budget:g}; it knows {listed(plans)}. "
            "Train it with that budget."
        )
    return plans[float(budget)]


def check_budget(
    where: str, prices: NDArray[np.float64], budget: float, bases: Sequence[int | Sequence[int]]
) -> None:
    """That a budget pays for some base: a service, or several together."""
    check_pays(where, budget, min(float(prices[np.atleast_1d(base)].sum()) for base in bases))


def check_pays(where: str, budget: float, cheapest: float) -> None:
    """That a budget is what the cheapest base costs, or more."""
    if isinstance(budget, bool) or not isinstance(budget, Real) or not cheapest <= budget < math.inf:
        raise FrugalError(
            f"{where}: the budget {budget!r} does not pay for the base service, which every "
            f"item is sent to; give a number of at least {cheapest:g}."
        )


def new_prices(
    services: Sequence[str], old: NDArray[np.float64], prices: Mapping[str, float]
) -> NDArray[np.float64]:
    """(services,) of which those that are named have a new price."""
    where = "Strategy.with_prices"
    if unknown := [name for name in prices if name not in services]:
        raise FrugalError(
            f"{where}: there is no service {listed(map(repr, unknown))}; its services: {listed(services)}."
        )
    new = np.array(old, dtype=np.float64)
    for name, price in prices.items():
        if isinstance(price, bool) or not isinstance(price, Real) or not 0 <= price <= MAX_MONEY:
            raise FrugalError(f"{where}: the price of {name} is {price!r}; give a number, 0 or more.")
        new[services.index(name)] = price
    return new


def check_prices(services: Sequence[str], prices: NDArray[np.float64], market: "Market") -> None:
    """That a market has the prices that a strategy was made for."""
    theirs = [float(market.prices[market.service_index(service)]) for service in services]
    if not np.allclose(theirs, prices, rtol=1e-9, atol=0):
        raise FrugalError(
            f"Market {market.name} has the prices {_priced(services, theirs)}, but the strategy was "
            f"made for {_priced(services, prices)}; give the market those prices, or take "
            "strategy.with_prices({...}) for the new ones."
        )


def _priced(services: Sequence[str], prices: Iterable[float]) -> str:
    return listed(f"{service} {price:g}" for service, price in zip(services, prices, strict=True))


def deltas_to_try(delta: float | str, items: int) -> list[float]:
    """The given δ, or the paper's candidates for `auto`."""
    if delta == AUTO:
        # Never above 1: for a handful of items log N / N is large.
        return [min(alpha * math.log(items) / items, 1.0) for alpha in ALPHAS]
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not -10 <= delta <= 1:
        raise FrugalError(
            f"delta is {delta!r}; it must be `auto` or a number from -10 to 1, such as {DELTA}."
        )
    return [float(delta)]
