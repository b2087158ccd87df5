import time

import numpy as np
import pytest
from helpers import expected_means, small_market
from scipy.optimize import linprog

from frugalmct.baselines.frugalml import FrugalML, Policy, item_costs
from frugalmct.baselines.quality import LabelQuality, quality_scores
from frugalmct.errors import FrugalError
from frugalmct.market import LabelMarket, Market
from frugalmct.sparse import label_matrix

COSTS = np.array([0.01, 6.0, 10.0, 15.0])


def random_data(seed, items=25, services=3, levels=6):
    """Qualities with many ties, accuracies that they say something about, prices in no order."""
    rng = np.random.default_rng(seed)
    quality = rng.integers(0, levels, (items, services)) / levels
    accuracy = np.clip(quality + rng.normal(0, 0.4, (items, services)), 0, 1).round(2)
    return quality, accuracy, rng.permutation([0.01, 3.0, 10.0, 15.0])[:services]


def all_policies(quality, accuracy, costs, bases=None):
    """(cost, accuracy) of every policy there is, item by item."""
    items, services = quality.shape
    found = {}
    for base in range(services) if bases is None else bases:
        found[base, base, -np.inf] = costs[base], accuracy[:, base].mean()
        for addon in set(range(services)) - {base}:
            for threshold in [*sorted(set(quality[:, base])), np.inf]:
                cost = value = 0.0
                for item in range(items):
                    asked = quality[item, base] < threshold
                    cost += costs[base] + (costs[addon] if asked else 0)
                    value += accuracy[item, addon if asked else base]
                found[base, addon, threshold] = cost / items, value / items
    return found


def best_mixture(policies, budget):
    """The linear program over the probabilities of all policies."""
    cost, value = np.array(list(policies.values())).T
    solved = linprog(-value, A_ub=[cost], b_ub=[budget], A_eq=[np.ones_like(cost)], b_eq=[1])
    return -solved.fun if solved.success else None


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("base", [None, 1])
def test_plan_is_the_best_mixture_of_all_policies(seed, base):
    quality, accuracy, costs = random_data(seed)
    policies = all_policies(quality, accuracy, costs, None if base is None else [base])
    strategy = FrugalML(base=base).fit(quality, accuracy, costs)
    for budget in np.linspace(strategy.hull.cost[0], costs.sum() + 1, 17):
        mixture = strategy.mixture(budget)
        assert mixture.accuracy == pytest.approx(best_mixture(policies, budget), abs=1e-9)
        assert mixture.cost <= budget
        assert sum(mixture.probabilities) == pytest.approx(1)
        if base is not None:
            assert {policy.base for policy in mixture.policies} == {base}


@pytest.mark.parametrize("seed", range(12))
def test_every_vertex_is_a_policy_with_its_own_cost_and_accuracy(seed):
    quality, accuracy, costs = random_data(seed)
    policies = all_policies(quality, accuracy, costs)
    hull = FrugalML().fit(quality, accuracy, costs).hull
    for vertex in range(len(hull)):
        cost, value = policies[tuple(hull.policy(vertex))]
        assert (hull.cost[vertex], hull.accuracy[vertex]) == (pytest.approx(cost), pytest.approx(value))


@pytest.mark.parametrize("seed", range(6))
def test_expectation_on_training_items_is_what_the_mixture_says(seed):
    quality, accuracy, costs = random_data(seed, items=200)
    strategy = FrugalML().fit(quality, accuracy, costs)
    for budget in np.linspace(costs.min(), costs.sum(), 11):
        mixture = strategy.mixture(budget)
        means = expected_means(strategy.expected(quality, budget), accuracy, costs)
        assert means.cost == pytest.approx(mixture.cost)
        assert means.accuracy == pytest.approx(mixture.accuracy)
        assert means.cost <= budget * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_combined_answers_have_an_accuracy_for_every_base(seed):
    quality, _, costs = random_data(seed)
    rng = np.random.default_rng(seed + 90)
    combined = {base: rng.random((len(quality), 3)) for base in (0, 2)}
    strategy = FrugalML().fit(quality, combined, costs)
    policies = all_policies(quality, combined[0], costs, [0]) | all_policies(quality, combined[2], costs, [2])
    for budget in np.linspace(costs[[0, 2]].min(), costs.sum(), 8):
        assert strategy.mixture(budget).accuracy == pytest.approx(best_mixture(policies, budget))
        held = strategy.decide(quality, budget, never_over=True)
        assert set(held.base.tolist()) <= {0, 2}
        assert item_costs(*held, costs).mean() <= budget * (1 + 1e-11)
    with pytest.raises(FrugalError, match=r"has the bases \[0, 2\], but \[1\] is to be used"):
        FrugalML(base=1).fit(quality, combined, costs)
    with pytest.raises(FrugalError, match=r"but none is to be used"):
        FrugalML().fit(quality, {}, costs)


def test_the_same_accuracies_for_every_base_are_the_services_own():
    quality, accuracy, costs = random_data(4)
    alone = FrugalML().fit(quality, accuracy, costs).hull
    same = FrugalML().fit(quality, dict.fromkeys(range(3), accuracy), costs).hull
    assert all(np.array_equal(getattr(alone, part), getattr(same, part)) for part in vars(alone))


def test_hull_rises_and_bends_down():
    rng = np.random.default_rng(3)
    quality = rng.random((5000, 4))
    accuracy = np.clip(quality * rng.random(4) + rng.normal(0, 0.3, quality.shape), 0, 1)
    hull = FrugalML().fit(quality, accuracy, COSTS).hull
    assert len(hull) > 5
    assert np.all(np.diff(hull.cost) > 0)
    assert np.all(np.diff(hull.accuracy) > 0)
    slopes = np.diff(hull.accuracy) / np.diff(hull.cost)
    assert np.all(np.diff(slopes) < 1e-9)


def test_equal_qualities_are_never_split():
    quality = np.array([[0.5, 1.0], [0.5, 1.0], [0.5, 1.0], [0.9, 1.0]])
    accuracy = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    hull = FrugalML(base=0).fit(quality, accuracy, [1.0, 4.0]).hull
    # Telling the two wrong ones apart would give accuracy 1 at cost 3; all three cost 4 and give 0.75.
    assert hull.cost.tolist() == [1.0, 4.0]
    assert hull.accuracy.tolist() == [0.5, 0.75]
    assert [hull.policy(vertex) for vertex in (0, 1)] == [Policy(0, 0, -np.inf), Policy(0, 1, 0.9)]


def test_add_on_replaces_the_base_only_below_the_threshold():
    quality = np.array([[0.2, 0.0], [0.4, 0.0], [0.6, 0.0], [0.8, 0.0]])
    accuracy = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    strategy = FrugalML().fit(quality, accuracy, [1.0, 4.0])
    assert strategy.mixture(3.0).policies == (Policy(0, 1, 0.6),)
    unseen = np.array([[0.59, 0.0], [0.6, 0.0], [0.61, 0.0], [0.0, 0.0]])
    choices = strategy.decide(unseen, 100.0)
    assert choices.base.tolist() == [0, 0, 0, 0]
    assert choices.addon.tolist() == [1, 0, 0, 1]
    assert item_costs(*choices, [1.0, 4.0]).tolist() == [5, 1, 1, 5]


def test_mixture_may_be_of_two_bases():
    quality = np.ones((10, 2))
    accuracy = np.tile([0.2, 0.8], (10, 1))
    mixture = FrugalML().fit(quality, accuracy, [1.0, 5.0]).mixture(4.0)
    assert mixture.policies == (Policy(0, 0, -np.inf), Policy(1, 1, -np.inf))
    assert mixture.probabilities == pytest.approx((0.25, 0.75))
    assert (mixture.cost, mixture.accuracy) == (pytest.approx(4), pytest.approx(0.65))


def test_free_add_on_and_a_single_service():
    quality, accuracy, _ = random_data(0)
    policies = all_policies(quality, accuracy, np.zeros(3))
    hull = FrugalML().fit(quality, accuracy, np.zeros(3)).hull
    assert hull.accuracy.tolist() == [pytest.approx(max(value for _, value in policies.values()))]
    alone = FrugalML().fit(quality[:, :1], accuracy[:, :1], [2.0])
    assert alone.mixture(2).policies == (Policy(0, 0, -np.inf),)


def test_decisions_occur_as_often_as_expected():
    quality, accuracy, costs = random_data(5, items=20_000)
    strategy = FrugalML().fit(quality, accuracy, costs)
    hull = strategy.hull
    budget = 0.7 * hull.cost[-2] + 0.3 * hull.cost[-1]
    parts = strategy.expected(quality, budget)
    assert [part.probability for part in parts] == pytest.approx([0.7, 0.3])
    choices = strategy.decide(quality, budget, seed=1)
    for base in range(3):
        for addon in range(3):
            expected = sum(p * np.mean((bases == base) & (addons == addon)) for p, bases, addons in parts)
            found = np.mean((choices.base == base) & (choices.addon == addon))
            assert found == pytest.approx(expected, abs=5 * np.sqrt(0.25 / 20_000))


def test_decisions_depend_on_the_seed_and_the_row_alone():
    quality, accuracy, costs = random_data(5, items=500)
    strategy = FrugalML().fit(quality, accuracy, costs)
    budget = strategy.hull.cost[:2].mean()
    first, again, other = (strategy.decide(quality, budget, seed) for seed in (1, 1, 2))
    shorter = strategy.decide(quality[:100], budget, 1)
    for column in ("base", "addon"):
        np.testing.assert_array_equal(getattr(first, column), getattr(again, column))
        np.testing.assert_array_equal(getattr(first, column)[:100], getattr(shorter, column))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("base", [None, 0, 1])
def test_never_over_holds_on_items_harder_than_those_learnt_from(base):
    quality, accuracy, costs = random_data(7, items=1000)
    strategy = FrugalML(base=base).fit(quality, accuracy, costs)
    harder = quality / 2
    overran = False
    for budget in np.linspace(strategy.hull.cost[0], strategy.hull.cost[-1], 15):
        free = strategy.decide(harder, budget, 3)
        held = strategy.decide(harder, budget, 3, never_over=True)
        overran |= item_costs(*free, costs).mean() > budget * 1.001
        assert item_costs(*held, costs).mean() <= budget * (1 + 1e-11)
        assert base is None or set(held.base) == {base}
        kept = (held.base == free.base) & (held.addon == free.addon)
        spent = np.cumsum(item_costs(*free, costs))
        fits = spent + np.arange(999, -1, -1) * strategy.hull.cost[0] <= 1000 * budget
        assert np.all(kept[: np.argmin(fits)])
    assert overran


def test_never_over_changes_nothing_where_the_budget_is_met():
    quality, accuracy, costs = random_data(7, items=1000)
    strategy = FrugalML().fit(quality, accuracy, costs)
    for budget in [*strategy.hull.cost, 1e6, np.inf]:
        free, held = (strategy.decide(quality, budget, 3, never_over=never) for never in (False, True))
        assert np.array_equal(free.base, held.base)
        assert np.array_equal(free.addon, held.addon)


def test_quality_is_the_mean_score_and_zero_for_an_empty_answer():
    quality = quality_scores(small_market())
    np.testing.assert_allclose(quality, [[0.25, 0.25], [1.0, 0.0], [0.0, 0.75], [0.1, (1 / 3 + 0.2) / 2]])


def test_coco_size_takes_seconds_at_most():
    rng = np.random.default_rng(0)
    quality = rng.random((61_643, 4))
    accuracy = quality * rng.random((61_643, 4))
    start = time.process_time()
    FrugalML().fit(quality, accuracy, COSTS)
    assert time.process_time() - start < 5


def test_no_items_to_decide_on():
    quality, accuracy, costs = random_data(1)
    choices = FrugalML().fit(quality, accuracy, costs).decide(np.empty((0, 3)), 20, never_over=True)
    assert choices.base.shape == choices.addon.shape == (0,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"quality": np.ones((25, 2))}, "quality has shape"),
        ({"quality": np.ones((24, 3))}, "quality has 24 items but accuracy has 25"),
        ({"quality": np.full((25, 3), np.nan)}, "quality of service 0 .* not finite"),
        ({"accuracy": np.full((25, 3), 1.5)}, "accuracy holds values"),
        ({"accuracy": np.ones((25, 2))}, "accuracy has 2 columns"),
        ({"quality": np.ones((0, 3)), "accuracy": np.ones((0, 3))}, "no items to learn from"),
        ({"costs": [1.0, -1.0, 2.0]}, "every price"),
    ],
)
def test_bad_training_data_is_refused(changes, message):
    quality, accuracy, costs = random_data(1)
    arguments = {"quality": quality, "accuracy": accuracy, "costs": costs} | changes
    with pytest.raises(FrugalError, match=message):
        FrugalML().fit(**arguments)


def test_misuse_is_told_in_a_sentence():
    quality, accuracy, costs = random_data(1)
    with pytest.raises(FrugalError, match="call fit first"):
        FrugalML().mixture(3)
    with pytest.raises(FrugalError, match="base is 3"):
        FrugalML(base=3).fit(quality, accuracy, costs)
    strategy = FrugalML(base=1).fit(quality, accuracy, costs)
    with pytest.raises(FrugalError, match="does not pay for the cheapest"):
        strategy.mixture(costs[1] * 0.99)
    with pytest.raises(FrugalError, match="not finite"):
        strategy.decide(np.full((4, 3), np.nan), 100)
    only_base_known = np.full((25, 3), np.nan)
    only_base_known[:, 1] = quality[:, 1]
    known, all_known = strategy.decide(only_base_known, 100), strategy.decide(quality, 100)
    assert np.array_equal(known.addon, all_known.addon)


def one_label_market(labels: list[str], given: list[int], scores: list[float], true: list[int]) -> Market:
    rows = np.arange(len(given) + 1)
    return LabelMarket(
        name="faces",
        task="FER",
        items=np.arange(len(given)).astype(str),
        labels=np.array(labels),
        services=("only",),
        prices=np.array([1.0]),
        truth=label_matrix(rows, true, None, len(labels)),
        scores=(label_matrix(rows, given, scores, len(labels)),),
    )


def test_label_quality_is_the_rising_share_of_right_answers_at_a_score():
    labels = ["glad", "sad"]
    train = one_label_market(labels, [0, 0, 0, 0, 1, 1], [0.2, 0.4, 0.4, 0.8, 0.8, 0.9], [0, 1, 0, 0, 0, 0])
    test = one_label_market(labels, [0, 0, 1, 0], [0.6, 0.1, 0.85, 0.99], [0, 0, 0, 0])
    quality = LabelQuality(train)
    of_train, of_test = quality.scores(train), quality.scores(test)
    # At 0.2 one of one is right, at 0.4 one of two: as shares must rise, the three have two of three.
    np.testing.assert_allclose(of_train[:, 0], [2 / 3, 2 / 3, 2 / 3, 1, 0, 0])
    np.testing.assert_allclose(of_test[:, 0], [(2 / 3 + 1) / 2, 2 / 3, 0, 1])


def test_quality_of_labels_never_seen_stays_the_score():
    train = one_label_market(["glad", "sad"], [0, 0], [0.5, 0.6], [0, 0])
    test = one_label_market(["glad", "sad"], [1], [0.3], [0])
    assert LabelQuality(train).scores(test).tolist() == [[0.3]]
