"""What a strategy reaches at many budgets."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import State, reached
from frugalmct.market import LabelMarket, Market
from frugalmct.metrics import set_metric
from frugalmct.mixing import bases_of
from frugalmct.parts import used_states
from frugalmct.strategy import Evaluation, Strategy


def sweep(strategy: Strategy, market: Market, budgets: Sequence[float]) -> list[Evaluation]:
    """`strategy.evaluate` at each budget, sooner: what the budgets share is worked out once.

    That is every state's estimates and combined answers, of all items, whether they come there or not; each
    choice still depends on nothing but the answers of those that were asked.
    """
    own = strategy.aligned(market)
    strategy.warn_of_training_items(market)
    plans = [strategy.plan(budget) for budget in budgets]
    deciding, states = used_states(bases_of(plans), strategy.models, strategy.steps)
    estimates = _estimates(strategy, own, sorted(deciding))
    worth = {
        state: set_metric(
            own.truth,
            strategy.combiner(state).apply([own.scores[service] for service in state]),
            strategy.metric,
        )
        for state in states
    }
    found = []
    for plan in plans:
        selector = strategy.selector(plan.budget, len(own))
        asked = selector.run(estimates)
        accuracy = float(reached(asked, worth).mean())
        found.append(Evaluation(asked, accuracy, selector.spent / len(own)))
    return found


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
