"""`python -m frugalmct.paper`: what the workflow would run, for how long, and the report of own data."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frugalmct.cli.common import named_prices
from frugalmct.errors import FrugalError
from frugalmct.paper.jobs.log import sentence_only


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m frugalmct.paper", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", dest="command", required=True)
    _add_forecast(commands)
    _add_report(commands)
    arguments = parser.parse_args(argv)
    with sentence_only():
        try:
            arguments.run(arguments)
        except ModuleNotFoundError as error:
            raise FrugalError(
                f"{arguments.command}: {error.name} is not installed; `pip install 'frugalmct[workflow]'` "
                "brings it."
            ) from None


def _add_forecast(commands: Any) -> None:
    command = commands.add_parser(
        "forecast",
        help="the jobs of every rule, and the time to expect by what its jobs took before; nothing is run",
    )
    command.add_argument("--cores", default="all", help="a number, or all (the default)")
    command.add_argument(
        "snakemake", nargs="*", metavar="-- ARGUMENT", help="passed on, such as: -- --config 'only=[COCO]'"
    )
    command.set_defaults(run=_forecast)


def _forecast(arguments: argparse.Namespace) -> None:
    from frugalmct.paper.jobs.forecast import forecast

    for line in forecast(arguments.cores, arguments.snakemake):
        print(line)


def _add_report(commands: Any) -> None:
    command = commands.add_parser("report", help="what `frugalmct report` runs")
    command.add_argument("data", type=Path)
    command.add_argument("--prices", nargs="+", default=[])
    command.add_argument("--output", type=Path)
    command.add_argument("--unit")
    command.add_argument("--items-per-month", type=int)
    command.add_argument("--labels-per-item", type=int)
    command.add_argument("--cores", type=int, default=2)
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> None:
    from frugalmct.paper.jobs.own_report import dataset_name, make_report, own_config

    keys = ("unit", "items_per_month", "labels_per_item")
    block = {key: getattr(arguments, key) for key in keys}
    config = own_config(arguments.data, named_prices(arguments.prices), **block)
    folder = arguments.output or Path(f"{dataset_name(arguments.data)}-report")
    page = make_report(folder, config, arguments.cores)
    made = {"report": str(page), "config": str(folder / "config.yaml")}
    print(
        json.dumps(made) if arguments.json else f"{page}: the report; its settings are in {made['config']}."
    )


if __name__ == "__main__":
    main()
