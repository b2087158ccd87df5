"""Live traffic where a call's cost is known only once it was made.

    router = PerCallRouter("strategy.npz", Budget(total=50, items=100_000), "sqlite:///ledger.db", per=1000)
    result = router.run({"text": "How many ..."}, ask)      # ask(service, item) -> Call(answer, cost)

Money is reserved before a call, by its cap or by the estimate, and settled with what it really cost, in a
ledger that processes may share. A cost divided by `per` is in the unit of the budget.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from frugalmct.errors import FrugalError, listed
from frugalmct.live.answers import checked_answer
from frugalmct.live.budget import Budget
from frugalmct.live.calls import Call, checked_cost, known_of
from frugalmct.live.ledger import Ledger
from frugalmct.live.purse import Purse
from frugalmct.live.records import Reservation, new_key
from frugalmct.live.tickets import NoAnswer, OutOfMoney
from frugalmct.percall import PerCallStrategy
from frugalmct.percall.spending import most_worth
from frugalmct.strategy import Strategy

Ask = Callable[[str, Any], Call]
LEAST = 1e-9
"""The smallest sum that money is counted in."""


@dataclass(frozen=True)
class PerCallResult:
    """answer: that of `service`, whose answer stands; asked: all that answered, in order; failed: those that
    did not, with the reason; cost: of all calls, in the unit of the budget; expected: the quality that was
    expected of the answer, None where money was at its end."""

    id: str
    answer: Any
    service: str
    asked: tuple[str, ...]
    cost: float
    expected: float | None
    failed: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self) | {"asked": list(self.asked)}


@dataclass
class _Item:
    """One item on its way."""

    id: str
    key: str
    item: Mapping[str, Any]
    calls: dict[int, Call] = field(default_factory=dict)
    paid: dict[int, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    cost: float = 0.0


class PerCallRouter:
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
        if isinstance(ledger, str):
            ledger = Ledger.open(ledger, budget, clock=clock)
        if ledger is None:
            if budget is None:
                raise FrugalError(
                    "PerCallRouter: no budget was given; give one, such as Budget(total=50, items=1000)."
                )
            ledger = Purse(budget, clock)
        self.money = ledger
        self.plan = loaded.plan(self._planned() if plan is None else plan)
        self.model = loaded.models[self.plan.first]
        if caps is None and loaded.training.priced:  # the price of a call is its own cap
            caps = dict(zip(loaded.services, loaded.prices.tolist(), strict=True))
        self.caps = loaded.checked_caps(caps)
        self._labelled = {own.service for own in self.model.answers.services if own.labels is not None}
        self.order = sorted(self.plan.first, key=lambda k: float(self.model.costs.mean[k]))

    def __enter__(self) -> "PerCallRouter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self, item: Mapping[str, Any], ask: Callable[[str, Any], Call], id: str | None = None
    ) -> PerCallResult:
        """Asks who is asked first, chooses, asks whom it chose; OutOfMoney where the money does not last.

        item: with the `text` and `features` that the strategy learnt from.
        """
        key = new_key()
        own = _Item(str(id or item.get("id") or key), key, item)
        known_of(self.model, item, {})  # a mistake is said before money is spent
        try:
            return self._run(own, ask)
        except (NoAnswer, OutOfMoney) as error:
            error.cost = own.cost  # of calls that were made before
            raise

    def _run(self, own: _Item, ask: Ask) -> PerCallResult:
        whole = True
        for service in self.order:
            whole = self._call(own, service, float(self.model.costs.mean[service]), ask) and whole
        if not whole:  # without all of the answers nothing is estimated
            return self._without_estimates(own, ask)
        known = known_of(self.model, own.item, own.calls)
        accuracy, costs = self.model.estimate(known, self.strategy.items.table(known))
        choice = self._choose(own, accuracy[0], costs[0], ask)
        return self._result(own, choice, float(accuracy[0, choice]))

    def _choose(self, own: _Item, accuracy: np.ndarray, costs: np.ndarray, ask: Ask) -> int:
        """The service whose answer stands, asked if it was not; one that fails is passed over."""
        accuracy = accuracy.copy()
        dual_price = self._dual_price(own)
        while True:
            choice = int(most_worth(accuracy[None], costs[None], list(own.calls), dual_price)[0])
            if choice in own.calls:
                return choice
            if accuracy[choice] < 0:
                raise NoAnswer(f"Item {own.id} has no answer: {self._reasons(own)}.")
            if own.calls and not self._affordable(own, choice, float(costs[choice])):
                return max(own.calls, key=lambda k: accuracy[k])
            if not own.calls and not self._affordable(own, choice, float(costs[choice])):
                left = [k for k in range(len(costs)) if accuracy[k] >= 0]
                choice = min(left, key=lambda k: costs[k])
            if self._call(own, choice, float(costs[choice]), ask):
                return choice
            accuracy[choice] = -1e9  # it failed
            if own.calls:
                return max(own.calls, key=lambda k: accuracy[k])

    def _without_estimates(self, own: _Item, ask: Ask) -> PerCallResult:
        """Whoever did answer stands; if none did, the cheapest that does."""
        if own.calls:
            return self._result(own, list(own.calls)[-1], None)
        for service in np.argsort(self.model.costs.mean, kind="stable").tolist():
            name = self.strategy.services[service]
            if name not in own.failed and self._call(
                own, service, float(self.model.costs.mean[service]), ask
            ):
                return self._result(own, service, None)
        raise NoAnswer(f"Item {own.id} has no answer: {self._reasons(own)}.")

    def _call(self, own: _Item, service: int, estimate: float, ask: Ask) -> bool:
        """One call, paid with what it really cost; whether it was answered."""
        name = self.strategy.services[service]
        made = self._reserve(own, service, estimate)
        try:
            call = ask(name, own.item)
            if not isinstance(call, Call):
                raise FrugalError(f"ask gave a {type(call).__name__} for {name}; give a frugalmct.live.Call.")
            cost = estimate if call.cost is None else checked_cost(call.cost)
            if service in self._labelled:
                checked_answer(call.answer)
        except FrugalError:
            self.money.release(made)
            raise
        except Exception as error:
            self.money.release(made)
            own.failed[name] = f"{type(error).__name__}: {error}"[:200]
            return False
        own.cost += self.money.settle(made, cost / self.per)
        own.calls[service], own.paid[service] = Call(call.answer, cost, call.features), cost
        return True

    def _reserve(self, own: _Item, service: int, estimate: float) -> Reservation:
        name = self.strategy.services[service]
        wanted = estimate if self.caps is None else float(self.caps[service])
        amount = wanted / self.per
        if self.caps is None:  # a call is made while there is money, whatever it may cost
            amount = max(min(amount, self.money.state().left), LEAST)
        made = self.money.reserve(amount, name, own.key)
        if made is None:
            raise OutOfMoney(
                f"Item {own.id}: {self.money.state().left:g} is left of the budget, which does not pay for "
                f"{name}."
            )
        return made

    def _affordable(self, own: _Item, service: int, estimate: float) -> bool:
        """Whether enough would be left for the items to come."""
        coming = self._coming(own)
        needed = estimate if self.caps is None else float(self.caps[service])
        kept = 0.0 if coming is None else self.model.curve.kept(coming)
        return (needed + kept) / self.per <= self.money.state().left

    def _dual_price(self, own: _Item) -> float:
        """That of the money left per item left; where the items are not known, that of the plan."""
        coming = self._coming(own)
        if coming is None:
            return self.plan.dual_price
        paid = sum(own.paid.values())
        return self.model.curve.at((self.money.state().left * self.per + paid) / (coming + 1))

    def _coming(self, own: _Item) -> float | None:
        """How many items come after this one, as far as that is known."""
        state, now = self.money.state(), self._clock()
        period = self.money.budget.period(now)
        if period is None:
            return None
        seen = state.items + (not own.calls)  # an item is counted with its first call
        return self.money.budget.items_left(now, seen, period, state.items_before)

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

    def _result(self, own: _Item, choice: int, expected: float | None) -> PerCallResult:
        names = tuple(self.strategy.services[service] for service in own.calls)
        service = self.strategy.services[choice]
        return PerCallResult(own.id, own.calls[choice].answer, service, names, own.cost, expected, own.failed)

    def _reasons(self, own: _Item) -> str:
        return "; ".join(f"{name}: {why}" for name, why in own.failed.items()) or "no service was asked"

    def close(self) -> None:
        self.money.close()
