"""The paper's way of learning to the letter, held against scikit-learn's own forest."""

import numpy as np
from helpers import random_market
from sklearn.ensemble import RandomForestRegressor

from frugalmct.combine import fit_market_combiners
from frugalmct.model import AccuracyModel, Learning
from frugalmct.seeds import small_seed


def test_full_trees_on_the_answer_alone_and_silence_rejects():
    learning = Learning.paper(seed=3, options={"trees": 7})
    assert not learning.summary and not learning.abstain and learning.options["leaf"] == 1
    assert learning.options["trees"] == 7 and learning.seed == 3
    model = AccuracyModel.fit(random_market(1, items=80), 1, learning)
    assert not model.combiners.abstain
    assert model.predictor.columns == 7, "the labels, and no summary of them"
    assert model.predictor.to_arrays()[0]["details"] == {"leaf": 1, "trees": 7}


def test_what_is_given_goes_before_the_letter():
    assert Learning.paper(abstain=True).abstain
    assert Learning.paper(options={"leaf": 9}).options["leaf"] == 9
    assert Learning.paper(predictor="mean").options is None, "the options are the forest's"
    assert Learning().summary and Learning().abstain and Learning().options is None


def test_it_is_the_forest_that_anybody_would_grow():
    """With all items for every tree and all columns at every split, scikit-learn's with its defaults."""
    train, test, base = random_market(1, items=150), random_market(2, items=40), 2
    everything = {"share_per_tree": 1.0, "max_features": 1.0}
    learning = Learning.paper(seed=5, options=everything)
    model = AccuracyModel.fit(train, base, learning)
    accuracy = train.choice_accuracy(fit_market_combiners(train, base, abstain=False))
    seed = small_seed(small_seed(5, train.name, base, "random_forest"), "random_forest", "forest")
    forest = RandomForestRegressor(oob_score=True, random_state=seed)
    forest.fit(train.scores[base].toarray().astype(np.float32), accuracy)
    np.testing.assert_allclose(model.training.estimated, forest.oob_prediction_, atol=1e-12)
    expected = forest.predict(test.scores[base].toarray().astype(np.float32))
    np.testing.assert_allclose(model.estimate(test.evidence(base)), expected, atol=1e-6)
