"""From the paper's method to plus, one change at a time, and plus with each of its parts left out.

All learn from the same few items with the same small forests: what a part is worth is to be seen, not the
best that can be had. Combiners are learnt once where a change does not concern them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.cascade import STEPS, State
from frugalmct.combine.learned import COMBINER, LearnedCombiner
from frugalmct.made import PLUS, ItemIds, Made
from frugalmct.market import LabelMarket
from frugalmct.mixing import bases_of
from frugalmct.model import PAPER_FOREST, PAPER_PREDICTOR, AccuracyModel, Learning
from frugalmct.paper.stages.plus import plus_learning
from frugalmct.paper.studies.case import Case
from frugalmct.parts import Parts, used_states
from frugalmct.plans import DELTA, make_plans
from frugalmct.plus import Learner, plan_all
from frugalmct.seeds import generator
from frugalmct.splits import split
from frugalmct.states import WEIGHT_THRESHOLD
from frugalmct.strategy import Strategy
from frugalmct.training import folds, held_out

ITEMS, TREES = 1_000, 30
"""The most items to learn from, and to test on; the trees of each forest."""

PAPER, IN_SAMPLE = "the paper's method", "in-sample dual price"
ABSTENTION, SUMMARY, LEAF = "abstention", "summary features", "leaf by out-of-bag error"
EXTRA, BASE = "extremely randomised trees", "base over folds"
LEARNED, SECOND = "learned combiner", "second step"
PARTS = (ABSTENTION, SUMMARY, LEAF, EXTRA, BASE, LEARNED, SECOND)
"""In the order in which they are added."""

ADDED, WITHOUT, READING = "added", "left out", "reading"
NEEDS = ("market", "split")
SETTINGS = ("block", "budgets", "seed")
COLUMNS = [
    "dataset", "kind", "part", "budget", "repetition", "accuracy", "cost", "train_items", "test_items",
    "data",
]  # fmt: skip

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
    """Items to learn from and to test on, the budgets, and how plus learns."""

    train: LabelMarket
    test: LabelMarket
    budgets: Sequence[float]
    learning: Learning

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
        yield ADDED, PAPER, self.by_paper(letter)
        yield READING, IN_SAMPLE, self.by_paper(letter, in_sample=True)
        yield ADDED, ABSTENTION, self.by_paper(replace(letter, abstain=True))
        yield ADDED, SUMMARY, self.by_paper(replace(letter, abstain=True, summary=True))
        yield ADDED, LEAF, self.by_paper(forest)
        yield ADDED, EXTRA, self.by_paper(self.learning)
        # The paper's combiner takes two answers: without the learned one there is no second step either.
        simple = self.by_plus(self.learner(self.learning, WEIGHT_THRESHOLD), steps=1)
        yield ADDED, BASE, simple
        learner = self.learner(self.learning)
        one_step = self.by_plus(learner, steps=1)
        yield ADDED, LEARNED, one_step
        yield ADDED, SECOND, self.by_plus(learner)
        yield (
            WITHOUT,
            ABSTENTION,
            self.by_plus(self.learner(replace(self.learning, abstain=False), known=learner)),
        )
        plain = replace(self.learning, summary=False)
        yield WITHOUT, SUMMARY, self.by_plus(self.learner(plain, known=learner))
        full = replace(self.learning, options=letter.options)
        yield WITHOUT, LEAF, self.by_plus(self.learner(full, known=learner))
        yield WITHOUT, EXTRA, self.by_plus(self.learner(forest, known=learner))
        yield WITHOUT, BASE, self.by_plus(learner, over_folds=False)
        yield WITHOUT, LEARNED, simple
        yield WITHOUT, SECOND, one_step

    @property
    def bases(self) -> list[int]:
        """Those that some budget pays for."""
        return [int(base) for base in np.flatnonzero(self.train.prices <= max(self.budgets))]

    def by_paper(self, learning: Learning, in_sample: bool = False) -> Reached:
        """One add-on by (w, θ), the base tried on held-out items; in_sample: where p̂ comes from."""
        train, test = self.train, self.test
        models = {base: AccuracyModel.fit(train, base, learning) for base in self.bases}
        aside = split(len(train), train_share=0.8, seed=learning.seed, dataset=train.name).test
        found: Reached = {}
        for plan in make_plans([model.training for model in models.values()], aside, self.budgets):
            model = models[plan.base]
            seen, new = model.training, model.estimates(test, learning.metric)
            if in_sample:
                seen = replace(seen, estimated=model.estimate(train.evidence(plan.base)))
            choices = new.route(plan.budget, seen.dual_price(plan.budget, plan.delta))
            found[plan.budget] = float(new.reached(choices).mean()), new.cost(choices)
        return found

    def learner(self, learning: Learning, combiner: str = COMBINER, known: Learner | None = None) -> Learner:
        """One step from every base; `known` has learnt combiners that are the same here.

        Those that beat (w, θ) where silent services abstain are taken to beat it where they reject, too.
        """
        learner = Learner(self.train, learning, combiner)
        if known is not None:
            same = [
                state
                for state, found in known.combiners.items()
                if learning.abstain == known.learning.abstain or isinstance(found, LearnedCombiner)
            ]
            learner.combiners, learner.accuracy = _of(known.combiners, same), _of(known.accuracy, same)
        for base in self.bases:
            learner.learn((base,), [service for service in range(learner.services) if service != base])
        return learner

    def by_plus(self, learner: Learner, steps: int = STEPS, over_folds: bool = True) -> Reached:
        """As `frugalmct.plus` does it, from states that may be learnt already."""
        train, seed = self.train, learner.learning.seed
        trials = folds(len(train), seed) if over_folds else held_out(len(train), seed, train.name)
        bases = [(base,) for base in self.bases]
        training, plans = plan_all(learner, self.budgets, bases, [DELTA], trials, steps)
        strategy = _strategy(learner, training, {plan.budget: plan for plan in plans})
        worth = {budget: strategy.evaluate(self.test, budget) for budget in self.budgets}
        return {budget: (found.accuracy, found.cost) for budget, found in worth.items()}


def _some(market: LabelMarket, seed: int) -> LabelMarket:
    """At most ITEMS of its items, at random."""
    if len(market) <= ITEMS:
        return market
    return market.subset(np.sort(generator(seed, "ablation").permutation(len(market))[:ITEMS]))


def _strategy(learner: Learner, training: Any, plans: Mapping[float, Any]) -> Strategy:
    market, bases = learner.market, bases_of(plans.values())
    deciding, states = used_states(bases, learner.models, training.steps)
    return Strategy(
        Parts(
            services=market.services,
            prices=market.prices,
            labels=market.labels,
            metric=learner.learning.metric,
            features=learner.features,
            plans=plans,
            combiners=_of(learner.combiners, states),
            models=_of(learner.models, deciding),
            training=training.of_states(deciding, states, bases),
            made=Made.of(PLUS, market, learner.learning, ""),
            ids=ItemIds.of(market.items),
        )
    )


def _of(known: Mapping[State, Any], states: Sequence[State]) -> dict[State, Any]:
    return {state: known[state] for state in states}
