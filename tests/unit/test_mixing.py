"""Two plans that are mixed: when, which two, for which items, and never over budget."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from frugalmct import Strategy
from frugalmct.cascade import joined
from frugalmct.cli import main
from frugalmct.cli.explain import explained
from frugalmct.errors import FrugalError
from frugalmct.live import Budget, Router
from frugalmct.market import LabelMarket
from frugalmct.mixing import CascadePlan, MixedSelector
from frugalmct.model import Learning
from frugalmct.outlook import promised
from frugalmct.planning import MARGIN, Planner, surely_better
from frugalmct.sparse import label_matrix
from frugalmct.sweep import sweep
from frugalmct.training import Training, folds

FAST = Learning(options={"trees": 10, "leaf": 20}, seed=4)
PRICES = {"coin": 1.0, "expert": 10.0}


def two_services(items: int = 800, seed: int = 0, name: str = "two") -> LabelMarket:
    """Two labels. `coin` is right six times in ten, `expert` nineteen in twenty, and nothing tells which
    items these are: at a price only nobody or everybody is worth an expert."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    answers = [np.where(rng.random(items) < right, truth, 1 - truth) for right in (0.6, 0.95)]
    sets = [label_matrix(np.arange(items + 1), said, np.ones(items), 2) for said in (truth, *answers)]
    ids = np.array([f"{name} {number}" for number in range(items)])
    return LabelMarket(
        name=name,
        task="MIC",
        services=tuple(PRICES),
        prices=np.array(list(PRICES.values())),
        labels=np.array(["no", "yes"]),
        items=ids,
        truth=sets[0],
        scores=tuple(sets[1:]),
    )


@pytest.fixture(scope="module")
def strategy() -> Strategy:
    return Strategy.fit(two_services(), [5.5], predictor="mean", seed=4)


@pytest.fixture(scope="module")
def new_items() -> LabelMarket:
    return two_services(600, seed=1, name="new")


def test_two_plans_are_mixed_where_nothing_between_them_can_be_had(strategy, new_items):
    """Half of the items have an expert: 77 % where one plan has the coin's 60 %."""
    plan = strategy.plan(5.5)
    assert plan.other is not None and plan.base == (0,) and plan.rest == 1.0
    assert plan.other.base == (1,) and plan.other.budget == pytest.approx(10.0)
    assert plan.share == pytest.approx(0.5) and plan.gain == pytest.approx(0.175, abs=0.03)
    assert strategy.plan_names(plan) == "coin 50%, expert 50%"
    found = strategy.evaluate(new_items, 5.5)
    assert found.asked[:, 1].sum() == found.asked[:, 0].sum() == 300
    assert found.cost <= 5.5 * (1 + 1e-12) and found.accuracy == pytest.approx(0.775, abs=0.05)
    assert promised(strategy, plan) == pytest.approx(0.775, abs=0.03)


def test_the_same_items_are_drawn_with_the_same_seed(strategy, new_items, tmp_path):
    strategy.save(tmp_path / "s.npz")
    loaded = Strategy.load(tmp_path / "s.npz")
    assert loaded.plans == strategy.plans and loaded.bases == [(0,), (1,)]
    asked = strategy.decide(new_items, 5.5)
    for other in (loaded, Strategy.fit(two_services(), [5.5], predictor="mean", seed=4)):
        assert np.array_equal(other.decide(new_items, 5.5), asked)
    other_seed = replace(strategy.parts, made=replace(strategy.made, seed=5))
    assert not np.array_equal(Strategy(other_seed).decide(new_items, 5.5), asked)
    (found,) = sweep(strategy, new_items, 5.5)
    assert np.array_equal(found.asked, asked)


def test_a_budget_between_is_another_share_of_the_same_two(strategy):
    plan = strategy.plan_at(3.25)
    assert (plan.other, plan.rest, plan.share) == (strategy.plan(5.5).other, 1.0, pytest.approx(0.25))
    assert strategy.plan_at(12.0).other is None
    cheaper = strategy.with_prices({"expert": 7.0}).plan(5.5)
    assert cheaper.share == pytest.approx(0.75)


def test_one_by_one_is_all_at_once(strategy, new_items):
    asked = strategy.decide(new_items, 5.5)
    selector = strategy.selector(5.5, len(new_items))
    tables = {
        state: model.estimate(np.zeros((1, model.predictor.columns)))
        for state, model in strategy.models.items()
    }
    for row in asked:
        state = selector.begin()
        while state in tables and (service := selector.ask(state, tables[state][0])) is not None:
            state = joined(state, service)
        assert state == tuple(np.flatnonzero(row).tolist())
    assert selector.spent == pytest.approx((asked @ strategy.prices).sum())
    with pytest.raises(FrugalError, match="all 600 items"):
        selector.begin()


def test_a_router_draws_for_each_item_and_keeps_to_its_money(strategy):
    market = two_services(400, seed=2, name="live")
    router = Router(strategy, Budget(total=5.5 * 400, items=400))
    asked = []
    for row in range(len(market)):

        def ask(service, item, row=row):
            answer = int(market.scores[market.services.index(service)].indices[row])
            return [[str(market.labels[answer]), 1.0]]

        asked.append(router.run({"id": str(market.items[row])}, ask).asked)
    spent = router.money.state().spent
    assert spent <= 5.5 * 400 and spent == pytest.approx(sum(PRICES[name] for one in asked for name in one))
    assert 150 <= sum(one == ("expert",) for one in asked) <= 200
    assert sum(one == ("coin",) for one in asked) >= 200 and router.turned_away == 0
    draws = [strategy.plan(5.5).follows_other(strategy.made.seed, str(name)) for name in market.items]
    drawn = [one == ("expert",) for one in asked]
    assert all(draw for draw, own in zip(draws, drawn, strict=True) if own), "only those drawn"


def made_up(seed: int) -> tuple[Training, list[float]]:
    """Three services, one step, estimates that do not tell items apart: a dual price is for all or none."""
    rng = np.random.default_rng(seed)
    items, prices = int(rng.integers(900, 1500)), np.sort(rng.uniform(0.5, 12, 3)).round(2)
    truth = {(k,): rng.random(items) < rng.uniform(0.2, 0.95) for k in range(3)}
    truth |= {
        pair: rng.random(items) < rng.uniform(0.2, 0.95) for pair in itertools.combinations(range(3), 2)
    }
    accuracy = {state: own.astype(float) for state, own in truth.items()}
    estimates = {}
    for base in range(3):
        mean = [accuracy[joined((base,), k) if k != base else (base,)].mean() for k in range(3)]
        estimates[base,] = np.tile(mean, (items, 1))
    return Training(prices, 1, estimates, accuracy, {}), sorted(
        rng.uniform(prices[0], 25, 4).round(1).tolist()
    )


BASES = [(0,), (1,), (2,)]


@pytest.mark.parametrize("seed", range(8))
def test_the_hull_is_the_best_of_all_pairs(seed):
    """By brute force: no mixture of any two points that costs a budget is better than the hull's."""
    training, budgets = made_up(seed)
    planner = Planner(training, folds(len(training), 1))
    points = [(base, budget) for base in BASES for budget in planner._tried_at(base, budgets)]
    worth = [(budget, float(planner.reached(base, budget).mean())) for base, budget in points]
    hull = [
        (budget, float(planner.reached(base, budget).mean())) for base, budget in planner.hull(budgets, BASES)
    ]
    assert set(hull) <= set(worth)
    assert hull == sorted(hull) and [y for _, y in hull] == sorted(y for _, y in hull)
    for budget in budgets:
        best = max(y for x, y in worth if x <= budget)
        for (x, y), (u, v) in itertools.permutations(worth, 2):
            if x < budget < u:
                best = max(best, y + (v - y) * (budget - x) / (u - x))
        xs, ys = zip(*hull, strict=True)
        assert np.interp(budget, xs, ys) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_plans_rise_and_mixtures_are_surely_better(seed):
    training, budgets = made_up(seed)
    planner = Planner(training, folds(len(training), 1))
    plans = planner.plans(budgets, BASES)
    expected = [float(planner.promised(plan).mean()) for plan in plans]
    assert all(low <= high + 1e-12 for low, high in itertools.pairwise(expected))
    for plan, value in zip(plans, expected, strict=True):
        single = planner.single(plan.budget, BASES)
        assert value >= planner.promised(single).mean() - 1e-12
        if plan.other is not None:
            assert plan.gain == pytest.approx(value - planner.reached(single.base, plan.budget).mean())
            assert plan.gain > MARGIN


def test_some_of_these_are_mixed():
    mixed = 0
    for seed in range(8):
        training, budgets = made_up(seed)
        mixed += sum(
            p.other is not None for p in Planner(training, folds(len(training), 1)).plans(budgets, BASES)
        )
    assert mixed >= 3


@pytest.mark.parametrize("seed", range(30))
def test_never_over_budget(seed):
    rng = np.random.default_rng(seed)
    items, prices = int(rng.integers(1, 60)), rng.uniform(0.1, 9, 3).round(2)
    low, high = rng.choice(3, 2, replace=False).tolist()
    rest = prices[low] + rng.uniform(0, 2)
    other = CascadePlan(max(rest, prices[high]) + rng.uniform(0.1, 5), (high,), 0.0, 0.0)
    budget = rng.uniform(rest, other.budget * 1.2)
    plan = CascadePlan(float(budget), (low,), 0.0, 0.01, other, float(rest))
    selector = MixedSelector(prices, plan, items, 2, seed)
    states = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    asked = selector.run({state: rng.random((items, 3)) for state in states})
    spent = math.fsum((asked @ prices).tolist())
    assert spent <= items * budget * (1 + 1e-12) and selector.spent == pytest.approx(spent)
    assert asked[:, [low, high]].any(axis=1).all()


def test_better_is_better_by_more_than_noise():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.3, 1000)
    assert surely_better(0.5 + noise + 0.001 + MARGIN, 0.5 + noise), "the same noise on both sides is none"
    assert not surely_better(0.5 + noise + MARGIN / 2, 0.5 + noise)
    assert not surely_better(0.51 + noise, 0.5 + rng.permutation(noise))


def test_a_mixture_in_a_file_is_checked(strategy, tmp_path):
    strategy.save(tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz") as arrays:
        parts = dict(arrays)
    plan = json.loads(parts["header"].tobytes())["plans"][0]
    assert plan["other"]["budget"] == 10.0

    def change(**changes):
        header = json.loads(parts["header"].tobytes())
        header["plans"][0] |= changes
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        np.savez_compressed(tmp_path / "bad.npz", **(parts | {"header": text}))
        return tmp_path / "bad.npz"

    for changes, sentence in (
        ({"other": None}, "a plan that stands alone has another beside it"),
        ({"rest": None}, "does not pay for its base"),
        ({"rest": 0.5}, "does not pay for its base"),
        ({"rest": 6.0}, "rest is 6"),
        ({"other": plan["other"] | {"budget": 9.0}}, "does not pay for its base"),
        ({"other": plan["other"] | {"other": plan["other"]}}, "stands alone has another"),
        ({"other": 3}, "a plan is 3 where an object was expected"),
        ({"gain": -1.0}, "gain is -1"),
    ):
        with pytest.raises(FrugalError, match=sentence):
            Strategy.load(change(**changes))


def test_an_item_is_explained_by_the_plan_that_it_is_drawn_for(strategy):
    draws = {str(n): strategy.plan(5.5).follows_other(strategy.made.seed, str(n)) for n in range(40)}
    assert 10 <= sum(draws.values()) <= 30
    for name, drawn in draws.items():
        answers = {"coin": [["yes", 1.0]], "expert": [["no", 1.0]]}
        found = explained(strategy, {"id": name, "predictions": answers}, 5.5)
        assert found["base"] == ("expert" if drawn else "coin")


def test_train_says_what_mixtures_and_pairs_are_worth(tmp_path, capsys):
    lines = []
    market = two_services(600)
    for row, name in enumerate(market.items):
        said = {
            s: [[str(market.labels[m.indices[row]]), 1.0]] for s, m in zip(PRICES, market.scores, strict=True)
        }
        true = [str(market.labels[market.truth.indices[row]])]
        lines.append(json.dumps({"id": str(name), "truth": true, "predictions": said}))
    (tmp_path / "d.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = ["train", str(tmp_path / "d.jsonl"), "--prices", "coin=1", "expert=10", "--predictor", "mean"]
    assert main([*command, "--budget", "5.5", "-o", str(tmp_path / "s.npz")]) == 0
    out = capsys.readouterr().out
    assert "coin 50%, expert 50%" in out and "Points more than with one service first" in out
    assert main([*command, "--budget", "10", "-o", str(tmp_path / "s.npz")]) == 0
    assert "no mixture of two plans did better by more than noise" in capsys.readouterr().out
