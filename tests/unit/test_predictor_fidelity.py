"""A forest on simulated data, at full size, is about as good as the paper's on real data."""

import pytest
import yaml
from helpers import ROOT

from frugalmct.accuracy_model import Learning
from frugalmct.evaluate import predictor_quality
from frugalmct.market import split
from frugalmct.paper import figures_of
from frugalmct.predictions import Combination, Predictions
from frugalmct.sources import load_market

BLOCKS = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))["datasets"]


@pytest.mark.slow
@pytest.mark.parametrize("dataset", list(BLOCKS))
def test_predictor_quality_at_full_size(dataset):
    block, learning = BLOCKS[dataset], Learning(jobs=2)
    market = load_market(dataset, block, seed=2022)
    parts = split(len(market), seed=2022, dataset=dataset)
    cheapest = min(block["prices"], key=block["prices"].get)
    combination = Combination.fit(market, parts, cheapest, learning)
    (predicted,) = Predictions.make(market, parts, combination, learning).by_base.values()
    found, printed = predictor_quality(predicted), figures_of(dataset)["paper"]["predictor"]
    assert found["rmse"] == pytest.approx(printed["rmse_random_forest"], abs=0.06)
    assert found["pcc"] == pytest.approx(printed["pcc_random_forest"], abs=0.15)
    assert predictor_quality(predicted.dummy())["rmse"] > found["rmse"]
