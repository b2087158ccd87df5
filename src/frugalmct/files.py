"""Files appear whole or not at all: written beside their place and synced to disk, then moved into it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNFINISHED = ".frugalmct-unfinished-"
"""How the names of files in the making begin; what a killed process left of them may be removed."""


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path in the same folder; it takes the place of `path` when the block succeeds."""
    target = Path(path)
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


def write_text(path: str | Path, text: str, newline: str | None = None) -> None:
    """UTF-8; `newline` as `open` takes it."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline=newline)
