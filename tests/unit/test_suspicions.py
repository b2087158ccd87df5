"""Sentences on what is rarely meant: where they begin, and that what is usual is let pass."""

import pytest
from helpers import BLOCKS

from frugalmct.cascade import STEPS
from frugalmct.suspicions import (
    MOST_ASKED,
    budgets_above_all_need,
    budgets_of_another_unit,
    few_test_items,
    most_spent,
    no_prices,
    of_prices_and_budgets,
    one_label,
    prices_of_one_call,
)

PRICES = {"free": 0.0, "fair": 6.0, "dear": 15.0}


def found(sentences) -> bool:
    return bool(list(sentences))


@pytest.mark.parametrize("dataset", BLOCKS)
def test_the_papers_datasets_are_beyond_suspicion(dataset):
    block = BLOCKS[dataset]
    assert not found(of_prices_and_budgets(block["prices"], block["budgets"]))
    assert not found(prices_of_one_call(block["prices"]))


def test_prices_of_nothing():
    assert found(no_prices({"a": 0, "b": 0.0})) and not found(no_prices(PRICES)) and not found(no_prices({}))


def test_prices_of_one_call():
    assert found(prices_of_one_call({"Google": 0.0015, "free": 0}))
    assert not found(prices_of_one_call({"Google": 15})) and not found(prices_of_one_call({"free": 0.0}))
    # The same service at its prices for one call, and for 10,000.
    assert not found(prices_of_one_call({"Google": 0.0015 * 10_000}))


@pytest.mark.parametrize(
    ("unit", "suspect"), [("", True), ("USD per 10,000 items", True), ("USD per call", False)]
)
def test_prices_of_one_call_are_those_of_another_unit(unit, suspect):
    sentences = list(of_prices_and_budgets({"Google": 0.0015, "free": 0}, [0.001], unit))
    assert any("looks like the price of one call" in sentence for sentence in sentences) == suspect


def test_most_spent_is_a_base_and_what_plus_may_ask_beside_it():
    assert MOST_ASKED == 1 + STEPS
    assert most_spent(PRICES) == 21 and most_spent({"only": 5.0}) == 5 and most_spent({}) == 0
    assert most_spent(PRICES | {"more": 1.0, "most": 20.0}) == 20 + 15 + 6 + 1


@pytest.mark.parametrize(
    ("budgets", "total", "one_call", "ample"),
    [
        ([6, 12, 21], False, False, False),
        ([6, 25.2], False, False, False),  # 1.2 times 21
        ([6, 25.3], False, False, True),
        ([25.3, 210], False, False, True),
        ([211], True, False, False),  # more than 10 times 21: said once, as a total
        ([500_000], True, False, False),
        ([0.0, 0.06], False, False, False),  # one item in a hundred, of the cheapest add-on at 6
        ([0.0, 0.059], False, True, False),
        ([], False, False, False),
    ],
)
def test_budgets(budgets, total, one_call, ample):
    sentences = list(budgets_of_another_unit(PRICES, budgets))
    assert any("a total" in sentence for sentence in sentences) == total
    assert any("that of one call" in sentence for sentence in sentences) == one_call
    assert found(budgets_above_all_need(PRICES, budgets)) == ample
    assert len(list(of_prices_and_budgets(PRICES, budgets))) == total + one_call + ample


def test_few_test_items():
    assert found(few_test_items(49)) and found(few_test_items(0)) and not found(few_test_items(50))


@pytest.mark.parametrize(
    ("items", "occurrences", "largest", "given", "suspect"),
    [
        (100, 100, 1, None, True),
        (100, 100, 1, 1, False),
        (100, 99, 1, None, False),  # one item has no label
        (100, 100, 2, None, False),
        (1, 1, 1, None, False),
    ],
)
def test_one_label(items, occurrences, largest, given, suspect):
    assert found(one_label(items, occurrences, largest, given)) == suspect


def test_every_sentence_says_what_to_do():
    cases = [
        no_prices({"a": 0}), prices_of_one_call({"a": 0.01}), budgets_of_another_unit(PRICES, [900]),
        budgets_of_another_unit(PRICES, [0.01]), budgets_above_all_need(PRICES, [30]), few_test_items(3),
        one_label(9, 9, 1, None),
    ]  # fmt: skip
    for (sentence,) in map(list, cases):
        assert sentence.endswith((".", ").")) and any(word in sentence for word in ("give", "record"))
