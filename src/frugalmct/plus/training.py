"""Learning what FrugalMCT plus needs: states first for one step, then for a second where a base is in use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import STEPS, Cascade, CascadePlan, CascadeSelector, State, joined, reached
from frugalmct.combine.learned import COMBINER, LearnedCombiner
from frugalmct.combine.validation import fold_choices
from frugalmct.combine.weight_threshold import search
from frugalmct.features import FeatureMap
from frugalmct.market import LabelMarket
from frugalmct.metrics import set_metric
from frugalmct.model import AccuracyModel, Learning
from frugalmct.plans import DELTA, make_plans
from frugalmct.plus.states import Combiner, PaperCombiner, StateFeatures, StateModel
from frugalmct.predict import make_predictor
from frugalmct.seeds import generator, small_seed
from frugalmct.sparse import take_rows
from frugalmct.splits import split

FOLDS = 5
# Forests, prices and the second step learn no more from more items; combiners learn from all.
ENOUGH_ITEMS = 6_000
# The states after an add-on are many, and each is come to by some of the items: smaller forests keep the file
# below 5 MB whichever bases are in use.
SECOND_TREES, FORESTS = 50, ("random_forest", "extra_trees")
# Up to so many services everything is tried. Of more, bases are chosen as the paper's method does, and only
# the add-ons that a base turns to most are followed by a second one, so that work grows with the services
# and not with their pairs.
FEW_SERVICES = 4


@dataclass(frozen=True)
class PlusPlan:
    """What to do at one budget: who is asked for every item, and the dual price for asking on."""

    budget: float
    start: State
    dual_price: float


class Training:
    """Combiners and models by state, and what they are worth on the training items, out of sample."""

    def __init__(self, market: LabelMarket, learning: Learning, combiner: str = COMBINER) -> None:
        self.market, self.learning, self.combiner = market, learning, combiner
        self.rows = np.arange(len(market))
        if len(market) > ENOUGH_ITEMS:
            drawn = generator(learning.seed, market.name, "plus items").permutation(len(market))
            self.rows = np.sort(drawn[:ENOUGH_ITEMS])
        self.part = market if len(self.rows) == len(market) else market.subset(self.rows)
        features = FeatureMap.of(self.part.evidence(0), market.task, learning.features, learning.summary)
        self.features = StateFeatures(features, len(market.labels))
        self.combiners: dict[State, Combiner] = {}
        self.models: dict[State, StateModel] = {}
        self.accuracy: dict[State, NDArray[np.float64]] = {}
        self.estimates: dict[State, NDArray[np.float64]] = {}
        self.fold = _folds(len(self.rows), learning.seed)

    @property
    def services(self) -> int:
        return len(self.market.services)

    def learn(self, state: State, choices: Sequence[int]) -> None:
        """The state's model, and the combiners of the state and of every choice."""
        if state in self.models:
            return
        states = [state, *(joined(state, choice) for choice in choices)]
        for each in states:
            self._learn_combiner(each)
        learning, few = self.learning, len(state) > 1 and self.learning.predictor in FORESTS
        options = ({"trees": SECOND_TREES} if few else {}) | dict(learning.options or {})
        predictor = make_predictor(learning.predictor, **options, jobs=learning.jobs)
        table = self.features.table([self.part.evidence(service) for service in state])
        seed = small_seed(learning.seed, self.market.name, *state, learning.predictor)
        predictor.fit(table, np.column_stack([self.accuracy[each] for each in states]), seed=seed)
        model = StateModel(tuple(choices), predictor, self.services)
        self.models[state], self.estimates[state] = model, model.wide(predictor.training_estimates)

    def _learn_combiner(self, state: State) -> None:
        """The learned combiner, or the paper's where that is as good on new items."""
        if state in self.combiners:
            return
        market = self.market if len(state) < 3 else self.part
        fold, accuracy = _folds(len(market), self.learning.seed), None
        if self.combiner == COMBINER:
            learned = self._learned(market, state)
            fold, accuracy = learned.fold, learned.out_of_fold
            self.combiners[state] = replace(learned, fold=None, out_of_fold=None, likely=None)
        if len(state) < 3:
            simple = _paper_accuracy(market, state, fold, self.learning)
            if accuracy is None or simple.mean() >= accuracy.mean():
                self.combiners[state], accuracy = _paper_combiner(market, state, self.learning), simple
            accuracy = accuracy[self.rows]
        self.accuracy[state] = accuracy

    def _learned(self, market: LabelMarket, state: State) -> LearnedCombiner:
        return LearnedCombiner.fit(
            market.truth,
            [market.scores[service] for service in state],
            self.learning.metric,
            labels_per_item=self.learning.labels_per_item,
            seed=self.learning.seed,
            jobs=self.learning.jobs,
        )

    def learn_second(self, start: State, budgets: Sequence[float]) -> None:
        """The states that are one service beyond a start, each with the choices it then has."""
        services = self._followed(start, budgets)
        for first in services:
            self.learn(joined(start, first), [other for other in services if other != first])

    def _followed(self, start: State, budgets: Sequence[float]) -> list[int]:
        """The add-ons of a start that a second one may follow: of many those it turns to most."""
        choices = list(self.models[start].choices)
        if self.services <= FEW_SERVICES:
            return choices
        cascade = Cascade(self.market.prices, start, self.estimates, 1)
        payable = [budget for budget in budgets if budget >= cascade.start_cost]
        taken = sum(cascade.walk(cascade.dual_price(budget, DELTA)).asked.sum(axis=0) for budget in payable)
        return sorted(sorted(choices, key=lambda choice: -taken[choice])[: FEW_SERVICES - 1])

    def best_start(self, budget: float, starts: Sequence[State], steps: int) -> State:
        """The start of the highest accuracy over folds, of those that the budget pays for."""
        payable = [start for start in starts if self._cost(start) <= budget]
        if len(payable) == 1:
            return payable[0]
        return max(payable, key=lambda start: self._tried(start, budget, steps))

    def _tried(self, start: State, budget: float, steps: int) -> float:
        """The accuracy reached on every fold at the price of the others."""
        total, prices = 0.0, self.market.prices
        cascade = Cascade(prices, start, self.estimates, steps)
        for fold in np.unique(self.fold):
            rows = np.flatnonzero(self.fold == fold)
            others = np.flatnonzero(self.fold != fold) if len(rows) < len(self.fold) else rows
            plan = CascadePlan(start, cascade.dual_price(budget, DELTA, others))
            selector = CascadeSelector(prices, (plan,), budget, len(rows), steps)
            asked = selector.run({state: table[rows] for state, table in self.estimates.items()})
            total += reached(asked, {state: values[rows] for state, values in self.accuracy.items()}).sum()
        return total

    def plan(self, budget: float, starts: Sequence[State]) -> PlusPlan:
        start = self.best_start(budget, starts, STEPS)
        dual_price = Cascade(self.market.prices, start, self.estimates).dual_price(budget, DELTA)
        return PlusPlan(float(budget), start, dual_price)

    def _cost(self, start: State) -> float:
        return float(self.market.prices[list(start)].sum())


def train(
    market: LabelMarket,
    budgets: Sequence[float],
    bases: Sequence[int],
    learning: Learning,
    combiner: str = COMBINER,
    steps: int = STEPS,
) -> tuple[Training, list[PlusPlan]]:
    """What is learnt, and a plan for each budget."""
    training = Training(market, learning, combiner)
    if len(bases) > 1 and len(market.services) > FEW_SERVICES:
        bases = _paper_bases(training.part, budgets, bases, learning)
    for base in bases:
        training.learn((base,), [k for k in range(training.services) if k != base])
    singles = [(base,) for base in bases]
    starts = sorted({training.best_start(budget, singles, 1) for budget in budgets})
    # The paper's combiner takes the answers of two services, no more.
    for start in starts if steps > 1 and combiner == COMBINER else []:
        training.learn_second(start, budgets)
    return training, [training.plan(budget, starts) for budget in budgets]


def _folds(items: int, seed: int) -> NDArray[np.int64]:
    return generator(seed, "plus folds").permutation(items) % min(FOLDS, items)


def _paper_bases(
    market: LabelMarket, budgets: Sequence[float], bases: Sequence[int], learning: Learning
) -> list[int]:
    """The bases that the paper's method uses at some budget."""
    held_out = split(len(market), train_share=0.8, seed=learning.seed, dataset=market.name).test
    training = [AccuracyModel.fit(market, base, learning).training for base in bases]
    return sorted({plan.base for plan in make_plans(training, held_out, budgets)})


def _paper_combiner(market: LabelMarket, state: State, learning: Learning) -> PaperCombiner:
    found = search(
        market.truth,
        market.scores[state[0]],
        market.scores[state[-1]],
        learning.metric,
        labels_per_item=learning.labels_per_item,
        abstain=learning.abstain,
    )
    return PaperCombiner(*found, learning.labels_per_item, learning.abstain)


def _paper_accuracy(
    market: LabelMarket, state: State, fold: NDArray[np.int64], learning: Learning
) -> NDArray[np.float64]:
    """(items,): the accuracy of the paper's combiner, each fold by the (w, θ) of the others."""
    answers, options = (
        [market.scores[service] for service in state],
        (learning.labels_per_item, learning.abstain),
    )
    found = fold_choices(
        market.truth,
        answers[0],
        answers[-1],
        fold,
        learning.metric,
        labels_per_item=learning.labels_per_item,
        abstain=learning.abstain,
    )
    accuracy = np.zeros(len(market))
    for number, chosen in found.items():
        rows = np.flatnonzero(fold == number)
        given = [take_rows(answer, rows) for answer in answers]
        kept = PaperCombiner(*chosen, *options).apply(given)
        accuracy[rows] = set_metric(take_rows(market.truth, rows), kept, learning.metric)
    return accuracy
