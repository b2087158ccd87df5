"""Whom a router of costs per call asks: those asked first, whoever is worth most, others when some fail.

Money is reserved before a service is named. A service that fails too often is left out for a while; where all
the money is reserved, and an item has no answer yet, this waits a little for some of it to come back.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from frugalmct.live.breaker import Breaker
from frugalmct.live.call_tickets import CallTicket, Estimated
from frugalmct.live.calls import Call, fault_of, known_of
from frugalmct.live.choosing import RETURNS
from frugalmct.live.ledger import Ledger
from frugalmct.live.purse import Purse
from frugalmct.live.records import Reservation
from frugalmct.live.tickets import NoAnswer, OutOfMoney
from frugalmct.percall import PerCallPlan, PerCallStrategy
from frugalmct.percall.model import FirstModel
from frugalmct.percall.spending import most_worth

FAILED = -1e9
"""Stands for the quality of a service that cannot be asked: below any other."""
LEAST = 1e-9
"""The smallest sum that money is counted in."""
LEFT_OUT = "it fails too often, and is left out for a while"


class CallChoosing:
    """The part of a router that chooses. order: those asked first, cheapest first."""

    strategy: PerCallStrategy
    plan: PerCallPlan
    model: FirstModel
    breaker: Breaker
    money: Ledger | Purse
    per: float
    caps: Any
    order: list[int]
    _clock: Callable[[], float]

    def _items_after(self, seen: int, now: float, state: Any) -> float | None:
        raise NotImplementedError

    def _go_on(self, ticket: CallTicket) -> None:
        """Names the next one to ask, its money reserved, or whose answer stands."""
        for service in self.order:
            if service in ticket.calls or self._failed(ticket, service):
                continue
            if self._ask(ticket, service, float(self.model.costs.mean[service])):
                return
            if not ticket.calls and not self._failed(ticket, service):
                raise self._too_poor(ticket, service)
        if ticket.known is None:
            ticket.known = self._estimated(ticket)
        if ticket.known is None:
            self._without_estimates(ticket)
        else:
            self._choose(ticket, ticket.known)

    def _estimated(self, ticket: CallTicket) -> Estimated | None:
        """What to expect of each service; None where that cannot be told without those that did not answer.

        As in recorded data such an answer counts as empty; numbers of its own cannot be made up.
        """
        calls = dict(ticket.calls)
        for service in self._missing(ticket):
            calls[service] = Call([], float(self.model.costs.mean[service]))
            if fault_of(self.model, service, calls[service]):
                return None
        accuracy, costs = self.model.estimate(known_of(self.model, ticket.item, calls), ticket.columns)
        return Estimated(accuracy[0], costs[0], self._dual_price(ticket))

    def _missing(self, ticket: CallTicket) -> list[int]:
        """Of those asked first, who has not answered."""
        return [service for service in self.order if service not in ticket.calls]

    def _choose(self, ticket: CallTicket, known: Estimated) -> None:
        """The service whose answer stands, to be asked if it was not; where the best cannot be paid for, the
        best of the answers at hand, or the cheapest service."""
        added = [service for service in ticket.calls if service not in self.plan.first]
        if added:
            ticket.stands = added[0]
        elif not self._take_best(ticket, known):
            if ticket.calls:
                ticket.stands = max(ticket.calls, key=lambda k: known.accuracy[k])
            else:
                self._ask_cheapest(ticket, known.costs)

    def _take_best(self, ticket: CallTicket, known: Estimated) -> bool:
        """Whether the service of most worth stands or is asked. Once one has failed or is left out, it is the
        next best that can be paid for."""
        accuracy, paid = known.accuracy.copy(), list(ticket.calls)
        out_of_use = [service for service in range(len(accuracy)) if not self._in_use(ticket, service)]
        accuracy[out_of_use] = FAILED
        fallen_back = bool(out_of_use)
        while True:
            choice = int(most_worth(accuracy[None], known.costs[None], paid, known.dual_price)[0])
            if choice in ticket.calls:
                ticket.stands = choice
                return True
            if accuracy[choice] == FAILED:
                return False
            estimate = float(known.costs[choice])
            if self._affordable(ticket, choice, estimate) and self._ask(ticket, choice, estimate):
                return True
            fallen_back = fallen_back or self._failed(ticket, choice)
            if not fallen_back:
                return False
            accuracy[choice] = FAILED

    def _without_estimates(self, ticket: CallTicket) -> None:
        """Whoever did answer stands; if none did, the cheapest that does."""
        if ticket.calls:
            ticket.stands = list(ticket.calls)[-1]
        else:
            self._ask_cheapest(ticket, self.model.costs.mean)

    def _ask_cheapest(self, ticket: CallTicket, costs: np.ndarray) -> None:
        poor = None
        for service in np.argsort(costs, kind="stable").tolist():
            if self._failed(ticket, service):
                continue
            if self._ask(ticket, service, float(costs[service])):
                return
            if poor is None and not self._failed(ticket, service):
                poor = service
        if poor is not None:
            raise self._too_poor(ticket, poor)
        raise NoAnswer(f"Item {ticket.id} has no answer: {ticket.reasons()}.")

    def _failed(self, ticket: CallTicket, service: int) -> bool:
        return self.strategy.services[service] in ticket.failed

    def _in_use(self, ticket: CallTicket, service: int) -> bool:
        """Whether it has answered, or may be asked."""
        if service in ticket.calls:
            return True
        return not self._failed(ticket, service) and self.breaker.available(self.strategy.services[service])

    def _ask(self, ticket: CallTicket, service: int, estimate: float) -> bool:
        """Names it as the one to ask, unless it is left out, which is then noted, or cannot be paid for."""
        name = self.strategy.services[service]
        if not self.breaker.allows(name):
            ticket.failed[name] = LEFT_OUT
            return False
        made = None
        try:
            made = self._reserve(ticket, service, estimate)
        finally:
            if made is None:
                self.breaker.give_back(name)  # its trial, if this would have been one
        if made is None:
            return False
        ticket.reserved, ticket.ask = made, name
        ticket.estimate = estimate if self.caps is None else min(estimate, float(self.caps[service]))
        return True

    def _reserve(self, ticket: CallTicket, service: int, estimate: float) -> Reservation | None:
        """With caps the cap; without them a call is made while there is money, whatever it may cost."""
        name, capped = self.strategy.services[service], self.caps is not None
        wanted = (float(self.caps[service]) if capped else max(estimate, LEAST * self.per)) / self.per
        made = self.money.reserve(wanted, name, ticket.key)
        for seconds in () if made else (0.0, *RETURNS):
            if seconds:
                self.money.may_wait(anew=True)
                time.sleep(seconds)
            state = self.money.state()
            amount = wanted if capped else min(wanted, state.left)
            if LEAST <= amount <= state.left:  # others may take it in between: then look again
                made = self.money.reserve(amount, name, ticket.key)
            elif ticket.calls or state.left + state.reserved < (wanted if capped else LEAST):
                break
            if made:
                break
        return made

    def _too_poor(self, ticket: CallTicket, service: int) -> OutOfMoney:
        return OutOfMoney(
            f"Item {ticket.id}: {self.money.state().left:g} is left of the budget, which does not pay for "
            f"{self.strategy.services[service]}."
        )

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
