"""Asking on: one service more is asked while its answer is expected to be worth its price.

What has been asked so far is a *state*, a sorted tuple of services. At a state the estimates say how accurate
it is to stop there, and to ask each other service beside; the dual price weighs accuracy against money, at
every step the same. With one step this is the paper's rule. On recorded RAFDB a second step is worth one to
two points where two services fit the budget. Each step is decided as if it were the last: looking further
ahead was no better.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.checks import cost_vector, real_number, whole_number
from frugalmct.errors import FrugalError
from frugalmct.select.problem import allowance, checked_budget, spend

State = tuple[int, ...]
STEPS = 2

# How exactly a dual price is found, as a share of it; spend is a step function, so that more has no use.
PRECISION = 1e-7
# How much of the whole budget a sum of costs may miss by rounding.
ROUNDING = 1e-12


class Walk(NamedTuple):
    """asked: (items, services) who is asked for each item; cost: (items,) what that costs."""

    asked: NDArray[np.bool_]
    cost: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cascade:
    """Estimates of many items at every state that has some.

    prices: (services,); start: who is asked for every item; estimates: for a state the (items, 1 + services)
    expected accuracy of stopping there, then of asking each service beside (columns of services already asked
    are not looked at); steps: how many may be asked beside the start. A state without estimates is an end.
    """

    prices: NDArray[np.float64]
    start: State
    estimates: Mapping[State, NDArray[np.float64]]
    steps: int = STEPS

    def __post_init__(self) -> None:
        prices = cost_vector("Cascade", self.prices)
        start = checked_state("Cascade", self.start, len(prices))
        whole_number("Cascade", "steps", self.steps, least=0)
        if start not in self.estimates:
            raise FrugalError(f"Cascade: there are no estimates for the start {start}; give them.")
        shape = (len(self.estimates[start]), 1 + len(prices))
        for state, table in self.estimates.items():
            checked_state("Cascade", state, len(prices))
            if table.shape != shape:
                raise FrugalError(f"Cascade: estimates at {state} are {table.shape}; they must be {shape}.")

    @property
    def items(self) -> int:
        return len(self.estimates[self.start])

    @property
    def start_cost(self) -> float:
        return float(self.prices[list(self.start)].sum())

    def walk(self, dual_price: float, rows: NDArray[np.int64] | None = None) -> Walk:
        """Who is asked at this dual price, whatever it costs; of some of the items, if rows are given."""
        rows = np.arange(self.items) if rows is None else rows
        asked = np.zeros((len(rows), len(self.prices)), dtype=bool)
        asked[:, list(self.start)] = True
        waiting = [(self.start, np.arange(len(rows)), self.steps)]
        while waiting:
            state, members, left = waiting.pop()
            if not (left and len(members) and state in self.estimates):
                continue
            chosen = best_choices(self.estimates[state][rows[members]], self.prices, state, dual_price)
            for service in np.unique(chosen[chosen >= 0]).tolist():
                going = members[chosen == service]
                asked[going, service] = True
                waiting.append((joined(state, service), going, left - 1))
        return Walk(asked, asked @ self.prices)

    def dual_price(self, budget: float, delta: float = 0.0, rows: NDArray[np.int64] | None = None) -> float:
        """The lowest dual price found whose walk costs no more than the budget, δ of the add-on money kept.

        Spend falls as the dual price rises but for rare exceptions (a more expensive first service may make a
        second one needless): halving the interval finds a dual price within the budget next to one beyond it.
        """
        target = self.start_cost + max((1 - delta) * (budget - self.start_cost), 0.0)

        # Without the slack the mean of many equal costs may be above any one of them, at every dual price.
        target *= 1 + ROUNDING

        def within(dual_price: float) -> bool:
            return float(self.walk(dual_price, rows).cost.mean()) <= target

        if within(0.0):
            return 0.0
        high = 1.0 / float(self.prices.max())  # what one call would be worth if it made all the difference
        while not within(high):
            high *= 2
        low = high / 2
        while within(low):
            low, high = low / 2, low
        while high - low > PRECISION * high:
            middle = (low + high) / 2
            low, high = (low, middle) if within(middle) else (middle, high)
        return high


def best_choices(
    estimates: NDArray[np.float64], prices: NDArray[np.float64], state: State, dual_price: float
) -> NDArray[np.int64]:
    """(items,): the service to ask at a state, -1 to stop; of equals stopping, then the cheapest."""
    free = [k for k in range(len(prices)) if k not in state]
    order = sorted(free, key=lambda k: prices[k])
    columns = [estimates[:, 0], *(estimates[:, 1 + k] - dual_price * prices[k] for k in order)]
    return np.array([-1, *order])[np.argmax(np.column_stack(columns), axis=1)]


def reached(asked: NDArray[np.bool_], accuracy: Mapping[State, NDArray[np.float64]]) -> NDArray[np.float64]:
    """(items,): the accuracy of each item's combined answer, given that of every state for all items."""
    values = np.full(len(asked), np.nan)
    for who in np.unique(asked, axis=0):
        members = np.all(asked == who, axis=1)
        values[members] = accuracy[tuple(np.flatnonzero(who).tolist())][members]
    return values


def joined(state: State, service: int) -> State:
    return tuple(sorted((*state, service)))


def checked_state(where: str, state: State, services: int) -> State:
    """A sorted tuple of services, each once."""
    right = isinstance(state, tuple) and state and list(state) == sorted(set(state))
    if not right or not 0 <= state[0] <= state[-1] < services:
        raise FrugalError(f"{where}: {state!r} is not a sorted tuple of some of the {services} services.")
    return state


@dataclass(frozen=True)
class CascadePlan:
    """Who is asked for every item, and the dual price for asking on."""

    start: State
    dual_price: float


@dataclass(eq=False)
class CascadeSelector:
    """Decides item by item, never over the budget of `items * budget`, whichever plan an item is given.

    Money for the cheapest plan's start is kept back for every item to come; what else an item costs must be
    paid by what is left. With several plans, each item is given one of them (`mixtures.draw_plans`).
    """

    prices: NDArray[np.float64]
    plans: tuple[CascadePlan, ...]
    budget: float
    items: int
    steps: int = STEPS
    _counts: list[int] = field(init=False)
    _seen: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        where = "CascadeSelector"
        self.prices = cost_vector(where, self.prices)
        self.items = whole_number(where, "items", self.items, least=1)
        if not self.plans:
            raise FrugalError(f"{where}: no plans were given; give at least one.")
        for plan in self.plans:
            checked_state(where, plan.start, len(self.prices))
            real_number(where, "dual_price", plan.dual_price, "a number, 0 or more")
        starts = [float(self.prices[list(plan.start)].sum()) for plan in self.plans]
        self.cheapest = int(np.argmin(starts))
        self.budget = checked_budget(
            where, self.budget, starts[self.cheapest], self.plans[self.cheapest].start
        )
        self._base = starts[self.cheapest]
        # What may be counted: each service as an add-on, then each plan's start beyond the cheapest one's.
        self._units = [*self.prices.tolist(), *(start - self._base for start in starts)]
        self._counts = [0] * len(self._units)
        self._allowance = allowance(self.items, self.budget, self._base)

    @property
    def spent(self) -> float:
        """Money spent so far."""
        return self._seen * self._base + spend(self._counts, self._units)

    def begin(self, plan: int = 0) -> int:
        """A new item: the plan whose start to ask, the cheapest if this one can no longer be paid."""
        if self._seen == self.items:
            raise FrugalError(
                f"CascadeSelector: all {self.items} items that the budget covers have been decided; "
                "make a selector for more items."
            )
        self._seen += 1
        plan = plan if self._affordable(len(self.prices) + plan) else self.cheapest
        self._counts[len(self.prices) + plan] += 1
        return plan

    def ask(self, plan: int, state: State, row: ArrayLike) -> int | None:
        """The service to ask next, or None to stop, given the (1 + services,) estimates at the state."""
        if len(state) >= len(self.plans[plan].start) + self.steps:
            return None
        table = np.asarray(row, dtype=np.float64)[None]
        service = int(best_choices(table, self.prices, state, self.plans[plan].dual_price)[0])
        if service < 0 or not self._affordable(service):
            return None
        self._counts[service] += 1
        return service

    def _affordable(self, unit: int) -> bool:
        counts = [count + (number == unit) for number, count in enumerate(self._counts)]
        return spend(counts, self._units) <= self._allowance

    def run(
        self, estimates: Mapping[State, NDArray[np.float64]], which: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """(items, services): who is asked for each of many items, in their order; which: (items,) plans."""
        items = len(next(iter(estimates.values())))
        which = np.zeros(items, dtype=np.int64) if which is None else np.asarray(which)
        asked = np.zeros((items, len(self.prices)), dtype=bool)
        for number, plan in enumerate(self.plans):
            rows = np.flatnonzero(which == number)
            asked[rows] = (
                Cascade(self.prices, plan.start, estimates, self.steps).walk(plan.dual_price, rows).asked
            )
        first = self._take_affordable(asked, which)
        for item in range(first, items):
            plan = self.begin(int(which[item]))
            state = self.plans[plan].start
            while (
                state in estimates and (service := self.ask(plan, state, estimates[state][item])) is not None
            ):
                state = joined(state, service)
            asked[item] = False
            asked[item, list(state)] = True
        return asked

    def _take_affordable(self, asked: NDArray[np.bool_], which: NDArray[np.int64]) -> int:
        """Counts the items up to the first that may not get all it wants, whose number is returned: so far
        nothing depends on the money, so that they need not be looked at one by one."""
        addon = asked @ self.prices - self._base
        left = self._allowance - spend(self._counts, self._units)
        room = min(self.items - self._seen, len(asked))
        fits = np.cumsum(addon[:room]) <= left - ROUNDING * self.items * self.budget
        first = room if fits.all() else int(np.argmin(fits))
        started = np.bincount(which[:first], minlength=len(self.plans))
        for number, plan in enumerate(self.plans):
            beside = asked[:first][which[:first] == number].sum(axis=0)
            beside[list(plan.start)] = 0
            for service, count in enumerate(beside.tolist()):
                self._counts[service] += count
            self._counts[len(self.prices) + number] += int(started[number])
        self._seen += first
        return first
