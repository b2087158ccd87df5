"""A forest on simulated data, at full size, is about as good as the paper's on real data."""

import pytest
from helpers import BLOCKS

from frugalmct.model import Learning
from frugalmct.paper.printed import printed_of
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import RepetitionEstimates
from frugalmct.sources import load_market
from frugalmct.splits import split


@pytest.mark.slow
@pytest.mark.parametrize("dataset", list(BLOCKS))
def test_predictor_quality_at_full_size(dataset):
    block, learning = BLOCKS[dataset], Learning(jobs=2)
    market = load_market(dataset, block, seed=2022)
    parts = split(len(market), seed=2022, dataset=dataset)
    cheapest = min(block["prices"], key=block["prices"].get)
    combination = Combination.fit(market, parts, cheapest, learning)
    (own,) = RepetitionEstimates.fit(market, parts, combination, learning).by_base.values()
    found, printed = own.test.quality(), printed_of(dataset)["paper"]["predictor"]
    assert found["rmse"] == pytest.approx(printed["rmse_random_forest"], abs=0.06)
    assert found["pcc"] == pytest.approx(printed["pcc_random_forest"], abs=0.15)
    assert own.dummy().test.quality()["rmse"] > found["rmse"]
