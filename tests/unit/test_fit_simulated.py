"""The tool that fits the simulated markets measures what the exhibit measures, and starts where it says."""

import sys
from dataclasses import replace
from importlib import import_module
from types import ModuleType

import pytest
from helpers import BLOCKS, ROOT

from frugalmct.paper.exhibits import simulation_fidelity as exhibit
from frugalmct.sources import load_market
from frugalmct.sources.simulated import MarketModel


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return import_module("fit_simulated")
    finally:
        sys.path.remove(str(ROOT / "tools"))


@pytest.mark.parametrize("dataset", ["PASCAL", "CONLL"])
def test_a_trial_measures_what_the_exhibit_measures(tool, dataset):
    model = MarketModel.from_config(BLOCKS[dataset]["source"])
    market = load_market(dataset, BLOCKS[dataset], seed=7, scale=0.1)
    drawn = tool.Trial.draw(dataset, model, len(market), 7, even=False)
    trial = replace(drawn, weights=[step / 10 for step in range(11)], vote_grid=100)
    wanted = exhibit.accuracy_statistics(market.service_accuracy(), market.services)
    wanted["majority_vote_accuracy", ""] = exhibit.majority_accuracy(market)
    wanted["weighted_majority_vote_accuracy", ""] = exhibit.weighted_majority_accuracy(market, market)
    wanted["best_pair_accuracy", ""] = exhibit.best_pair_accuracy(market, market)
    wanted["frugalml_accuracy", ""] = exhibit.frugalml_accuracy(market, market)
    gains = exhibit.threshold_gains(market, market)
    wanted |= {("threshold_gain", service): gain for service, gain in gains.items()}
    assert trial.measure(model) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("dataset", list(BLOCKS))
def test_a_second_fit_starts_where_the_first_did(tool, dataset):
    task = BLOCKS[dataset]["task"]
    fitted = MarketModel.from_config(BLOCKS[dataset]["source"])
    start = tool.start_model(dataset, fitted, task)
    assert start != fitted
    assert tool.start_model(dataset, start, task) == start
    kept = ("items", "labels", "topics", "phantoms", "confusion", "blind", "world")
    assert all(getattr(start, name) == getattr(fitted, name) for name in kept)


def test_parameters_are_a_vector_and_back(tool):
    start = tool.start_model("MIR", MarketModel.from_config(BLOCKS["MIR"]["source"]), "MIC")
    vector, low, high = tool._to_vector(start)
    assert tool._from_vector(start, vector) == start
    assert ((low <= vector) & (vector <= high)).all()
    moved = tool._from_vector(start, vector + 0.01)
    assert moved.services["SSD"].candour == start.services["SSD"].candour
    assert moved.services["Google"].candour == pytest.approx(start.services["Google"].candour + 0.01)
    assert moved.ease == pytest.approx(start.ease + 0.01)


def test_every_fitted_quantity_is_shown_with_a_tolerance(tool):
    shown = set(exhibit.TOLERANCES)
    assert set(tool.SCALES) <= shown
    sizes = {"items", "distinct_labels", "label_occurrences"}
    assert shown - set(tool.SCALES) == sizes | {"predictor_rmse", "predictor_correlation"}
