"""What surrounds the one call of every workflow script: its log, and a user's mistake in one sentence."""

import atexit
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from frugalmct.errors import FrugalError
from frugalmct.files import unwritable
from frugalmct.paper.jobs.locks import RESULTS
from frugalmct.values import printable, printable_lines

LOGS = RESULTS / "logs"
# How the last record of a log begins when a user's mistake ended its job.
MISTAKE = "The mistake: "


def say(sentence: str) -> None:
    """A line on the console in one write: between the two of `print` another job's line may come."""
    sys.stderr.write(f"{sentence}\n")


@contextmanager
def sentence_only() -> Iterator[None]:
    """A user's mistake ends the program with its sentence; whatever else goes wrong keeps its traceback."""
    try:
        yield
    except FrugalError as error:
        say(printable_lines(error))
        sys.exit(1)


@contextmanager
def job_log(path: str) -> Iterator[logging.Logger]:
    """Log, warnings and traceback go to the file; of a user's mistake the console shows only the sentence."""
    with sentence_only():
        log = _open_log(path)
        try:
            yield log
        except BaseException as error:
            log.exception("Stopped:")
            if isinstance(error, FrugalError):
                log.error("%s%s", MISTAKE, error)
            raise


def _open_log(path: str) -> logging.Logger:
    try:
        logging.basicConfig(
            filename=path,
            filemode="w",
            encoding="utf-8",
            level=logging.INFO,
            format="%(asctime)s %(levelname)s %(message)s",
            force=True,
        )
    except OSError as error:
        raise unwritable(path, error) or error from None
    logging.captureWarnings(True)
    # On a full disk no line of the log can be written: the console is for the mistake, not for each of these.
    logging.raiseExceptions = False
    return logging.getLogger("frugalmct")


def warn(log: logging.Logger, where: str, sentences: Iterator[str]) -> None:
    """What is allowed but rarely meant, in the log and on the console."""
    for sentence in sentences:
        log.warning("%s: %s", where, sentence)
        say(f"Warning: {printable(f'{where}: {sentence}')}")


def mistakes_since(start: float, logs: Path = LOGS) -> list[str]:
    """The mistakes that ended jobs since that time, as their logs tell, each once."""
    found = []
    for file in sorted(logs.rglob("*.log")):
        if file.stat().st_mtime >= start:
            _, mark, sentence = file.read_text(encoding="utf-8", errors="replace").rpartition(MISTAKE)
            found += [sentence.strip()] if mark else []
    return list(dict.fromkeys(found))


def say_last(start: float) -> None:
    """Says the mistakes of this run's jobs once more, after all that Snakemake has to say of them."""
    for sentence in mistakes_since(start):
        atexit.register(say, printable_lines(sentence))
