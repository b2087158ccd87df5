"""Whom a router asks for an item, step by step: the base, add-ons while they pay, others when some fail.

Money is reserved before a service is named, and settled in the step that reserves for the next one.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from frugalmct.cascade import State
from frugalmct.live.answers import Labels
from frugalmct.live.breaker import TRIAL, Breaker
from frugalmct.live.course import Course
from frugalmct.live.ledger import Ledger
from frugalmct.live.purse import Purse
from frugalmct.live.records import Reservation, Wish
from frugalmct.live.records import State as Account
from frugalmct.live.single import SingleItems
from frugalmct.live.tickets import OutOfMoney, Ticket
from frugalmct.strategy import Strategy

Answer = TypeVar("Answer")
RETURNS = (0.01, 0.02, 0.04, 0.08)
"""Seconds between looks when all the money is reserved: some of it may be given back."""

LOOK_AGAIN = 60.0
"""Seconds after which a router looks whether the ledger has another budget by now."""


class Choosing:
    """The part of a router that chooses."""

    strategy: Strategy
    course: Course
    breaker: Breaker
    money: Ledger | Purse
    turned_away: int = 0
    _single: SingleItems
    _state: Account
    _looked: float
    _clock: Callable[[], float]

    def _ask_base(self, ticket: Ticket) -> None:
        poor, drawn = None, self.course.draw(ticket.id)
        for base in self.course.order(drawn):
            names = [self._name(service) for service in base]
            ready = [name for name in names if name not in ticket.failed and self._allows(ticket, name)]
            if not ready:
                continue
            if made := self._reserve_base(ready, ticket):
                if self._starves_others(base, made[-1]):
                    self.money.exchange(release=made)
                    continue
                ticket.base, ticket.paid, ticket.waiting = base, made[-1], made[1:]
                ticket.drawn = drawn and base == self.course.plan.bases[-1]
                self._wait_for(ticket, made[0])
                return
            poor = poor or " and ".join(ready)
        if poor and not ticket.failed:
            state = self.money.state()
            self.turned_away += 1
            raise OutOfMoney(
                f"Item {ticket.id} was not sent anywhere: {state.left:g} is left of the budget's "
                f"{state.money:g}, which does not pay for {poor}."
            )
        self._without_base(ticket)

    def _starves_others(self, base: State, last: Reservation) -> bool:
        """Whether the more expensive base of two plans leaves too little for the items to come."""
        if self.course.plan.other is None:
            return False
        return not self.course.leaves_bases(base, last.left_nano, self._items_left(last.items))

    def _reserve_base(self, names: list[str], ticket: Ticket) -> list[Reservation]:
        """Where all the money is reserved, and some of it may come back, this waits a little."""
        wishes = [Wish(self.course.cost(self._number(name)), name, ticket.key) for name in names]
        needed = sum(self.course.costs[self._number(name)] for name in names)
        made = self._reserve_all(wishes)
        for seconds in () if made else RETURNS:
            state = self.money.state()
            if state.left_nano + state.reserved_nano < needed:
                break
            self.money.may_wait(anew=True)
            time.sleep(seconds)
            if made := self._reserve_all(wishes):
                break
        return made

    def _reserve_all(self, wishes: list[Wish]) -> list[Reservation]:
        """All of them, or none."""
        if len(wishes) == 1:
            (wish,) = wishes
            made = [self.money.reserve(wish.amount, wish.service, wish.ticket)]
        else:
            made = self.money.exchange(reserve=wishes)
        reserved = [one for one in made if one is not None]
        if len(reserved) == len(made):
            return reserved
        if reserved:
            self.money.exchange(release=reserved)
        return []

    def _after_answer(self, ticket: Ticket, service: str) -> None:
        """What comes next: the rest of the base, an add-on, or nobody."""
        paid = ticket.reservation
        assert paid is not None  # who answered was asked, and paid for
        ticket.cost += paid.amount
        if ticket.waiting:
            self.money.settle(paid)
            self._wait_for(ticket, ticket.waiting.pop(0))
            return
        if ticket.estimates is None:
            self._estimate_first(ticket)
        elif not self._estimate_on(ticket, self._number(service)):
            self.money.settle(paid)
            self._wait_for(ticket, None)
            return
        self._ask_addon(ticket, paid, unsettled=paid)

    def _estimate_first(self, ticket: Ticket) -> None:
        """What to expect once the base has answered; where it is several services, some of them."""
        base, last = ticket.base, ticket.paid
        assert last is not None  # it was paid for before it was asked
        row = self._single.estimate(base, self._by_number(ticket), ticket.features)
        ticket.estimates = ticket.latest = row
        ticket.expected = float(row[base[0]])
        left = self._items_left(last.items)
        ticket.dual_price = self.course.dual_price(base, last.left_nano, left, ticket.drawn)

    def _estimate_on(self, ticket: Ticket, service: int) -> bool:
        """What to expect once an add-on has answered; whether a further one may be asked."""
        stop, before = ticket.base[0], ticket.latest
        assert before is not None  # an add-on is asked for what was estimated of it
        ticket.expected = float(before[service])
        ticket.steps.append((service, ticket.expected, float(before[stop])))
        state = ticket.state(self.strategy.services)
        further = len(state) < len(ticket.base) + self.strategy.steps and state in self.strategy.models
        if not further or not ticket.base_answered(self.strategy.services):
            return False
        ticket.latest = self._single.estimate(state, self._by_number(ticket), ticket.features)
        ticket.expected = float(ticket.latest[stop])
        return True

    def _by_number(self, ticket: Ticket) -> dict[int, Labels]:
        return {self._number(name): answer for name, answer in ticket.answers.items()}

    def _after_failure(self, ticket: Ticket, service: str) -> None:
        """Gives the money back, or books it, and asks the next best."""
        last, ticket.reservation = ticket.reservation, None
        if last is not None and self.breaker.patience_of(service).charges_failures:
            ticket.cost += self.money.settle(last)
        elif last is not None:
            self.money.release(last)
        if ticket.waiting:
            self._wait_for(ticket, ticket.waiting.pop(0))
        elif not ticket.answers:
            self._ask_base(ticket) if ticket.estimates is None else self._ask_anyone(ticket)
        else:
            if ticket.estimates is None:
                self._estimate_first(ticket)
            if last is None:
                self._wait_for(ticket, None)
            else:
                self._ask_addon(ticket, last)

    def _ask_addon(self, ticket: Ticket, last: Reservation, unsettled: Reservation | None = None) -> None:
        """Reserves for the best service beside the base; `unsettled` is booked in the same step.

        An item whose best service cannot be paid for stops where it is, as in the paper; once a service has
        failed or is left out, the next best that can be paid for is asked.
        """
        made, fallen_back = None, bool(ticket.failed)
        ticket.short, state = False, ticket.state(self.strategy.services)
        assert ticket.latest is not None  # an add-on comes after the estimates
        for service in self.course.ranked(state, ticket.latest, ticket.dual_price):
            name = self._name(service)
            if service in state:
                break
            if name in ticket.failed or not self.breaker.available(name):
                fallen_back = True
                continue
            left = self._items_left(last.items)
            ticket.short = not self.course.affords(ticket.base, service, last.left_nano, left)
            if not ticket.short and self._allows(ticket, name):
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
        settled = [] if unsettled is None else [unsettled]
        (made,) = self.money.exchange(settle=[(one, None) for one in settled], reserve=[wish])
        if made is None:
            ticket.short = True
        elif not self._leaves_enough(ticket, made):
            self.money.release(made)
            ticket.short, made = True, None
        return made

    def _leaves_enough(self, ticket: Ticket, made: Reservation) -> bool:
        """Whether what is left once this is reserved pays for the bases to come."""
        return made.left_nano >= self.course.kept(ticket.base, self._items_left(made.items))

    def _without_base(self, ticket: Ticket) -> None:
        """No base can be asked: as in recorded data its answer counts as empty, and another one must do."""
        ticket.base = self.course.plan.base
        ticket.estimates = ticket.latest = self._single.estimate(ticket.base, {}, ticket.features)
        ticket.dual_price = self.course.pacers[ticket.base].dual_price
        self._ask_anyone(ticket)

    def _ask_anyone(self, ticket: Ticket) -> None:
        made = None
        assert ticket.estimates is not None  # as above
        for service in self.course.ranked(ticket.base, ticket.estimates, ticket.dual_price):
            name = self._name(service)
            if service not in ticket.base and name not in ticket.failed and self._allows(ticket, name):
                made = self.money.reserve(self.course.cost(service), name, ticket.key)
                if made is not None:
                    break
        self._wait_for(ticket, made)

    def _whole(self, ticket: Ticket, step: Callable[..., Answer], *arguments: Any) -> Answer:
        """A step counts whole or not at all; of the trials that it claims it keeps those it makes use of."""
        before = ticket.as_it_is()
        try:
            done = step(ticket, *arguments)
        except BaseException:
            claimed = ticket.trials
            ticket.restore(before)
            self._keep_trials(ticket, claimed)
            raise
        if ticket.trials:
            self._keep_trials(ticket, ticket.trials)
        return done

    def _keep_trials(self, ticket: Ticket, claimed: tuple[str, ...]) -> None:
        """Those of services that are asked now or next; the others are given back for other items."""
        asked = {ticket.ask, *(made.service for made in ticket.waiting)}
        for service in claimed:
            if service not in asked:
                self.breaker.give_back(service)
        ticket.trials = tuple(service for service in claimed if service in asked)

    def _allows(self, ticket: Ticket, service: str) -> bool:
        if service in ticket.trials:
            return True
        allowed = self.breaker.allows(service)
        if allowed and self.breaker.state(service) == TRIAL:
            ticket.trials += (service,)
        return allowed

    def _number(self, name: str) -> int:
        return self.strategy.services.index(name)

    def _name(self, service: int) -> str:
        return self.strategy.services[service]

    def _items_left(self, seen: int) -> float | None:
        now = self._clock()
        if now >= self._state.end or not 0 <= now - self._looked < LOOK_AGAIN:
            self._state, self._looked = self.money.state(), now
        return self.course.items_left(seen, now, self._state)
