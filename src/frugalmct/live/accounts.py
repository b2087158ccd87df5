"""Where a router's money is kept: a ledger that is shared, or this process alone."""

from collections.abc import Callable

from frugalmct.errors import FrugalError
from frugalmct.live.budget import Budget
from frugalmct.live.ledger import Ledger
from frugalmct.live.purse import Purse


def money_of(
    where: str, budget: Budget | None, ledger: str | Ledger | Purse | None, clock: Callable[[], float]
) -> Ledger | Purse:
    """What `where`, a kind of router, counts its money in."""
    if budget is not None and not isinstance(budget, Budget):
        raise FrugalError(
            f"{where}: budget is {budget!r}; give a Budget, such as Budget(total=120, items=100_000)."
        )
    if isinstance(ledger, str):
        return Ledger.open(ledger, budget, clock=clock)
    if ledger is not None:
        return ledger
    if budget is None:
        raise FrugalError(
            f"{where}: no budget was given; give one, such as Budget(total=120, items=100_000)."
        )
    return Purse(budget, clock)
