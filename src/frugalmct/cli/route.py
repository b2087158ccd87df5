"""`frugalmct route`: items in, decisions out, as JSON Lines, one pass over a file of any size."""

import argparse
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frugalmct.cli.common import add_budget_options, budget_of, command
from frugalmct.errors import FrugalError

if TYPE_CHECKING:
    from frugalmct.live.router import Router


def add(commands: Any) -> None:
    parser = command(
        commands,
        "route",
        "decide for a stream of items whom to ask, within the budget",
        "Read items as JSON Lines and write one decision per line. An item's predictions hold the base's\n"
        "answer, null if that call failed. In the decision, `ask` is the service to ask next, already paid\n"
        "for from the budget, or null. Where its answer stands among the predictions as well, it is taken,\n"
        "and `answer` is the combined one.",
        "frugalmct route strategy.npz today.jsonl --total 1.2 --items 1000 --per 10000 "
        "--ledger sqlite:///ledger.db",
    )
    parser.add_argument("strategy", metavar="STRATEGY", help="the file that train wrote")
    parser.add_argument("items_file", metavar="ITEMS", help="JSON Lines, plain or gzip; - for standard input")
    parser.add_argument("-o", "--output", metavar="FILE", help="by default standard output")
    add_budget_options(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from frugalmct.cli.items import read_items
    from frugalmct.live.router import Router

    options = {"per": arguments.per, "plan": arguments.plan, "pace": arguments.pace}
    router = Router(arguments.strategy, budget_of(arguments), arguments.ledger, **options)
    counts = {"items": 0, "without_answer": 0, "cost": 0.0}
    with router, _output(arguments.output) as out:
        for item in read_items(arguments.items_file):
            decision = _decision(router, item)
            counts["items"] += 1
            counts["without_answer"] += "error" in decision
            counts["cost"] += decision["cost"]
            print(json.dumps(decision, ensure_ascii=False), file=out)
    summary = f"{counts['items']:,} items for {counts['cost']:g}, {counts['without_answer']:,} without answer"
    print(json.dumps(counts) if arguments.json else f"frugalmct: {summary}", file=sys.stderr)
    return 0


def _output(path: str | None) -> Any:
    return nullcontext(sys.stdout) if path is None else Path(path).open("w", encoding="utf-8")


def _decision(router: "Router", item: dict[str, Any]) -> dict[str, Any]:
    """What is known about the item once the answers at hand are used."""
    answers = item.get("predictions", {})
    try:
        ticket = router.open(item)
        while ticket.ask is not None and (ticket.ask in answers or not ticket.answers):
            router.decide(ticket, {ticket.ask: answers.get(ticket.ask)})
        ask, reserved = ticket.ask, ticket.reservation
        if ask is not None and reserved is not None:
            # Whoever reads this asks the service, and pays for it.
            ticket.cost += router.money.settle(reserved)
            ticket.ask = ticket.reservation = None
        return {"ask": ask} | router.close(ticket).to_dict()
    except FrugalError as error:
        return {"ask": None, "id": item.get("id"), "cost": getattr(error, "cost", 0.0), "error": str(error)}
