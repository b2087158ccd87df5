"""Ways to damage or forge an array file. Each takes the bytes of a good one and yields those of bad ones."""

import io
import json
import random
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

TYPES = ["c16", "M8[s]", "m8[s]", "?", "O", "S4", "U3", "u8", "i8", "i4", "i1", "u1", "f4", "f2", ">f8"]

Damage = Callable[[bytes, random.Random, int], Iterator[bytes]]


def unpacked(good: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: dict[str, bytes], *, extra: list[tuple[str, bytes]] | None = None) -> bytes:
    """A sound zip of these members: sizes and checksums are right."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # names given twice are meant to be
        for name, content in [*members.items(), *(extra or [])]:
            archive.writestr(name, content)
    return out.getvalue()


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, allow_pickle=True)
    return out.getvalue()


def bytes_changed(good: bytes, rng: random.Random, count: int) -> Iterator[bytes]:
    """One to three bytes of the file changed."""
    for _ in range(count):
        bad = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(len(bad))] ^= rng.randrange(1, 256)
        yield bytes(bad)


def cut_or_grown(good: bytes, rng: random.Random, count: int) -> Iterator[bytes]:
    """The file cut short, a piece of it missing, doubled or moved."""
    for number in range(count):
        a, b = sorted(rng.randrange(len(good)) for _ in range(2))
        yield (good[:a], good[:a] + good[b:], good[:b] + good[a:], good[a:b] + good)[number % 4]


def arrays_changed(good: bytes, rng: random.Random, count: int) -> Iterator[bytes]:
    """One byte inside an array changed, its header included; the zip around it is made anew, and sound."""
    members = unpacked(good)
    for _ in range(count):
        name = rng.choice(list(members))
        bad = bytearray(members[name])
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        yield packed(members | {name: bytes(bad)})


def _variants(array: np.ndarray, rng: random.Random) -> Iterator[np.ndarray]:
    """The array in other types and shapes, with values that it must not have."""
    for dtype in TYPES:
        try:
            yield array.astype(dtype)
        except (TypeError, ValueError):
            yield np.zeros(array.shape, dtype)
    yield from (array[:0], array[:-1], array[::-1], np.concatenate([array, array]), array[None], array[0])
    yield from (array.reshape(-1, 1), array.reshape(1, -1).T, np.zeros((2, 2, 2)), np.zeros((0, 10**9)))
    if array.dtype.kind in "iu" and array.size:
        limits = np.iinfo(array.dtype)
        values = [limits.min, limits.max, 0, -1 if limits.min else 1, 2**31 - 1, 1000]
        yield from _with_values(array, [v for v in values if limits.min <= v <= limits.max], rng)
        bad = array.astype(np.uint64)
        bad.flat[rng.randrange(bad.size)] = 2**63 + 5
        yield bad
    if array.dtype.kind == "f" and array.size:
        yield from _with_values(array, [np.nan, np.inf, -np.inf, -1.0, 1.5, 1e308, 5e-324, 0.25], rng)


def _with_values(array: np.ndarray, values: list[Any], rng: random.Random) -> Iterator[np.ndarray]:
    for value in values:
        bad = array.copy()
        with np.errstate(over="ignore"):
            bad.flat[rng.randrange(bad.size)] = value
        yield bad


def arrays_replaced(good: bytes, rng: random.Random, count: int) -> Iterator[bytes]:
    """An array in another type or shape, with impossible values, missing, twice, or one too many."""
    members = unpacked(good)
    made = 0
    while made < count:
        for name, content in members.items():
            array = np.lib.format.read_array(io.BytesIO(content))
            rest = {other: kept for other, kept in members.items() if other != name}
            bad = [packed(rest | {name: npy(other)}) for other in _variants(array, rng)]
            bad += [packed(rest), packed(members, extra=[(f"x{name}", content), ("../x.npy", content)])]
            bad += [packed(members, extra=[(name, content)]), packed(rest | {name[:-1]: content})]
            rng.shuffle(bad)
            for file in bad[: 1 + count // len(members)]:
                yield file
                made += 1
                if made == count:
                    return


WEIRD = [
    *(None, True, False, 0, 1, -1, 3, 0.5, -0.5, 1.5, 1e308, 2**31, 2**63, 10**400, 400_000_000),
    *("", "x", "0", "auto", "car", "mean", "os:system", "given", "spacy:../../tmp", "spacy:numpy", "\x1b[2J"),
    *("a" * 501, "\ud800", [], [[]], ["x"], [0.5], ["x", "x"], {}, {"x": 1}, {"0": {}}, [{}], [[[[]]]]),
]


def headers_changed(good: bytes, rng: random.Random, count: int) -> Iterator[bytes]:
    """A value, key or piece of text of the JSON header changed; of files without one, a header added."""
    members = unpacked(good)
    content = members.get("header.npy")
    text = np.lib.format.read_array(io.BytesIO(content)).tobytes() if content else b'{"a": [1, {"b": 2}]}'
    for number in range(count):
        header = json.loads(text)
        if number % 5 == 4:
            bad = bytearray(text)
            a = rng.randrange(len(bad))
            bad[a : a + rng.randrange(4)] = rng.choice(
                [b"", b'"', b"[" * 2000, b"NaN", b"9" * 5000, b",", b"\xff"]
            )
            changed = bytes(bad)
        else:
            _change_somewhere(header, rng)
            changed = json.dumps(header, ensure_ascii=rng.random() < 0.9).encode(errors="surrogatepass")
        yield packed(members | {"header.npy": npy(np.frombuffer(changed, np.uint8))})


def _change_somewhere(value: Any, rng: random.Random) -> None:
    places = [(value, key) for key in (value if isinstance(value, dict) else range(len(value)))]
    container, key = rng.choice(places)
    while isinstance(container[key], dict | list) and container[key] and rng.random() < 0.8:
        inner = container[key]
        container, key = inner, rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
    action = rng.random()
    if action < 0.7:
        container[key] = rng.choice(WEIRD)
    elif isinstance(container, dict):
        kept = container.pop(key)
        if action < 0.85:
            container[rng.choice(["x", "1", "01", "-1", "9"])] = kept
    else:
        container.append(container[key]) if action < 0.85 else container.pop(key)


def zips_forged(good: bytes, rng: random.Random, count: int) -> Iterator[bytes]:
    """The zip's own numbers (sizes, offsets, flags, methods) replaced, and zips that unpack to very much."""
    members = unpacked(good)
    sound = packed(members)
    entries = [
        i for i in range(len(sound) - 4) if sound[i : i + 4] in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06")
    ]
    for number in range(count):
        if number % 50 == 49:
            yield swollen(members, rng.choice(list(members)), 1 << rng.randrange(28, 33))
            continue
        bad = bytearray(sound)
        place = rng.choice(entries) + rng.randrange(4, 44)
        value = rng.choice([0, 1, 2**16 - 1, 2**31, 2**32 - 1, len(sound), rng.randrange(2**32)])
        bad[place : place + 4] = struct.pack("<I", value)
        yield bytes(bad[: len(sound)])


def swollen(members: dict[str, bytes], name: str, size: int) -> bytes:
    """The file with one array of zeros in place of its own: few bytes that declare, and hold, very many."""
    array = np.lib.format.read_array(io.BytesIO(members[name]))
    count = size // array.dtype.itemsize
    start = io.BytesIO()
    shape = (count,) if array.ndim == 1 else (count // array.shape[1], array.shape[1])
    description = {"descr": array.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(start, description)
    rest = {other: content for other, content in members.items() if other != name}
    return packed(rest)[:0] + with_zeros(
        rest, name, start.getvalue(), int(np.prod(shape)) * array.dtype.itemsize
    )


def with_zeros(members: dict[str, bytes], name: str, start: bytes, zeros: int) -> bytes:
    """A zip with one member more: `start`, then so many zero bytes. What repeats is packed only once."""
    block = 1 << 20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    first = packer.compress(bytes(block)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(block)) + packer.flush(zlib.Z_FULL_FLUSH)
    tail = packer.compress(bytes(zeros % block)) + packer.flush()
    whole = zeros // block
    data = head + (first if whole else b"") + again * max(whole - 1, 0) + tail
    check = zlib.crc32(start)
    for _ in range(whole):
        check = zlib.crc32(bytes(block), check)
    check = zlib.crc32(bytes(zeros % block), check)
    out = io.BytesIO(packed(members))
    with zipfile.ZipFile(out, "a") as archive:
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.file_size, info.compress_size, info.CRC = len(start) + zeros, len(data), check
        info.header_offset = archive.start_dir
        out.seek(archive.start_dir)
        out.write(info.FileHeader(zip64=True) + data)
        archive.start_dir = out.tell()
        archive.filelist.append(info)
        archive.NameToInfo[name] = info
        archive._didModify = True
    return out.getvalue()


DAMAGES: dict[str, Damage] = {
    "bytes changed": bytes_changed,
    "cut short, pieces missing or doubled": cut_or_grown,
    "bytes changed within arrays, checksums right": arrays_changed,
    "arrays of other types, shapes and values": arrays_replaced,
    "headers changed": headers_changed,
    "zips that lie or swell": zips_forged,
}
