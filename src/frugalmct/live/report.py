"""What a router tells about itself: why it chose, how it is doing, how accurate it really was."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from frugalmct.errors import FrugalError
from frugalmct.live.breaker import Breaker
from frugalmct.live.course import Course
from frugalmct.live.pacing import money_ends
from frugalmct.live.tickets import Ticket
from frugalmct.live.traffic import Health, Traffic
from frugalmct.metrics import metric_from_counts
from frugalmct.mixing import CascadePlan
from frugalmct.strategy import Strategy

MOST_ANSWERS = 10_000
"""Answers that `feedback` can be given for by id alone."""


class HealthReport:
    """The part of a router that looks back."""

    strategy: Strategy
    course: Course
    breaker: Breaker
    traffic: Traffic
    money: Any
    since: float
    turned_away: int
    _clock: Callable[[], float]

    def __init__(self) -> None:
        self._answers: dict[str, list[str]] = {}
        self._memory = threading.Lock()

    def remember(self, id: str, labels: list[str]) -> None:
        with self._memory:
            self._answers[id] = labels
            if len(self._answers) > MOST_ANSWERS:
                del self._answers[next(iter(self._answers))]

    def feedback(self, id: str, truth: Iterable[str], answer: Iterable[Any] | None = None) -> float:
        """Notes the true labels of an item that was routed; returns how accurate the answer was.

        answer: labels, or [label, score] pairs; may be left out for one of the last answers of this router.
        """
        if answer is None and str(id) not in self._answers:
            raise FrugalError(
                f"Router.feedback: item {id} is not among the last {MOST_ANSWERS:,} that this process "
                "answered; give its answer as well."
            )
        given = self._answers[str(id)] if answer is None else answer
        said = {pair if isinstance(pair, str) else str(pair[0]) for pair in given}
        true = {truth} if isinstance(truth, str) else set(truth)
        sizes = [np.array([size]) for size in (len(said & true), len(true), len(said))]
        accuracy = float(metric_from_counts(self.strategy.metric, *sizes)[0])
        self.traffic.judge(accuracy)
        return accuracy

    def health(self) -> Health:
        """Whether traffic has drifted, the accuracy expected and that promised, when the money will end."""
        now, state, drift = self._clock(), self.money.state(), self.traffic.drift()
        began = max(self.since, state.start)
        items_left = self.course.items_left(state.items, now, state)
        mean = state.spent / state.items if state.items else 0.0
        pacer = self.course.pacers[self.course.plan.base]
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
            dual_price=pacer.dual_price,
            planned_dual_price=pacer.planned,
            left_out=tuple(self.breaker.left_out()),
            warnings=(),
        )
        return replace(health, warnings=tuple(self._warnings(health)))

    def _warnings(self, health: Health) -> Iterable[str]:
        drift = health.drift
        if self.course.warning:
            yield self.course.warning
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
            lost = loss_without(self.strategy, self.course.plan, service)
            yield f"{service} is left out because it fails too often; without it {lost}."

    def _money_warnings(self, health: Health) -> Iterable[str]:
        expected = self.course.budget.items
        if expected is not None and health.items > expected:
            yield f"{health.items:,} items have come, but {expected:,} were expected; give a new budget."
        cheapest = min(self.course.base_nano(base) for base in self.course.plan.bases) / 1e9
        # Money that has just lasted for all the items expected is no trouble, unless more came.
        if health.left < cheapest and (health.turned_away or health.items_left != 0):
            yield f"The money is gone: {health.left:g} is left and the base costs {cheapest:g}."
        elif health.period_end and health.ends_at and health.ends_at < health.period_end:
            when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(health.ends_at))
            yield f"Spent as it was so far, the money ends at {when} UTC, before the period does."


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
