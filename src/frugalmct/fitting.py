"""From a market and what was asked for to the parts of a strategy: checks first, then one of the methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frugalmct import letter, plus
from frugalmct.cascade import STEPS, State
from frugalmct.checks import whole_number
from frugalmct.combine.learned import COMBINER
from frugalmct.errors import FrugalError, listed
from frugalmct.made import METHODS, PAPER, PER_CALL, ItemIds, Made, learning_for
from frugalmct.market import LabelMarket, Market
from frugalmct.metrics import METRICS
from frugalmct.mixing import bases_of
from frugalmct.model import Learning
from frugalmct.parts import Parts, used_states
from frugalmct.plans import AUTO, budget_list, check_budget, deltas_to_try
from frugalmct.predict import make_predictor
from frugalmct.states import WEIGHT_THRESHOLD
from frugalmct.training import Learnt

WHERE = "Strategy.fit"


@dataclass(frozen=True)
class Wanted:
    """What `Strategy.fit` was asked for; see there."""

    budgets: Sequence[float] | float
    method: str
    base: str | Sequence[str] | None
    delta: float | str
    combiner: str | None
    steps: int | None
    learning: Learning | None
    unit: str
    settings: Mapping[str, Any]


def fit_parts(market: Market, wanted: Wanted) -> Parts:
    """What a strategy is made of."""
    return learnt_parts(market, wanted)[0]


def learnt_parts(market: Market, wanted: Wanted) -> tuple[Parts, Learnt]:
    """The parts, and all that was learnt on the way to them. A mistake is said before the work."""
    market = _labelled(market, wanted.method)
    learning = learning_for(wanted.method, market, wanted.learning, wanted.settings)
    _check_learning(learning)
    combiner, steps = _combiner_and_steps(wanted)
    bases = base_states(market, wanted.base)
    if combiner == WEIGHT_THRESHOLD and len(bases[0]) > 1:
        raise FrugalError(
            f"{WHERE}: (w, θ) combines the answers of two services, no more; give one base, or "
            f"method='plus' with combiner='{COMBINER}'."
        )
    budgets = budget_list(wanted.budgets)
    for budget in budgets:
        check_budget(f"Market {market.name}", market.prices, budget, bases)
    deltas = deltas_to_try(wanted.delta, len(market))
    if wanted.method == PAPER:
        learnt, plans = letter.learn(market, budgets, bases, deltas, learning)
    else:
        learnt, plans = plus.learn(market, budgets, bases, deltas, learning, combiner, steps)
    in_use = bases_of(plans)
    deciding, states = used_states(in_use, learnt.models, steps)
    parts = Parts(
        services=market.services,
        prices=market.prices,
        labels=market.labels,
        metric=learning.metric,
        features=learnt.features,
        plans={plan.budget: plan for plan in plans},
        combiners={state: learnt.combiners[state] for state in states},
        models={state: learnt.models[state] for state in deciding},
        training=learnt.training.of_states(deciding, states, in_use),
        made=Made.of(wanted.method, market, learning, wanted.unit),
        ids=ItemIds.of(market.items),
    )
    return parts, learnt


def _labelled(market: Market, method: str) -> LabelMarket:
    if method not in METHODS:
        raise FrugalError(f"{WHERE}: unknown method {method!r}; known: {listed((*METHODS, PER_CALL))}.")
    return label_market(WHERE, market, f"leave out method, or give '{PER_CALL}'")


def label_market(where: str, market: Market, advice: str) -> LabelMarket:
    """The market, if it is one of label sets; if not, a sentence with what to do."""
    if not isinstance(market, LabelMarket):
        raise FrugalError(
            f"{where}: market {market.name} has no label sets, but the {market.kind} of answers; {advice}."
        )
    return market


def base_states(market: Market, base: str | Sequence[str] | None) -> list[State]:
    """The services of that name or names, together; or each one alone for `auto`."""
    if base == AUTO:
        return [(service,) for service in range(len(market.services))]
    names = [base] if isinstance(base, str) else list(base or ())
    if not names or len(set(names)) != len(names):
        raise FrugalError(f"{WHERE}: base is {base!r}; give a service, several different ones, or '{AUTO}'.")
    return [tuple(sorted(market.service_index(name) for name in names))]


def _combiner_and_steps(wanted: Wanted) -> tuple[str, int]:
    """The paper's combiner takes two answers, and so allows one step."""
    paper = wanted.method == PAPER
    combiner = wanted.combiner or (WEIGHT_THRESHOLD if paper else COMBINER)
    if combiner not in (COMBINER, WEIGHT_THRESHOLD):
        raise FrugalError(
            f"{WHERE}: unknown combiner {combiner!r}; known: {listed((COMBINER, WEIGHT_THRESHOLD))}."
        )
    most = 1 if combiner == WEIGHT_THRESHOLD else STEPS
    steps = most if wanted.steps is None else whole_number(WHERE, "steps", wanted.steps, least=1)
    if steps > most or (paper and combiner != WEIGHT_THRESHOLD):
        raise FrugalError(
            f"{WHERE}: method '{wanted.method}' with combiner '{combiner}' and steps {steps}: the paper's "
            f"method has combiner '{WEIGHT_THRESHOLD}' and one step, plus with combiner '{COMBINER}' up to "
            f"{STEPS}."
        )
    return combiner, steps


def _check_learning(learning: Learning) -> None:
    if learning.metric not in METRICS:
        raise FrugalError(f"Unknown metric '{learning.metric}'; known: {listed(METRICS)}.")
    make_predictor(learning.predictor, **(learning.options or {}))
