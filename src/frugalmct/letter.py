"""Learning by the paper's method: at most one service beside the base, combined with it by (w, θ)."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np

from frugalmct.cascade import State
from frugalmct.combine import Combiners
from frugalmct.market import LabelMarket
from frugalmct.mixing import CascadePlan
from frugalmct.model import AccuracyModel, Learning
from frugalmct.planning import Planner
from frugalmct.states import PaperCombiner, StateFeatures, StateModel, paper_combiner
from frugalmct.training import Given, Learnt, Training, held_out

LOG = logging.getLogger("frugalmct.steps")


def learn(
    market: LabelMarket,
    budgets: Sequence[float],
    bases: Sequence[State],
    deltas: Sequence[float],
    learning: Learning,
) -> tuple[Learnt, list[CascadePlan]]:
    """Models of every base, and a plan for each budget: its base by trial on items held out for that."""
    services = len(market.services)
    pairs = {tuple(sorted({base, other})) for (base,) in bases for other in range(services)}
    combiners = {}
    for pair in sorted(pairs):
        LOG.info("learning to combine the answers of %s", market.names(pair))
        combiners[pair] = paper_combiner(market, pair, learning)
    models, estimates, accuracy = {}, {}, {}
    for state in bases:
        LOG.info("learning whom to ask once %s answered", market.names(state))
        own = _combiners_of(state[0], combiners, services, learning)
        fitted = AccuracyModel.fit(market, state[0], learning, own)
        models[state] = StateModel(state, tuple(range(services)), fitted.predictor, services)
        estimates[state] = fitted.training.estimated
        for other, values in enumerate(fitted.training.truth.T):
            accuracy[tuple(sorted({state[0], other}))] = values
    features = StateFeatures(fitted.features, len(market.labels))
    given = {base: Given.of(market, base) for base in bases}
    training = Training(market.prices, 1, estimates, accuracy, given)
    trials = held_out(len(market), learning.seed, market.name)
    planner = Planner(training, trials, deltas)
    plans = [planner.single(budget, bases) for budget in budgets]
    return Learnt(features, combiners, models, training), plans


def _combiners_of(
    base: int, combiners: Mapping[State, PaperCombiner], services: int, learning: Learning
) -> Combiners:
    """One base's, in which its own answer comes first."""
    own = [combiners[tuple(sorted({base, other}))] for other in range(services)]
    weights = [pair.weight if base <= other else round(1 - pair.weight, 12) for other, pair in enumerate(own)]
    return Combiners(
        base,
        np.array(weights),
        np.array([pair.threshold for pair in own]),
        labels_per_item=learning.labels_per_item,
        abstain=learning.abstain,
    )
