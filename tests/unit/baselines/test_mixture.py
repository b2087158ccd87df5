from itertools import product

import numpy as np
import pytest

from frugalmct.baselines.frugalml import item_costs
from frugalmct.baselines.mixture import best_base_mix, random_mix
from frugalmct.errors import FrugalError
from frugalmct.select import Problem, solve

COSTS = np.array([0.01, 6.0, 10.0, 15.0])
MEANS = np.array([0.45, 0.60, 0.58, 0.70])


def mix_cost(choices, base):
    return COSTS[base] + np.where(choices == base, 0, COSTS[choices]).mean()


@pytest.mark.parametrize("base", range(4))
@pytest.mark.parametrize("items", [1, 7, 1000])
def test_random_mix_is_within_budget_and_misses_it_by_less_than_an_item(base, items):
    total = COSTS[base] + np.where(np.arange(4) == base, 0, COSTS)
    best_cost = total[MEANS.argmax()]
    for budget in np.linspace(COSTS[base], 32, 40):
        choices = random_mix(MEANS, COSTS, base, budget, items, seed=4)
        problem = Problem(np.tile(MEANS, (items, 1)), COSTS, base, budget)
        assert problem.within_budget(choices)
        assert items * (min(budget, best_cost) - mix_cost(choices, base)) <= COSTS.max() + 1e-9


@pytest.mark.parametrize("base", range(4))
def test_random_mix_has_the_highest_mean_that_its_cost_allows(base):
    items = 500
    for budget in np.linspace(COSTS[base], 30, 15):
        choices = random_mix(MEANS, COSTS, base, budget, items)
        best = solve(Problem(np.tile(MEANS, (items, 1)), COSTS, base, budget)).accuracy
        assert best - 1 / items <= MEANS[choices].mean() <= best + 1e-12


def test_random_mix_reaches_whole_counts_that_rounding_would_miss():
    for items, upgraded in product([3, 10, 49, 1000], range(4)):
        budget = 0.01 + 6.0 * upgraded / items
        choices = random_mix([0.4, 0.9, 0.5, 0.5], COSTS, 0, budget, items)
        assert np.count_nonzero(choices == 1) == upgraded


def test_random_mix_is_blind_but_for_its_seed():
    first, again, other = (random_mix(MEANS, COSTS, 0, 4.0, 200, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(np.sort(first), np.sort(other))
    first_half = sum(
        np.count_nonzero(random_mix(MEANS, COSTS, 0, 4.0, 200, seed)[:100]) for seed in range(40)
    )
    assert first_half / (40 * 100) == pytest.approx(np.count_nonzero(first) / 200, abs=0.03)


def test_random_mix_refuses_what_it_cannot_use():
    with pytest.raises(FrugalError, match="does not pay for the cheapest"):
        random_mix(MEANS, COSTS, 1, 5.0, 10)
    with pytest.raises(FrugalError, match="accuracy has 3 columns"):
        random_mix(MEANS[:3], COSTS, 1, 7.0, 10)
    with pytest.raises(FrugalError, match="base is 4"):
        random_mix(MEANS, COSTS, 4, 7.0, 10)
    with pytest.raises(FrugalError, match="items is -1"):
        random_mix(MEANS, COSTS, 1, 7.0, -1)
    assert random_mix(MEANS, COSTS, 1, 7.0, 0).shape == (0,)


def test_nothing_that_pays_the_same_base_exceeds_the_optimum_that_knows_the_truth():
    rng = np.random.default_rng(6)
    accuracy = rng.random((300, 4))
    guess = np.clip(accuracy + rng.normal(0, 0.3, accuracy.shape), 0, 1)
    for budget in (0.01, 2.0, 6.0, 12.0, 40.0):
        best = solve(Problem(accuracy, COSTS, 0, budget))
        blind = random_mix(accuracy.mean(axis=0), COSTS, 0, budget, 300)
        informed = solve(Problem(guess, COSTS, 0, budget)).choices
        for choices in (blind, informed):
            assert accuracy[np.arange(300), choices].mean() <= best.accuracy + 1e-12


def all_pairs(means):
    """(base, add-on, total cost, mean accuracy) of every combination, by plain loops."""
    return [
        (base, addon, COSTS[base] + (COSTS[addon] if addon != base else 0.0), row[addon])
        for base, row in means.items()
        for addon in range(len(COSTS))
    ]


def best_blind_mean(means, budget):
    """The best mixture of any two combinations, found by trying them all."""
    pairs, best = all_pairs(means), -np.inf
    for (_, _, low, reached), (_, _, high, more) in product(pairs, repeat=2):
        if low <= budget + 1e-9:
            share = 1.0 if high <= budget else 0.0 if high <= low else (budget - low) / (high - low)
            best = max(best, (1 - share) * reached + share * more)
    return best


@pytest.mark.parametrize("seed", range(5))
def test_the_best_base_is_the_best_mixture_of_any_two_combinations(seed):
    rng, items = np.random.default_rng(seed), 2000
    means = {base: rng.random(4) for base in rng.permutation(4)[: 2 + seed % 3].tolist()}
    cheapest = min(COSTS[base] for base in means)
    for budget in np.linspace(cheapest, 30, 12):
        choices = best_base_mix(means, COSTS, budget, items, seed)
        assert item_costs(*choices, COSTS).mean() <= budget * (1 + 1e-11)
        assert set(choices.base.tolist()) <= set(means)
        reached = np.mean([means[base][addon] for base, addon in zip(*choices, strict=True)])
        assert best_blind_mean(means, budget) - 1 / items <= reached + 1e-9
        assert reached <= best_blind_mean(means, budget) + 1e-9


def test_with_one_base_it_is_the_random_mix():
    choices = best_base_mix({2: MEANS}, COSTS, 14.0, 300, seed=3)
    assert set(choices.base.tolist()) == {2}
    assert np.array_equal(choices.addon, random_mix(MEANS, COSTS, 2, 14.0, 300, seed=3))


def test_two_bases_may_be_mixed_by_hand():
    # Half the items to service 0 alone (0.01), half to service 2 alone (10).
    choices = best_base_mix({0: [0.4, 0, 0, 0], 2: [0, 0, 0.8, 0]}, COSTS, 5.005, 10)
    assert sorted(zip(choices.base.tolist(), choices.addon.tolist(), strict=True)) == 5 * [(0, 0)] + 5 * [
        (2, 2)
    ]


def test_the_best_base_refuses_what_it_cannot_use():
    with pytest.raises(FrugalError, match="has no base"):
        best_base_mix({}, COSTS, 14.0, 10)
    with pytest.raises(FrugalError, match="does not pay for the cheapest"):
        best_base_mix({2: MEANS}, COSTS, 5.0, 10)
