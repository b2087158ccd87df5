"""Live traffic where a call's cost is known only once it was made.

    router = PerCallRouter("strategy.npz", Budget(total=50, items=100_000), "sqlite:///ledger.db", per=1000)
    result = router.run({"text": "How many ..."}, ask)      # ask(service, item) -> Call(answer, cost)

and in steps, for those who call services themselves:

    ticket = router.open({"text": "How many ..."})
    while ticket.ask:
        router.decide(ticket, Call(answer, cost))           # of ticket.ask; None if the call failed
    result = router.close(ticket)

Money is reserved before a call, by its cap or by the estimate, and settled with what it really cost, in a
ledger that processes may share. A cost divided by `per` is in the unit of the budget.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from frugalmct.errors import FrugalError, listed
from frugalmct.live.accounts import money_of
from frugalmct.live.answers import Nonsense, checked_answer, labels_of
from frugalmct.live.budget import Budget
from frugalmct.live.call_report import CallReport, call_sketch
from frugalmct.live.call_tickets import CallTicket, Estimated, PerCallResult
from frugalmct.live.calls import Call, checked_cost, known_of
from frugalmct.live.ledger import Ledger
from frugalmct.live.purse import Purse
from frugalmct.live.records import LedgerError, Reservation, new_key
from frugalmct.live.tickets import NoAnswer, OutOfMoney
from frugalmct.live.waiting import Soon
from frugalmct.percall import PerCallStrategy
from frugalmct.percall.spending import most_worth
from frugalmct.strategy import Strategy

FAILED = -1e9
"""Stands for the quality of a service that failed: below any other."""
LEAST = 1e-9
"""The smallest sum that money is counted in."""


class PerCallRouter(CallReport, Soon):
    """May be shared by threads; other processes make their own on the same ledger.

    strategy: a `PerCallStrategy` or the file of one. plan: the budget to plan with, of those it was trained
    for; by default the largest that the money pays for, item by item. caps: by service the most that one call
    can cost, by default the price where all calls of a service cost the same; with them nothing is ever spent
    beyond the budget, without them at most what one call of each router costs more than was left.
    """

    def __init__(
        self,
        strategy: PerCallStrategy | str | Path,
        budget: Budget | None = None,
        ledger: str | Ledger | Purse | None = None,
        *,
        per: float = 1,
        plan: float | None = None,
        caps: Mapping[str, float] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        loaded = Strategy.load(strategy) if isinstance(strategy, str | Path) else strategy
        if not isinstance(loaded, PerCallStrategy):
            raise FrugalError("PerCallRouter: this strategy has no costs per call; give it to a Router.")
        self.strategy, self.per, self._clock = loaded, float(per), clock
        self.money = money_of("PerCallRouter", budget, ledger, clock)
        self.plan = loaded.plan(self._planned() if plan is None else plan)
        self.model = loaded.models[self.plan.first]
        if caps is None and loaded.training.priced:  # the price of a call is its own cap
            caps = dict(zip(loaded.services, loaded.prices.tolist(), strict=True))
        self.caps = loaded.checked_caps(caps)
        super().__init__(call_sketch(loaded, self.plan))
        self._labelled = {own.service for own in self.model.answers.services if own.labels is not None}
        self.order = sorted(self.plan.first, key=lambda k: float(self.model.costs.mean[k]))

    def __enter__(self) -> "PerCallRouter":
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()

    def run(
        self, item: Mapping[str, Any], ask: Callable[[str, Any], Call], id: str | None = None
    ) -> PerCallResult:
        """Asks who is asked first, chooses, asks whom it chose; OutOfMoney where the money does not last.

        item: with the `text` and `features` that the strategy learnt from.
        """
        ticket = self.open(item, id)
        while ticket.ask is not None:
            call: Call | Exception
            try:
                call = ask(ticket.ask, item)
            except FrugalError:
                self._let_go(ticket)
                raise
            except Exception as error:
                call = error
            try:
                self.decide(ticket, call)
            except (NoAnswer, OutOfMoney, LedgerError):
                raise  # a call that was made is not given back by guess
            except FrugalError:
                self._let_go(ticket)
                raise
        return self.close(ticket)

    # ---- the three steps

    def open(self, item: Mapping[str, Any], id: str | None = None) -> CallTicket:
        """Reserves the money of the first call: `ticket.ask` says whose. OutOfMoney when there is none."""
        key = new_key()
        known_of(self.model, item, {})  # a mistake is said before money is spent
        ticket = CallTicket(str(id or item.get("id") or key), key, item)
        try:
            self._go_on(ticket)
        except OutOfMoney:
            self.turned_away += 1
            raise
        return ticket

    async def aopen(self, item: Mapping[str, Any], id: str | None = None) -> CallTicket:
        return await self._soon(lambda: self.open(item, id))

    async def adecide(self, ticket: CallTicket, call: Call | Exception | None) -> str | None:
        return await self._soon(lambda: self.decide(ticket, call))

    async def aclose(self, ticket: CallTicket) -> PerCallResult:
        return await self._soon(lambda: self.close(ticket))

    def decide(self, ticket: CallTicket, call: Call | Exception | None) -> str | None:
        """Whom to ask next, given the call of `ticket.ask`; None once the ticket can be closed.

        call: None, or an exception, says that it failed; its money goes back. After a LedgerError the ticket
        is as before: the same may be tried again. OutOfMoney and NoAnswer end it; their `cost` was spent.
        """
        if ticket.ask is None:
            return None
        before = ticket.noted()
        try:
            self._take(ticket, call)
            self._go_on(ticket)
        except (NoAnswer, OutOfMoney) as error:
            error.cost = ticket.cost  # of calls that were made before
            ticket.ask = None
            raise
        except BaseException:  # a step counts whole or not at all
            ticket.restore(before)
            raise
        return ticket.ask

    def close(self, ticket: CallTicket) -> PerCallResult:
        """The answer that stands; an item of which nobody was asked in the end has none."""
        if ticket.ask is not None:
            raise FrugalError(
                f"PerCallRouter.close: item {ticket.id} waits for the call of {ticket.ask}; give it to "
                "decide, or None if it failed."
            )
        if ticket.stands is None:
            raise NoAnswer(f"Item {ticket.id} has no answer: {self._reasons(ticket)}.")
        names = tuple(self.strategy.services[service] for service in ticket.calls)
        answer = ticket.calls[ticket.stands].answer
        expected = None if ticket.known is None else float(ticket.known.accuracy[ticket.stands])
        if ticket.known is not None and expected is not None and not ticket.closed:
            self.traffic.add(ticket.known.accuracy, (), expected, ticket.cost)
        ticket.closed = True
        self.remember(ticket.id, labels_of(answer))
        return PerCallResult(
            ticket.id,
            answer,
            self.strategy.services[ticket.stands],
            names,
            ticket.cost,
            expected,
            ticket.failed,
        )

    def _let_go(self, ticket: CallTicket) -> None:
        """The item ends here, since `ask` gave no call: what is reserved for it goes back."""
        if ticket.reserved is not None:
            self.money.release(ticket.reserved)

    def _take(self, ticket: CallTicket, call: Call | Exception | None) -> None:
        """One call, paid with what it really cost."""
        assert ticket.ask is not None and ticket.reserved is not None  # they come together
        service = self.strategy.services.index(ticket.ask)
        if (failure := self._failure_of(ticket.ask, service, call)) is not None:
            self.money.release(ticket.reserved)
            ticket.failed[ticket.ask] = failure
        else:
            assert isinstance(call, Call)  # else it failed
            cost = ticket.estimate if call.cost is None else checked_cost(call.cost)
            ticket.cost += self.money.settle(ticket.reserved, cost / self.per)
            ticket.paid += cost
            ticket.calls[service] = Call(call.answer, cost, call.features)
        ticket.ask, ticket.reserved = None, None

    def _failure_of(self, name: str, service: int, call: Any) -> str | None:
        """Why this is no call that can be used; None if it can be."""
        if call is None:
            return "the call failed"
        if isinstance(call, Exception):
            return f"{type(call).__name__}: {call}"[:200]
        if not isinstance(call, Call):
            raise FrugalError(f"ask gave a {type(call).__name__} for {name}; give a frugalmct.live.Call.")
        if call.cost is not None:
            checked_cost(call.cost)
        if service in self._labelled:
            try:
                checked_answer(call.answer)
            except Nonsense as error:
                return f"{type(error).__name__}: {error}"[:200]
        return None

    def _go_on(self, ticket: CallTicket) -> None:
        """Names the next one to ask, its money reserved, or whose answer stands."""
        services, mean = self.strategy.services, self.model.costs.mean
        for service in self.order:
            if service not in ticket.calls and services[service] not in ticket.failed:
                return self._ask(ticket, service, float(mean[service]))
        if any(services[service] in ticket.failed for service in self.order):
            return self._without_estimates(ticket)
        if ticket.known is None:
            known = known_of(self.model, ticket.item, ticket.calls)
            accuracy, costs = self.model.estimate(known, self.strategy.items.table(known))
            ticket.known = Estimated(accuracy[0], costs[0], self._dual_price(ticket))
        return self._choose(ticket, ticket.known)

    def _choose(self, ticket: CallTicket, known: Estimated) -> None:
        """The service whose answer stands, to be asked if it was not; one that failed is passed over."""
        added = [service for service in ticket.calls if service not in self.plan.first]
        if added:
            ticket.stands = added[0]
            return
        accuracy = known.accuracy.copy()
        for name in ticket.failed:
            accuracy[self.strategy.services.index(name)] = FAILED
        best = max(ticket.calls, key=lambda k: accuracy[k], default=None)
        if ticket.failed and best is not None:
            ticket.stands = best
            return
        choice = int(most_worth(accuracy[None], known.costs[None], list(ticket.calls), known.dual_price)[0])
        if accuracy[choice] < 0:
            raise NoAnswer(f"Item {ticket.id} has no answer: {self._reasons(ticket)}.")
        if choice in ticket.calls:
            ticket.stands = choice
        elif self._affordable(ticket, choice, float(known.costs[choice])):
            self._ask(ticket, choice, float(known.costs[choice]))
        elif best is not None:
            ticket.stands = best
        else:
            left = [k for k in range(len(accuracy)) if accuracy[k] >= 0]
            choice = min(left, key=lambda k: known.costs[k])
            self._ask(ticket, choice, float(known.costs[choice]))

    def _without_estimates(self, ticket: CallTicket) -> None:
        """Without all the first answers nothing is estimated: whoever did answer stands; if none did, the
        cheapest that does."""
        if ticket.calls:
            ticket.stands = list(ticket.calls)[-1]
            return None
        mean = self.model.costs.mean
        for service in np.argsort(mean, kind="stable").tolist():
            if self.strategy.services[service] not in ticket.failed:
                return self._ask(ticket, service, float(mean[service]))
        raise NoAnswer(f"Item {ticket.id} has no answer: {self._reasons(ticket)}.")

    def _ask(self, ticket: CallTicket, service: int, estimate: float) -> None:
        ticket.reserved = self._reserve(ticket, service, estimate)
        ticket.ask, ticket.estimate = self.strategy.services[service], estimate

    def _reserve(self, ticket: CallTicket, service: int, estimate: float) -> Reservation:
        name = self.strategy.services[service]
        wanted = estimate if self.caps is None else float(self.caps[service])
        amount = wanted / self.per
        if self.caps is None:  # a call is made while there is money, whatever it may cost
            amount = max(min(amount, self.money.state().left), LEAST)
        made = self.money.reserve(amount, name, ticket.key)
        if made is None:
            raise OutOfMoney(
                f"Item {ticket.id}: {self.money.state().left:g} is left of the budget, which does not pay "
                f"for {name}."
            )
        return made

    def _affordable(self, ticket: CallTicket, service: int, estimate: float) -> bool:
        """Whether enough would be left for the items to come."""
        coming = self._coming(ticket)
        needed = estimate if self.caps is None else float(self.caps[service])
        kept = 0.0 if coming is None else self.model.curve.kept(coming)
        return (needed + kept) / self.per <= self.money.state().left

    def _dual_price(self, ticket: CallTicket) -> float:
        """That of the money left per item left; where the items are not known, that of the plan."""
        coming = self._coming(ticket)
        if coming is None:
            return self.plan.dual_price
        return self.model.curve.at((self.money.state().left * self.per + ticket.paid) / (coming + 1))

    def _coming(self, ticket: CallTicket) -> float | None:
        """How many items come after this one, as far as that is known."""
        state = self.money.state()
        seen = state.items + (not ticket.calls)  # an item is counted with its first call
        return self._items_after(seen, self._clock(), state)

    def _planned(self) -> float:
        budgets = sorted(self.strategy.plans)
        if self.money.budget.items is None:
            return budgets[-1]
        each = self.money.budget.amount * self.per / self.money.budget.items
        payable = [budget for budget in budgets if budget <= each * (1 + 1e-9)]
        if not payable:
            raise FrugalError(
                f"PerCallRouter: the money is {each:g} an item, but the strategy was trained for "
                f"{listed(budgets)}; give more money, or train it with that budget."
            )
        return payable[-1]

    def _reasons(self, ticket: CallTicket) -> str:
        return "; ".join(f"{name}: {why}" for name, why in ticket.failed.items()) or "no service was asked"
