"""Opening a ledger: what its database needs, and what is on its books from the first day."""

import json
from typing import Any

from frugalmct.checks import real_number
from frugalmct.errors import FrugalError
from frugalmct.live.budget import Budget
from frugalmct.live.records import TIME_LIMIT, LedgerError

FORMAT = 1
MOST_WITHIN = 60.0
LIMIT = "time_limit"
"""The note that keeps it."""


def sqlalchemy_parts() -> tuple[Any, Any]:
    try:
        from frugalmct.live import store, tables
    except ModuleNotFoundError as error:
        raise FrugalError(
            f"Ledger.open: the Python package {error.name} is missing; install it with "
            "pip install 'frugalmct[live]'."
        ) from None
    return store, tables


def waiting(settle_within: object) -> float:
    seconds = real_number("Ledger.open", "settle_within", settle_within, "seconds, 0 or more")
    if not 0 <= seconds <= MOST_WITHIN:
        raise FrugalError(
            f"Ledger.open: settle_within is {settle_within!r}; give seconds, from 0 to {MOST_WITHIN:g}."
        )
    return seconds


def opened(
    name: str, connection: Any, tables: Any, budget: Budget | None, time_limit: object
) -> tuple[Budget | None, float]:
    """Budget and time limit on the books: a new ledger takes the budget given, any the time limit given."""
    account = connection.execute(tables.READ_ACCOUNT).one_or_none()
    if account is None and budget is not None:
        row = {"id": 1, "format": FORMAT, "budget": json.dumps(budget.to_dict())}
        connection.execute(tables.OPEN_ACCOUNT, row)
        account = connection.execute(tables.READ_ACCOUNT).one()
    if account is None:
        return None, TIME_LIMIT
    if account.format != FORMAT:
        raise LedgerError(
            f"The ledger {name} has format {account.format}, and this version of frugalmct reads format "
            f"{FORMAT}; use the version that wrote it, or a new ledger."
        )
    return Budget.from_dict(json.loads(account.budget)), _time_limit(connection, tables, time_limit)


def _time_limit(connection: Any, tables: Any, given: object) -> float:
    old = connection.execute(tables.READ_NOTE, {"key": LIMIT}).scalar_one_or_none()
    if given is None:
        return TIME_LIMIT if old is None else float(old)
    limit = real_number("Ledger.open", "time_limit", given, "seconds")
    if old is None:
        connection.execute(tables.ADD_NOTE, {"key": LIMIT, "value": repr(limit)})
    elif float(old) != limit:
        connection.execute(tables.CHANGE_NOTE, {"which": LIMIT, "new": repr(limit)})
    return limit
