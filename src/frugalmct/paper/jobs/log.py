"""What surrounds the one call of every workflow script: its log, and a user's mistake in one sentence."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from frugalmct.errors import FrugalError
from frugalmct.values import printable_lines


@contextmanager
def sentence_only() -> Iterator[None]:
    """A user's mistake ends the program with its sentence; whatever else goes wrong keeps its traceback."""
    try:
        yield
    except FrugalError as error:
        print(printable_lines(error), file=sys.stderr)
        sys.exit(1)


@contextmanager
def job_log(path: str) -> Iterator[logging.Logger]:
    """Log, warnings and traceback go to the file; of a user's mistake the console shows only the sentence."""
    logging.basicConfig(
        filename=path,
        filemode="w",
        encoding="utf-8",
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        force=True,
    )
    logging.captureWarnings(True)
    log = logging.getLogger("frugalmct")
    with sentence_only():
        try:
            yield log
        except BaseException:
            log.exception("Stopped:")
            raise
