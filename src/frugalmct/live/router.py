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

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from frugalmct.errors import FrugalError
from frugalmct.live.accounts import money_of
from frugalmct.live.answers import failure_of, labels_or_failure
from frugalmct.live.asking import Asking, item_id
from frugalmct.live.breaker import Breaker, Patience
from frugalmct.live.budget import Budget
from frugalmct.live.choosing import Choosing
from frugalmct.live.course import Course
from frugalmct.live.ledger import Ledger
from frugalmct.live.purse import Purse
from frugalmct.live.records import Reservation, Wish, new_key
from frugalmct.live.report import LabelReport, why
from frugalmct.live.single import SingleItems
from frugalmct.live.tickets import NoAnswer, Result, Ticket
from frugalmct.live.traffic import training_sketch
from frugalmct.strategy import Strategy


class Router(Choosing, LabelReport, Asking[Ticket, Result]):
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
        loaded = Strategy.load(strategy) if isinstance(strategy, str | Path) else strategy
        if not isinstance(loaded, Strategy):
            raise FrugalError("Router: this strategy has costs per call; give it to a PerCallRouter.")
        self.strategy = loaded
        self.money = money_of("Router", budget, ledger, clock)
        self.course = Course(self.strategy, self.money, per, plan, pace)
        self.breaker = Breaker(patience or Patience(), dict(special or {}))
        self._clock = clock
        super().__init__(training_sketch(self.strategy, self.course.plan))
        self._single = SingleItems(self.strategy)
        self._single.prepare(self.course.plan.bases)
        self._state, self._looked = self.money.state(), clock()

    def __enter__(self) -> "Router":
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()

    # ---- the three steps

    def open(self, item: Any, *, id: str | None = None, features: Any = None) -> Ticket:
        """Reserves the base's money: `ticket.ask` says whom to ask first. OutOfMoney when there is none."""
        name = item_id(item) if id is None else str(id)
        key = new_key()
        if features is None and isinstance(item, Mapping):
            features = item.get("features")
        self._single.check_given(features)  # before money is spent
        ticket = Ticket(key if name is None else name, f"{key} {name or ''}".strip()[:200], features)
        self._whole(ticket, self._ask_base)
        return ticket

    def decide(self, ticket: Ticket, answers: Mapping[str, Any]) -> str | None:
        """Whom to ask next, given what `ticket.ask` answered; None if nobody is worth it or can be paid for.

        answers: by service. None, or an exception, in place of an answer says that the call failed.
        After a LedgerError the ticket is as before: the same may be tried again.
        """
        return self._whole(ticket, self._decide, answers)

    def _decide(self, ticket: Ticket, answers: Mapping[str, Any]) -> str | None:
        if ticket.ask is None:
            return None
        if ticket.ask not in answers:
            raise FrugalError(
                f"Router.decide: item {ticket.id} waits for the answer of {ticket.ask}, which is not among "
                "those given; give it, or None if the call failed."
            )
        service, labels = ticket.ask, labels_or_failure(answers[ticket.ask])
        if isinstance(labels, str):
            self.money.may_wait()  # for money that comes back, if others are to be asked
            noted = service in ticket.failed  # by `try_again`, which gave up
            ticket.failed[service] = labels
            self._after_failure(ticket, service)
            if not noted:
                self._note_failure(service, labels)
            return ticket.ask
        ticket.answers[service] = labels
        self._after_answer(ticket, service)
        self.breaker.succeeded(service)
        return ticket.ask

    def close(self, ticket: Ticket, answers: Mapping[str, Any] | None = None) -> Result:
        """Settles the money and returns the combined answer; what was reserved but not asked goes back."""
        if ticket.closed:
            raise FrugalError(f"Router.close: the ticket of item {ticket.id} is closed; open one per item.")
        if ticket.ask is not None and answers and ticket.ask in answers:
            self.decide(ticket, answers)
        for unused in (ticket.reservation, *ticket.waiting):
            if unused is not None:
                self.money.release(unused)
        ticket.ask = ticket.reservation = None
        ticket.waiting.clear()
        if ticket.trials:
            self._keep_trials(ticket, ticket.trials)
        ticket.closed = True
        if not ticket.answers:
            reasons = "; ".join(f"{service}: {reason}" for service, reason in ticket.failed.items())
            error = NoAnswer(f"Item {ticket.id} has no answer: {reasons or 'no service was asked'}.")
            error.cost = ticket.cost
            raise error
        return self._result(ticket)

    def try_again(self, ticket: Ticket, failure: str) -> bool:
        """Whether the service may be asked once more. A failed call that is charged is booked, and the next
        one must be paid for, too. After False the failure is noted: `decide` does not do so again."""
        return self._whole(ticket, self._try_again, failure)

    def _try_again(self, ticket: Ticket, failure: str) -> bool:
        service, spent = ticket.ask, ticket.reservation
        if service is None or spent is None:
            return False
        charged = self.breaker.patience_of(service).charges_failures
        if charged:
            self.money.may_wait()  # before the failure is noted, so that it is once
        again = self._note_failure(service, failure)
        if again and charged:
            ticket.cost += spent.amount
            ticket.reservation = self._pay_again(ticket, spent)
        if not again or ticket.reservation is None:
            ticket.failed[service] = failure
            return False
        return True

    def _pay_again(self, ticket: Ticket, spent: Reservation) -> Reservation | None:
        """Books a call that failed, and reserves for another one if the bases to come can spare it."""
        wish = Wish(spent.amount, spent.service, ticket.key)
        (made,) = self.money.exchange(settle=[(spent, None)], reserve=[wish])
        if made is not None and not self._leaves_enough(ticket, made):
            self.money.release(made)
            return None
        return made

    def _hand_over(self, ticket: Ticket, answer: Any) -> None:
        self.decide(ticket, {str(ticket.ask): answer})

    def _again(self, ticket: Ticket, answer: Any) -> bool:
        failure = failure_of(answer)
        return failure is not None and self.try_again(ticket, failure)

    def _without_answer(self, id: str, error: FrugalError) -> Result:
        return Result(id, None, (), getattr(error, "cost", 0.0), "", error=str(error))

    def _result(self, ticket: Ticket) -> Result:
        services, answers = self.strategy.services, self._by_number(ticket)
        combined = self._single.combine(ticket.state(services), answers)
        said = {label for service in ticket.base for label in answers.get(service, ())}
        planned = ticket.base == self.course.plan.base and not ticket.drawn
        if planned and ticket.base_answered(services):
            unseen = any(not self._single.knows(label) for label in said)
            self.traffic.add(ticket.estimates, said, ticket.expected, ticket.cost, unseen=unseen)
        self.remember(ticket.id, list(combined))
        return Result(
            id=ticket.id,
            answer=[[label, score] for label, score in combined.items()],
            asked=tuple(ticket.answers),
            cost=ticket.cost,
            why=why(ticket, self.course, self.strategy),
            expected=ticket.expected,
            failed=dict(ticket.failed),
        )
