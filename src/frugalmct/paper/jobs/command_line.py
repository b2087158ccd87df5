"""Snakemake's command line, looked at before Snakemake does: what it would answer with a traceback.

The profiles call this, since they are all that is read before the config files are.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from frugalmct.errors import FrugalError
from frugalmct.paper.jobs.log import sentence_only
from frugalmct.values import shown

OPTIONS = ("--configfile", "--configfiles")


def check_command_line() -> None:
    with sentence_only():
        check_config_files(sys.argv[1:])


def check_config_files(arguments: Sequence[str]) -> None:
    """All that follows `--configfile` is taken for a file, targets as well."""
    files = list(_config_files(arguments))
    for file in files:
        if not Path(file).is_file():
            there = [other for other in files if Path(other).is_file()]
            raise FrugalError(
                f"--configfile: there is no file {shown(file)} here; give one, or if it is what is to be "
                f"made, put it first: snakemake {file} --configfile {' '.join(there) or 'config.yaml'}"
            )


def _config_files(arguments: Sequence[str]) -> Iterator[str]:
    inside = False
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if argument.startswith("-"):
            inside = option in OPTIONS and not equals
            if option in OPTIONS and equals:
                yield value
        elif inside:
            yield argument
