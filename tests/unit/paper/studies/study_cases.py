"""Cases small enough to check by hand."""

from typing import Any

import numpy as np

from frugalmct.combine import Combiners
from frugalmct.estimates import Estimates
from frugalmct.market import LabelMarket
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates
from frugalmct.paper.studies.case import Case
from frugalmct.plans import Plan
from frugalmct.sparse import label_matrix
from frugalmct.splits import Split

LABELS = np.array(["ant", "bee", "cat"])
PRICES = np.array([1.0, 4.0, 10.0])

# Eight items of two kinds, by turns: the first four are learnt from, the last four are the test.
# Of "ant" items the base is right; of "bee, cat" items the base sees a bee, the cheap service both, the
# expensive one a cat.
TRUTH = [[0], [1, 2]] * 4
ANSWERS = (
    [[0], [1]] * 4,
    [[0], [1, 2]] * 4,
    [[0, 2], [2]] * 4,
)
SCORES = (0.9, 0.8, 0.6)


def sets(rows: list[list[int]], score: float | None = None):
    flat = [label for row in rows for label in row]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return label_matrix(starts, flat, None if score is None else [score] * len(flat), len(LABELS))


def small_market(name: str = "small") -> LabelMarket:
    return LabelMarket(
        name=name,
        task="MIC",
        items=np.array([f"i{n}" for n in range(8)]),
        labels=LABELS,
        services=("base", "cheap", "dear"),
        prices=PRICES,
        truth=sets(TRUTH),
        scores=tuple(sets(rows, score) for rows, score in zip(ANSWERS, SCORES, strict=True)),
        data="simulated",
    )


PARTS = Split(np.array([0, 1, 2]), np.array([3]), np.array([4, 5, 6, 7]))

# The union of both, whatever the scores.
COMBINERS = Combiners(0, np.array([1.0, 0.5, 0.5]), np.zeros(3))
# By set accuracy: base alone 1 and 1/2; with the cheap one 1 and 1; with the dear one 1/2 and 1.
ACCURACY = np.array([[1.0, 1.0, 0.5], [0.5, 1.0, 1.0]])
ESTIMATES = np.array([[0.9, 0.9, 0.6], [0.5, 0.9, 0.9]])


BLOCK = {"features": "auto", "metric": "accuracy", "labels_per_item": None}
DUMMY_LEARNING = {"predictor": "mean", "options": {}, "silence": "reject", "seed": 1}


def estimates() -> RepetitionEstimates:
    half = Estimates(0, PRICES, np.tile(ESTIMATES, (2, 1)), np.tile(ACCURACY, (2, 1)))
    return RepetitionEstimates(("base", "cheap", "dear"), PRICES, {0: BaseEstimates(half, half)})


def case_at(budget: float, *swept: float, market: LabelMarket | None = None, **settings: Any) -> Case:
    """A case at that budget, of a run that swept these budgets, or that one alone."""
    market = market or small_market()
    return Case(
        market.name,
        0,
        market,
        PARTS,
        Combination({0: COMBINERS}),
        estimates(),
        [Plan(plan, 0, 0.0) for plan in swept or (budget,)],
        settings={"budget": budget, "block": BLOCK, "seed": 1, "learning": DUMMY_LEARNING} | settings,
    )
