"""`frugalmct route`: items in, decisions out, as JSON Lines, one pass over a file of any size."""

import argparse
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from frugalmct.cli.common import add_budget_options, command, router_of
from frugalmct.errors import FrugalError


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
    from frugalmct.cli.progress import Ticker
    from frugalmct.cli.recorded import deciding

    router = router_of(arguments, arguments.ledger)
    decide, ticker = deciding(router), Ticker()
    counts = {"items": 0, "without_answer": 0, "cost": 0.0}
    with router, _output(arguments.output) as out:
        for item in read_items(arguments.items_file):
            decision = decide(item)
            counts["items"] += 1
            counts["without_answer"] += "error" in decision
            counts["cost"] += decision["cost"]
            # At once: what was paid for must not be lost with this process, and others may read along.
            print(json.dumps(decision, ensure_ascii=False), file=out, flush=True)
            ticker.say(lambda: f"{counts['items']:,} items done, {counts['cost']:g} spent")
    summary = f"{counts['items']:,} items for {counts['cost']:g}, {counts['without_answer']:,} without answer"
    print(json.dumps(counts) if arguments.json else f"frugalmct: {summary}", file=sys.stderr)
    return 0


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
