"""`frugalmct budget`: the cheapest budget that reaches an accuracy."""

import argparse
from typing import Any

from frugalmct.cli.common import command, number, percent, print_json, print_table


def add(commands: Any) -> None:
    parser = command(
        commands,
        "budget",
        "what a budget buys, and the cheapest one for an accuracy",
        "The cheapest budget that reaches an accuracy, with the interval that 95 %% of samples of as many "
        "items\ngive; by the training items, each with choices made without it.".replace("%%", "%"),
        "frugalmct budget strategy.npz --accuracy 0.9",
    )
    parser.add_argument("strategy", metavar="STRATEGY", help="the file that train wrote")
    parser.add_argument("--accuracy", type=float, metavar="A", help="to be reached, such as 0.9")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from frugalmct.cli.progress import steps_told
    from frugalmct.outlook import checked_accuracy, outlook
    from frugalmct.strategy import Strategy

    wanted = None if arguments.accuracy is None else checked_accuracy(arguments.accuracy)
    strategy = Strategy.load(arguments.strategy)
    with steps_told():
        found = outlook(strategy)
    curve = [
        {"budget": budget, "base": base, "accuracy": accuracy}
        for budget, base, accuracy in zip(
            found.budgets.tolist(), found.bases, found.accuracy.tolist(), strict=True
        )
    ]
    summary: dict[str, Any] = {"unit": strategy.made.unit, "curve": curve}
    if wanted is not None:
        summary["cheapest"] = found.cheapest(wanted)
    if arguments.json:
        print_json(summary)
    elif wanted is None:
        rows = [(f"{row['budget']:.3g}", row["base"], percent(row["accuracy"])) for row in curve]
        print_table(("budget", "base", "accuracy"), rows)
    else:
        print(_sentence(summary["cheapest"]))
    return 0


def _sentence(found: dict[str, Any]) -> str:
    if found["budget"] is None:
        return (
            f"No budget reaches {percent(found['accuracy'])}; the most is "
            f"{percent(found['highest_accuracy'])}, at {found['at_budget']:.3g}."
        )
    high = "more than any tried" if found["high"] is None else number(found["high"], ".3g")
    return (
        f"{percent(found['accuracy'])} from a budget of {found['budget']:.3g} on, with base {found['base']}; "
        f"95 % interval {number(found['low'], '.3g')} to {high}."
    )
