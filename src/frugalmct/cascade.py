"""Asking on: one service more is asked while its answer is expected to be worth its price.

What has been asked so far is a *state*, a sorted tuple of services. At a state the estimates say how accurate
it is to stop there, and to ask each other service beside; the dual price weighs accuracy against money, at
every step the same. With one step this is the paper's rule. On recorded RAFDB a second step is worth one to
two points where two services fit the budget, a third 0.4 where three do. Each step is decided as if
it were the last: looking further ahead was no better.

A row of estimates has one number per service: that of asking it beside; for the services of the state, which
have been asked, that of stopping.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.checks import cost_vector, real_number, whole_number
from frugalmct.errors import FrugalError
from frugalmct.select import Frontier, frontier
from frugalmct.select.problem import addon_costs, allowance, checked_budget, spend
from frugalmct.select.tiers import best_at, preference_order
from frugalmct.spending import Spending, Stay, turns

State = tuple[int, ...]
Rows = NDArray[np.int64]
# As ties are broken at a state: whom a column asks, -1 for nobody; the columns; what each costs.
Order = tuple[NDArray[np.int64], list[int], NDArray[np.float64]]
STEPS = 3

# What is never chosen: stopping is worth at least 0.
NEVER = -np.inf
# No dual price is above this: prices as small as floats can be would ask for more than there is.
LARGEST = 1e300
# How much of the whole budget a sum of costs may miss by rounding.
ROUNDING = 1e-12


class Walk(NamedTuple):
    """asked: (items, services) who is asked for each item; cost: (items,) what that costs; expected: (items,)
    the accuracy that was expected when the last one was asked, or that of stopping."""

    asked: NDArray[np.bool_]
    cost: NDArray[np.float64]
    expected: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cascade:
    """Estimates of many items at every state that has some.

    prices: (services,); start: who is asked for every item; estimates: for a state the (items, services)
    expected accuracies; steps: how many may be asked beside the start. A state without estimates is an end.
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
        shape = (len(self.estimates[start]), len(prices))
        for state, table in self.estimates.items():
            checked_state("Cascade", state, len(prices))
            if table.shape != shape:
                raise FrugalError(f"Cascade: estimates at {state} are {table.shape}; they must be {shape}.")

    def __len__(self) -> int:
        return len(self.estimates[self.start])

    @cached_property
    def start_cost(self) -> float:
        return float(self.prices[list(self.start)].sum())

    def rows(self, rows: Rows) -> "Cascade":
        """Of some of the items."""
        return replace(self, estimates={state: table[rows] for state, table in self.estimates.items()})

    def without(self, service: int) -> "Cascade":
        """As if a service were never worth asking beside."""
        return replace(
            self,
            estimates={
                state: table if service in state else _with_column(table, service, NEVER)
                for state, table in self.estimates.items()
            },
        )

    def walk(self, dual_price: float) -> Walk:
        """Who is asked at this dual price, whatever it costs."""
        asked = np.zeros((len(self), len(self.prices)), dtype=bool)
        asked[:, list(self.start)] = True
        expected = self.estimates[self.start][:, self.start[0]].copy()
        for state, members, chosen in self._decisions(dual_price):
            columns = np.where(chosen < 0, state[0], chosen)
            expected[members] = self.estimates[state][members, columns]
            going = chosen >= 0
            asked[members[going], chosen[going]] = True
        return Walk(asked, asked @ self.prices, expected)

    def mean_cost(self, dual_price: float) -> float:
        """Of the walk at this dual price."""
        if dual_price not in self._mean_costs:
            counts = np.zeros(len(self.prices) + 1, dtype=np.int64)
            for _, _, chosen in self._decisions(dual_price):
                counts += np.bincount(chosen + 1, minlength=len(counts))
            self._mean_costs[dual_price] = self.start_cost + float(counts[1:] @ self.prices) / len(self)
        return self._mean_costs[dual_price]

    def _decisions(self, dual_price: float) -> Iterator[tuple[State, Rows, NDArray[np.int64]]]:
        """Each state that items come to, those items, and whom they ask there, -1 for nobody."""
        waiting = [(self.start, np.arange(len(self)), self.steps)]
        while waiting:
            state, members, left = waiting.pop()
            if not (left and len(members) and state in self.estimates):
                continue
            services, addon, columns = self._ordered[state]
            some = columns if len(members) == len(self) else [column[members] for column in columns]
            chosen = services[best_at(some, addon.tolist(), dual_price)]
            yield state, members, chosen
            for service in np.flatnonzero(np.bincount(chosen + 1)[1:]).tolist():
                waiting.append((joined(state, service), members[chosen == service], left - 1))

    @cached_property
    def _spending(self) -> Spending:
        """What is asked beside the start costs, at every dual price."""
        stays = []
        everywhere = Stay(np.arange(len(self)), np.zeros(len(self)), np.full(len(self), np.inf))
        waiting = [(self.start, everywhere, self.steps)]
        while waiting:
            state, stay, left = waiting.pop()
            if not (left and len(stay.items) and state in self.estimates):
                continue
            services, addon, columns = self._ordered[state]
            for column, part in turns(columns, addon, stay):
                if (service := int(services[column])) >= 0:
                    stays.append((float(addon[column]), part))
                    waiting.append((joined(state, service), part, left - 1))
        return Spending.of(stays)

    @cached_property
    def _ordered(
        self,
    ) -> dict[State, tuple[NDArray[np.int64], NDArray[np.float64], list[NDArray[np.float64]]]]:
        """Of each state who is asked, what that costs, and the estimates, as ties are broken."""
        found = {}
        for state, table in self.estimates.items():
            services, order, addon = in_order(self.prices, state)
            found[state] = services, addon, [np.ascontiguousarray(table[:, column]) for column in order]
        return found

    @cached_property
    def _mean_costs(self) -> dict[float, float]:
        return {}

    @cached_property
    def _parts(self) -> dict[int, tuple[ArrayLike, "Cascade"]]:
        return {}

    def part(self, rows: Rows) -> "Cascade":
        """`rows`, made once for the same array."""
        if id(rows) not in self._parts:
            self._parts[id(rows)] = rows, self.rows(rows)
        return self._parts[id(rows)][1]

    @cached_property
    def frontier(self) -> Frontier:
        """That of one step: dual price and spend at every budget."""
        # Where nobody can be asked beside, the table would hold what is no accuracy.
        table = np.maximum(self.estimates[self.start], 0.0)
        return frontier(table, self.prices, list(self.start))

    def dual_price(self, budget: float, delta: float = 0.0) -> float:
        """The lowest dual price whose walk costs no more than the budget, δ of the add-on money kept.

        With one step it is the paper's p̂, exactly.
        """
        if self.steps == 1:
            return self.frontier.dual_price(budget, delta)
        target = self.start_cost + max((1 - delta) * (budget - self.start_cost), 0.0)
        # Without the slack the mean of many equal costs may be above any one of them, at every dual price.
        target *= 1 + ROUNDING
        found = self._spending.lowest_within((target - self.start_cost) * len(self))
        # At its turn an item is as well off either way, and rounding may keep it from turning: the dual
        # price is raised by as few units in the last place as put that right.
        nudge = math.ulp(found)
        while self.mean_cost(found) > target and found < LARGEST:
            found, nudge = found + nudge, 2 * nudge
        return found

    def route(self, budget: float, dual_price: float) -> NDArray[np.bool_]:
        """(items, services): who is asked for each item in their order, within the budget."""
        selector = CascadeSelector(self.prices, self.start, budget, len(self), dual_price, self.steps)
        return selector.follow(self)


def _with_column(table: NDArray[np.float64], column: int, value: float) -> NDArray[np.float64]:
    changed = table.copy()
    changed[:, column] = value
    return changed


def best_choices(
    estimates: NDArray[np.float64], prices: NDArray[np.float64], state: State, dual_price: float
) -> NDArray[np.int64]:
    """(items,): the service to ask at a state, -1 to stop; of equals stopping, then the cheapest."""
    services, order, addon = in_order(prices, state)
    return services[np.argmax(estimates[:, order] - dual_price * addon, axis=1)]


def in_order(prices: NDArray[np.float64], state: State) -> Order:
    addon = addon_costs(prices, state)
    order = preference_order(addon, state)
    return np.array([-1 if k in state else k for k in order]), order, addon[order]


def reached(asked: NDArray[np.bool_], accuracy: Mapping[State, NDArray[np.float64]]) -> NDArray[np.float64]:
    """(items,): the accuracy of each item's combined answer, given that of every state for all items."""
    values = np.full(len(asked), np.nan)
    for members, state in _groups(asked):
        values[members] = accuracy[state][members]
    return values


def _groups(asked: NDArray[np.bool_]) -> Iterable[tuple[NDArray[np.int64], State]]:
    """The items of each state that some item came to."""
    # Who is asked for an item as one number, or as several of them where there are many services.
    codes = np.packbits(asked, axis=1)
    first = np.unique(codes[:, 0] if codes.shape[1] == 1 else codes, axis=0, return_index=True)[1]
    for item in first:
        members = np.flatnonzero((codes == codes[item]).all(axis=1))
        yield members, tuple(np.flatnonzero(asked[item]).tolist())


def joined(state: State, service: int) -> State:
    return tuple(sorted((*state, service)))


def checked_state(where: str, state: State, services: int) -> State:
    """A sorted tuple of services, each once."""
    right = isinstance(state, tuple) and state and list(state) == sorted(set(state))
    if not right or not 0 <= state[0] <= state[-1] < services:
        raise FrugalError(f"{where}: {state!r} is not a sorted tuple of some of the {services} services.")
    return state


@dataclass(eq=False)
class CascadeSelector:
    """Decides item by item, never over the budget of `items * budget`.

    Money for the start is kept back for every item to come; what else an item costs must be paid by what is
    left. An item whose best service cannot be paid for stops where it is.
    """

    prices: NDArray[np.float64]
    start: State
    budget: float
    items: int
    dual_price: float
    steps: int = STEPS
    _counts: list[int] = field(init=False)
    _seen: int = field(init=False, default=0)
    _orders: dict[State, Order] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        where = "CascadeSelector"
        self.prices = cost_vector(where, self.prices)
        self.items = whole_number(where, "items", self.items, least=1)
        checked_state(where, self.start, len(self.prices))
        real_number(where, "dual_price", self.dual_price, "a number, 0 or more")
        self._base = float(self.prices[list(self.start)].sum())
        self.budget = checked_budget(where, self.budget, self._base, list(self.start))
        self._units = self.prices.tolist()
        self._counts = [0] * len(self._units)
        self._allowance = allowance(self.items, self.budget, self._base)

    @property
    def spent(self) -> float:
        """Money spent so far."""
        return self._seen * self._base + spend(self._counts, self._units)

    def begin(self) -> State:
        """A new item: who is asked first."""
        if self._seen == self.items:
            raise FrugalError(
                f"CascadeSelector: all {self.items} items that the budget covers have been decided; "
                "make a selector for more items."
            )
        self._seen += 1
        return self.start

    def ask(self, state: State, row: ArrayLike) -> int | None:
        """The service to ask next, or None to stop, given the (services,) estimates at the state."""
        if len(state) >= len(self.start) + self.steps:
            return None
        if state not in self._orders:
            self._orders[state] = in_order(self.prices, state)
        services, order, addon = self._orders[state]
        worth = np.asarray(row, dtype=np.float64)[order] - self.dual_price * addon
        service = int(services[np.argmax(worth)])
        if service < 0 or not self._affordable(service):
            return None
        self._counts[service] += 1
        return service

    def _affordable(self, service: int) -> bool:
        counts = [count + (number == service) for number, count in enumerate(self._counts)]
        return spend(counts, self._units) <= self._allowance

    def run(self, estimates: Mapping[State, NDArray[np.float64]]) -> NDArray[np.bool_]:
        """(items, services): who is asked for each of many items, in their order."""
        return self.follow(Cascade(self.prices, self.start, estimates, self.steps))

    def follow(self, cascade: Cascade) -> NDArray[np.bool_]:
        """The same for a cascade of these prices, start and steps, which may have been walked before."""
        asked, estimates = cascade.walk(self.dual_price).asked, cascade.estimates
        wanting = asked.sum(axis=1) > len(self.start)
        for item in range(self._take_affordable(asked), len(asked)):
            state = self.begin()
            if not wanting[item]:
                continue
            while state in estimates and (service := self.ask(state, estimates[state][item])) is not None:
                state = joined(state, service)
            asked[item] = False
            asked[item, list(state)] = True
        return asked

    def _take_affordable(self, asked: NDArray[np.bool_]) -> int:
        """Counts the items up to the first that may not get all it wants, whose number is returned: so far
        nothing depends on the money, so that they need not be looked at one by one."""
        addon = asked @ self.prices - self._base
        left = self._allowance - spend(self._counts, self._units)
        room = min(self.items - self._seen, len(asked))
        fits = np.cumsum(addon[:room]) <= left - ROUNDING * self.items * self.budget
        first = room if fits.all() else int(np.argmin(fits))
        beside = asked[:first].sum(axis=0)
        beside[list(self.start)] = 0
        self._counts = [count + more for count, more in zip(self._counts, beside.tolist(), strict=True)]
        self._seen += first
        return first
