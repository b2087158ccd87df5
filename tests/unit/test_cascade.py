"""Asking on, against the same rules written out item by item."""

from itertools import combinations

import numpy as np
import pytest

from frugalmct.cascade import NEVER, Cascade, CascadeSelector, best_choices, joined, reached
from frugalmct.errors import FrugalError
from frugalmct.select.dual import dual_price
from frugalmct.select.online import OnlineSelector
from frugalmct.select.problem import Problem

PRICES = np.array([1.0, 5.0, 10.0, 15.0])
STATES = [state for size in (1, 2) for state in combinations(range(4), size)]


def tables(items, seed=0, states=STATES):
    """Rising with what is asked, with much chance between items."""
    draw = np.random.default_rng(seed)
    found = {}
    for state in states:
        stop = 0.3 + 0.15 * len(state) + 0.2 * draw.random(items)
        found[state] = stop[:, None] + 0.3 * draw.random((items, 4)) - 0.05
        found[state][:, list(state)] = stop[:, None]
    return found


def by_hand(estimates, start, multiplier, item, steps):
    state = start
    for _ in range(steps):
        if state not in estimates:
            break
        row = estimates[state][item]
        stop = {None: row[state[0]]}
        values = stop | {k: row[k] - multiplier * PRICES[k] for k in range(4) if k not in state}
        best = max(values, key=lambda k: values[k])
        if best is None:
            break
        state = joined(state, best)
    return state


@pytest.mark.parametrize("start", [(0,), (2,), (0, 1)])
@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_a_walk_is_that_of_each_item_alone(start, steps):
    estimates = tables(200)
    cascade = Cascade(PRICES, start, estimates, steps)
    for multiplier in (0.0, 0.01, 0.03, 1.0):
        walk = cascade.walk(multiplier)
        states = [tuple(np.flatnonzero(row).tolist()) for row in walk.asked]
        assert states == [by_hand(estimates, start, multiplier, item, steps) for item in range(200)]
        np.testing.assert_allclose(walk.cost, [PRICES[list(state)].sum() for state in states])
        part = np.array([7, 3, 150])
        np.testing.assert_array_equal(cascade.rows(part).walk(multiplier).asked, walk.asked[part])
        assert cascade.mean_cost(multiplier) == pytest.approx(walk.cost.mean())


def test_the_price_spends_the_budget_and_no_more():
    cascade = Cascade(PRICES, (0,), tables(3_000))
    for budget in (1.0, 2.0, 6.0, 11.0):
        spent = cascade.walk(cascade.dual_price(budget)).cost.mean()
        assert budget - 0.02 <= spent <= budget
    assert cascade.dual_price(100) == 0
    assert cascade.walk(cascade.dual_price(6, delta=0.2)).cost.mean() == pytest.approx(5, abs=0.02)


@pytest.mark.parametrize("start", [(0,), (2,), (0, 1)])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_spend_at_every_dual_price_is_what_the_walk_there_costs(start, steps):
    cascade = Cascade(PRICES, start, tables(150, seed=steps), steps)
    spending = cascade._spending
    between = (spending.dual_prices[1:] + spending.dual_prices[:-1]) / 2
    apart = np.diff(spending.dual_prices) > 1e-9
    for price, spend in zip(between[apart], spending.spend[:-1][apart], strict=True):
        walked = cascade.walk(price).cost - cascade.start_cost
        assert spend == pytest.approx(walked.sum(), abs=1e-6)
    assert spending.spend[0] == pytest.approx(150 * (cascade.mean_cost(0.0) - cascade.start_cost))
    assert spending.spend[-1] == pytest.approx(0, abs=1e-6), "once money is too expensive nobody is asked"


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_no_lower_dual_price_keeps_to_the_budget(delta):
    cascade = Cascade(PRICES, (0,), tables(400))
    for budget in (1.0, 1.7, 4.0, 9.0):
        found = cascade.dual_price(budget, delta)
        target = 1 + (1 - delta) * (budget - 1)
        assert cascade.mean_cost(found) <= target * (1 + 1e-11)
        lower = found * (1 - np.geomspace(1e-9, 0.9, 50))
        assert all(cascade.mean_cost(price) > target for price in lower)


def test_items_that_are_all_alike_ask_together_or_not_at_all():
    """Many turns at one dual price, where rounding decides who is already beyond it."""
    table = np.tile([0.3, 0.7, 0.8, 0.9], (1_000, 1))
    alike = Cascade(PRICES, (0,), {(0,): table, (0, 1): table[:, [1, 1, 2, 3]]})
    assert alike.mean_cost(alike.dual_price(3.0)) == 1.0
    assert alike.mean_cost(alike.dual_price(6.0)) == 6.0


def test_one_step_is_the_papers_selector():
    estimates = tables(800)
    accuracy = estimates[0,]
    multiplier = dual_price(Problem(accuracy, PRICES, 0, 6.0), delta=0.01)
    theirs = OnlineSelector(PRICES, 0, 6.0, 800, multiplier).choose_all(accuracy)
    ours = CascadeSelector(PRICES, (0,), 6.0, 800, multiplier, steps=1).run(estimates)
    asked = np.zeros((800, 4), dtype=bool)
    asked[:, 0] = asked[np.arange(800), theirs] = True
    np.testing.assert_array_equal(ours, asked)
    cascade = Cascade(PRICES, (0,), estimates, steps=1)
    assert cascade.dual_price(6.0, 0.01) == pytest.approx(multiplier, rel=1e-12)
    part = np.arange(0, 800, 3)
    theirs = dual_price(Problem(accuracy[part], PRICES, 0, 6.0), delta=0.01)
    assert cascade.rows(part).dual_price(6.0, 0.01) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("start", [(0,), (1, 2), (2,)])
def test_never_over_budget_whatever_is_wanted(start):
    """A dual price of 0 wants everything, for every item."""
    estimates, cost = tables(300), PRICES[list(start)].sum()
    for budget in (cost + 0.5, cost + 2.3, cost + 7.0):
        selector = CascadeSelector(PRICES, start, budget, 300, 0.0)
        asked = selector.run(estimates)
        assert (asked @ PRICES).sum() <= 300 * budget * (1 + 1e-9)
        assert selector.spent == pytest.approx((asked @ PRICES).sum())
        assert (asked @ PRICES).sum() > 300 * budget - 15, "what is left does not pay for one call more"
        assert asked[:, list(start)].all(), "every item is answered"


def test_many_items_at_once_are_decided_as_one_by_one():
    estimates = tables(300)
    together = CascadeSelector(PRICES, (0,), 12.0, 300, 0.005)
    apart = CascadeSelector(PRICES, (0,), 12.0, 300, 0.005)
    alone = [apart.run({state: table[[item]] for state, table in estimates.items()}) for item in range(300)]
    np.testing.assert_array_equal(together.run(estimates), np.concatenate(alone))
    assert together.spent == pytest.approx(apart.spent) and together.spent > 300 * 12.0 - 15


def test_with_money_to_spare_the_selector_walks_as_planned():
    cascade = Cascade(PRICES, (0,), tables(250))
    np.testing.assert_array_equal(cascade.route(100.0, 0.02), cascade.walk(0.02).asked)


def test_what_is_expected_is_the_last_estimate_that_was_decided_by():
    estimates = tables(200)
    walk = Cascade(PRICES, (0,), estimates).walk(0.01)
    for item in range(200):
        state, expected = (0,), None
        for _ in range(2):
            service = int(best_choices(estimates[state][[item]], PRICES, state, 0.01)[0])
            expected = estimates[state][item, service if service >= 0 else state[0]]
            if service < 0:
                break
            state = joined(state, service)
        assert walk.expected[item] == expected


def test_a_service_left_out_is_never_asked_and_the_rest_goes_on():
    cascade = Cascade(PRICES, (0,), tables(200))
    asked = cascade.without(2).walk(0.0).asked
    assert not asked[:, 2].any() and asked[:, 1].any() and asked[:, 3].any()
    rest = {
        state: np.delete(table, 2, axis=1) for state, table in cascade.estimates.items() if 2 not in state
    }
    renamed = {tuple(k - (k > 2) for k in state): table for state, table in rest.items()}
    alone = Cascade(np.delete(PRICES, 2), (0,), renamed).walk(0.0).asked
    np.testing.assert_array_equal(np.delete(asked, 2, axis=1), alone)
    one = Cascade(PRICES, (0,), tables(200), steps=1).without(2)
    hidden = one.estimates[0,].copy()
    hidden[:, 2] = 0.0
    assert one.dual_price(6.0) == pytest.approx(dual_price(Problem(hidden, PRICES, 0, 6.0), 0.0))


def test_reached_looks_up_each_items_own_state():
    asked = np.array([[1, 0, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]], dtype=bool)
    accuracy = {(0,): np.array([0.1, 0.2, 0.3]), (0, 2): np.array([0.4, 0.5, 0.6])}
    assert reached(asked, accuracy).tolist() == [0.1, 0.5, 0.3]


def test_ties_stop_or_ask_the_cheapest():
    prices = np.array([2.0, 3.0, 1.0])
    assert best_choices(np.array([[0.5, 0.5, 0.5]]), prices, (0,), 0.0).tolist() == [-1]
    assert best_choices(np.array([[0.1, 0.5, 0.5]]), prices, (0,), 0.0).tolist() == [2]
    assert best_choices(np.array([[0.0, NEVER, NEVER]]), prices, (0,), 0.0).tolist() == [-1]
    assert best_choices(np.array([[0.4, 0.4, 0.5]]), prices, (0, 1), 0.2).tolist() == [-1]


def test_mistakes_are_said():
    estimates = tables(10)
    with pytest.raises(FrugalError, match="no estimates for the start"):
        Cascade(PRICES, (0, 1, 2), estimates)
    with pytest.raises(FrugalError, match="sorted tuple"):
        Cascade(PRICES, (1, 0), estimates)
    with pytest.raises(FrugalError, match="must be"):
        Cascade(PRICES, (0,), {(0,): estimates[0,], (1,): estimates[1,][:5]})
    with pytest.raises(FrugalError, match="below the base"):
        CascadeSelector(PRICES, (1,), 4.0, 10, 0.0)
    selector = CascadeSelector(PRICES, (0,), 4.0, 1, 0.0)
    selector.begin()
    with pytest.raises(FrugalError, match="make a selector for more items"):
        selector.begin()
