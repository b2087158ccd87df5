"""Mixtures of plans, against a search over all pairs."""

import numpy as np
import pytest

from frugalmct.errors import FrugalError
from frugalmct.mixtures import PlanMixture, Trial, draw_plans, mix


def best_pair(trials, budget):
    """The highest accuracy of any two plans mixed to cost the budget at most."""
    best = -1.0
    for low in trials:
        for high in trials:
            if low.budget <= budget < high.budget:
                share = (budget - low.budget) / (high.budget - low.budget)
                best = max(best, (1 - share) * low.accuracy + share * high.accuracy)
        if low.budget <= budget:
            best = max(best, low.accuracy)
    return best


def promised(mixture):
    return (1 - mixture.probability) * mixture.low.accuracy + mixture.probability * mixture.high.accuracy


def test_no_pair_of_plans_promises_more():
    draw = np.random.default_rng(0)
    for _ in range(50):
        trials = [Trial(base, float(b), float(draw.random())) for base, b in enumerate(draw.random(12) * 20)]
        budget = min(trial.budget for trial in trials) + draw.random() * 20
        mixture = mix(trials, budget, margin=0.0)
        assert promised(mixture) == pytest.approx(best_pair(trials, budget))
        mean = (1 - mixture.probability) * mixture.low.budget + mixture.probability * mixture.high.budget
        assert mean <= budget * (1 + 1e-9)


def test_a_dent_is_filled_and_a_smooth_curve_left_alone():
    dent = [
        Trial("CNN", 1, 0.60),
        Trial("CNN", 8, 0.73),
        Trial("CNN", 10, 0.73),
        Trial("Microsoft", 12, 0.78),
    ]
    mixture = mix(dent, 10)
    assert (mixture.low.base, mixture.high.base, mixture.probability) == ("CNN", "Microsoft", 0.5)
    smooth = [Trial("CNN", 1, 0.60), Trial("CNN", 8, 0.73), Trial("CNN", 9, 0.735), Trial("CNN", 12, 0.78)]
    assert mix(smooth, 10) == PlanMixture(smooth[2], smooth[2], 0.0), "one base needs no mixing with itself"
    assert mix(dent, 10, margin=0.1).single, "what is promised may be chance"
    assert mix(dent, 30).low == dent[3]


def test_draws_keep_to_the_probability_and_to_the_seed():
    mixture = PlanMixture(Trial("a", 1, 0.1), Trial("b", 2, 0.2), 0.3)
    first, again, other = (draw_plans(mixture, 20_000, seed, "RAFDB") for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)
    assert first.mean() == pytest.approx(0.3, abs=0.01)
    np.testing.assert_array_equal(first[:50], draw_plans(mixture, 50, 0, "RAFDB"))


def test_a_budget_below_all_plans_is_said():
    with pytest.raises(FrugalError, match="lowest is 5"):
        mix([Trial("a", 5, 0.5)], 4)
