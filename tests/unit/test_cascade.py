"""Asking on, against the same rules written out item by item."""

from itertools import combinations

import numpy as np
import pytest

from frugalmct.cascade import Cascade, CascadePlan, CascadeSelector, best_choices, joined, reached
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
        found[state] = np.column_stack([stop, stop[:, None] + 0.3 * draw.random((items, 4)) - 0.05])
    return found


def by_hand(estimates, start, multiplier, item, steps):
    state = start
    for _ in range(steps):
        if state not in estimates:
            break
        row = estimates[state][item]
        values = {None: row[0]} | {k: row[1 + k] - multiplier * PRICES[k] for k in range(4) if k not in state}
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
        np.testing.assert_array_equal(cascade.walk(multiplier, part).asked, walk.asked[part])


def test_the_price_spends_the_budget_and_no_more():
    cascade = Cascade(PRICES, (0,), tables(3_000))
    for budget in (1.0, 2.0, 6.0, 11.0):
        spent = cascade.walk(cascade.dual_price(budget)).cost.mean()
        assert budget - 0.02 <= spent <= budget
    assert cascade.dual_price(100) == 0
    assert cascade.walk(cascade.dual_price(6, delta=0.2)).cost.mean() == pytest.approx(5, abs=0.02)


def test_one_step_is_the_papers_selector():
    estimates = tables(800)
    accuracy = estimates[0,][:, 1:].copy()
    accuracy[:, 0] = estimates[0,][:, 0]
    multiplier = dual_price(Problem(accuracy, PRICES, 0, 6.0), delta=0.01)
    theirs = OnlineSelector(PRICES, 0, 6.0, 800, multiplier).choose_all(accuracy)
    ours = CascadeSelector(PRICES, (CascadePlan((0,), multiplier),), 6.0, 800, steps=1).run(estimates)
    asked = np.zeros((800, 4), dtype=bool)
    asked[:, 0] = asked[np.arange(800), theirs] = True
    np.testing.assert_array_equal(ours, asked)
    cascade = Cascade(PRICES, (0,), estimates, steps=1)
    assert cascade.dual_price(6.0, 0.01) == pytest.approx(multiplier, rel=1e-6)


@pytest.mark.parametrize("starts", [((0,),), ((0,), (1, 2)), ((2,), (0,))])
def test_never_over_budget_whatever_is_wanted(starts):
    """A dual_price of 0 wants everything, for every item; hard items first."""
    estimates, draw = tables(300), np.random.default_rng(1)
    for budget in (10.0, 11.3, 17.0):
        selector = CascadeSelector(PRICES, tuple(CascadePlan(s, 0.0) for s in starts), budget, 300)
        asked = selector.run(estimates, draw.integers(0, len(starts), 300))
        assert (asked @ PRICES).sum() <= 300 * budget * (1 + 1e-9)
        assert selector.spent == pytest.approx((asked @ PRICES).sum())
        assert (asked @ PRICES).sum() > 300 * budget - 15, "what is left does not pay for one call more"
        assert asked.any(axis=1).all(), "every item is answered"


def test_many_items_at_once_are_decided_as_one_by_one():
    estimates, which = tables(300), np.random.default_rng(2).integers(0, 2, 300)
    plans = (CascadePlan((0,), 0.01), CascadePlan((1, 2), 0.005))
    together = CascadeSelector(PRICES, plans, 12.0, 300)
    apart = CascadeSelector(PRICES, plans, 12.0, 300)
    alone = [
        apart.run({state: table[[item]] for state, table in estimates.items()}, which[[item]])
        for item in range(300)
    ]
    np.testing.assert_array_equal(together.run(estimates, which), np.concatenate(alone))
    assert together.spent == pytest.approx(apart.spent) and together.spent > 300 * 12.0 - 15


def test_with_money_to_spare_the_selector_walks_as_planned():
    estimates = tables(250)
    plans = (CascadePlan((0,), 0.02), CascadePlan((1,), 0.01))
    which = np.arange(250) % 2
    asked = CascadeSelector(PRICES, plans, 100.0, 250).run(estimates, which)
    for number, plan in enumerate(plans):
        planned = Cascade(PRICES, plan.start, estimates).walk(plan.dual_price).asked
        np.testing.assert_array_equal(asked[which == number], planned[which == number])


def test_reached_looks_up_each_items_own_state():
    asked = np.array([[1, 0, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]], dtype=bool)
    accuracy = {(0,): np.array([0.1, 0.2, 0.3]), (0, 2): np.array([0.4, 0.5, 0.6])}
    assert reached(asked, accuracy).tolist() == [0.1, 0.5, 0.3]


def test_ties_stop_or_ask_the_cheapest():
    prices = np.array([2.0, 3.0, 1.0])
    assert best_choices(np.array([[0.5, 0.5, 0.5, 0.5]]), prices, (0,), 0.0).tolist() == [-1]
    assert best_choices(np.array([[0.1, 0.9, 0.5, 0.5]]), prices, (0,), 0.0).tolist() == [2]


def test_mistakes_are_said():
    estimates = tables(10)
    with pytest.raises(FrugalError, match="no estimates for the start"):
        Cascade(PRICES, (0, 1, 2), estimates)
    with pytest.raises(FrugalError, match="sorted tuple"):
        Cascade(PRICES, (1, 0), estimates)
    with pytest.raises(FrugalError, match="must be"):
        Cascade(PRICES, (0,), {(0,): estimates[0,], (1,): estimates[1,][:5]})
    with pytest.raises(FrugalError, match="below the base"):
        CascadeSelector(PRICES, (CascadePlan((1,), 0.0),), 4.0, 10)
    selector = CascadeSelector(PRICES, (CascadePlan((0,), 0.0),), 4.0, 1)
    selector.begin()
    with pytest.raises(FrugalError, match="make a selector for more items"):
        selector.begin()
