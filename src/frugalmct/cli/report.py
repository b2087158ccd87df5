"""`frugalmct report`: what one's own services cost and could cost, as a page."""

import argparse
import subprocess
import sys
from typing import Any

from frugalmct.cli.common import command


def add(commands: Any) -> None:
    parser = command(
        commands,
        "report",
        "make the report of recorded answers",
        "Make the report of recorded answers (.jsonl or .jsonl.gz): what accuracy costs, and what is saved.",
        "frugalmct report tickets.jsonl --prices Keyword=1 Fast=6 Deep=15",
    )
    parser.add_argument("data", metavar="DATA", help="recorded answers with true labels, or their quality")
    parser.add_argument(
        "--prices",
        nargs="+",
        default=[],
        metavar="SERVICE=PRICE",
        help="of every service; not with costs in DATA",
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where it is made (DATA's name, -report)")
    parser.add_argument("--unit", metavar="TEXT", help="what prices are in (USD per 10,000 items)")
    parser.add_argument("--items-per-month", type=int, metavar="N", help="to say what is saved in a month")
    parser.add_argument("--labels-per-item", type=int, metavar="N", help="the most labels of an item")
    parser.add_argument("--cores", type=int, default=2, metavar="N", help="cores to use (2)")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """The reproduction makes the page, in a process of its own: the library does without it."""
    options = ("output", "unit", "items_per_month", "labels_per_item", "cores")
    given = [
        f"--{name.replace('_', '-')}={value}"
        for name in options
        if (value := getattr(arguments, name)) is not None
    ]
    given += ["--json"] if arguments.json else []
    told = [*given, *(["--prices", *arguments.prices] if arguments.prices else []), "--", arguments.data]
    return subprocess.run([sys.executable, "-m", "frugalmct.paper", "report", *told]).returncode
