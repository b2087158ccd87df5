"""What a strategy reaches at many budgets."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import State, reached
from frugalmct.market import LabelMarket, Market
from frugalmct.metrics import set_metric
from frugalmct.mixing import bases_of
from frugalmct.parts import used_states
from frugalmct.sparse import take_rows
from frugalmct.strategy import Evaluation, Strategy


def sweep(strategy: Strategy, market: Market, budgets: Sequence[float] | float) -> list[Evaluation]:
    """`strategy.evaluate` at each budget, or at one, sooner: what the budgets share is worked out once.

    That is every state's estimates, of all items, whether they come there or not, and its combined answers;
    each choice still depends on nothing but the answers of those that were asked.
    """
    own = strategy.aligned(market)
    strategy.ids.warn(market)
    plans = [strategy.plan(budget) for budget in ([budgets] if isinstance(budgets, int | float) else budgets)]
    deciding, states = used_states(bases_of(plans), strategy.models, strategy.steps)
    estimates = _estimates(strategy, own, sorted(deciding))
    selectors = [strategy.selector(plan.budget, len(own)) for plan in plans]
    asked = [selector.run(estimates) for selector in selectors]
    worth = {state: _worth(strategy, own, state, asked) for state in states}
    return [
        Evaluation(who, float(reached(who, worth).mean()), selector.spent / len(own))
        for who, selector in zip(asked, selectors, strict=True)
    ]


def _worth(
    strategy: Strategy, market: LabelMarket, state: State, asked: Sequence[NDArray[np.bool_]]
) -> NDArray[np.float64]:
    """(items,): the accuracy of a state's combined answer, of items that come there at some budget."""
    who = np.isin(np.arange(len(market.services)), state)
    rows = np.flatnonzero(np.any([np.all(each == who, axis=1) for each in asked], axis=0))
    worth = np.full(len(market), np.nan)
    if len(rows):
        answers = [take_rows(market.scores[service], rows) for service in state]
        kept = strategy.combiner(state).apply(answers)
        worth[rows] = set_metric(take_rows(market.truth, rows), kept, strategy.metric)
    return worth


def _estimates(
    strategy: Strategy, market: LabelMarket, states: Sequence[State]
) -> dict[State, NDArray[np.float64]]:
    features = strategy.features
    columns = {
        k: features.columns(market.evidence(k)) for k in sorted({k for state in states for k in state})
    }
    return {
        state: strategy.models[state].estimate(
            features.joined([columns[k] for k in state], market.evidence(state[0]))
        )
        for state in states
    }
