"""Files appear whole or not at all: written beside their place, then moved into it. Reading tells damage."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from frugalmct.errors import FrugalError

if TYPE_CHECKING:
    import numpy as np


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path in the same folder; it takes the place of `path` when the block succeeds."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: str | Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def arrays_in(path: str | Path, kind: str, remedy: str) -> "Iterator[Mapping[str, np.ndarray]]":
    """The arrays of an `.npz` that we wrote; while they are read, whatever fails becomes one sentence."""
    import numpy as np

    try:
        with Path(path).open("rb") as handle, np.load(handle, allow_pickle=False) as arrays:
            yield arrays
    except FileNotFoundError:
        raise FrugalError(f"{path}: no such {kind}; {remedy}.") from None
    except FrugalError as error:
        raise FrugalError(f"{path}: {error}") from None
    # Damaged bytes fail in numpy, zipfile, zlib or json, each with exceptions of its own.
    except Exception as error:
        raise FrugalError(f"{path}: not a {kind}, or a damaged one ({error}); {remedy}.") from None
