"""`frugalmct route`: items in, decisions out, as JSON Lines, one pass over a file of any size."""

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frugalmct.cli.common import add_budget_options, command, router_of
from frugalmct.errors import FrugalError

if TYPE_CHECKING:
    from frugalmct.live.percall import PerCallRouter
    from frugalmct.live.router import Router


def add(commands: Any) -> None:
    parser = command(
        commands,
        "route",
        "decide for a stream of items whom to ask, within the budget",
        "Read items as JSON Lines and write one decision per line. An item's predictions hold the base's\n"
        "answer, null if that call failed. In the decision, `ask` is the service to ask next, already paid\n"
        "for from the budget, or null. Where its answer stands among the predictions as well, it is taken,\n"
        "and `answer` is the combined one. With costs per call, items have text and features, and of calls\n"
        "already made predictions, costs and answer_features; a call that is still to be made is paid for\n"
        "with what it is expected to cost.",
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

    router = router_of(arguments, arguments.ledger)
    decision_of = _decided(router)
    counts = {"items": 0, "without_answer": 0, "cost": 0.0}
    with router, _output(arguments.output) as out:
        for item in read_items(arguments.items_file):
            decision = decision_of(router, item)
            counts["items"] += 1
            counts["without_answer"] += "error" in decision
            counts["cost"] += decision["cost"]
            print(json.dumps(decision, ensure_ascii=False), file=out)
    summary = f"{counts['items']:,} items for {counts['cost']:g}, {counts['without_answer']:,} without answer"
    print(json.dumps(counts) if arguments.json else f"frugalmct: {summary}", file=sys.stderr)
    return 0


def _decided(router: "Router | PerCallRouter") -> Callable[[Any, dict[str, Any]], dict[str, Any]]:
    """How a router of its kind decides."""
    from frugalmct.live.router import Router

    return _decision if isinstance(router, Router) else _call_decision


def _output(path: str | None) -> Any:
    if path is None:
        return nullcontext(sys.stdout)
    try:
        return Path(path).open("w", encoding="utf-8")
    except OSError as error:
        raise FrugalError(
            f"{path}: cannot be written ({error.strerror}); choose a folder that is there and that you may "
            "write to."
        ) from None


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


def _call_decision(router: "PerCallRouter", item: dict[str, Any]) -> dict[str, Any]:
    """The same where one answer stands; a call that is not among those at hand is still to be made."""
    from frugalmct.live.calls import Call, recorded_call

    first = {router.strategy.services[service] for service in router.plan.first}
    waiting: list[str] = []

    def ask(service: str, item: dict[str, Any]) -> Call:
        call = recorded_call(item, service)
        if call is None and service in first:
            raise LookupError("it is asked first, and its call is not in the item")
        if call is None:
            waiting.append(service)
        return call or Call(None)

    try:
        found = router.run(item, ask).to_dict()
    except FrugalError as error:
        return {"ask": None, "id": item.get("id"), "cost": getattr(error, "cost", 0.0), "error": str(error)}
    asked = [service for service in found["asked"] if service not in waiting]
    return {"ask": waiting[0] if waiting else None} | found | {"asked": asked}
