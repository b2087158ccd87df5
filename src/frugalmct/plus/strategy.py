"""A trained strategy of FrugalMCT plus, used as `frugalmct.strategy.Strategy` is.

    strategy = PlusStrategy.fit(training_market, budgets=[6], base="auto")
    strategy.evaluate(test_market, budget=6)
    strategy.save("plus.npz")

Up to two services are asked beside the base, one after the other: whether to ask the second is decided when
the first has answered. Live traffic asks step by step, with the answers it has so far:

    selector = strategy.selector(budget=6, items=1000)
    plan, state = selector.begin(), strategy.plan(6).start
    ...                                         # ask the services of `state`
    while state in strategy.models:
        service = selector.ask(plan, state, strategy.estimate(answers, state)[0])
        if service is None:
            break
        ...                                     # ask the service, and add its answer to `answers`
        state = joined(state, service)
    answer = strategy.combined(answers)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from frugalmct.arrays import open_arrays
from frugalmct.cascade import STEPS, CascadePlan, CascadeSelector, State, joined
from frugalmct.checks import whole_number
from frugalmct.combine.learned import COMBINER
from frugalmct.errors import FrugalError, listed
from frugalmct.market import Evidence, LabelMarket, Market
from frugalmct.metrics import METRICS, set_metric
from frugalmct.model import Learning
from frugalmct.plans import AUTO, bases_to_try, check_budget
from frugalmct.plus.saving import FORMAT, Parts, read_parts, write_parts
from frugalmct.plus.states import PAPER, Combiner, StateModel
from frugalmct.plus.training import PlusPlan, Training, train
from frugalmct.predict import make_predictor
from frugalmct.sparse import take_rows


@dataclass(frozen=True, eq=False)
class PlusEvaluation:
    """What a strategy's choices turned out to be worth.

    asked: (items, services) who was asked; cost: the mean per item, base included.
    """

    asked: NDArray[np.bool_]
    accuracy: float
    cost: float


class PlusStrategy:
    """For each budget a plan, and for each state that a plan can come to its combiner and model."""

    def __init__(self, parts: Parts) -> None:
        self.services, self.prices, self.labels = parts.services, parts.prices, parts.labels
        self.metric, self.features = parts.metric, parts.features
        self.plans: dict[float, PlusPlan] = {plan.budget: plan for plan in parts.plans}
        self.combiners: dict[State, Combiner] = dict(parts.combiners)
        self.models: dict[State, StateModel] = dict(parts.models)
        self._parts = parts

    @classmethod
    def fit(
        cls,
        market: Market,
        budgets: Sequence[float],
        *,
        base: str = AUTO,
        learning: Learning | None = None,
        combiner: str = COMBINER,
        steps: int = STEPS,
    ) -> "PlusStrategy":
        """Learns from a market with truth.

        base: a service's name, or `auto` to choose it per budget; combiner: `learned` (where it is better on
        new items), or `weight_threshold`, the paper's everywhere, which allows one step; steps: how many
        services may be asked beside the base, 1 or 2.
        """
        learning = learning or Learning()
        _check_learning(market, learning, combiner)
        if whole_number("PlusStrategy.fit", "steps", steps, least=1) > STEPS:
            raise FrugalError(f"PlusStrategy.fit: steps is {steps}; give a number from 1 to {STEPS}.")
        bases = bases_to_try(market, base)
        if not len(budgets):
            raise FrugalError("PlusStrategy.fit: no budgets were given; give at least one.")
        for budget in budgets:
            check_budget(f"Market {market.name}", market.prices, budget, bases)
        once = list(dict.fromkeys(map(float, budgets)))
        training, plans = train(market, once, bases, learning, combiner, steps)
        return cls(_used_parts(training, plans))

    def plan(self, budget: float) -> PlusPlan:
        if float(budget) not in self.plans:
            raise FrugalError(
                f"This strategy was not trained for budget {budget:g}; it knows {listed(self.plans)}. "
                "Train it with that budget."
            )
        return self.plans[float(budget)]

    def selector(self, budget: float, items: int) -> CascadeSelector:
        """For live traffic, see the top of this module; it never spends more than `items * budget`."""
        plan = self.plan(budget)
        return CascadeSelector(self.prices, (CascadePlan(plan.start, plan.dual_price),), plan.budget, items)

    def estimate(self, answers: Market | Mapping[str, Evidence], state: State) -> NDArray[np.float64]:
        """(items, 1 + services): the accuracy of stopping at a state, then of asking each service beside.

        Answers are needed of the services of the state only, by their names; truth is never looked at.
        """
        if state not in self.models:
            raise FrugalError(f"This strategy asks nobody after {self._names(state)}: it stops there.")
        if isinstance(answers, Market):
            answers = {name: answers.evidence(answers.service_index(name)) for name in self._named(state)}
        missing = [name for name in self._named(state) if name not in answers]
        if missing:
            raise FrugalError(f"The answers of {listed(missing)} are missing; give an Evidence for each.")
        rows = self.features.table([answers[name].over(self.labels) for name in self._named(state)])
        return self.models[state].estimate(rows)

    def decide(self, market: Market, budget: float) -> NDArray[np.bool_]:
        """(items, services): who is asked for each item, in order.

        Of a service that is not asked for an item, no answer is looked at.
        """
        return self._decided(market, budget)[0]

    def _decided(self, market: Market, budget: float) -> tuple[NDArray[np.bool_], float]:
        """Who is asked, and the mean cost of an item."""
        plan, selector = self.plan(budget), self.selector(budget, len(market))
        states = [plan.start, *(joined(plan.start, k) for k in self.models[plan.start].choices)]
        estimates = {state: self.estimate(market, state) for state in states if state in self.models}
        return selector.run(estimates), selector.spent / len(market)

    def answer(self, market: Market, asked: NDArray[np.bool_], budget: float | None = None) -> csr_matrix:
        """The combined label sets of who was asked, over `answer_labels(market)`; the same at any budget."""
        market = self._aligned(market)
        if asked.shape != (len(market), len(self.services)):
            raise FrugalError(
                f"PlusStrategy.answer: asked is {asked.shape}; give what `decide` returns for this market."
            )
        found, rows = [], []
        for who in np.unique(asked, axis=0):
            rows.append(np.flatnonzero(np.all(asked == who, axis=1)))
            state = tuple(np.flatnonzero(who).tolist())
            found.append(self._combiner(state).apply([take_rows(market.scores[k], rows[-1]) for k in state]))
        return take_rows(vstack(found, format="csr"), np.argsort(np.concatenate(rows)))

    def answer_labels(self, market: Market) -> NDArray[np.str_]:
        """The names of the columns of `answer`: the labels learnt from, then those new in this market."""
        return self._aligned(market).labels

    def combined(self, answers: Mapping[str, Evidence]) -> Evidence:
        """One answer per item out of those of the services asked, by their names."""
        state = tuple(sorted(self._number(name) for name in answers))
        names = self.labels
        for name in self._named(state):
            names = answers[name].over(names).labels
        given = [answers[name].over(names).scores for name in self._named(state)]
        return Evidence(self._combiner(state).apply(given), names)

    def evaluate(self, market: Market, budget: float) -> PlusEvaluation:
        """Decides without the truth, then looks what the answers were worth."""
        asked, cost = self._decided(market, budget)
        truth = self._aligned(market).truth
        reached = set_metric(truth, self.answer(market, asked), self.metric)
        return PlusEvaluation(asked, float(reached.mean()), cost)

    def save(self, path: str | Path) -> None:
        """One `.npz` of plain arrays and a JSON header."""
        write_parts(self._parts, path)

    @classmethod
    def load(cls, path: str | Path) -> "PlusStrategy":
        """Reads what `save` wrote; a file of another kind, or a damaged one, is named as such."""
        with open_arrays(
            path, f"strategy file of format {FORMAT}", "train and save the strategy again"
        ) as file:
            return cls(read_parts(file))

    def _aligned(self, market: Market) -> LabelMarket:
        """The market with this strategy's services and labels first; labels it never saw come after them."""
        own = market if market.services == self.services else market.with_services(self.services)
        return own.over(self.labels)

    def _combiner(self, state: State) -> Combiner:
        if state not in self.combiners:
            raise FrugalError(
                f"This strategy never asks {self._names(state)} together, and cannot combine their answers; "
                "give what `decide` returns."
            )
        return self.combiners[state]

    def _number(self, name: str) -> int:
        if name not in self.services:
            raise FrugalError(f"This strategy has no service '{name}'; it knows {listed(self.services)}.")
        return self.services.index(name)

    def _named(self, state: State) -> list[str]:
        return [self.services[service] for service in state]

    def _names(self, state: State) -> str:
        return listed(self._named(state)) if state else "nobody"


def _used_parts(training: Training, plans: Sequence[PlusPlan]) -> Parts:
    """Of all that was learnt, the states that a plan can come to."""
    starts, market = sorted({plan.start for plan in plans}), training.market
    second = {joined(start, k) for start in starts for k in training.models[start].choices}
    models = {state: training.models[state] for state in sorted({*starts, *second} & training.models.keys())}
    ends = {joined(state, k) for state, model in models.items() for k in model.choices}
    combiners = {state: training.combiners[state] for state in sorted(ends | models.keys())}
    return Parts(
        market.services,
        market.prices,
        market.labels,
        training.learning.metric,
        training.features,
        plans,
        combiners,
        models,
    )


def _check_learning(market: Market, learning: Learning, combiner: str) -> None:
    """A mistake is said before the work."""
    if not isinstance(market, LabelMarket):
        raise FrugalError(
            f"PlusStrategy.fit: market {market.name} holds {market.kind}, not label sets; use Strategy."
        )
    if combiner not in (COMBINER, PAPER):
        raise FrugalError(f"Unknown combiner {combiner!r}; known: {listed((COMBINER, PAPER))}.")
    if learning.metric not in METRICS:
        raise FrugalError(f"Unknown metric '{learning.metric}'; known: {listed(METRICS)}.")
    make_predictor(learning.predictor, **(learning.options or {}))
