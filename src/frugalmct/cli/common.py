"""What several commands share: arguments, files, tables."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frugalmct.errors import FrugalError
from frugalmct.values import printable

if TYPE_CHECKING:
    from frugalmct.live.budget import Budget
    from frugalmct.live.percall import PerCallRouter
    from frugalmct.live.router import Router
    from frugalmct.market import Market

USER_MISTAKE = 2


def command(commands: Any, name: str, help: str, description: str, example: str) -> argparse.ArgumentParser:
    """A sub-command whose --help ends with an example, and that has --json."""
    parser = commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def progress(text: str) -> None:
    """What takes a while, for people who wait: not part of the output."""
    print(f"frugalmct: {printable(text)}", file=sys.stderr, flush=True)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Names to the left, numbers to the right, and an empty line after."""
    table = [[printable(cell) for cell in row] for row in ([header, *rows] if header else rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for name, *numbers in table:
        cells = [f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=True)]
        print("  " + "  ".join([f"{name:<{widths[0]}}", *cells]))
    print()


def number(value: float | None, form: str = "g") -> str:
    return "-" if value is None else format(value, form)


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def named_prices(texts: Sequence[str]) -> dict[str, float]:
    """`Google=15` or `Google=15,Microsoft=10`, any number of them."""
    prices: dict[str, float] = {}
    for text in filter(None, ",".join(texts).split(",")):
        name, sign, price = text.rpartition("=")
        try:
            value = float(price)
        except ValueError:
            value = -1.0
        if not sign or not name or not 0 <= value < float("inf"):
            raise FrugalError(f"--prices: {text!r} is not a price; give service=number, such as Google=15.")
        prices[name] = value
    return prices


def read_market(path: str, prices: dict[str, float], task: str = "") -> "Market":
    """A market of recorded answers (JSON Lines) or a market file (.npz)."""
    import numpy as np

    from frugalmct.market import Market
    from frugalmct.sources.jsonl import read_jsonl

    if not path.endswith(".npz"):
        market: Market = read_jsonl(path, prices or None, task=task)
        if not prices and market.extras.costs is None:
            raise FrugalError("--prices is missing; give the price of every service, such as Google=15.")
        return market
    market = Market.load(path)
    if not prices:
        return market
    market = market.with_services([name for name in prices if market.service_index(name) >= 0])
    return market.with_prices(np.array(list(prices.values()), dtype=np.float64))


def add_budget_options(parser: argparse.ArgumentParser) -> None:
    """Those that make a `Budget`, and how it relates to prices."""
    group = parser.add_argument_group("budget (may be left out where the ledger exists)")
    for name in ("total", "per-day", "per-week", "per-month"):
        group.add_argument(f"--{name}", type=float, metavar="MONEY")
    group.add_argument("--items", type=int, metavar="N", help="how many items the money is for")
    group.add_argument("--start", metavar="DATE", help="when the budget begins, such as 2026-03-15")
    group.add_argument("--time-zone", default="UTC", metavar="ZONE", help="such as Europe/Berlin")
    parser.add_argument("--per", type=float, default=1, metavar="N", help="calls that a price is for (1)")
    parser.add_argument("--plan", type=float, metavar="B", help="one of the strategy's budgets to plan with")
    parser.add_argument("--pace", choices=("adaptive", "fixed"), default="adaptive")
    parser.add_argument("--ledger", metavar="URL", help="sqlite:///file or postgresql://user@host/database")


def budget_of(arguments: argparse.Namespace) -> "Budget | None":
    from frugalmct.live.budget import Budget

    kinds = ("total", "per_day", "per_week", "per_month")
    amounts = {kind: value for kind in kinds if (value := getattr(arguments, kind)) is not None}
    if not amounts:
        if arguments.items is not None or arguments.start is not None:
            raise FrugalError("--items and --start belong to a budget; give --total or --per-month as well.")
        return None
    return Budget(**amounts, items=arguments.items, start=arguments.start, time_zone=arguments.time_zone)


def router_of(arguments: argparse.Namespace, ledger: str | None) -> "Router | PerCallRouter":
    """That of the strategy's kind."""
    from frugalmct.live.percall import PerCallRouter
    from frugalmct.live.router import Router
    from frugalmct.strategy import Strategy

    strategy, budget = Strategy.load(arguments.strategy), budget_of(arguments)
    options = {"per": arguments.per, "plan": arguments.plan}
    if isinstance(strategy, Strategy):
        return Router(strategy, budget, ledger, pace=arguments.pace, **options)
    if arguments.pace != "adaptive":
        raise FrugalError(
            "--pace: with costs per call there is one pace, by the money left per item left; leave it out."
        )
    return PerCallRouter(strategy, budget, ledger, **options)


def existing_ledger(url: str) -> str:
    """Reading must not make a new, empty file."""
    path = url.removeprefix("sqlite:///").partition("?")[0]
    if url.startswith("sqlite:///") and not Path(path).is_file():
        raise FrugalError(f"{url}: there is no such ledger; give the one that a router writes to.")
    return url
