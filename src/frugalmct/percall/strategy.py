"""A trained strategy where every call has its own cost: whom to ask first, and whose answer stands.

    strategy = PerCallStrategy.fit(training_market, budgets=[0.5, 1])
    strategy.evaluate(test_market, budget=0.5)
    strategy.with_prices({"gpt-4o": 1.3})       # no refitting
    strategy.save("strategy.npz")

For a market of labels, too, the answer of one service stands: nothing is combined. How many of those asked
first agree is among what the choice is made on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile, open_arrays
from frugalmct.checks import check_money
from frugalmct.errors import FrugalError, listed
from frugalmct.market import Known, Market
from frugalmct.model import Learning
from frugalmct.percall.columns import Table
from frugalmct.percall.fitting import NONE, Base, best_plan, fitted, make_plan, per_call_learning
from frugalmct.percall.model import First, FirstModel, Walked, walk
from frugalmct.percall.parts import FORMAT, Parts, PerCallPlan, read_parts, write_parts
from frugalmct.percall.spending import Spending
from frugalmct.percall.training import OnTrial
from frugalmct.plans import (
    AUTO,
    DELTA,
    budget_list,
    check_pays,
    check_prices,
    new_prices,
    one_budget,
    trained_plan,
)
from frugalmct.training import folds


@dataclass(frozen=True, eq=False)
class PerCallEvaluation:
    """What a strategy's choices turned out to be worth.

    choices: (items,) the service whose answer stands, -1 where the money did not last; asked: (items,
    services) whose calls were made; accuracy: the mean quality; cost: the mean per item, of true costs.
    """

    choices: NDArray[np.int64]
    asked: NDArray[np.bool_]
    accuracy: float
    cost: float


class PerCallStrategy:
    """For each budget a plan, and for each set of services asked first its model.

    services, prices: (services,) names, and the mean cost of a call; plans: by budget; models: by the numbers
    of those asked first; made: what it was made with.
    """

    FORMAT = FORMAT

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.services, self.prices, self.metric = parts.services, parts.prices, parts.metric
        self.plans: dict[float, PerCallPlan] = {plan.budget: plan for plan in parts.plans}
        self.models: dict[First, FirstModel] = dict(parts.models)
        self.items, self.training = parts.items, parts.training
        self.made, self.ids = parts.made, parts.ids
        self._seen: tuple[Any, Table] | None = None

    @classmethod
    def fit(
        cls,
        market: Market,
        budgets: Sequence[float] | float,
        *,
        base: Base = AUTO,
        learning: Learning | None = None,
        unit: str = "",
        **settings: Any,
    ) -> "PerCallStrategy":
        """Learns from a market with the outcome of every call.

        budgets: one number or several, each the mean cost that an item may incur. base: whom to ask first for
        every item: `none`, a service, several, or `auto` to choose per budget. learning: how to learn, which
        settings change; by default as the market says. unit: what costs are in, a text that is kept.
        settings: those of `Learning` by name; features may be `text`, `given`, `labels` (what those asked
        first answered) or `auto`, all there is; the predictor is `extra_trees` unless it was given.
        """
        return cls(
            fitted(market, budgets, base, per_call_learning(market, learning, **settings), unit).parts()
        )

    def with_prices(
        self, prices: Mapping[str, float], budgets: Sequence[float] | None = None
    ) -> "PerCallStrategy":
        """This strategy at new prices, without refitting: plans anew from the estimates kept of training.

        prices: by service; one that is not named keeps its price. Where calls have costs of their own, a
        price is the mean cost of a call (`strategy.prices`), and each call costs so much more or less than it
        did. budgets: other budgets, too. Whom to ask first is chosen anew among the sets that this strategy
        has models of.
        """
        new = new_prices(self.services, self.prices, prices)
        training = self.training.at_prices(new, self._factors(new))
        wanted = budget_list(list(self.plans) if budgets is None else budgets)
        trials = folds(len(training), self.made.seed)
        tried = [OnTrial(training.first(first), trials) for first in self.models]
        plans = tuple(best_plan(budget, tried) for budget in wanted)
        firsts = sorted({plan.first for plan in plans})
        training = training.of_firsts(firsts)
        models = {
            first: self.models[first].at_prices(new, self._factors(new), training.first(first).curve)
            for first in firsts
        }
        parts = replace(self.parts, prices=new, plans=plans, models=models, training=training)
        return PerCallStrategy(parts)

    def _factors(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """(services,) how many times what it cost a call costs now."""
        if self.training.priced:
            return np.ones(len(prices))
        wrong = (prices != self.prices) & ((prices == 0) | (self.prices == 0))
        if wrong.any():
            service = int(np.flatnonzero(wrong)[0])
            raise FrugalError(
                f"Strategy.with_prices: the mean cost of a call of {self.services[service]} cannot change "
                f"from {self.prices[service]:g} to {prices[service]:g}: every call's cost is multiplied, and "
                "by what is not known. Give a number above 0, or train the strategy anew."
            )
        return np.divide(prices, self.prices, out=np.ones(len(prices)), where=self.prices > 0)

    def plan_at(self, budget: float) -> PerCallPlan:
        """The plan of any budget: that trained for it, or who is asked first by the nearest, priced anew."""
        if one_budget(budget) in self.plans:
            return self.plans[float(budget)]
        check_pays("Strategy.plan_at", budget, min(model.curve.lowest for model in self.models.values()))
        payable = [p for p in self.plans.values() if self.models[p.first].curve.lowest <= budget]
        near = min(payable, key=lambda plan: abs(plan.budget - budget))
        return make_plan(float(budget), self.training.first(near.first))

    def plan(self, budget: float) -> PerCallPlan:
        """What to do at a budget that the strategy was trained for, and at no other."""
        return trained_plan(self.plans, budget)

    def spending(self, budget: float, items: int, caps: Mapping[str, float] | None = None) -> Spending:
        """The money of so many items, to decide one by one with `estimate`.

        budget: one that it was trained for; items: how many the money is for. caps: by service the most that
        one call of each service can cost; then nothing is ever spent beyond the budget.
        """
        plan = self.plan(budget)
        curve = self.models[plan.first].curve
        return Spending(curve, plan.budget, items, plan.first, delta=DELTA, caps=self.checked_caps(caps))

    def estimate(self, items: Market | Known, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """(items, services) estimated accuracies and (items, services) estimated costs, from what is known
        once those asked first have answered: of no other service is anything looked at.

        items: a market, or what is known of its items; budget: one that it was trained for.
        """
        model = self.models[self.plan(budget).first]
        known = self._aligned(items).known(model.first) if isinstance(items, Market) else items
        return model.estimate(known, self._item_table(known))

    def decide(
        self, market: Market, budget: float, caps: Mapping[str, float] | None = None
    ) -> NDArray[np.int64]:
        """(items,) the number of the service whose answer stands; -1 where the money did not last.

        market: its items are decided in order; budget: one that it was trained for; caps: as in `spending`,
        and prices where they are the same for all calls.
        """
        return self._walked(market, budget, caps).choices

    def evaluate(
        self, market: Market, budget: float, caps: Mapping[str, float] | None = None
    ) -> PerCallEvaluation:
        """Decides without the outcome, then looks what the choices were worth.

        market: items with the outcome of every call; budget, caps: as in `decide`. Items that the strategy
        was trained on flatter it: they are warned of.
        """
        self.ids.warn(market)
        walked = self._walked(market, budget, caps)
        quality = self._aligned(market).service_accuracy(self.metric)
        return PerCallEvaluation(
            walked.choices, walked.asked, float(walked.reached(quality).mean()), walked.cost
        )

    def _walked(self, market: Market, budget: float, caps: Mapping[str, float] | None) -> Walked:
        own = self._aligned(market)
        accuracy, costs = self.estimate(own, budget)
        true = np.broadcast_to(own.costs, accuracy.shape)
        if caps is None and own.costs.ndim == 1:  # a price is the same for all calls, and so its own cap
            caps = dict(zip(self.services, own.costs.tolist(), strict=True))
        return walk(self.spending(budget, max(len(own), 1), caps), accuracy, costs, true)

    def names(self, first: First) -> str:
        """Those asked first, for people."""
        return " + ".join(self.services[k] for k in first) if first else "none"

    def checked_caps(self, caps: Mapping[str, float] | None) -> NDArray[np.float64] | None:
        """(services,) of those given by name; None if none were."""
        if caps is None:
            return None
        if missing := [service for service in self.services if service not in caps]:
            raise FrugalError(f"caps: that of {listed(missing)} is missing; give one for every service.")
        values = np.array([float(caps[service]) for service in self.services])
        check_money("caps", values)
        return values

    def _item_table(self, known: Known) -> Table:
        """What is known beforehand, kept for the next budget: texts take longest."""
        if known.text is None:
            return self.items.table(known)
        if self._seen is None or self._seen[0] is not known.text:
            self._seen = (known.text, self.items.table(known))
        return self._seen[1]

    def _aligned(self, market: Market) -> Market:
        if self.training.priced:
            check_prices(self.services, self.prices, market)
        return market if market.services == self.services else market.with_services(self.services)

    def save(self, path: str | Path) -> None:
        """One `.npz` of plain arrays and a JSON header, whole or not at all."""
        write_parts(self.parts, path)

    @classmethod
    def load(cls, path: str | Path) -> "PerCallStrategy":
        """Reads what `save` wrote; a file of another kind, or a damaged one, is named as such."""
        with open_arrays(
            path, f"strategy file of format {FORMAT}", "train and save the strategy again"
        ) as file:
            return cls.read(file)

    @classmethod
    def read(cls, file: ArrayFile) -> "PerCallStrategy":
        """From a file that is open already."""
        return cls(read_parts(file))


def is_per_call(market: Market, base: Base) -> bool:
    """Whether only this kind of strategy suits: qualities, costs per call, or nobody asked first."""
    return market.kind == "quality" or market.extras.costs is not None or base is None or base == NONE
