"""What is in a data file, in a few bytes: a parameter of rules, so that content decides what is re-run.

A file's time does not tell: `cp -p` and `rsync` put an older file in the place of a newer one, and a clock
may have been wrong. Large files are not read each time: what was found is kept with what the file system
says of the file, and holds as long as that is the same. The time of the last change of status is part of
it, which no program can set.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from frugalmct.errors import FrugalError
from frugalmct.files import write_text
from frugalmct.paper.jobs.locks import STATE

KEPT = STATE / "frugalmct-data.json"
# A file changed just now may change again within one tick of the file system's clock, and look the same.
SETTLED = 3.0
_CHECKSUM = partial(hashlib.blake2b, digest_size=16)

Record = list[int | str]


def data_digests(files: Iterable[str], kept: Path = KEPT) -> dict[str, str]:
    """File -> its size and a checksum of its content."""
    known = _read(kept)
    found, digests = {}, {}
    for file in files:
        try:
            digests[file], record = _digest(file, known.get(os.path.realpath(file)))
        except OSError as error:
            raise FrugalError(f"{file}: cannot be read ({error.strerror}).") from None
        if record:
            found[os.path.realpath(file)] = record
    if any(known.get(file) != record for file, record in found.items()):
        # Only saves time: without it the files are read again.
        with suppress(OSError, FrugalError):
            write_text(kept, json.dumps({**known, **found}))
    return digests


def _digest(file: str, known: Record | None) -> tuple[str, Record | None]:
    """The digest, and what to keep: nothing of a file that may still be changing."""
    state = _state(Path(file).stat())
    if known and known[:-1] == state:
        return str(known[-1]), known
    with Path(file).open("rb") as handle:
        before = _state(os.fstat(handle.fileno()))
        checksum = hashlib.file_digest(handle, _CHECKSUM).hexdigest()
        after = os.fstat(handle.fileno())
    digest = f"{after.st_size} bytes, {checksum}"
    settled = before == _state(after) and time.time() - after.st_ctime > SETTLED
    return digest, [*before, digest] if settled else None


def _state(found: os.stat_result) -> Record:
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _read(kept: Path) -> Mapping[str, Record]:
    """What was kept; nothing where it cannot be read, or is not as we write it."""
    try:
        values = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(values, dict):
        return {}
    return {file: record for file, record in values.items() if isinstance(record, list) and len(record) == 6}
