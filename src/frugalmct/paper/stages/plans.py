"""The plans of a repetition: whose bases are tried, their file, and the plan that a study goes by."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import MAX_MONEY
from frugalmct.errors import FrugalError
from frugalmct.files import write_text
from frugalmct.market import Market
from frugalmct.plans import AUTO, Plan
from frugalmct.values import MAX_SERVICES, REMAKE, Fields, json_in


def bases_to_try(market: Market, base: str) -> list[int]:
    """The service of that name, or every one for `auto`."""
    return list(range(len(market.services))) if base == AUTO else [market.service_index(base)]


def plan_near(plans: Sequence[Plan], prices: NDArray[np.float64], budget: float) -> Plan:
    """The plan of that budget; where there is none, that of the nearest one, for this budget.

    Base and buffer are then those found for the neighbour: nothing is tuned again.
    """
    affordable = [plan for plan in plans if prices[plan.base] <= budget]
    if not affordable:
        cheapest = min(float(prices[plan.base]) for plan in plans)
        raise FrugalError(
            f"A study's budget is {budget:g}, but every base that was learnt costs at least {cheapest:g}; "
            "raise the study's budget, or add it to the dataset's budgets."
        )
    nearest = min(affordable, key=lambda plan: abs(plan.budget - budget))
    return Plan(float(budget), nearest.base, nearest.delta)


def save_plans(plans: Sequence[Plan], path: str | Path) -> None:
    """JSON; dual prices stay behind, since they follow from the estimates at hand."""
    rows = [{"budget": plan.budget, "base": plan.base, "delta": plan.delta} for plan in plans]
    write_text(path, json.dumps(rows, indent=1) + "\n")


def load_plans(path: str | Path) -> list[Plan]:
    with json_in(path, "plans file", REMAKE) as rows:
        if not isinstance(rows, list):
            raise FrugalError("it holds no list of plans")
        return [_plan(row) for row in rows]


def _plan(values: Any) -> Plan:
    fields = Fields("a plan", values)
    plan = Plan(
        budget=fields.number("budget", least=0, most=MAX_MONEY),
        base=fields.whole("base", most=MAX_SERVICES - 1),
        delta=fields.number("delta", least=-10, most=1),
    )
    fields.done()
    return plan
