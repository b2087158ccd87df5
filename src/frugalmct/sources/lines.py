"""The lines of a file, plain or gzip, as a stream: none endless, of gzip data no more than is believable."""

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from frugalmct.errors import FrugalError
from frugalmct.values import shown

MAX_LINE_BYTES = 16 * 2**20
GZIP_START = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# Gzip data may unpack to this much, and to this many times their size: recorded answers pack to a tenth.
FREE_BYTES = 16 * 2**20
RATIO = 100


class Swollen(Exception):
    """Gzip data that unpack to more than is allowed; its text says what to do."""


class Unpacked(io.RawIOBase):
    """What gzip data unpack to, as long as it is in proportion to what was read of them."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed, self._size = packed, 0
        self._unpacked = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._unpacked.read1(len(buffer))
        self._size += len(content)
        if self._size > FREE_BYTES + RATIO * self._packed.tell():
            raise Swollen(
                f"the gzip data unpack to more than {RATIO} times their size here; pack the file anew, or "
                "give it unpacked."
            )
        buffer[: len(content)] = content
        return len(content)


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """The file's bytes, unpacked if they are gzip; a failure of the system becomes a sentence."""
    if "\0" in str(path):
        raise FrugalError(f"{shown(str(path))} is not a path: it has the character NUL in it.")
    try:
        with Path(path).open("rb") as raw:
            if raw.peek(2)[:2] != GZIP_START:
                yield raw
            else:
                yield io.BufferedReader(Unpacked(raw), 2**17)
    except FileNotFoundError:
        raise FrugalError(f"{path}: no such file; give the path of a .jsonl or .jsonl.gz file.") from None
    except IsADirectoryError:
        raise FrugalError(f"{path} is a directory; give the path of a .jsonl or .jsonl.gz file.") from None
    except OSError as error:
        raise FrugalError(f"{path} cannot be read: {error.strerror or error}.") from None


def lines(handle: BinaryIO) -> Iterator[bytes]:
    """Lines without their surrounding blanks; of an endless one only the beginning."""
    start_of_file = True
    while line := handle.readline(MAX_LINE_BYTES):
        rest = line
        while not rest.endswith(b"\n") and (rest := handle.readline(MAX_LINE_BYTES)):
            pass
        if start_of_file:
            line, start_of_file = line.removeprefix(BYTE_ORDER_MARK), False
        yield line if len(line) >= MAX_LINE_BYTES else line.strip()
