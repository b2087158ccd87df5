"""`python -m frugalmct.paper forecast`: what the workflow in this folder would run, and for how long."""

import argparse
import sys
from collections.abc import Sequence

from frugalmct.errors import FrugalError
from frugalmct.paper.jobs.log import sentence_only


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m frugalmct.paper", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    command = commands.add_parser(
        "forecast",
        help="the jobs of every rule, and the time to expect by what its jobs took before; nothing is run",
    )
    command.add_argument("--cores", default="all", help="a number, or all (the default)")
    command.add_argument(
        "snakemake", nargs="*", metavar="-- ARGUMENT", help="passed on, such as: -- --config 'only=[COCO]'"
    )
    arguments = parser.parse_args(argv)
    with sentence_only():
        try:
            from frugalmct.paper.jobs.forecast import forecast
        except ModuleNotFoundError as error:
            raise FrugalError(
                f"forecast: {error.name} is not installed; `pip install 'frugalmct[workflow]'` brings it."
            ) from None
        for line in forecast(arguments.cores, arguments.snakemake):
            print(line)


if __name__ == "__main__":
    sys.exit(main())
