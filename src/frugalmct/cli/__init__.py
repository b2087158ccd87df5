"""The command `frugalmct`: one file per sub-command, with a function `add` that adds it to the parser.

Sub-commands import what they need when they run, so that `frugalmct --help` answers at once.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from frugalmct import __version__
from frugalmct.cli.common import USER_MISTAKE
from frugalmct.errors import FrugalError
from frugalmct.files import unwritable
from frugalmct.values import printable_lines

INTERRUPTED = 130
BROKEN_PIPE = 141
COMMANDS = ("check", "report", "train", "budget", "services", "explain", "route", "serve", "health", "ledger")
"""In the order in which one needs them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; a user's mistake is one sentence, never a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            arguments = _parser().parse_args(argv)
            return arguments.run(arguments)
        finally:
            sys.stdout.flush()
    except FrugalError as error:
        print(f"frugalmct: {printable_lines(error)}", file=sys.stderr)
        return USER_MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left.
        _forget_output()
        return BROKEN_PIPE
    except OSError as error:
        # What has a name is a file that was to be read or written, and said where that is done.
        sentence = None if error.filename else unwritable("the output", error)
        if sentence is None:
            raise
        _forget_output()
        print(f"frugalmct: {printable_lines(sentence)}", file=sys.stderr)
        return USER_MISTAKE


def _forget_output() -> None:
    """Python flushes once more on its way out: let that go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="frugalmct", description="Choose which paid ML services to call, within a budget."
    )
    parser.add_argument("--version", action="version", version=f"frugalmct {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        import_module(f"frugalmct.cli.{name}").add(commands)
    return parser
