"""Live traffic: a budget that holds across processes and restarts, pacing, drift, services that fail.

The names are loaded on first use: the ledger alone needs SQLAlchemy, and only once it is opened.
"""

from importlib import import_module
from typing import Any

_WHERE = {
    "Router": "router",
    "PerCallRouter": "percall",
    "PerCallResult": "call_tickets",
    "CallTicket": "call_tickets",
    "Call": "calls",
    "Ticket": "tickets",
    "Result": "tickets",
    "OutOfMoney": "tickets",
    "NoAnswer": "tickets",
    "Health": "traffic",
    "Purse": "purse",
    "Budget": "budget",
    "Period": "budget",
    "Ledger": "ledger",
    "LedgerError": "records",
    "Reservation": "records",
    "State": "records",
    "Wish": "records",
    "Pacer": "pacing",
    "money_ends": "pacing",
    "Sketch": "sketch",
    "Recent": "sketch",
    "Drift": "drift",
    "compare": "drift",
    "Breaker": "breaker",
    "Patience": "breaker",
    "ServiceTimeout": "breaker",
    "within": "breaker",
    "within_async": "breaker",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
