"""`frugalmct ledger`: what is spent, reserved and left; all calls as a file."""

import argparse
import math
import sys
from pathlib import Path
from typing import Any

from frugalmct.cli.common import command, existing_ledger, print_json, print_table


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "ledger",
        help="read a ledger: show, export",
        description="Read a ledger; nothing in it is changed but reservations that are long overdue, which "
        "are written off as spent.",
        epilog="examples:\n  frugalmct ledger show sqlite:///ledger.db\n"
        "  frugalmct ledger export sqlite:///ledger.db --csv -o calls.csv",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    show = command(
        actions,
        "show",
        "what is spent, reserved and left, by service and day",
        "What is spent, reserved and left in this period, and all calls by service and day.",
        "frugalmct ledger show sqlite:///ledger.db",
    )
    show.add_argument("url", metavar="URL", help="sqlite:///file or postgresql://user@host/database")
    show.set_defaults(run=_show)
    export = command(
        actions,
        "export",
        "every call as JSON Lines or CSV",
        "Write every call, oldest first, as JSON Lines, or as CSV with --csv.",
        "frugalmct ledger export sqlite:///ledger.db -o calls.jsonl",
    )
    export.add_argument("url", metavar="URL", help="sqlite:///file or postgresql://user@host/database")
    export.add_argument("--csv", action="store_true", help="CSV instead of JSON Lines")
    export.add_argument("-o", "--output", metavar="FILE", help="by default standard output")
    export.set_defaults(run=_export)


def _show(arguments: argparse.Namespace) -> int:
    from frugalmct.live.ledger import Ledger

    with Ledger.open(existing_ledger(arguments.url)) as ledger:
        state = ledger.state()
        summary = {
            "budget": ledger.budget.to_dict(),
            "money": state.money,
            "spent": state.spent,
            "reserved": state.reserved,
            "left": state.left,
            "items": state.items,
            "period_end": None if math.isinf(state.end) else state.end,
            "by_service": ledger.by_service(),
            "by_day": ledger.by_day(),
        }
        if arguments.json:
            print_json(summary)
        else:
            _print(str(ledger.budget), summary)
    return 0


def _print(budget: str, summary: dict[str, Any]) -> None:
    print(f"{budget}\n")
    print_table(
        [], [(name, f"{summary[name]:,.10g}") for name in ("money", "spent", "reserved", "left", "items")]
    )
    columns = ("calls", "spent", "reserved", "released", "written_off")
    for what, rows in (("service", summary["by_service"]), ("day", summary["by_day"])):
        table = [(str(row[what]), *(f"{row[name]:,.10g}" for name in columns)) for row in rows]
        if table:
            print_table((what, *(name.replace("_", " ") for name in columns)), table)


def _export(arguments: argparse.Namespace) -> int:
    from frugalmct.live.ledger import Ledger

    form = "csv" if arguments.csv and not arguments.json else "jsonl"
    with Ledger.open(existing_ledger(arguments.url)) as ledger:
        if arguments.output is None:
            ledger.export(sys.stdout, form)
        else:
            with Path(arguments.output).open("w", encoding="utf-8", newline="") as handle:
                ledger.export(handle, form)
    return 0
