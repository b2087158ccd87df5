import numpy as np
import pytest
from helpers import random_market
from two_services import two_services

from frugalmct.baselines.frugalml import item_costs
from frugalmct.baselines.mixture import best_base_mix
from frugalmct.combine import fit_market_combiners
from frugalmct.estimates import Estimates
from frugalmct.paper.stages.baselines import sweep_baselines, sweep_fair_baselines
from frugalmct.paper.stages.estimate import BaseEstimates, RepetitionEstimates
from frugalmct.paper.stages.select import COLUMNS


def test_rows_beside_frugalmct_by_hand():
    market = two_services()
    rows = sweep_baselines(market, market, [1.0, 3.0], "accuracy", 7, 0)
    assert rows.columns.tolist() == COLUMNS
    assert (
        set(rows["repetition"]) == {7} and set(rows["dataset"]) == {"two"} and set(rows["status"]) == {"ok"}
    )
    assert rows["method"].tolist() == [
        "single:base", "single:addon", "majority_vote", "weighted_majority_vote", "frugalml", "frugalml",
    ]  # fmt: skip
    found = rows.set_index("method")
    # Each service is right on one of the two items; a vote of both pays both and keeps both labels.
    assert found.loc["single:base", ["budget", "accuracy", "cost"]].tolist() == [1.0, 0.5, 1.0]
    assert found.loc["single:addon", ["budget", "accuracy", "cost"]].tolist() == [4.0, 0.5, 4.0]
    assert found.loc["majority_vote", ["accuracy", "cost"]].tolist() == [0.5, 5.0]
    frugalml = found.loc["frugalml"]
    assert frugalml["budget"].tolist() == [1.0, 3.0] and (frugalml["cost"] <= frugalml["budget"]).all()


def known_truth(train, test) -> RepetitionEstimates:
    """Estimates that say nothing, with the true accuracies of each base's combinations."""
    by_base = {}
    for base in range(len(train.services)):
        combiners = fit_market_combiners(train, base)
        actual = [part.choice_accuracy(combiners) for part in (train, test)]
        parts = [Estimates(base, train.prices, np.zeros_like(truth), truth) for truth in actual]
        by_base[base] = BaseEstimates(*parts)
    return RepetitionEstimates(train.services, train.prices, by_base)


def test_rows_of_the_fairer_forms_by_hand():
    market = two_services()
    rows = sweep_fair_baselines(market, market, known_truth(market, market), [1.0, 5.0], "accuracy", 7, 0)
    assert rows.columns.tolist() == COLUMNS and set(rows["status"]) == {"ok"}
    assert sorted(rows["method"].unique()) == [
        "dap_best_base", "frugalml_combined", "frugalml_thresholds", "majority_vote_abstaining",
        "weighted_majority_vote_abstaining",
    ]  # fmt: skip
    found = rows.set_index(["method", "budget"])
    assert (rows["cost"] <= rows["budget"] * (1 + 1e-11)).all()
    # Nobody is silent and no score tells right from wrong: as in the paper's forms.
    assert found.loc[("majority_vote_abstaining", 5.0), ["accuracy", "cost"]].tolist() == [0.5, 5.0]
    assert found.loc["frugalml_thresholds", "accuracy"].tolist() == [0.5, 0.5]
    # Both answers combined are {x, y} for either item, of which one is true: no better than one service.
    assert found.loc["frugalml_combined", "accuracy"].tolist() == [0.5, 0.5]
    assert found.loc[("dap_best_base", 1.0), ["accuracy", "cost"]].tolist() == [0.5, 1.0]


def test_they_are_as_accurate_as_their_choices_say():
    """On a random market: the accuracies by an own look at every item's combination."""
    train, test = random_market(1, items=150), random_market(2, items=140)
    estimates, budgets = known_truth(train, test), [1.0, 2.5, 4.0, 8.0]
    rows = sweep_fair_baselines(train, test, estimates, budgets, "accuracy", 0, 3)
    means = {base: own.train.actual.mean(axis=0) for base, own in estimates.by_base.items()}
    dap = rows[rows["method"] == "dap_best_base"].set_index("budget")
    for budget in budgets:
        choices = best_base_mix(means, test.prices, budget, len(test), 3)
        reached = [
            estimates.by_base[base].test.actual[item, addon]
            for item, (base, addon) in enumerate(zip(*choices, strict=True))
        ]
        assert dap.loc[budget, "accuracy"] == pytest.approx(np.mean(reached))
        assert dap.loc[budget, "cost"] == pytest.approx(item_costs(*choices, test.prices).mean())
    # FrugalML that combines is at least as good, on what it learnt from, as the best combination alone.
    own = sweep_fair_baselines(train, train, known_truth(train, train), [20.0], "accuracy", 0, 3).set_index(
        "method"
    )
    assert own.loc["frugalml_combined", "accuracy"] >= max(table.max() for table in means.values()) - 1e-9
