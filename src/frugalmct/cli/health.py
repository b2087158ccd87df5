"""`frugalmct health`: drift, accuracy expected and promised, and the end of the money."""

import argparse
import time
from typing import TYPE_CHECKING, Any

from frugalmct.cli.common import (
    add_budget_options,
    command,
    existing_ledger,
    number,
    percent,
    print_json,
    print_table,
    router_of,
)
from frugalmct.errors import FrugalError
from frugalmct.values import printable

if TYPE_CHECKING:
    from frugalmct.live.traffic import Health


def add(commands: Any) -> None:
    parser = command(
        commands,
        "health",
        "whether traffic has drifted and how long the money lasts",
        "Read what routers wrote into a ledger. Exits 0 when all is well and 1 when there is a warning.",
        "frugalmct health strategy.npz --ledger sqlite:///ledger.db --per 10000",
    )
    parser.add_argument("strategy", metavar="STRATEGY", help="the file that the routers use")
    add_budget_options(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.ledger is None:
        raise FrugalError("health: --ledger is missing; give the ledger that the routers write to.")
    with router_of(arguments, existing_ledger(arguments.ledger)) as router:
        health = router.health()
    if arguments.json:
        print_json(health.to_dict())
    else:
        _print(health)
    return 0 if health.ok else 1


def _print(health: "Health") -> None:
    drift = health.drift
    ends = "-" if health.ends_at is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(health.ends_at))
    facts = [
        ("traffic", "no verdict yet" if not drift.enough else "drifted" if drift.drifted else "no drift"),
        ("accuracy promised", percent(drift.promised)),
        ("accuracy expected now", percent(drift.expected) if drift.items else "-"),
        ("expected less promised", f"{100 * drift.gap:+.2f} points" if drift.items else "-"),
        ("accuracy by feedback", percent(drift.reached) if drift.judged else "-"),
        ("items", f"{health.items:,}"),
        ("items still to come", number(health.items_left, ",.0f")),
        ("spent", f"{health.spent:g} of {health.money:g}"),
        ("left", f"{health.left:g}"),
        ("pays for items", number(health.lasts_for, ",.0f")),
        ("money ends", ends),
        ("dual price", f"{health.dual_price:.4g} (plan {health.planned_dual_price:.4g})"),
    ]
    print_table([], facts)
    print(f"  warnings: {len(health.warnings) or 'none'}")
    for warning in health.warnings:
        print(f"  - {printable(warning)}")
