"""Array files (`.npz`) that others wrote: every array is checked before it is believed, or even allocated.

    with open_arrays(path, "market file", REMAKE) as file:
        header = file.header("frugalmct-market-2")
        items, labels = file.text("items"), file.text("labels", unique=True)
        truth = file.sets("truth", len(items), len(labels))
        prices = file.prices(services=4)

A caller says what each array must be; what it does not ask for must not be there. Whatever is wrong ends as
one `FrugalError` that names the file, what is wrong, and the remedy. Nothing in a file is ever executed.
"""

import io
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix

from frugalmct.checks import check_money
from frugalmct.errors import FrugalError
from frugalmct.npy import MAX_BYTES, MAX_NPY_HEADER, Shape, check_declared, declared_in, described, fill
from frugalmct.values import (
    MAX_JSON_BYTES,
    MAX_LONG_TEXT,
    MAX_TEXT,
    Fields,
    check_names,
    decoded_json,
    few,
    reading,
    shown,
)

Described = tuple[dict[str, Any], dict[str, np.ndarray]]
"""A part of a file: what its JSON header says, and its arrays by name."""

FREE_BYTES = 64 * 2**20
RATIO = 10
"""A file may unpack to FREE_BYTES and RATIO times its own size; our own markets pack to about a fifth."""
TEXT_BYTES = 384 * 2**20
"""What the texts of a file may take once padded to the longest: 200,000 names of which one has MAX_TEXT
characters fit. Long names that are all alike in length may take TEXT_RATIO times their bytes."""
TEXT_RATIO = 6
MAX_ARRAYS = 20_000
MAX_DIRECTORY_BYTES = 4 * 2**20

BLOCK_NAMES = 4096


@contextmanager
def open_arrays(path: str | Path, kind: str, remedy: str) -> Iterator["ArrayFile"]:
    """The arrays of a file; `kind` and `remedy` complete the sentence when anything is wrong with it."""
    with reading(path, kind, remedy), Path(path).open("rb") as handle:
        size = handle.seek(0, io.SEEK_END)
        with zipfile.ZipFile(guarded := _Guarded(handle)) as archive:
            guarded.opened = True
            file = ArrayFile(archive, size)
            yield file
            file.done()


class _Guarded:
    """A file whose zip directory is read only if it is small: one entry costs far more than its bytes."""

    def __init__(self, handle: BinaryIO) -> None:
        self.handle = handle
        self.opened = False
        self.seek, self.tell, self.seekable = handle.seek, handle.tell, handle.seekable

    def read(self, size: int = -1) -> bytes:
        if not self.opened and size > MAX_DIRECTORY_BYTES:
            raise FrugalError(f"its list of arrays is longer than {MAX_DIRECTORY_BYTES:,} bytes")
        return self.handle.read(size)


class ArrayFile:
    """An opened file; every method returns one part of it, or raises FrugalError."""

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive = archive
        self._members = _members(archive, size)
        self._unread = set(self._members)
        self._text_left = TEXT_BYTES

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def names_with(self, prefix: str) -> list[str]:
        """The arrays whose names begin so."""
        return sorted(name for name in self._members if name.startswith(prefix))

    def group(self, prefix: str) -> "Group":
        """The arrays whose names begin so, read as they are asked for; their reader checks their values."""
        return Group(self, prefix)

    def format(self) -> str:
        """What the file says it is; nothing else of it has been looked at."""
        return self._header().text("format")

    def header(self, format_name: str) -> Fields:
        """The JSON object in `header`, of that format."""
        fields = self._header()
        given = fields.text("format")
        if given != format_name:
            raise FrugalError(f"its format is {given}, this version reads {format_name}")
        return fields

    def _header(self) -> Fields:
        if self._member("header").file_size > MAX_JSON_BYTES + MAX_NPY_HEADER:
            raise FrugalError(f"its header is longer than {MAX_JSON_BYTES:,} bytes")
        content = self._read("header", np.uint8, (None,)).tobytes()
        return Fields("its header", decoded_json(content, "its header"))

    def floats(
        self,
        name: str,
        shape: Shape,
        *,
        dtype: DTypeLike = np.float64,
        least: float = -math.inf,
        most: float = math.inf,
    ) -> NDArray[np.float64]:
        """Finite numbers from `least` to `most`, stored as that very type; None in the shape: any length."""
        values = self._read(name, dtype, shape)
        if not np.all(np.isfinite(values)):
            raise FrugalError(f"{name} holds values that are not finite numbers")
        _check_range(name, values, least, most)
        return values.astype(np.float64, copy=False)

    def prices(self, services: int) -> NDArray[np.float64]:
        """The array `prices`, one per service."""
        values = self.floats("prices", (services,), least=0)
        check_money("prices", values)
        return values

    def wholes(
        self, name: str, shape: Shape, *, dtype: DTypeLike = np.int64, least: int = 0, most: int = 2**31 - 1
    ) -> NDArray[Any]:
        """Whole numbers of exactly that type, from `least` to `most`."""
        values = self._read(name, dtype, shape)
        _check_range(name, values, least, most)
        return values

    def text(self, name: str, *, unique: bool = False) -> NDArray[np.str_]:
        """Texts stored as one run of UTF-8, `<name>.text`, with the end of each, `<name>.ends`."""
        run, starts, ends = self._cut_text(name)
        if np.any(ends - starts > 4 * MAX_TEXT):
            raise FrugalError(f"{name} holds a text of more than {MAX_TEXT} characters")
        if not run.all():
            raise FrugalError(f"{name} holds the character NUL")
        width = self._width(name, run, starts, ends)
        return _texts(name, run.tobytes(), starts, ends, width, unique)

    def long_text(self, name: str) -> NDArray[np.object_]:
        """Texts of any length, stored as `text` stores them, as Python's own: none is padded."""
        run, starts, ends = self._cut_text(name)
        if np.any(ends - starts > MAX_LONG_TEXT):
            raise FrugalError(f"{name} holds a text of more than {MAX_LONG_TEXT:,} bytes")
        content, values = run.tobytes(), np.empty(len(ends), dtype=object)
        for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            values[place] = content[start:end].decode()
        return values

    def _cut_text(self, name: str) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """A run of UTF-8, and where each of its texts starts and ends."""
        run = self._read(f"{name}.text", np.uint8, (None,))
        ends = self.wholes(f"{name}.ends", (None,), most=len(run))
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])[: len(ends)]
        if np.any(ends < starts) or (ends[-1] if len(ends) else 0) != len(run):
            raise FrugalError(f"{name}.ends does not cut {name}.text into texts")
        return run, starts, ends

    def names(self, name: str, most: int) -> tuple[str, ...]:
        """A few unique texts, stored as numpy's own."""
        values = self._read(name)
        if values.dtype.kind != "U" or values.ndim != 1 or not 0 < len(values) <= most:
            raise FrugalError(f"{name} holds {described(values)} where 1 to {most} texts were expected")
        codes = values.view(np.uint32)
        if np.any((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))):
            raise FrugalError(f"{name} holds what is no text")
        found = values.tolist()
        check_names(name, found)
        return tuple(found)

    def sets(self, name: str, items: int, labels: int, *, scored: bool = False) -> csr_matrix:
        """Label sets: `<name>.starts`, `<name>.labels` and, if `scored`, `<name>.scores` in [0, 1]."""
        codes = self._read(f"{name}.labels", np.int32, (None,))
        if len(codes) and (codes.min() < 0 or codes.max() >= labels):
            raise FrugalError(f"{name} holds labels outside the vocabulary of {labels}")
        starts = self.wholes(f"{name}.starts", (items + 1,), most=len(codes))
        if np.any(np.diff(starts) < 0):
            raise FrugalError(f"{name} holds an item that ends before it starts")
        if starts[0] != 0 or starts[-1] != len(codes):
            raise FrugalError(f"{name}.starts does not cover its {len(codes)} labels")
        shape = (len(codes),)
        scores = self.floats(f"{name}.scores", shape, least=0, most=1) if scored else np.ones(shape)
        return csr_matrix((scores, codes, starts), shape=(items, labels))

    def done(self) -> None:
        """Refuses arrays that nobody asked for."""
        if self._unread:
            raise FrugalError(f"it holds arrays that do not belong there: {few(sorted(self._unread))}")

    def raw(self, name: str) -> np.ndarray:
        """Numbers of any type and shape: for callers that check all of it themselves."""
        values = self._read(name)
        if values.dtype.kind == "U":
            raise FrugalError(f"{name} holds {described(values)} where numbers were expected")
        return values

    def _member(self, name: str) -> zipfile.ZipInfo:
        if name not in self._members:
            raise FrugalError(f"the array '{name}' is missing")
        return self._members[name]

    def _read(self, name: str, dtype: DTypeLike | None = None, shape: Shape | None = None) -> np.ndarray:
        member = self._member(name)
        with self._archive.open(member) as stream:
            declared = declared_in(name, stream, member.file_size)
            check_declared(name, declared, dtype, shape)
            values = np.empty(declared.shape, declared.dtype, order="F" if declared.columns_first else "C")
            fill(values, stream)
        self._unread.discard(name)
        return values

    def _width(
        self, name: str, run: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> int:
        """The characters of the longest text, once it is known that all texts padded to it fit."""
        width = 1
        for block in range(0, len(ends), BLOCK_NAMES):
            first, last = starts[block], ends[block + BLOCK_NAMES - 1 : block + BLOCK_NAMES]
            part = run[first : last[0] if len(last) else ends[-1]]
            # Of a character in UTF-8 every byte but the first looks like 10xxxxxx.
            before = np.concatenate([np.zeros(1, np.int64), np.cumsum((part & 0xC0) != 0x80)])
            rows = slice(block, block + BLOCK_NAMES)
            width = max(width, int((before[ends[rows] - first] - before[starts[rows] - first]).max()))
        if width > MAX_TEXT:
            raise FrugalError(f"{name} holds a text of more than {MAX_TEXT} characters")
        padded = 4 * width * len(ends)
        self._text_left -= max(padded - TEXT_RATIO * len(run), 0)
        if self._text_left < 0:
            raise FrugalError(f"{name} holds {len(ends):,} texts of up to {width} characters: too much text")
        return width


def text_array(what: str, values: Sequence[str]) -> NDArray[np.str_]:
    """numpy's array of checked texts, unless padding would make too much of them."""
    sizes = [len(value) for value in values]
    longest = max(sizes, default=1)
    if 4 * longest * len(values) > TEXT_BYTES + TEXT_RATIO * sum(sizes):
        raise FrugalError(
            f"{what} are {len(values):,} texts of up to {longest} characters: too much; shorten the longest."
        )
    return np.array(values, dtype=np.str_)


class Group(Mapping[str, np.ndarray]):
    """Arrays of one prefix by the rest of their names."""

    def __init__(self, file: ArrayFile, prefix: str) -> None:
        self._file, self._prefix = file, prefix
        self._names = [name.removeprefix(prefix) for name in file.names_with(prefix)]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(name)
        return self._file.raw(self._prefix + name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """The arrays of the file by name, once their declared sizes are believable together."""
    entries = archive.infolist()
    if len(entries) > MAX_ARRAYS:
        raise FrugalError(f"it holds {len(entries):,} arrays; at most {MAX_ARRAYS:,} are allowed")
    members = {entry.filename.removesuffix(".npy"): entry for entry in entries}
    if len(members) != len(entries) or not all(entry.filename.endswith(".npy") for entry in entries):
        raise FrugalError("it holds an array twice, or something else than arrays")
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise FrugalError("it is packed in another way than we pack")
    if sum(entry.compress_size for entry in entries) > size:
        raise FrugalError("its arrays overlap")
    unpacked, limit = sum(entry.file_size for entry in entries), min(FREE_BYTES + RATIO * size, MAX_BYTES)
    if unpacked > limit:
        raise FrugalError(f"its {size:,} bytes unpack to {unpacked:,}; at most {limit:,} are allowed")
    return members


def _check_range(name: str, values: np.ndarray, least: float, most: float) -> None:
    if values.size and not (values.min() >= least and values.max() <= most):
        raise FrugalError(f"{name} holds values outside [{least:g}, {most:g}]")


def _texts(
    name: str, run: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64], width: int, unique: bool
) -> NDArray[np.str_]:
    """The texts, decoded a block at a time: as Python's own they take several times the memory."""
    values = np.empty(len(ends), dtype=f"U{width}")
    hashes = np.empty(len(ends) if unique else 0, dtype=np.int64)
    for block in range(0, len(ends), BLOCK_NAMES):
        rows = slice(block, block + BLOCK_NAMES)
        bounds = zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)
        texts = [run[start:end].decode() for start, end in bounds]
        values[rows] = texts
        if unique:
            hashes[rows] = [hash(text) for text in texts]
    # Equal texts have equal hashes, and of others two in 2**64: sorting these takes no copy of the texts.
    order = np.argsort(hashes)
    alike = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    for one, other in zip(order[alike].tolist(), order[alike + 1].tolist(), strict=True):
        if values[one] == values[other]:
            raise FrugalError(f"{name} holds {shown(str(values[one]))} twice")
    return values
