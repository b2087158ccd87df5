"""Money as whole numbers of a billionth of the unit, so that sums are exact in every database.

A float is read as the decimal that it prints as: 0.1 is a tenth. What has more than nine decimals is
rounded so that the books never show less than was spent: costs up, budgets down.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache
from numbers import Real

from frugalmct.errors import FrugalError

NANO = 1_000_000_000
MOST = 2**62 // NANO
"""The most money that one amount or one budget may hold: sums of two still fit a 64-bit integer."""


def cost_nano(where: str, name: str, value: object) -> int:
    """A price or cost in billionths, rounded up."""
    if type(value) is float and 0 <= value <= MOST:
        return _float_nano(value)
    return int((_decimal(where, name, value) * NANO).to_integral_value(ROUND_CEILING))


@lru_cache(maxsize=4096)
def _float_nano(value: float) -> int:
    """The same of a float, remembered: a router's calls cost one of a few amounts."""
    return int((Decimal(repr(value)) * NANO).to_integral_value(ROUND_CEILING))


def budget_nano(where: str, name: str, value: object) -> int:
    """A budget in billionths, rounded down."""
    return int((_decimal(where, name, value) * NANO).to_integral_value(ROUND_FLOOR))


def from_nano(nano: int) -> float:
    """The nearest float, for people to read; comparisons are made with the whole numbers."""
    return nano / NANO


def _decimal(where: str, name: str, value: object) -> Decimal:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
    elif isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
        number = Decimal(repr(float(value)))
    else:
        number = Decimal("NaN")
    if not (number.is_finite() and 0 <= number <= MOST):
        raise FrugalError(f"{where}: {name} is {value!r}; give an amount of money from 0 to {MOST:,}.")
    return number
