"""Small sets of services as base under `auto`: only where they pay on trial."""

import numpy as np

from frugalmct import Strategy
from frugalmct.market import LabelMarket
from frugalmct.model import Learning
from frugalmct.planning import Planner
from frugalmct.plus import Learner
from frugalmct.sparse import label_matrix

FAST = Learning(options={"trees": 10, "leaf": 20}, seed=4)


def three_services(tell: bool, items: int = 1500, seed: int = 0, name: str = "three") -> LabelMarket:
    """Six labels. Two cheap services, each right on seven items in ten, and an expert who always is. tell:
    whether the cheap ones are wrong about different items, each in its own way, so that they agree only
    where both are right; if not, both give the same answers."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(6, size=items)
    wrong = (truth + rng.integers(1, 6, size=items)) % 6
    which = rng.random(items)
    first = np.where(which < 0.3, wrong, truth)
    second = np.where((which >= 0.3) & (which < 0.6), wrong, truth) if tell else first
    sets = [
        label_matrix(np.arange(items + 1), said, np.ones(items), 6) for said in (truth, first, second, truth)
    ]
    return LabelMarket(
        name=name,
        task="MIC",
        services=("one", "two", "expert"),
        prices=np.array([1.0, 1.0, 10.0]),
        labels=np.array(list("abcdef")),
        items=np.array([f"{name} {number}" for number in range(items)]),
        truth=sets[0],
        scores=tuple(sets[1:]),
    )


def test_a_pair_is_asked_first_where_their_agreement_tells_whom_to_trust(tmp_path):
    """Where the two agree both are right, and else the expert is asked: 60 % of the items at 8 instead of all
    at 11. From one cheap answer nothing tells where it is wrong."""
    strategy = Strategy.fit(three_services(True), [8.5], learning=FAST)
    plan = strategy.plan(8.5)
    assert plan.base == (0, 1) and plan.other is None and plan.gain > 0.05
    new = three_services(True, 500, seed=1, name="new")
    found = strategy.evaluate(new, 8.5)
    assert found.cost <= 8.5 * (1 + 1e-12) and found.accuracy > 0.97
    alone = Strategy.fit(three_services(True), [8.5], base="one", learning=FAST).evaluate(new, 8.5)
    assert found.accuracy > alone.accuracy + 0.05
    strategy.save(tmp_path / "s.npz")
    assert Strategy.load(tmp_path / "s.npz").plans == strategy.plans


def test_where_a_pair_tells_no_more_one_service_is_first_and_nothing_more_is_learnt(monkeypatch):
    tried, learnt = [], []
    pay, learn = Planner.sets_that_pay, Learner.learn

    def sets_that_pay(self, budgets, bases, sets):
        tried.append((list(sets), pay(self, budgets, bases, sets), len(learnt)))
        return tried[-1][1]

    def noted(self, state, *rest, **more):
        learnt.append(state)
        learn(self, state, *rest, **more)

    monkeypatch.setattr(Planner, "sets_that_pay", sets_that_pay)
    monkeypatch.setattr(Learner, "learn", noted)
    strategy = Strategy.fit(three_services(False), [8.5], learning=FAST)
    plan = strategy.plan(8.5)
    assert all(len(base) == 1 for base in plan.bases)
    ((sets, found, before),) = tried
    assert sets and found == [] and len(learnt) == before


def test_a_base_that_is_given_stays():
    assert Strategy.fit(three_services(True), [8.5], base="one", learning=FAST).bases == [(0,)]
