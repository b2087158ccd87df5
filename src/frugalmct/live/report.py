"""What a router tells about itself: why it chose, how it is doing, how accurate it really was."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from frugalmct.checks import real_number
from frugalmct.errors import FrugalError
from frugalmct.live.breaker import Breaker
from frugalmct.live.course import Course
from frugalmct.live.pacing import money_ends
from frugalmct.live.records import State as Account
from frugalmct.live.sketch import Sketch
from frugalmct.live.tickets import Ticket
from frugalmct.live.traffic import Health, Traffic
from frugalmct.metrics import metric_from_counts
from frugalmct.mixing import CascadePlan
from frugalmct.strategy import Strategy

LOG = logging.getLogger("frugalmct.live")
MOST_ANSWERS = 10_000
"""Answers that `feedback` can be given for by id alone."""


class HealthReport:
    """The part of a router that looks back. What differs between routers are the methods at its end."""

    strategy: Any
    traffic: Traffic
    money: Any
    breaker: Breaker
    since: float
    turned_away: int = 0
    _clock: Callable[[], float]

    def __init__(self, training: Sketch) -> None:
        """training: what the traffic is held against."""
        self._answers: dict[str, list[str] | None] = {}
        self._judged: dict[str, tuple[str, float]] = {}
        """Of the last items that feedback came for: what it said, and the accuracy by it."""
        self._memory = threading.Lock()
        self.traffic = Traffic(self.money, training, self.strategy.services)
        self.since = float(self.money.note("since", lambda old: old or repr(self._clock())))

    def shut(self) -> None:
        """Shares what was seen of the traffic, and gives the ledger's connections back."""
        self.traffic.share()
        self.money.close()

    def remember(self, id: str, labels: list[str] | None) -> None:
        """labels: None for an answer that is no set of them."""
        with self._memory:
            self._answers[id] = labels
            self._judged.pop(id, None)
            if len(self._answers) > MOST_ANSWERS:
                del self._answers[next(iter(self._answers))]

    def feedback(
        self,
        id: str,
        truth: Iterable[str] | None = None,
        answer: Iterable[Any] | None = None,
        *,
        quality: float | None = None,
    ) -> float:
        """Notes the true labels of an item that was routed; returns how accurate the answer was.

        answer: labels, or [label, score] pairs; may be left out for one of the last answers of this router.
        quality: in place of labels, how good the answer was, in [0, 1]: for answers that are no labels.
        The same said again of an item, as by a request that was sent twice, counts once.
        """
        if (truth is None) == (quality is None):
            raise FrugalError("Router.feedback: give the true labels, or a quality: one of the two.")
        if truth is not None and not isinstance(truth, str):
            truth = list(truth)
        answer = None if answer is None else list(answer)
        said, name = repr((truth, answer, quality)), str(id)
        with self._memory:
            before, accuracy = self._judged.get(name, ("", 0.0))
            if before == said:
                return accuracy
            accuracy = _share(quality) if truth is None else self._accuracy(name, truth, answer)
            self._judged[name] = said, accuracy
            if len(self._judged) > MOST_ANSWERS:
                del self._judged[next(iter(self._judged))]
        self.traffic.judge(accuracy)
        return accuracy

    def _accuracy(self, id: str, truth: Iterable[str], answer: Iterable[Any] | None) -> float:
        if answer is None and id not in self._answers:
            raise FrugalError(
                f"Router.feedback: item {id} is not among the last {MOST_ANSWERS:,} that this process "
                "answered; give its answer as well."
            )
        given = self._answers[id] if answer is None else answer
        if given is None:
            raise FrugalError(
                f"Router.feedback: the answer of item {id} was no list of [label, score] pairs; give its "
                "quality, a number in [0, 1], instead of labels."
            )
        said = {pair if isinstance(pair, str) else str(pair[0]) for pair in given}
        true = {truth} if isinstance(truth, str) else set(truth)
        sizes = [np.array([size]) for size in (len(said & true), len(true), len(said))]
        return float(metric_from_counts(self.strategy.metric, *sizes)[0])

    def health(self) -> Health:
        """Whether traffic has drifted, the accuracy expected and that promised, when the money will end."""
        now, state, drift = self._clock(), self.money.state(), self.traffic.drift()
        began = max(self.since, state.start)
        items_left = self._items_to_come(now, state)
        mean = state.spent / state.items if state.items else 0.0
        dual_price, planned = self._dual_prices(state, items_left)
        health = Health(
            drift=drift,
            money=state.money,
            spent=state.spent,
            reserved=state.reserved,
            left=state.left,
            items=state.items,
            items_left=items_left,
            turned_away=self.turned_away,
            lasts_for=state.left / mean if mean else None,
            ends_at=money_ends(now, began, state.spent, state.left),
            period_end=None if np.isinf(state.end) else state.end,
            dual_price=dual_price,
            planned_dual_price=planned,
            left_out=tuple(self.breaker.left_out()),
            warnings=(),
        )
        return replace(health, warnings=tuple(self._warnings(health)))

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
            self._loss_without(service),
            failure,
        )
        return False

    def _warnings(self, health: Health) -> Iterable[str]:
        drift = health.drift
        yield from self._plan_warnings()
        if health.items and not drift.items:
            yield from self._elsewhere()
        if drift.drifted:
            worst = drift.distances[0]
            yield (
                f"The traffic has drifted, most of all {worst.about}: {worst.training:.3f} in training, "
                f"{worst.live:.3f} now; record answers and train anew."
            )
        if drift.below_promise:
            yield f"The accuracy expected is {drift.expected:.3f}, but {drift.promised:.3f} was promised."
        yield from self._money_warnings(health)
        for service in health.left_out:
            lost = self._loss_without(service)
            yield f"{service} is left out because it fails too often; without it {lost}."

    def _elsewhere(self) -> Iterable[str]:
        """Why there is no traffic to judge, although items were routed."""
        if found := self.traffic.elsewhere():
            named = ", ".join(f"{key} ({items:,} items)" for key, items in found.items())
            yield (
                f"No item has come to this strategy and plan ({self.traffic.key}), but the ledger has {named}"
                ": of routers with another strategy, per or plan. To judge their traffic, give the same."
            )

    def _money_warnings(self, health: Health) -> Iterable[str]:
        expected = self.money.budget.items
        if expected is not None and health.items > expected:
            yield f"{health.items:,} items have come, but {expected:,} were expected; give a new budget."
        least, of_what = self._least()
        # Money that has just lasted for all the items expected is no trouble, unless more came.
        if health.left < least and (health.turned_away or health.items_left != 0):
            yield f"The money is gone: {health.left:g} is left and {of_what} costs {least:g}."
        elif health.period_end and health.ends_at and health.ends_at < health.period_end:
            when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(health.ends_at))
            yield f"Spent as it was so far, the money ends at {when} UTC, before the period does."

    def _items_to_come(self, now: float, state: Account) -> float | None:
        raise NotImplementedError

    def _dual_prices(self, state: Account, items_left: float | None) -> tuple[float, float]:
        """That of the moment, and the plan's."""
        raise NotImplementedError

    def _least(self) -> tuple[float, str]:
        """What an item costs at the least, in the unit of the budget, and what that pays for."""
        raise NotImplementedError

    def _loss_without(self, service: str) -> str:
        """What is lost while a service is left out, in a sentence."""
        raise NotImplementedError

    def _plan_warnings(self) -> Iterable[str]:
        return ()


class LabelReport(HealthReport):
    """What a router of label sets tells of itself."""

    strategy: Strategy
    course: Course

    def _items_to_come(self, now: float, state: Account) -> float | None:
        return self.course.items_left(state.items, now, state)

    def _dual_prices(self, state: Account, items_left: float | None) -> tuple[float, float]:
        pacer = self.course.pacers[self.course.plan.base]
        return pacer.dual_price, pacer.planned

    def _least(self) -> tuple[float, str]:
        return min(self.course.base_nano(base) for base in self.course.plan.bases) / 1e9, "the base"

    def _loss_without(self, service: str) -> str:
        return loss_without(self.strategy, self.course.plan, service)

    def _plan_warnings(self) -> Iterable[str]:
        if self.course.warning:
            yield self.course.warning


def _share(quality: object) -> float:
    number = real_number("Router.feedback", "quality", quality, "a number in [0, 1]")
    if not 0 <= number <= 1:
        raise FrugalError(f"Router.feedback: quality is {quality!r}; give a number in [0, 1].")
    return number


def why(ticket: Ticket, course: Course, strategy: Strategy) -> str:
    """The choice in a sentence."""
    base, services = strategy.names(ticket.base), strategy.services
    failed = "".join(f"{name} failed; " for name in ticket.failed)
    if not ticket.base_answered(services):
        answered = " and ".join(ticket.answers)
        return f"{failed}the base {base} could not be asked, and {answered} answered instead"
    if ticket.steps:
        beside, parts = base, []
        for service, expected, otherwise in ticket.steps:
            parts.append(
                f"{services[service]} was asked as well: accuracy {expected:.3f} expected instead of "
                f"{otherwise:.3f} with {beside} alone, worth {course.cost(service):g} more"
            )
            beside += f" + {services[service]}"
        return f"{failed}{'; then '.join(parts)} at the dual price {ticket.dual_price:.4g}"
    if ticket.short:
        return f"{failed}{base} alone: the money left does not pay for the service that was wanted"
    if failed:
        return f"{failed}{base}'s own answer was taken"
    return (
        f"{base} alone: accuracy {ticket.expected:.3f} expected, and no other service is worth its cost at "
        f"the dual price {ticket.dual_price:.4g}"
    )


def loss_without(strategy: Strategy, plan: CascadePlan, service: str) -> str:
    """What the plan loses when a service cannot be asked, by the training items."""
    index = strategy.services.index(service)
    if index in plan.base:
        return "every item must do without its base"
    training, whole = strategy.training, strategy.training.cascade(plan.base)
    before = training.reached(whole.route(plan.budget, plan.dual_price)).mean()
    rest = whole.without(index)
    after = training.reached(rest.route(plan.budget, rest.dual_price(plan.budget, plan.delta))).mean()
    return f"accuracy is {after:.3f} instead of {before:.3f} at this budget, by the training items"
