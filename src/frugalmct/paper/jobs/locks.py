"""What a killed run leaves behind: Snakemake's lock files, and half-written files of ours.

Snakemake cannot tell the locks of a killed run from those of a living one. The operating system can: it
lets go of a process's own file locks when the process ends, however it ends.
"""

import fcntl
import re
from pathlib import Path
from typing import TextIO

from frugalmct.files import UNFINISHED

STATE = Path(".snakemake")
RESULTS = Path("results")
# The names that `frugalmct.files.replacing` gives to files in the making.
HALF_WRITTEN = re.compile(re.escape(UNFINISHED) + r"[a-z0-9_]{8}(\.\w+)?")

# Held open, and so locked, until the process ends.
_held: list[TextIO] = []


def recover_from_kill(state: Path = STATE, results: Path = RESULTS) -> None:
    """Clears what a killed run left here, if no other run is alive here, and marks this one as alive.

    If another one is alive nothing is touched: Snakemake then refuses to work on the same files twice.
    """
    try:
        state.mkdir(exist_ok=True)
        alive = (state / "alive").open("a")
        try:
            fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            _clear(state, results)
        # Shared: any number of runs and dry runs may be alive, and only when none is can one get it alone.
        fcntl.flock(alive, fcntl.LOCK_SH)
        _held.append(alive)
    except OSError:
        return  # no such locks on this file system: `snakemake --unlock` remains


def _clear(state: Path, results: Path) -> None:
    for lock in (state / "locks").glob("*.lock"):
        lock.unlink(missing_ok=True)
    for file in results.rglob(f"{UNFINISHED}*"):
        if HALF_WRITTEN.fullmatch(file.name) and file.is_file() and not file.is_symlink():
            file.unlink(missing_ok=True)
