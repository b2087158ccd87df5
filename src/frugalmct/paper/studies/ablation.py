"""From the paper's method to plus, one change at a time, and plus with each of its parts left out.

All learn from the same few items with the same small forests: what a part is worth is to be seen, not the
best that can be had. What a change does not concern is learnt once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.cascade import STEPS, State, joined, reached
from frugalmct.combine import Combiners
from frugalmct.combine.learned import COMBINER, LearnedCombiner
from frugalmct.estimates import Estimates
from frugalmct.features import Matrix
from frugalmct.market import LabelMarket
from frugalmct.metrics import set_metric
from frugalmct.mixing import bases_of, selector_of
from frugalmct.model import PAPER_FOREST, PAPER_PREDICTOR, AccuracyModel, Learning
from frugalmct.paper.stages.plus import plus_learning
from frugalmct.paper.studies.case import Case
from frugalmct.parts import used_states
from frugalmct.plans import DELTA, make_plans
from frugalmct.plus import Learner, plan_all
from frugalmct.predict import PREDICTORS
from frugalmct.seeds import generator
from frugalmct.states import WEIGHT_THRESHOLD, Combiner, StateFeatures, StateModel
from frugalmct.training import folds, held_out

ITEMS, TREES = 1_000, 30
"""The most items to learn from, and to test on; the trees of each forest."""

PAPER, IN_SAMPLE = "the paper's method", "in-sample dual price"
ABSTENTION, SUMMARY, LEAF = "abstention", "summary features", "leaf by out-of-bag error"
EXTRA, BASE = "extremely randomised trees", "base over folds"
LEARNED, FURTHER = "learned combiner", "further steps"
PARTS = (ABSTENTION, SUMMARY, LEAF, EXTRA, BASE, LEARNED, FURTHER)
"""In the order in which they are added."""

ADDED, WITHOUT, READING = "added", "left out", "reading"
NEEDS = ("market", "split")
SETTINGS = ("block", "budgets", "seed")
PLUGINS = PREDICTORS.modules("extra_trees", "random_forest")
COLUMNS = [
    "dataset", "kind", "part", "budget", "repetition", "accuracy", "cost", "train_items", "test_items",
    "data",
]  # fmt: skip

Found = TypeVar("Found")
Reached = dict[float, tuple[float, float]]
"""Budget -> accuracy and cost on the test items."""


def run(case: Case) -> pd.DataFrame:
    """One row per change and budget."""
    trial = Trial.of(case)
    rows = [
        {"kind": kind, "part": part, "budget": budget, "accuracy": accuracy, "cost": cost}
        for kind, part, found in trial.outcomes()
        for budget, (accuracy, cost) in found.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS).assign(
        dataset=case.dataset,
        repetition=case.repetition,
        train_items=len(trial.train),
        test_items=len(trial.test),
        data=case.market.data,
    )


@dataclass(frozen=True, eq=False)
class Trial:
    """Items to learn from and to test on, the budgets, and how plus learns.

    What several variants have in common is worked out once: combiners and what they are worth, features, and
    models where nothing that they learn from differs.
    """

    train: LabelMarket
    test: LabelMarket
    budgets: Sequence[float]
    learning: Learning
    _made: dict[Any, Any] = field(init=False, default_factory=dict)

    @classmethod
    def of(cls, case: Case) -> "Trial":
        settings = case.settings
        learning = plus_learning(case.dataset, case.repetition, settings["block"], settings["seed"])
        train, test = (_some(part, learning.seed) for part in (case.train, case.test))
        return cls(
            train, test, list(map(float, settings["budgets"])), replace(learning, options={"trees": TREES})
        )

    def outcomes(self) -> Iterator[tuple[str, str, Reached]]:
        """Kind of row, part, and what is reached; each part is added to all before it."""
        forest = replace(self.learning, predictor=PAPER_PREDICTOR)
        letter = replace(forest, abstain=False, summary=False, options={"trees": TREES} | PAPER_FOREST)
        paper = self.models(letter)
        yield ADDED, PAPER, self.by_paper(paper)
        yield READING, IN_SAMPLE, self.by_paper(paper, in_sample=True)
        yield ADDED, ABSTENTION, self.by_paper(self.models(replace(letter, abstain=True)))
        yield ADDED, SUMMARY, self.by_paper(self.models(replace(letter, abstain=True, summary=True)))
        yield ADDED, LEAF, self.by_paper(self.models(forest))
        yield ADDED, EXTRA, self.by_paper(self.models(self.learning))
        # The paper's combiner takes two answers: without the learned one there are no further steps either.
        simple = self.by_plus(self.learner(self.learning, WEIGHT_THRESHOLD), steps=1)
        yield ADDED, BASE, simple
        learner = self.learner(self.learning)
        one_step = self.by_plus(learner, steps=1)
        yield ADDED, LEARNED, one_step
        yield ADDED, FURTHER, self.by_plus(learner)
        for part, learning in (
            (ABSTENTION, replace(self.learning, abstain=False)),
            (SUMMARY, replace(self.learning, summary=False)),
            (LEAF, replace(self.learning, options=letter.options)),
            (EXTRA, forest),
        ):
            yield WITHOUT, part, self.by_plus(self.learner(learning, known=learner))
        yield WITHOUT, BASE, self.by_plus(learner, over_folds=False)
        yield WITHOUT, LEARNED, simple
        yield WITHOUT, FURTHER, one_step

    @property
    def bases(self) -> list[int]:
        """Those that some budget pays for."""
        return [int(base) for base in np.flatnonzero(self.train.prices <= max(self.budgets))]

    def once(self, make: Callable[..., Found], *what: Any) -> Found:
        """What `make` gives of this, worked out for the first who asks."""
        key = make, *what
        if key not in self._made:
            self._made[key] = make(*what)
        return self._made[key]

    def models(self, learning: Learning) -> dict[int, AccuracyModel]:
        """By base."""
        combiners = self.once(self.combiners, learning.abstain)
        return {base: AccuracyModel.fit(self.train, base, learning, own) for base, own in combiners.items()}

    def combiners(self, abstain: bool) -> dict[int, Combiners]:
        """(w, θ) of each base, which depends on nothing else that is varied."""
        learning = replace(self.learning, abstain=abstain)
        found: dict[int, Combiners] = {}
        for base in self.bases:
            found[base] = learning.combiners(self.train, base, found)
        return found

    def by_paper(self, models: Mapping[int, AccuracyModel], in_sample: bool = False) -> Reached:
        """One add-on by (w, θ), the base tried on held-out items; in_sample: where p̂ comes from."""
        train = self.train
        aside = held_out(len(train), self.learning.seed, train.name)[0][1]
        found: Reached = {}
        for plan in make_plans([model.training for model in models.values()], aside, self.budgets):
            model = models[plan.base]
            seen, new = model.training, self.once(self.tested, model)
            if in_sample:
                seen = replace(seen, estimated=model.estimate(train.evidence(plan.base)))
            choices = new.route(plan.budget, seen.dual_price(plan.budget, plan.delta))
            found[plan.budget] = float(new.reached(choices).mean()), new.cost(choices)
        return found

    def tested(self, model: AccuracyModel) -> Estimates:
        """A model's estimates of the test items, with the truth."""
        truth = self.once(self.test.choice_accuracy, model.combiners, self.learning.metric)
        estimated = model.estimate(self.test.evidence(model.base))
        return Estimates(model.base, model.prices, estimated, truth)

    def learner(self, learning: Learning, combiner: str = COMBINER, known: Learner | None = None) -> Learner:
        """One step from every base; `known` has learnt combiners, and maybe models, that are the same here.

        Those that beat (w, θ) where silent services abstain are taken to beat it where they reject, too.
        """
        learner = Learner(self.train, learning, combiner)
        learner.columns = self.once(_columns, learner.features)
        if known is not None:
            same = [
                state
                for state, found in known.combiners.items()
                if learning.abstain == known.learning.abstain or isinstance(found, LearnedCombiner)
            ]
            learner.combiners, learner.accuracy = _of(known.combiners, same), _of(known.accuracy, same)
            kept = [state for state, model in known.models.items() if _states(model) <= set(same)]
            alike = replace(learning, abstain=known.learning.abstain) == known.learning
            # Forests learn from these accuracies alone, with the leaf size found for the first of them.
            if alike and kept[:1] == list(known.models)[:1]:
                learner.models, learner.estimates = _of(known.models, kept), _of(known.estimates, kept)
        for base in self.bases:
            learner.learn((base,), [service for service in range(learner.services) if service != base])
        return learner

    def by_plus(self, learner: Learner, steps: int = STEPS, over_folds: bool = True) -> Reached:
        """As `frugalmct.plus` does it, from states that may be learnt already."""
        train, test, seed = self.train, self.test, learner.learning.seed
        trials = folds(len(train), seed) if over_folds else held_out(len(train), seed, train.name)
        bases = [(base,) for base in self.bases]
        _, plans = plan_all(learner, self.budgets, bases, [DELTA], trials, steps)
        deciding, states = used_states(bases_of(plans), learner.models, steps)
        estimates = {
            state: self.once(self.estimated, learner.models[state], learner.features) for state in deciding
        }
        worth = {state: self.once(self.worth, state, learner.combiners[state]) for state in states}
        found: Reached = {}
        for plan in plans:
            selector = selector_of(train.prices, plan, len(test), steps, seed)
            asked = selector.run(estimates)
            found[plan.budget] = float(reached(asked, worth).mean()), selector.spent / len(test)
        return found

    def estimated(self, model: StateModel, features: StateFeatures) -> NDArray[np.float64]:
        """(items, services) of the test items."""
        columns = [self.once(self.columns, service, features) for service in model.state]
        return model.estimate(features.joined(columns, self.test.evidence(model.state[0])))

    def columns(self, service: int, features: StateFeatures) -> list[Matrix]:
        """What is seen of the test items' answers."""
        return features.columns(self.test.evidence(service))

    def worth(self, state: State, combiner: Combiner) -> NDArray[np.float64]:
        """(items,): the accuracy of the test items' combined answers."""
        answers = combiner.apply([self.test.scores[service] for service in state])
        return set_metric(self.test.truth, answers, self.learning.metric)


def _columns(features: StateFeatures) -> dict[int, list[Matrix]]:
    """Of the training items' answers by service, to be filled by the learners that see these features."""
    return {}


def _states(model: StateModel) -> set[State]:
    """Those whose accuracies a model learns from."""
    return {model.state, *(joined(model.state, choice) for choice in model.choices)}


def _some(market: LabelMarket, seed: int) -> LabelMarket:
    """At most ITEMS of its items, at random."""
    if len(market) <= ITEMS:
        return market
    return market.subset(np.sort(generator(seed, "ablation").permutation(len(market))[:ITEMS]))


def _of(known: Mapping[State, Any], states: Sequence[State]) -> dict[State, Any]:
    return {state: known[state] for state in states}
