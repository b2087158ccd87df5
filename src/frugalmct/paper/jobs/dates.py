"""Results dated in the future: by their time they would always be up to date, and all made of them never.

A clock that was wrong, or a copy from another machine, leaves such files. Snakemake goes by times: it would
not make such a file again however old it is, and would fail every job that reads it, with a complaint about
clocks.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

from frugalmct.paper.jobs.locks import RESULTS

# File servers and machines agree on the time within seconds.
TOLERANCE = 5.0
# Older than any script, so that Snakemake makes the file again. Snakemake takes 1970 for no time at all.
LONG_AGO = 315_619_200.0


def dated_ahead(results: Path = RESULTS, now: float | None = None) -> list[Path]:
    """The files whose time is still to come."""
    limit = (time.time() if now is None else now) + TOLERANCE
    found = []
    for folder, _, names in os.walk(results):
        for name in names:
            file = Path(folder, name)
            with suppress(OSError):
                if file.lstat().st_mtime > limit:
                    found.append(file)
    return sorted(found)


def set_back(results: Path = RESULTS, *, dry: bool) -> str | None:
    """Dates such files long ago, so that this run makes them again; what was done, in a sentence.

    A dry run changes nothing, and says what a run would do.
    """
    files = dated_ahead(results)
    if not files:
        return None
    if not dry:
        for file in files:
            with suppress(OSError):
                os.utime(file, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    one = len(files) == 1
    what = f"{files[0]} is" if one else f"{files[0]} and {len(files) - 1:,} more are"
    will = "a run will make" if dry else "this run makes"
    return f"{what} dated in the future; {will} {'it' if one else 'them'} again."
