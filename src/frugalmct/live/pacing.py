"""The dual price while the money is spent: held while the spend keeps to plan, corrected once it does not.

It follows from the money and the items left alone. Every process of one ledger therefore arrives at
the same one, and one that starts anew goes on as if it had never stopped: there is nothing to remember.
docs/pacing.md says what each setting wins and loses on real answers.
"""

import math

from frugalmct.checks import real_number
from frugalmct.errors import FrugalError, listed

WHERE = "Pacer"
PACES = ("fixed", "adaptive")
BAND = (0.05, 0.5)
"""By how much of the plan there may be too little money left, or too much, before the dual price moves. Wider
upwards: money left over buys a little later on, money that is gone buys nothing."""

GAIN = 6.0
"""Beyond the band, an `exp(GAIN)`-fold dual price when all the money is gone; 5 to 8 do about as well."""

POINT = 0.01
_STEEPEST = 50.0


class Pacer:
    """Corrects a dual price by what is left.

    dual_price: that of the plan. rate: the money an item may cost by the plan, base included. base_cost: the
    part of it that every item costs. pace: `fixed` keeps it, `adaptive` corrects it. band: too little
    and too much, as shares of what the plan needs for the add-ons of the items left.
    """

    def __init__(
        self,
        dual_price: float,
        rate: float,
        base_cost: float = 0.0,
        *,
        pace: str = "adaptive",
        band: tuple[float, float] = BAND,
        gain: float = GAIN,
    ) -> None:
        self.planned = _at_least_nothing("dual_price", dual_price)
        self.rate = _at_least_nothing("rate", rate)
        self.base_cost = _at_least_nothing("base_cost", base_cost)
        self.gain = _at_least_nothing("gain", gain)
        self.band = tuple(_at_least_nothing("band", width) for width in band)
        if len(self.band) != 2:
            raise FrugalError(f"{WHERE}: band has {len(self.band)} numbers; give two: too little, too much.")
        if pace not in PACES:
            raise FrugalError(f"{WHERE}: pace is {pace!r}; give {listed(PACES)}.")
        self.pace = pace
        self.dual_price = self.planned

    @property
    def addon_rate(self) -> float:
        """What the plan has for add-ons, an item."""
        return max(self.rate - self.base_cost, 0.0)

    def shortage(self, money_left: float, items_left: float) -> float:
        """The share of the add-on money that the plan needs from now on and that is not there; below 0: too
        much is there."""
        needed = items_left * self.addon_rate
        if needed <= 0:
            return 0.0
        return 1 - (money_left - items_left * self.base_cost) / needed

    def update(self, money_left: float, items_left: float | None) -> float:
        """The dual price for the next item; the last one where the items left are not known."""
        if self.pace == "fixed" or items_left is None or items_left <= 0 or self.addon_rate <= 0:
            return self.dual_price
        short = self.shortage(money_left, items_left)
        little, much = self.band
        if short > little:
            # A plan with money for everything has dual price 0, which no factor raises: hence the least
            # scale, one point of accuracy for an item's add-on money.
            scale = max(self.planned, POINT / self.addon_rate)
            steps = min(self.gain * (short - little), _STEEPEST)
            self.dual_price = self.planned + scale * math.expm1(steps)
        elif short < -much:
            self.dual_price = self.planned * math.exp(max(self.gain * (short + much), -_STEEPEST))
        else:
            self.dual_price = self.planned
        return self.dual_price

    def affords(self, addon_cost: float, money_left: float, items_left: float | None) -> bool:
        """Whether an add-on leaves the base's money for the items after this one.

        money_left and items_left are those once this item's base is paid for. A hair of rounding is allowed:
        the ledger has the exact word.
        """
        kept = self.base_cost * (items_left or 0.0)
        return addon_cost <= (money_left - kept) * (1 + 1e-12)


def money_ends(now: float, since: float, spent: float, left: float) -> float | None:
    """When the money will be gone if it goes on being spent as it was since then; None when none was."""
    if spent <= 0 or now <= since:
        return None
    return now + left * (now - since) / spent


def _at_least_nothing(name: str, value: object) -> float:
    number = real_number(WHERE, name, value, "a number, 0 or more")
    if not 0 <= number < math.inf:
        raise FrugalError(f"{WHERE}: {name} is {value!r}; give a number, 0 or more.")
    return number
