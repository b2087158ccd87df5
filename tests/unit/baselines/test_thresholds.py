import numpy as np
import pytest
from helpers import small_market

from frugalmct.baselines.thresholds import fit_thresholds, with_thresholds
from frugalmct.errors import FrugalError
from frugalmct.metrics import set_metric
from frugalmct.sparse import label_matrix


def guessing_market():
    """Right labels have a score of 0.75 or more, wrong ones at most 0.35; the second service errs nowhere."""
    truth = label_matrix([0, 1, 2, 3], [0, 1, 2], None, 3)
    guesses = label_matrix([0, 2, 4, 6], [0, 1, 0, 1, 1, 2], [0.75, 0.35, 0.1, 0.9, 0.2, 1.0], 3)
    return small_market(
        items=np.array(["a", "b", "c"]),
        labels=np.array(["x", "y", "z"]),
        truth=truth,
        scores=(guesses, truth),
    )


def test_thresholds_by_hand():
    market = guessing_market()
    # The smallest step of a tenth above every wrong score; nothing to cut has a threshold of 0.
    assert fit_thresholds(market) == pytest.approx([0.4, 0.0])
    cut = with_thresholds(market, fit_thresholds(market))
    assert market.service_accuracy().mean(axis=0).tolist() == [0.5, 1.0]
    assert cut.service_accuracy().mean(axis=0).tolist() == [1.0, 1.0]
    assert (cut.services, cut.name) == (market.services, market.name) and cut.prices is market.prices


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_no_step_is_better_than_the_one_found(metric):
    market = guessing_market()
    scores = market.scores[0]
    found = with_thresholds(market, fit_thresholds(market, metric)).scores[0]
    best = set_metric(market.truth, found, metric).mean()
    for step in range(11):
        tried = with_thresholds(market, [step / 10, 0.0]).scores[0]
        assert set_metric(market.truth, tried, metric).mean() <= best + 1e-12
        assert tried.nnz == (scores.data >= step / 10 - 1e-9).sum()


def test_one_threshold_for_each_service():
    with pytest.raises(FrugalError, match="has 2 services, but there are 1 thresholds"):
        with_thresholds(guessing_market(), [0.5])
