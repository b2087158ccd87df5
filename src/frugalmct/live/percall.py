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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from frugalmct.errors import FrugalError, listed
from frugalmct.live.accounts import money_of
from frugalmct.live.answers import labels_of
from frugalmct.live.asking import Asking
from frugalmct.live.breaker import Breaker, Patience
from frugalmct.live.budget import Budget
from frugalmct.live.call_choosing import CallChoosing
from frugalmct.live.call_report import CallReport, call_sketch
from frugalmct.live.call_tickets import CallTicket, PerCallResult
from frugalmct.live.calls import Call, checked_cost, fault_of, known_of
from frugalmct.live.ledger import Ledger
from frugalmct.live.purse import Purse
from frugalmct.live.records import LedgerError, new_key
from frugalmct.live.tickets import NoAnswer, OutOfMoney
from frugalmct.percall import PerCallStrategy
from frugalmct.strategy import Strategy


class PerCallRouter(CallReport, CallChoosing, Asking[CallTicket, PerCallResult]):
    """May be shared by threads; other processes make their own on the same ledger.

    strategy: a `PerCallStrategy` or the file of one. plan: the budget to plan with, of those it was trained
    for; by default the largest that the money pays for, item by item. caps: by service the most that one call
    can cost, by default the price where all calls of a service cost the same; with them nothing is booked
    beyond the budget (what failed or timed out is booked where `charges_failures` says so), without them at
    most what one call of each router costs more than was left. patience: timeouts, retries and when to leave
    a service out; special: that of single services.
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
        patience: Patience | None = None,
        special: Mapping[str, Patience] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        loaded = Strategy.load(strategy) if isinstance(strategy, str | Path) else strategy
        if not isinstance(loaded, PerCallStrategy):
            raise FrugalError("PerCallRouter: this strategy has no costs per call; give it to a Router.")
        self.strategy, self.per, self._clock = loaded, float(per), clock
        self.money = money_of("PerCallRouter", budget, ledger, clock)
        self.breaker = Breaker(patience or Patience(), dict(special or {}))
        self.plan = loaded.plan(self._planned() if plan is None else plan)
        self.model = loaded.models[self.plan.first]
        if caps is None and loaded.training.priced:  # the price of a call is its own cap
            caps = dict(zip(loaded.services, loaded.prices.tolist(), strict=True))
        self.caps = loaded.checked_caps(caps)
        super().__init__(call_sketch(loaded, self.plan))
        self.order = sorted(self.plan.first, key=lambda k: float(self.model.costs.mean[k]))

    def __enter__(self) -> "PerCallRouter":
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()

    # ---- the three steps

    def open(
        self, item: Mapping[str, Any], id: str | None = None, *, features: Sequence[float] | None = None
    ) -> CallTicket:
        """Reserves the money of the first call: `ticket.ask` says whose. OutOfMoney when there is none.

        item: with the `text` and `features` that the strategy learnt from; the latter may be given apart.
        """
        key = new_key()
        if features is not None:
            item = {**item, "features": features}
        # A mistake is said before money is spent.
        columns = self.strategy.items.table(known_of(self.model, item, {}))
        ticket = CallTicket(str(id or item.get("id") or key), key, item, columns)
        try:
            self._go_on(ticket)
        except OutOfMoney:
            self.turned_away += 1
            raise
        return ticket

    def decide(self, ticket: CallTicket, call: Call | Exception | None) -> str | None:
        """Whom to ask next, given the call of `ticket.ask`; None once the ticket can be closed.

        call: None, or an exception, says that it failed. Its money goes back, unless the provider charges for
        failures; an answer that cannot be used is paid if its cost is known. After a LedgerError the ticket
        is as before: the same may be tried again. OutOfMoney and NoAnswer end it; their `cost` was spent.
        """
        if ticket.ask is None:
            return None
        before, name, failure = ticket.noted(), ticket.ask, None
        try:
            failure = self._take(ticket, call)
            self._go_on(ticket)
        except (NoAnswer, OutOfMoney) as error:
            error.cost = ticket.cost  # of calls that were made before
            ticket.ask = None
            self._note(name, failure)
            raise
        except BaseException:  # a step counts whole or not at all
            ticket.restore(before)
            raise
        self._note(name, failure)
        return ticket.ask

    def _note(self, name: str, failure: str | None) -> None:
        """Once the step is done: it may be tried again, and the failure is one."""
        if failure is not None:
            self._note_failure(name, failure)

    def close(self, ticket: CallTicket, call: Call | None = None) -> PerCallResult:
        """The answer that stands. call: that of `ticket.ask`, where it was not given to `decide`."""
        if ticket.ask is not None and call is not None:
            self.decide(ticket, call)
        if ticket.ask is not None:
            raise FrugalError(
                f"PerCallRouter.close: item {ticket.id} waits for the call of {ticket.ask}; give it to "
                "decide, or None if it failed."
            )
        if ticket.stands is None:
            nobody = NoAnswer(f"Item {ticket.id} has no answer: {ticket.reasons()}.")
            nobody.cost = ticket.cost
            raise nobody
        names = tuple(self.strategy.services[service] for service in ticket.calls)
        answer = ticket.calls[ticket.stands].answer
        expected = None if ticket.known is None else float(ticket.known.accuracy[ticket.stands])
        if ticket.known is not None and not self._missing(ticket) and not ticket.closed:
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

    # ---- calls

    def _hand_over(self, ticket: CallTicket, answer: Any) -> None:
        try:
            self.decide(ticket, answer)
        except (NoAnswer, OutOfMoney, LedgerError):
            raise  # a call that was made is not given back by guess
        except FrugalError:  # `ask` gave no call at all
            if ticket.reserved is not None:
                self.money.release(ticket.reserved)
            raise

    def _again(self, ticket: CallTicket, answer: Any) -> bool:
        """A failed call that costs something is booked, and the next one must be paid for, too.

        After False the failure is noted: `decide` does not do so again.
        """
        name, before = ticket.ask, ticket.noted()
        if name is None or ticket.reserved is None or not (failure := self._failure_or_mistake(name, answer)):
            return False
        try:
            again = self._try_again(ticket, name, answer, failure)
        except BaseException:  # a step counts whole or not at all
            ticket.restore(before)
            raise
        if not again:
            ticket.failed[name] = failure
        return again

    def _try_again(self, ticket: CallTicket, name: str, answer: Any, failure: str) -> bool:
        costs = self._failed_cost(ticket, answer) is not None
        if costs:
            self.money.may_wait()  # before the failure is noted, so that it is once
        if not self._note_failure(name, failure):
            return False
        if not costs:
            return True
        self._end_failed(ticket, answer)
        service = self.strategy.services.index(name)
        wanted = service in self.plan.first or not ticket.calls
        if wanted or self._affordable(ticket, service, ticket.estimate):
            ticket.reserved = self._reserve(ticket, service, ticket.estimate)
        return ticket.reserved is not None

    def _without_answer(self, id: str, error: FrugalError) -> PerCallResult:
        return PerCallResult(id, None, None, (), getattr(error, "cost", 0.0), None, error=str(error))

    def _take(self, ticket: CallTicket, call: Call | Exception | None) -> str | None:
        """One call, paid with what it really cost; returns a failure that is to be noted."""
        name = ticket.ask
        assert name is not None  # else nothing is waited for
        new = None
        if (failure := self._failure_of(name, call)) is not None:
            self.money.may_wait()  # for money that comes back, if others are to be asked
            if name not in ticket.failed:  # else it was noted when it was not asked again
                new = failure
            self._end_failed(ticket, call)
            ticket.failed[name] = failure
        else:
            assert isinstance(call, Call)  # else it failed
            cost = ticket.estimate if call.cost is None else checked_cost(call.cost)
            self._pay(ticket, cost)
            ticket.calls[self.strategy.services.index(name)] = Call(call.answer, cost, call.features)
            self.breaker.succeeded(name)
        ticket.ask = None
        return new

    def _end_failed(self, ticket: CallTicket, call: Any) -> None:
        """Gives the money back, or books what the failure costs; a retry may not have had any."""
        if ticket.reserved is None:
            return
        if (cost := self._failed_cost(ticket, call)) is not None:
            self._pay(ticket, cost)
        else:
            self.money.release(ticket.reserved)
            ticket.reserved = None

    def _failed_cost(self, ticket: CallTicket, call: Any) -> float | None:
        """What a call that failed costs all the same, in the unit of calls; None for nothing."""
        if isinstance(call, Call) and call.cost is not None:
            return checked_cost(call.cost)
        charged = self.breaker.patience_of(ticket.ask or "").charges_failures
        return ticket.estimate if charged else None

    def _pay(self, ticket: CallTicket, cost: float) -> None:
        assert ticket.reserved is not None  # it was, before the call
        ticket.cost += self.money.settle(ticket.reserved, cost / self.per)
        ticket.paid += cost
        ticket.reserved = None

    def _failure_of(self, name: str, call: Any) -> str | None:
        """Why this is no call that can be used; None if it can be. What is no call at all is a mistake."""
        if call is None:
            return "the call failed"
        if isinstance(call, Exception):
            return f"{type(call).__name__}: {call}"[:300]
        if not isinstance(call, Call):
            raise FrugalError(f"ask gave a {type(call).__name__} for {name}; give a frugalmct.live.Call.")
        if call.cost is not None:
            checked_cost(call.cost)
        return fault_of(self.model, self.strategy.services.index(name), call)

    def _failure_or_mistake(self, name: str, call: Any) -> str | None:
        """Why it may be worth asking again; a mistake is not, and is said by `decide`."""
        try:
            return self._failure_of(name, call)
        except FrugalError:
            return None

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
