"""`frugalmct services`: what each service is worth."""

import argparse
from typing import Any

from frugalmct.cli.common import command, number, percent, print_json, print_table


def add(commands: Any) -> None:
    parser = command(
        commands,
        "services",
        "what each service is worth at a budget",
        "Accuracy at a budget with all services and without each of them, and what would have to be spent\n"
        "without it for the same accuracy; by the training items, each with choices made without it.",
        "frugalmct services strategy.npz --budget 8",
    )
    parser.add_argument("strategy", metavar="STRATEGY", help="the file that train wrote")
    parser.add_argument("--budget", type=float, metavar="B", help="by default the strategy's largest")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from frugalmct.cli.progress import steps_told
    from frugalmct.outlook import service_worth
    from frugalmct.strategy import Strategy

    strategy = Strategy.load(arguments.strategy)
    budget = max(strategy.plans) if arguments.budget is None else arguments.budget
    with steps_told():
        rows = service_worth(strategy, budget)
    if arguments.json:
        print_json({"budget": budget, "unit": strategy.made.unit, "services": rows})
        return 0
    print(f"Budget {budget:g}: accuracy {percent(rows[0]['accuracy'])}\n")
    header = ("service", "price", "accuracy without it", "budget without it, same accuracy")
    table = [
        (
            row["service"] + (" (base)" if row["base"] else ""),
            f"{row['price']:g}",
            percent(row["accuracy_without"]),
            number(row["budget_without"], ".3g"),
        )
        for row in rows
    ]
    print_table(header, table)
    print("  -: there is no plan without it, or none that is as accurate.")
    return 0
