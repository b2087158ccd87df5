"""Routing live traffic within a budget: plain Python in, plain Python out.

    router = Router("strategy.npz", budget=Budget(total=120, items=100_000), per=10_000,
                    ledger="sqlite:///ledger.db")
    result = router.run(item, ask)          # ask(service, item) -> [["car", 0.9]]

or, for those who call services themselves, in steps:

    ticket = router.open(item)              # ticket.ask: whom to ask first
    while ticket.ask:
        router.decide(ticket, {ticket.ask: my_call(ticket.ask, item)})     # None for a call that failed
    result = router.close(ticket)

Money is reserved before a call and settled after it. A call costs price / `per` in the unit of the budget.
"""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from frugalmct.errors import FrugalError
from frugalmct.live.answers import checked_answer, failure_of
from frugalmct.live.asking import Asking, item_id
from frugalmct.live.breaker import Breaker, Patience
from frugalmct.live.budget import Budget
from frugalmct.live.course import Course
from frugalmct.live.ledger import Ledger
from frugalmct.live.purse import Purse
from frugalmct.live.records import Reservation, Wish, new_key
from frugalmct.live.report import HealthReport, loss_without, why
from frugalmct.live.single import SingleItems
from frugalmct.live.tickets import NoAnswer, OutOfMoney, Result, Ticket
from frugalmct.live.traffic import Traffic
from frugalmct.strategy import Strategy

LOG = logging.getLogger("frugalmct.live")
RETURNS = (0.01, 0.02, 0.04, 0.08)
"""Seconds between looks when all the money is reserved: some of it may be given back."""


class Router(HealthReport, Asking):
    """May be shared by threads; other processes make their own on the same ledger.

    strategy: a `Strategy` or the file of one. budget: what may be spent; may be left out where the ledger
    exists. ledger: `sqlite:///file` or `postgresql://...`; None to count the money in this process alone.
    per: what the strategy's prices are per, in calls. plan: the budget an item is planned with, in the unit
    of prices; by default the money divided by the items, at most the largest budget trained for. pace:
    `adaptive` or `fixed` (docs/pacing.md). patience: timeouts, retries and when to leave a service out;
    special: that of single services.
    """

    def __init__(
        self,
        strategy: Strategy | str | Path,
        budget: Budget | None = None,
        ledger: str | Ledger | Purse | None = None,
        *,
        per: float = 1,
        plan: float | None = None,
        pace: str = "adaptive",
        patience: Patience | None = None,
        special: Mapping[str, Patience] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.strategy = strategy if isinstance(strategy, Strategy) else Strategy.load(strategy)
        self.money = _money(budget, ledger, clock)
        self.shared = isinstance(self.money, Ledger)
        self.course = Course(self.strategy, self.money.budget, per, plan, pace)
        self.breaker = Breaker(patience or Patience(), dict(special or {}))
        super().__init__()
        self.traffic = Traffic(self.money, self.strategy, self.course.plan)
        self._clock = clock
        self._single = {
            b: SingleItems(self.strategy.models[b], self.strategy.labels) for b in self.course.bases
        }
        self._state = self.money.state()
        self.since = float(self.money.note("since", lambda old: old or repr(clock())))

    def __enter__(self) -> "Router":
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()

    def shut(self) -> None:
        """Shares what was seen of the traffic, and gives the ledger's connections back."""
        self.traffic.share()
        self.money.close()

    # ---- the three steps

    def open(self, item: Any, *, id: str | None = None, features: Any = None) -> Ticket:
        """Reserves the base's money: `ticket.ask` says whom to ask first. OutOfMoney when there is none."""
        name = item_id(item) if id is None else str(id)
        key = new_key()
        if features is None and isinstance(item, Mapping):
            features = item.get("features")
        self._single[self.course.plan.base].check_given(features)  # before money is spent
        ticket = Ticket(key if name is None else name, f"{key} {name or ''}".strip()[:200], features)
        self._ask_base(ticket)
        return ticket

    def decide(self, ticket: Ticket, answers: Mapping[str, Any]) -> str | None:
        """Whom to ask next, given what `ticket.ask` answered; None if nobody is worth it or can be paid for.

        answers: by service. None, or an exception, in place of an answer says that the call failed.
        After a LedgerError the ticket is as before: the same may be tried again.
        """
        with ticket.kept_on_error():
            return self._decide(ticket, answers)

    def _decide(self, ticket: Ticket, answers: Mapping[str, Any]) -> str | None:
        if ticket.ask is None:
            return None
        if ticket.ask not in answers:
            raise FrugalError(
                f"Router.decide: item {ticket.id} waits for the answer of {ticket.ask}, which is not among "
                "those given; give it, or None if the call failed."
            )
        service, answer = ticket.ask, answers[ticket.ask]
        if (failure := failure_of(answer)) is not None:
            self._note_failure(service, failure)
            ticket.failed[service] = failure
            self._after_failure(ticket, service)
            return ticket.ask
        self.breaker.succeeded(service)
        ticket.answers[service] = checked_answer(answer)
        if service == self._name(ticket.base) and ticket.estimates is None:
            self._after_base(ticket)
        else:
            ticket.cost += self.money.settle(ticket.reservation)
            ticket.ask, ticket.reservation = None, None
        return ticket.ask

    def close(self, ticket: Ticket, answers: Mapping[str, Any] | None = None) -> Result:
        """Settles the money and returns the combined answer; what was reserved but not asked goes back."""
        if ticket.closed:
            raise FrugalError(f"Router.close: the ticket of item {ticket.id} is closed; open one per item.")
        if ticket.ask is not None and answers and ticket.ask in answers:
            self.decide(ticket, answers)
        if ticket.reservation is not None:
            self.money.release(ticket.reservation)
            ticket.ask = ticket.reservation = None
        ticket.closed = True
        if not ticket.answers:
            reasons = "; ".join(f"{service}: {reason}" for service, reason in ticket.failed.items())
            error = NoAnswer(f"Item {ticket.id} has no answer: {reasons or 'no service was asked'}.")
            error.cost = ticket.cost
            raise error
        return self._result(ticket)

    # ---- what they are made of

    def _ask_base(self, ticket: Ticket) -> None:
        poor = None
        for base in self.course.bases:
            name = self._name(base)
            if name in ticket.failed or not self.breaker.allows(name):
                continue
            made = self._reserve_base(base, ticket)
            if made is not None:
                ticket.base = base
                self._wait_for(ticket, made)
                return
            poor = poor or name
        if poor and not ticket.failed:
            state = self.money.state()
            raise OutOfMoney(
                f"Item {ticket.id} was not sent anywhere: {state.left:g} is left of the budget's "
                f"{state.money:g}, which does not pay for {poor}."
            )
        self._without_base(ticket)

    def _reserve_base(self, base: int, ticket: Ticket) -> Reservation | None:
        """Where all the money is reserved, and some of it may come back, this waits a little."""
        wish = (self.course.cost(base), self._name(base), ticket.key)
        made = self.money.reserve(*wish)
        for seconds in RETURNS if made is None else ():
            state = self.money.state()
            if state.left_nano + state.reserved_nano < self.course.costs[base]:
                break
            time.sleep(seconds)
            if (made := self.money.reserve(*wish)) is not None:
                break
        return made

    def _after_base(self, ticket: Ticket) -> None:
        base, paid = ticket.base, ticket.reservation
        ticket.estimates = self._single[base].estimate(ticket.answers[self._name(base)], ticket.features)
        ticket.dual_price = self.course.dual_price(base, paid.left_nano, self._items_left(paid.items))
        ticket.cost += paid.amount
        self._ask_addon(ticket, paid, unsettled=paid)

    def _after_failure(self, ticket: Ticket, service: str) -> None:
        """Gives the money back, or books it, and asks the next best."""
        last, ticket.reservation = ticket.reservation, None
        if last is not None and self.breaker.patience_of(service).charges_failures:
            ticket.cost += self.money.settle(last)
        elif last is not None:
            self.money.release(last)
        if ticket.estimates is None:
            self._ask_base(ticket)
        elif not ticket.answers:
            self._ask_anyone(ticket)
        elif last is None:
            self._wait_for(ticket, None)
        else:
            self._ask_addon(ticket, last)

    def _ask_addon(self, ticket: Ticket, last: Reservation, unsettled: Reservation | None = None) -> None:
        """Reserves for the best service beside the base; `unsettled` is booked in the same step.

        An item whose best service cannot be paid for goes to the base, as in the paper; once a service has
        failed or is left out, the next best that can be paid for is asked.
        """
        made, fallen_back = None, bool(ticket.failed)
        ticket.short = False
        for service in self.course.ranked(ticket.base, ticket.estimates, ticket.dual_price):
            name = self._name(service)
            if service == ticket.base:
                break
            if name in ticket.failed or not self.breaker.available(name):
                fallen_back = True
                continue
            left = self._items_left(last.items)
            ticket.short = not self.course.affords(ticket.base, service, last.left_nano, left)
            if not ticket.short and self.breaker.allows(name):
                made, unsettled = self._reserve_addon(ticket, service, unsettled), None
            if made is not None or not fallen_back:
                break
        if unsettled is not None:
            self.money.settle(unsettled)
        self._wait_for(ticket, made)

    def _wait_for(self, ticket: Ticket, made: Reservation | None) -> None:
        ticket.reservation, ticket.ask = made, None if made is None else made.service

    def _reserve_addon(
        self, ticket: Ticket, service: int, unsettled: Reservation | None
    ) -> Reservation | None:
        """Others may have spent in between: what is left now must still pay for the bases to come."""
        wish = Wish(self.course.cost(service), self._name(service), ticket.key)
        settle = [] if unsettled is None else [(unsettled, None)]
        (made,) = self.money.exchange(settle=settle, reserve=[wish])
        if made is None:
            ticket.short = True
        elif made.left_nano < self.course.kept(ticket.base, self._items_left(made.items)):
            self.money.release(made)
            ticket.short, made = True, None
        return made

    def _without_base(self, ticket: Ticket) -> None:
        """No base can be asked: as in recorded data its answer counts as empty, and another one must do."""
        ticket.base = self.course.plan.base
        ticket.estimates = self._single[ticket.base].estimate({}, ticket.features)
        ticket.dual_price = self.course.pacers[ticket.base].dual_price
        self._ask_anyone(ticket)

    def _ask_anyone(self, ticket: Ticket) -> None:
        made = None
        for service in self.course.ranked(ticket.base, ticket.estimates, ticket.dual_price):
            name = self._name(service)
            if service != ticket.base and name not in ticket.failed and self.breaker.allows(name):
                made = self.money.reserve(self.course.cost(service), name, ticket.key)
                if made is not None:
                    break
        self._wait_for(ticket, made)

    def try_again(self, ticket: Ticket, failure: str) -> bool:
        """Whether the service may be asked once more. A failed call that is charged is booked, and the next
        one must be paid for, too."""
        service = ticket.ask
        if not self._note_failure(service, failure):
            return False
        if self.breaker.patience_of(service).charges_failures:
            spent = ticket.reservation
            ticket.cost += spent.amount
            (made,) = self.money.exchange(
                settle=[(spent, None)], reserve=[Wish(spent.amount, service, ticket.key)]
            )
            if made is None:
                ticket.failed[service], ticket.reservation = failure, None
                return False
            ticket.reservation = made
        return True

    def _note_failure(self, service: str, failure: str) -> bool:
        """Whether the service is still in use after it."""
        LOG.info("%s failed: %s", service, failure)
        if not self.breaker.failed(service):
            return self.breaker.available(service)
        patience = self.breaker.patience_of(service)
        LOG.warning(
            "%s fails too often and is left out for %g seconds; without it %s. Its last failure: %s",
            service,
            patience.pause,
            loss_without(self.strategy, self.course.plan, service),
            failure,
        )
        return False

    def _result(self, ticket: Ticket) -> Result:
        services = self.strategy.services
        base_name = self._name(ticket.base)
        base_answer = ticket.answers.get(base_name, {})
        addon = next((name for name in ticket.answers if name != base_name), None)
        choice = ticket.base if addon is None else services.index(addon)
        addon_answer = None if addon is None else ticket.answers[addon]
        combined = self._single[ticket.base].combine(base_answer, addon_answer, choice)
        expected = float(ticket.estimates[choice])
        if ticket.base == self.course.plan.base and base_name in ticket.answers:
            unseen = any(not self._single[ticket.base].knows(label) for label in base_answer)
            self.traffic.add(ticket.estimates, base_answer, expected, ticket.cost, unseen=unseen)
        self.remember(ticket.id, list(combined))
        return Result(
            id=ticket.id,
            answer=[[label, score] for label, score in combined.items()],
            asked=tuple(ticket.answers),
            cost=ticket.cost,
            why=why(ticket, self.course, services, choice),
            expected=expected,
            failed=dict(ticket.failed),
        )

    def _name(self, service: int) -> str:
        return self.strategy.services[service]

    def _items_left(self, seen: int) -> float | None:
        now = self._clock()
        if now >= self._state.end:  # a new period has begun
            self._state = self.money.state()
        return self.course.items_left(seen, now, self._state)


def _money(
    budget: Budget | None, ledger: str | Ledger | Purse | None, clock: Callable[[], float]
) -> Ledger | Purse:
    if budget is not None and not isinstance(budget, Budget):
        raise FrugalError(
            f"Router: budget is {budget!r}; give a Budget, such as Budget(total=120, items=100_000)."
        )
    if isinstance(ledger, str):
        return Ledger.open(ledger, budget, clock=clock)
    if ledger is not None:
        return ledger
    if budget is None:
        raise FrugalError("Router: no budget was given; give one, such as Budget(total=120, items=100_000).")
    return Purse(budget, clock)
