"""Learning FrugalMCT plus: learned combiners, a base chosen over folds, further add-ons where they pay.

States are learnt first for one step, then for the further ones where a base is in use.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import STEPS, State, joined
from frugalmct.combine.learned import COMBINER, ENOUGH_TO_TELL, LearnedCombiner
from frugalmct.combine.validation import fold_choices
from frugalmct.features import FeatureMap, Matrix
from frugalmct.market import LabelMarket
from frugalmct.metrics import set_metric
from frugalmct.mixing import CascadePlan, bases_of
from frugalmct.model import AccuracyModel, Learning
from frugalmct.planning import Planner, surely_better
from frugalmct.plans import DELTA, make_plans
from frugalmct.predict import make_predictor
from frugalmct.predict.random_forest import RandomForest
from frugalmct.seeds import generator, small_seed
from frugalmct.sparse import take_rows
from frugalmct.states import Combiner, PaperCombiner, StateFeatures, StateModel, paper_combiner
from frugalmct.training import Given, Learnt, Training, Trials, fold_numbers, folds, held_out

LOG = logging.getLogger("frugalmct.steps")

# Forests, dual prices and further steps learn no more from more items, and no more are judged out of fold;
# combiners learn from all.
ENOUGH_ITEMS = 6_000
# Nor from more labels, of all services together: of a page of text each item tells as much as many photos.
ENOUGH_LABELS = 1_200_000
# The states after an add-on are many, and each is come to by some of the items: smaller forests keep the file
# below 5 MB whichever bases are in use.
FURTHER_TREES = 20
# Up to so many services everything is tried. Of more, bases are chosen as the paper's method does, and only
# the add-ons that a base turns to most are followed by others, so that work grows with the services
# and not with their pairs.
FEW_SERVICES = 4


class Learner:
    """Combiners and models by state, and what they are worth on the training items, out of sample."""

    def __init__(self, market: LabelMarket, learning: Learning, combiner: str = COMBINER) -> None:
        self.market, self.learning, self.combiner = market, learning, combiner
        self.rows = items_judged(market, learning.seed)
        self.part = market if len(self.rows) == len(market) else market.subset(self.rows)
        features = FeatureMap.of(self.part.evidence(0), market.task, learning.features, learning.summary)
        self.features = StateFeatures(features, len(market.labels))
        self.columns: dict[int, list[Matrix]] = {}
        self.combiners: dict[State, Combiner] = {}
        self.models: dict[State, StateModel] = {}
        self.accuracy: dict[State, NDArray[np.float64]] = {}
        self.estimates: dict[State, NDArray[np.float64]] = {}

    @property
    def services(self) -> int:
        return len(self.market.services)

    def learn(self, state: State, choices: Sequence[int], further: bool = False) -> None:
        """The model and combiners of a state and of every choice there; `further`: after an add-on."""
        if state in self.models:
            return
        states = [state, *(joined(state, choice) for choice in choices)]
        for each in states:
            LOG.info("learning to combine the answers of %s", self.market.names(each))
            self._learn_combiner(each)
        LOG.info("learning whom to ask once %s answered", self.market.names(state))
        learning = self.learning
        options = self._forest(further)
        predictor = make_predictor(
            learning.predictor, **options | dict(learning.options or {}), jobs=learning.jobs
        )
        columns = [self._columns(service) for service in state]
        table = self.features.joined(columns, self.part.evidence(state[0]))
        seed = small_seed(learning.seed, self.market.name, *state, learning.predictor)
        predictor.fit(table, np.column_stack([self.accuracy[each] for each in states]), seed=seed)
        model = StateModel(state, (state[0], *choices), predictor, self.services)
        self.models[state], self.estimates[state] = model, model.wide(predictor.training_estimates)

    def _columns(self, service: int) -> list[Matrix]:
        """Made once, for all the states that have the service."""
        if service not in self.columns:
            self.columns[service] = self.features.columns(self.part.evidence(service))
        return self.columns[service]

    def _learn_combiner(self, state: State) -> None:
        """The learned combiner, or the paper's where that is as good on new items."""
        if state in self.combiners:
            return
        fold = fold_numbers(len(self.part), self.learning.seed)
        accuracy: NDArray[np.float64] | None = None
        if self.combiner == COMBINER:
            learned = self._learned(state)
            assert learned.fold is not None and learned.out_of_fold is not None  # it has just been fitted
            fold, accuracy = learned.fold, learned.out_of_fold
            self.combiners[state] = replace(learned, fold=None, out_of_fold=None, likely=None)
        if len(state) < 3 and (accuracy is None or self._paper_may_win(state, fold, accuracy)):
            simple = _paper_accuracy(self.part, state, fold, self.learning)
            if accuracy is None or simple.mean() >= accuracy.mean():
                self.combiners[state], accuracy = paper_combiner(self.market, state, self.learning), simple
        assert accuracy is not None  # three answers are combined by the learned combiner alone
        self.accuracy[state] = accuracy

    def _paper_may_win(self, state: State, fold: NDArray[np.int64], accuracy: NDArray[np.float64]) -> bool:
        """Whether the paper's combiner is as good, or nearly, on some of the items: far behind there, it need
        not be tried on all."""
        labels = sum(self.part.scores[service].nnz for service in state)
        step = -(-labels // ENOUGH_TO_TELL)
        if step < 2:
            return True
        rows = np.arange(0, len(self.part), step)
        simple = _paper_accuracy(self.part.subset(rows), state, fold[rows], self.learning)
        return not surely_better(accuracy[rows], simple)

    def _learned(self, state: State) -> LearnedCombiner:
        """Of all items; three answers, which few items come to have, of no more than are judged."""
        market, judged = (self.market, self.rows) if len(state) < 3 else (self.part, None)
        return LearnedCombiner.fit(
            market.truth,
            [market.scores[service] for service in state],
            self.learning.metric,
            labels_per_item=self.learning.labels_per_item,
            judged=judged if self.part is not market else None,
            seed=self.learning.seed,
            jobs=self.learning.jobs,
        )

    def learn_on(self, start: State, budgets: Sequence[float], steps: int) -> None:
        """The states beyond a start at which another step may be taken, each with the choices it then has."""
        services = self._followed(start, budgets)
        for beside in range(1, steps):
            for asked in combinations(services, beside):
                others = [other for other in services if other not in asked]
                if others:
                    self.learn(tuple(sorted((*start, *asked))), others, further=True)

    def _forest(self, further: bool) -> dict[str, int]:
        """Leaves as large as were found best for the first base; smaller forests after an add-on."""
        first = next((model.predictor for model in self.models.values()), None)
        if not isinstance(first, RandomForest):
            return {}
        return {"leaf": first.leaf_found} | ({"trees": FURTHER_TREES} if further else {})

    def _followed(self, start: State, budgets: Sequence[float]) -> list[int]:
        """The add-ons of a start that others may follow: of many those it turns to most."""
        choices = list(self.models[start].choices)
        if self.services <= FEW_SERVICES:
            return choices
        cascade = self.training(1).cascade(start)
        payable = [budget for budget in budgets if budget >= cascade.start_cost]
        taken = sum(cascade.walk(cascade.dual_price(budget, DELTA)).asked.sum(axis=0) for budget in payable)
        return sorted(sorted(choices, key=lambda choice: -taken[choice])[: FEW_SERVICES - 1])

    def training(self, steps: int) -> Training:
        """What the training items say about as many steps."""
        return Training(self.market.prices, steps, self.estimates, self.accuracy, {})


def learn(
    market: LabelMarket,
    budgets: Sequence[float],
    bases: Sequence[State],
    deltas: Sequence[float],
    learning: Learning,
    combiner: str = COMBINER,
    steps: int = STEPS,
) -> tuple[Learnt, list[CascadePlan]]:
    """Models of every state that a base in use may come to, and a plan for each budget."""
    learner = Learner(market, learning, combiner)
    if len(bases) > 1 and len(market.services) > FEW_SERVICES:
        bases = _paper_bases(learner.part, budgets, bases, learning)
    for base in bases:
        learner.learn(base, [k for k in range(learner.services) if k not in base])
    trials = folds(len(learner.rows), learning.seed)
    training, plans = plan_all(learner, budgets, bases, deltas, trials, steps)
    return Learnt(learner.features, learner.combiners, learner.models, training), plans


def plan_all(
    learner: Learner,
    budgets: Sequence[float],
    bases: Sequence[State],
    deltas: Sequence[float],
    trials: Trials,
    steps: int = STEPS,
) -> tuple[Training, list[CascadePlan]]:
    """A plan for each budget once one step from every base is learnt: further ones are where a base is used
    with one.

    What is learnt for further steps is all that pairs of services need that are asked first: they cost a
    trial each.
    """
    in_use = sorted(bases_of(Planner(learner.training(1), trials).plans(budgets, bases)))
    for base in in_use if steps > 1 else []:
        learner.learn_on(base, budgets, steps)
    planner = Planner(learner.training(steps), trials, deltas)
    sets = [state for state in learner.models if len(state) == 2] if len(bases) > 1 else []
    if found := planner.sets_that_pay(budgets, in_use, sets):
        for base in found:
            learner.learn_on(base, budgets, steps)
        in_use += found
        planner = Planner(learner.training(steps), trials, deltas)
    given = {base: Given.of(learner.market, base) for base in in_use}
    return replace(planner.training, given=given), planner.plans(budgets, in_use)


def items_judged(market: LabelMarket, seed: int) -> NDArray[np.int64]:
    """The items that forests and prices learn from, and whose accuracies out of fold are known."""
    enough = _enough_items(market)
    if len(market) <= enough:
        return np.arange(len(market))
    return np.sort(generator(seed, market.name, "plus items").permutation(len(market))[:enough])


def _enough_items(market: LabelMarket) -> int:
    """How many items forests and prices learn from at most."""
    labels = sum(answers.nnz for answers in market.scores)
    return min(ENOUGH_ITEMS, max(len(market) * ENOUGH_LABELS // max(labels, 1), 1))


def _paper_bases(
    market: LabelMarket, budgets: Sequence[float], bases: Sequence[State], learning: Learning
) -> list[State]:
    """The bases that the paper's method uses at some budget."""
    aside = held_out(len(market), learning.seed, market.name)[0][1]
    training = [AccuracyModel.fit(market, base, learning).training for (base,) in bases]
    return sorted({(plan.base,) for plan in make_plans(training, aside, budgets)})


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
