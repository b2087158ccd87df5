"""What is allowed but rarely meant: prices, budgets and data that give a confident result without a meaning.

One function per suspicion, which yields a sentence with what to do, or nothing. `frugalmct check`, the
console of a run and the report say the same.
"""

from collections.abc import Iterator, Mapping, Sequence

from frugalmct.errors import listed

FEWEST_TEST_ITEMS = 50
"""With fewer, the interval of an accuracy is wider than what is to be told apart."""

MOST_ASKED = 4
"""Services for one item: a base, and the add-ons that FrugalMCT plus may ask beside it."""

AMPLE = 1.2
"""Budgets that are derived from prices end a little above all that can be asked of an item."""

TOTAL = 10.0
"""A budget so many times above all need looks like the money for all items."""

RARE = 100.0
"""A budget that pays for an add-on on fewer than one item in so many looks like the cost of one call."""

SMALLEST_PRICE = 0.1
"""No service charges less for 10,000 calls."""

USUAL_NUMBER = "10,000"
"""Of items, in the unit of prices and budgets."""


def no_prices(prices: Mapping[str, float]) -> Iterator[str]:
    if prices and not any(prices.values()):
        yield (
            "All prices are 0: then the best is to ask everyone, and there is no budget to keep; "
            "give what a call of each service costs, at least in proportion."
        )


def prices_of_one_call(prices: Mapping[str, float]) -> Iterator[str]:
    """Prices that are said to be for 10,000 calls."""
    highest = max(prices.values(), default=0.0)
    if 0 < highest < SMALLEST_PRICE:
        yield (
            f"The most expensive service costs {highest:g} per 10,000 calls, which looks like the price of "
            "one call; give prices and budgets for 10,000 calls, or name their `unit`."
        )


def budgets_of_another_unit(prices: Mapping[str, float], budgets: Sequence[float]) -> Iterator[str]:
    """Budgets so far from the prices that they can hardly be for the same number of items."""
    need = most_spent(prices)
    if not need or not budgets:
        return
    if min(budgets) > TOTAL * need:
        yield (
            f"The lowest budget, {min(budgets):g}, is more than {TOTAL:g} times the most that an item can "
            f"cost, {need:g}; it looks like a total, or the prices like those of one call: "
            "give the mean cost of an item, in the unit of the prices."
        )
    addon = next((price for price in sorted(prices.values())[1:] if price > 0), 0.0)
    if 0 < max(budgets) < addon / RARE:
        yield (
            f"The highest budget, {max(budgets):g}, pays for the cheapest add-on ({addon:g}) on fewer "
            f"than one item in {RARE:g}; it looks like that of one call: give it in the unit of the prices."
        )


def budgets_above_all_need(prices: Mapping[str, float], budgets: Sequence[float]) -> Iterator[str]:
    need = most_spent(prices)
    ample = [budget for budget in budgets if budget > AMPLE * need]
    if need and ample and min(budgets) <= TOTAL * need:
        yield (
            f"Of the budgets, {listed(f'{budget:g}' for budget in ample)} cannot be spent: no item can cost "
            f"more than {need:g}. A budget is the mean cost of an item, not a total; "
            "give lower ones, where there is something to choose."
        )


def most_spent(prices: Mapping[str, float]) -> float:
    """On one item."""
    return sum(sorted(prices.values())[-MOST_ASKED:])


def few_test_items(items: int) -> Iterator[str]:
    if items < FEWEST_TEST_ITEMS:
        tested = f"{items} test item{'' if items == 1 else 's'}"
        yield (
            f"With {tested} chance decides, and no headline is given below {FEWEST_TEST_ITEMS}; "
            "record more items."
        )


def one_label(items: int, occurrences: int, largest: int, labels_per_item: int | None) -> Iterator[str]:
    """items, true labels over all of them, most true labels of one, and how many an answer may have."""
    if items > 1 and largest == 1 and occurrences == items and labels_per_item is None:
        yield (
            "Every item has exactly one true label, yet answers may have any number; if that is how it is, "
            "give labels_per_item: 1 (--labels-per-item 1 of `frugalmct train`)."
        )


def of_prices_and_budgets(
    prices: Mapping[str, float], budgets: Sequence[float] = (), unit: str = ""
) -> Iterator[str]:
    """All that prices and budgets can be suspected of; where no unit is given, they are for 10,000 items."""
    yield from no_prices(prices)
    if not unit or USUAL_NUMBER in unit:
        yield from prices_of_one_call(prices)
    yield from budgets_of_another_unit(prices, budgets)
    yield from budgets_above_all_need(prices, budgets)
