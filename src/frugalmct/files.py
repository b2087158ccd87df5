"""Files appear whole or not at all: written beside their place and synced to disk, then moved into it."""

import errno
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frugalmct.errors import FrugalError

if TYPE_CHECKING:
    import numpy as np

UNFINISHED = ".frugalmct-unfinished-"
"""How the names of files in the making begin; what a killed process left of them may be removed."""

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM)


def unwritable(path: str | Path, error: OSError) -> FrugalError | None:
    """What to do about a disk that is full or that may not be written to; None for any other trouble."""
    if error.errno in FULL:
        remedy = "free some space, or write to another disk"
    elif error.errno in CLOSED:
        remedy = "choose a folder that you may write to"
    else:
        return None
    return FrugalError(f"{path}: cannot be written ({error.strerror}); {remedy}.")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path in the same folder; it takes the place of `path` when the block succeeds."""
    try:
        with _replacing(Path(path)) as temporary:
            yield temporary
    except OSError as error:
        if sentence := unwritable(path, error):
            raise sentence from error
        raise


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=UNFINISHED, suffix=target.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        # A rename can reach the disk before the bytes do: after a power cut the file would be there, empty.
        _sync(temporary)
        temporary.replace(target)
        _sync(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Waits until a file, or a folder's list of files, is on disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_arrays(
    path: str | Path,
    arrays: Mapping[str, "np.ndarray"],
    header: Mapping[str, Any] | None = None,
    compress: bool = False,
) -> None:
    """An `.npz` of plain arrays in this order, before them the header as JSON."""
    import numpy as np  # the command line writes files too, and starts without it

    text = {}
    if header is not None:
        encoded = json.dumps(header, ensure_ascii=False).encode()
        text = {"header": np.frombuffer(encoded, dtype=np.uint8)}
    write: Callable[..., None] = np.savez_compressed if compress else np.savez
    with replacing(path) as temporary, temporary.open("wb") as handle:
        write(handle, **text, **arrays)


def write_text(path: str | Path, text: str, newline: str | None = None) -> None:
    """UTF-8; `newline` as `open` takes it."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline=newline)
