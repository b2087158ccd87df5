"""A trained strategy where every call has its own cost: whom to ask first, and whose answer stands.

    strategy = PerCallStrategy.fit(training_market, budgets=[0.5, 1])
    strategy.evaluate(test_market, budget=0.5)
    strategy.save("strategy.npz")

For a market of labels, too, the answer of one service stands: nothing is combined. How many of those asked
first agree is among what the choice is made on.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile, open_arrays
from frugalmct.checks import check_money
from frugalmct.errors import FrugalError, listed
from frugalmct.made import PER_CALL, ItemIds, Made, learning_for
from frugalmct.market import Known, Market
from frugalmct.metrics import METRICS
from frugalmct.model import Learning
from frugalmct.percall.columns import LABELS, Table
from frugalmct.percall.model import First, FirstModel, Learner, Learnt, Walked, trial_score, walk
from frugalmct.percall.parts import FORMAT, Parts, PerCallPlan, read_parts, write_parts
from frugalmct.percall.search import SERVICES, best_firsts
from frugalmct.percall.spending import Spending
from frugalmct.plans import AUTO, DELTA
from frugalmct.predict import make_predictor
from frugalmct.seeds import generator

NONE = "none"
# On dense columns of texts its estimates erred less than the forest's, and routed half a point better.
PREDICTOR = "extra_trees"
# Models learn little from more; and a trial of who is asked first less.
ENOUGH_ITEMS, ENOUGH_TO_TRY = 10_000, 2_000

Base = str | Sequence[str] | None


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
    """For each budget a plan, and for each set of services asked first its model."""

    FORMAT = FORMAT

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.services, self.prices, self.metric = parts.services, parts.prices, parts.metric
        self.plans: dict[float, PerCallPlan] = {plan.budget: plan for plan in parts.plans}
        self.models: dict[First, FirstModel] = dict(parts.models)
        self.items, self.made, self.ids = parts.items, parts.made, parts.ids
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

        base: whom to ask first for every item: `none`, a service, several, or `auto` to choose per budget.
        settings: those of `Learning` by name; features may be `text`, `given`, `labels` (what those asked
        first answered) or `auto`, all there is; the predictor is `extra_trees` unless it was given.
        """
        return cls(
            fitted(market, budgets, base, per_call_learning(market, learning, **settings), unit).parts()
        )

    def plan(self, budget: float) -> PerCallPlan:
        if float(budget) not in self.plans:
            raise FrugalError(
                f"This strategy was not trained for budget {budget:g}; it knows {listed(self.plans)}. "
                "Train it with that budget."
            )
        return self.plans[float(budget)]

    def spending(self, budget: float, items: int, caps: Mapping[str, float] | None = None) -> Spending:
        """The money of so many items, to decide one by one with `estimate`.

        caps: the most that one call of each service can cost; then nothing is ever spent beyond the budget.
        """
        plan = self.plan(budget)
        curve = self.models[plan.first].curve
        return Spending(curve, plan.budget, items, plan.first, delta=DELTA, caps=self.checked_caps(caps))

    def estimate(self, items: Market | Known, budget: float) -> tuple[NDArray, NDArray]:
        """(items, services) estimated accuracies and costs, from what is known once those asked first have
        answered: of no other service is anything looked at."""
        model = self.models[self.plan(budget).first]
        known = self._aligned(items).known(model.first) if isinstance(items, Market) else items
        return model.estimate(known, self._item_table(known))

    def decide(
        self, market: Market, budget: float, caps: Mapping[str, float] | None = None
    ) -> NDArray[np.int64]:
        """(items,) whose answer stands, in order; -1 where the money did not last."""
        return self._walked(market, budget, caps).choices

    def evaluate(
        self, market: Market, budget: float, caps: Mapping[str, float] | None = None
    ) -> PerCallEvaluation:
        """Decides without the outcome, then looks what the choices were worth.

        Items that the strategy was trained on flatter it: they are warned of.
        """
        if share := self.ids.known(market.items):
            warnings.warn(
                f"{100 * share:.0f} % of the items of market {market.name} have ids of items that this "
                "strategy was trained on; what it reaches on those is better than what new items will show.",
                stacklevel=2,
            )
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
        return market if market.services == self.services else market.with_services(self.services)

    def save(self, path: str | Path) -> None:
        """One `.npz` of plain arrays and a JSON header."""
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
        return cls(read_parts(file))


def is_per_call(market: Market, base: Base) -> bool:
    """Whether only this kind of strategy suits: qualities, costs per call, or nobody asked first."""
    return market.kind == "quality" or market.extras.costs is not None or base is None or base == NONE


@dataclass(frozen=True, eq=False)
class Fitted:
    """What fitting found, before it is made a strategy of: whom to ask first at each budget, and of each such
    set its model with out-of-sample estimates of the training items."""

    learner: Learner
    firsts: Mapping[float, First]
    learnt: Mapping[First, Learnt]
    made: Made
    ids: ItemIds

    def parts(self) -> Parts:
        market, learnt = self.learner.market, self.learnt
        return Parts(
            market.services,
            np.asarray(market.prices, dtype=np.float64),
            self.learner.learning.metric,
            tuple(_plan(budget, learnt[first], self.learner) for budget, first in self.firsts.items()),
            {first: own.model for first, own in learnt.items()},
            self.learner.items,
            self.made,
            self.ids,
        )


def fitted(
    market: Market, budgets: Sequence[float] | float, base: Base, learning: Learning, unit: str = ""
) -> Fitted:
    """A mistake is said before the work."""
    budgets = checked_budgets(market, budgets)
    if learning.metric not in METRICS:
        raise FrugalError(f"Unknown metric '{learning.metric}'; known: {listed(METRICS)}.")
    make_predictor(learning.predictor, **(learning.options or {}))
    named = () if base == AUTO else named_first(market, base)
    learner = Learner(thinned(market, ENOUGH_ITEMS, learning.seed), learning)
    firsts = chosen_firsts(learner, budgets) if base == AUTO else dict.fromkeys(budgets, named)
    learnt = {first: learner.learn(first) for first in sorted(set(firsts.values()))}
    made = Made.of(PER_CALL, market, learning, unit)
    return Fitted(learner, firsts, learnt, made, ItemIds.of(market.items))


def per_call_learning(market: Market, learning: Learning | None = None, **settings: Any) -> Learning:
    """How to learn from a market: as it says itself, with `extra_trees` unless another predictor is given."""
    if learning is None:
        settings = {"predictor": PREDICTOR} | settings
    return learning_for(PER_CALL, market, learning, settings)


def chosen_firsts(learner: Learner, budgets: Sequence[float]) -> dict[float, First]:
    """Whom to ask first at each budget, by trials on training items."""
    market = thinned(learner.market, ENOUGH_TO_TRY, learner.learning.seed)
    small = learner if market is learner.market else Learner(market, learner.learning)
    alone = small.learn(())

    def trial(first: First) -> dict[float, float]:
        learnt = small.learn(first, alone)
        payable = [budget for budget in budgets if learnt.model.curve.least <= budget]
        return {budget: trial_score(learnt, small, budget) for budget in payable}

    return best_firsts(trial, candidates(market, learner.kind, max(budgets)), budgets)


def candidates(market: Market, kind: str, most: float) -> list[int]:
    """The cheapest services whose answers tell something of an item, of those that a budget pays for."""
    answered = {k: market.known((k,)).answers[k] for k in range(len(market.services))}
    telling = [k for k, own in answered.items() if own.scores is not None or own.numbers is not None]
    payable = [k for k in telling if market.prices[k] <= most] if kind in (AUTO, LABELS) else []
    return sorted(sorted(payable, key=lambda k: market.prices[k])[:SERVICES])


def named_first(market: Market, base: Base) -> First:
    if base is None or base == NONE:
        return ()
    names = [base] if isinstance(base, str) else list(base)
    return tuple(sorted({market.service_index(name) for name in names}))


def thinned(market: Market, most: int, seed: int) -> Market:
    if len(market) <= most:
        return market
    return market.subset(np.sort(generator(seed, market.name, "per call").permutation(len(market))[:most]))


def _plan(budget: float, learnt: Learnt, learner: Learner) -> PerCallPlan:
    curve, first = learnt.model.curve, learnt.model.first
    if curve.least > budget * (1 + 1e-9):
        raise FrugalError(
            f"The budget {budget:g} does not pay for whom every item is sent to first; it must be at least "
            f"{curve.least:.6g}. Raise it, or choose another base."
        )
    true = np.broadcast_to(learner.market.costs, learner.quality.shape)
    spending = Spending(curve, budget, len(true), first, delta=DELTA)
    walked = walk(spending, learnt.accuracy, learnt.costs, true)
    return PerCallPlan(
        budget=budget,
        first=first,
        dual_price=curve.at(curve.least + (1 - DELTA) * (budget - curve.least)),
        accuracy=float(walked.reached(learner.quality).mean()),
        cost=walked.cost,
        asks_no_more=float((walked.asked.sum(axis=1) <= len(first)).mean()),
    )


def checked_budgets(market: Market, budgets: Sequence[float] | float) -> list[float]:
    given = [budgets] if np.ndim(budgets) == 0 else list(budgets)
    if not given:
        raise FrugalError("Strategy.fit: no budgets were given; give at least one.")
    least = float(np.broadcast_to(market.costs, (len(market), len(market.services))).min(axis=1).mean())
    for budget in given:
        number = isinstance(budget, int | float | np.number) and not isinstance(budget, bool)
        if not number or not least <= budget < np.inf:
            raise FrugalError(
                f"Market {market.name}: the budget {budget!r} does not pay for the cheapest service of every "
                f"item; give a number of at least {least:.6g}."
            )
    return list(dict.fromkeys(map(float, given)))
