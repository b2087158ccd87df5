"""The paper's Theorem 1 on every dataset and budget: one price loses at most 1/N against the best choice.

The theorem supposes estimates with a continuous density. A forest's are not: items that fall into the same
leaves have the same. Noise far below anything that matters restores what it supposes.
"""

import numpy as np
import pytest
from helpers import BLOCKS

from frugalmct.model import AccuracyModel, Learning
from frugalmct.paper.config import default_budgets
from frugalmct.select import OnlineSelector, Problem, dual_price, solve
from frugalmct.sources import load_market
from frugalmct.splits import split


@pytest.mark.parametrize("dataset", list(BLOCKS))
def test_one_price_loses_at_most_one_item(dataset):
    block = BLOCKS[dataset]
    market = load_market(dataset, block, seed=11, scale=0.03)
    parts = split(len(market), seed=11, dataset=dataset)
    train, test = market.subset(parts.whole_train), market.subset(parts.test)
    base = int(np.argmin(market.prices))
    model = AccuracyModel.fit(train, base, Learning(options={"trees": 20, "leaf": 5}))
    noise = np.random.default_rng(3).uniform(0, 1e-7, (len(test), len(market.services)))
    estimates = np.clip(model.estimate(test.evidence(base)), 0, 1 - 1e-7) + noise
    for budget in default_budgets(block["prices"]):
        problem = Problem(estimates, market.prices, base, budget)
        best = solve(problem, "exact")
        price = dual_price(problem, delta=0.0)
        # The rule alone, with a budget that never interferes: feasibility must come from the price.
        free = OnlineSelector(market.prices, base, 1e6, len(test), price).choose_all(estimates)
        assert problem.within_budget(free)
        assert problem.mean_accuracy(free) >= best.accuracy - 1 / len(test) - 1e-12
        assert best.proven and best.bound >= best.accuracy - 1e-12
