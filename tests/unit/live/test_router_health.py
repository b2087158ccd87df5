"""What a router says about itself: drift, the accuracy expected and promised, the end of the money."""

import json

import numpy as np
import pytest
from live_market import Recorded, photos

from frugalmct import Budget, Learning, Router, Strategy
from frugalmct.errors import FrugalError
from frugalmct.live import Patience
from frugalmct.live.traffic import training_sketch

PER = 1000
PATIENT = Patience(timeout=None)
HOUR = 3600.0
SMALL = Learning(options={"trees": 20, "leaf": 5})


@pytest.fixture(scope="module", params=["paper", "plus"])
def strategy(request) -> Strategy:
    return Strategy.fit(photos(600), [5.0], method=request.param, base="cheap", learning=SMALL)


def router(strategy, items=300, rate=5.0, ledger=None, **options) -> Router:
    options = {"per": PER, "patience": PATIENT} | options
    return Router(strategy, Budget(total=rate * items / PER, items=items), ledger, **options)


def routed(made, market) -> list:
    ask = Recorded(market)
    return [made.run(item, ask) for item in ask.items()]


def test_the_training_sketch_is_that_of_the_training_items(strategy):
    market = photos(600)
    plan = strategy.plan(5.0)
    sketch = training_sketch(strategy, plan)
    answers = market.scores[0]
    assert sketch.items == 600 and sketch.silent == int((np.diff(answers.indptr) == 0).sum())
    for label, count in zip(sketch.labels, sketch.given.tolist(), strict=True):
        column = market.labels.tolist().index(label)
        assert count == int((answers.indices == column).sum())
    cascade = strategy.training.cascade((0,))
    expected = cascade.walk(plan.dual_price).expected
    assert sketch.expected_accuracy == pytest.approx(float(expected.mean()))
    assert np.array_equal(cascade.walk(plan.dual_price).asked, cascade.route(5.0, plan.dual_price))


@pytest.mark.parametrize("database", [None, "sqlite"])
def test_health_by_another_plan_says_whose_traffic_the_ledger_has(strategy, tmp_path, database):
    from frugalmct.live.purse import Purse

    money = f"sqlite:///{tmp_path}/l.db" if database else Purse(Budget(total=1.5, items=300))
    known = strategy.with_prices({}, budgets=[3.0, 5.0])
    with router(known, ledger=money if database else None, plan=5.0) as made:
        if not database:
            money = made.money
        routed(made, photos(150, 3, "new"))
        assert not made.health().warnings
    for _ in range(2):  # to look leaves an empty sketch, which is nobody's traffic
        with Router(known, ledger=money, per=PER, plan=3.0, patience=PATIENT) as other:
            health = other.health()
            (warning,) = health.warnings
            assert not health.drift.enough and f"({other.traffic.key})" in warning
            assert f"the ledger has {made.traffic.key} (150 items): of routers with another" in warning


def test_how_far_the_accuracy_is_from_that_promised_is_told(strategy):
    made = router(strategy)
    assert made.health().to_dict()["accuracy"]["gap"] is None
    results = routed(made, photos(150, 3, "new", share_hard=0.9))
    told = made.health().to_dict()["accuracy"]
    expected = np.mean([result.expected for result in results])
    assert told["gap"] == pytest.approx(expected - told["promised"]) and told["gap"] < 0


def test_traffic_like_training_is_healthy(strategy):
    made = router(strategy)
    results = routed(made, photos(300, 3, "new"))
    health = made.health()
    assert health.ok and not health.drift.drifted and health.items == 300 and health.items_left == 0
    assert health.drift.expected == pytest.approx(np.mean([result.expected for result in results]))
    assert health.spent == pytest.approx(sum(result.cost for result in results))
    assert health.lasts_for == pytest.approx(health.left / health.spent * 300)
    json.dumps(health.to_dict(), allow_nan=False)


def test_harder_traffic_has_drifted(strategy):
    made = router(strategy)
    routed(made, photos(300, 3, "hard", share_hard=1.0))
    health = made.health()
    assert not health.ok and health.drift.drifted and health.drift.below_promise
    assert "The traffic has drifted, most of all" in health.warnings[0]
    assert any("was promised" in text for text in health.warnings)


def test_all_processes_see_the_same(strategy, tmp_path):
    url = f"sqlite:///{tmp_path}/l.db"
    market = photos(300, 3, "new")
    for part in range(3):
        with router(strategy, ledger=url) as made:
            routed(made, market.subset(np.arange(part * 100, part * 100 + 100)))
    looking = router(strategy, ledger=url)
    one = router(strategy)
    routed(one, market)
    there, here = looking.health(), one.health()
    assert there.drift.items == 300 and there.drift.expected == pytest.approx(here.drift.expected)
    assert there.spent == pytest.approx(here.spent)


def test_an_answer_is_not_lost_when_the_sketch_cannot_be_shared(strategy, monkeypatch, caplog):
    made = router(strategy)

    def full_disk(*_):
        raise FrugalError("the disk is full")

    monkeypatch.setattr(made.money, "note", full_disk)
    results = routed(made, photos(150, 3, "new"))
    assert len(results) == 150 and "could not be shared" in caplog.text
    monkeypatch.undo()
    assert made.health().drift.items == 150


def test_feedback_gives_the_accuracy_really_reached(strategy):
    market = photos(200, 3, "new")
    made = router(strategy, items=200)
    results = routed(made, market)
    found = []
    for row, result in enumerate(results):
        true = set(market.labels[market.truth[row].indices].tolist())
        said = {label for label, _ in result.answer}
        found.append(len(true & said) / len(true | said))
        assert made.feedback(result.id, sorted(true)) == pytest.approx(found[-1])
    drift = made.health().drift
    assert drift.judged == 200 and drift.reached == pytest.approx(np.mean(found))
    assert made.feedback("elsewhere", ["car"], [["car", 0.9], ["bike", 0.1]]) == 0.5
    with pytest.raises(FrugalError, match="item elsewhere is not among the last 10,000"):
        made.feedback("elsewhere", ["car"])


def test_when_the_money_will_end(strategy):
    now = [100 * 24 * HOUR]
    budget = Budget(per_day=10.0 * 100 / PER)
    made = Router(strategy, budget, per=PER, patience=PATIENT, pace="fixed", clock=lambda: now[0])
    ask = Recorded(photos(100, 3, "new"))
    for item in ask.items():
        now[0] += 60.0
        made.run(item, ask)
    health = made.health()
    # Independently: so much in 6,000 seconds, the rest at that rate.
    assert health.ends_at == pytest.approx(now[0] + health.left / (health.spent / 6000.0))
    assert health.period_end == 101 * 24 * HOUR and health.ends_at < health.period_end
    assert any("before the period does" in text for text in health.warnings)
    assert health.items_left == pytest.approx(100 * (24 * HOUR - 6000) / 6000)


def test_the_money_is_gone(strategy):
    made = router(strategy, items=3)
    for result in made.batch([{"id": f"new {n}"} for n in range(40)], Recorded(photos(40, 3, "new"))):
        last = result
    assert last.error
    assert any("The money is gone" in text for text in made.health().warnings)
