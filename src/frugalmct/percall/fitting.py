"""From a market to the parts of a strategy with costs per call: checks, whom to ask first, models, plans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frugalmct.errors import FrugalError, listed
from frugalmct.made import PER_CALL, ItemIds, Made, learning_for
from frugalmct.market import Market
from frugalmct.metrics import METRICS
from frugalmct.model import Learning
from frugalmct.percall.columns import LABELS
from frugalmct.percall.model import First, Learner, Learnt, trial_score
from frugalmct.percall.parts import Parts, PerCallPlan
from frugalmct.percall.search import SERVICES, best_firsts
from frugalmct.percall.training import OnTrial, PerCallTraining, Trained
from frugalmct.plans import AUTO, DELTA, budget_list, check_pays
from frugalmct.predict import make_predictor
from frugalmct.seeds import generator
from frugalmct.select.problem import PROOF_TOLERANCE

NONE = "none"
# Models learn little from more; and a trial of who is asked first less.
ENOUGH_ITEMS, ENOUGH_TO_TRY = 10_000, 2_000

# On dense columns of texts its estimates erred less than the forest's, and routed half a point better.
PREDICTOR = "extra_trees"

Base = str | Sequence[str] | None


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
        market = self.learner.market
        training = PerCallTraining.of(self.learner.quality, market.costs, list(self.learnt.values()))
        return Parts(
            market.services,
            np.asarray(market.prices, dtype=np.float64),
            self.learner.learning.metric,
            tuple(make_plan(budget, training.first(first)) for budget, first in self.firsts.items()),
            {first: own.model for first, own in self.learnt.items()},
            self.learner.items,
            training.kept(),
            self.made,
            self.ids,
        )


def fitted(
    market: Market, budgets: Sequence[float] | float, base: Base, learning: Learning, unit: str = ""
) -> Fitted:
    """A mistake is said before the work."""
    wanted = checked_budgets(market, budgets)
    if learning.metric not in METRICS:
        raise FrugalError(f"Unknown metric '{learning.metric}'; known: {listed(METRICS)}.")
    make_predictor(learning.predictor, **(learning.options or {}))
    named = () if base == AUTO else named_first(market, base)
    learner = Learner(thinned(market, ENOUGH_ITEMS, learning.seed), learning)
    firsts = chosen_firsts(learner, wanted) if base == AUTO else dict.fromkeys(wanted, named)
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
        payable = [budget for budget in budgets if learnt.model.curve.lowest <= budget]
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
    if not names or len(set(names)) != len(names):
        raise FrugalError(
            f"Strategy.fit: base is {base!r}; give a service, several different ones, '{NONE}' or '{AUTO}'."
        )
    return tuple(sorted(market.service_index(name) for name in names))


def thinned(market: Market, most: int, seed: int) -> Market:
    if len(market) <= most:
        return market
    return market.subset(np.sort(generator(seed, market.name, "per call").permutation(len(market))[:most]))


def checked_budgets(market: Market, budgets: Sequence[float] | float) -> list[float]:
    given = budget_list(budgets)
    least = float(np.broadcast_to(market.costs, (len(market), len(market.services))).min(axis=1).mean())
    for budget in given:
        number = isinstance(budget, int | float | np.number) and not isinstance(budget, bool)
        # The mean of equal prices may be rounded to above the price.
        if not number or not least * (1 - PROOF_TOLERANCE) <= budget < np.inf:
            raise FrugalError(
                f"Market {market.name}: the budget {budget!r} does not pay for the cheapest service of every "
                f"item; give a number of at least {least:.6g}."
            )
    return [float(budget) for budget in given]


def make_plan(budget: float, trained: Trained) -> PerCallPlan:
    """What to do at a budget once it is chosen whom to ask first."""
    curve, first = trained.curve, trained.first
    if budget < curve.lowest:
        raise FrugalError(
            f"The budget {budget:g} does not pay for whom every item is sent to first; it must be at least "
            f"{curve.least:.6g}. Raise it, or choose another base."
        )
    walked = trained.walk(budget, curve)
    return PerCallPlan(
        budget=budget,
        first=first,
        dual_price=curve.at(curve.least + (1 - DELTA) * (budget - curve.least)),
        accuracy=float(walked.reached(trained.quality).mean()),
        cost=walked.cost,
        asks_no_more=float((walked.asked.sum(axis=1) <= len(first)).mean()),
    )


def best_plan(budget: float, tried: Sequence[OnTrial]) -> PerCallPlan:
    """Of those asked first whom the training items do best with at this budget."""
    check_pays("Strategy.with_prices", budget, min(own.trained.curve.lowest for own in tried))
    payable = [own for own in tried if own.trained.curve.lowest <= budget]
    best = max(payable, key=lambda own: own.tried(budget).mean()) if len(payable) > 1 else payable[0]
    return make_plan(float(budget), best.trained)
