"""One array in numpy's own format: what it declares is checked before anything is allocated."""

import math
import re
import struct
from typing import IO, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from frugalmct.errors import FrugalError

CHUNK = 2**20
NPY_START = b"\x93NUMPY\x01\x00"
# What numpy writes for plain arrays, and nothing else: no Python literal is evaluated.
NPY_HEADER = re.compile(
    rb"\{'descr': '([<>|=][a-zA-Z]\d{1,6})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n"
)
MAX_NPY_HEADER = 1024
MAX_BYTES = 16 * 2**30
"""No file, and so no array, may unpack to more than this."""
KINDS = "fiuU"

Shape = tuple[int | None, ...]


class Declared(NamedTuple):
    """What an array says of itself before any of it is read."""

    dtype: np.dtype
    shape: tuple[int, ...]
    columns_first: bool


def declared_in(name: str, stream: IO[bytes], size: int) -> Declared:
    """Type and shape, which must account for every byte of the member."""
    start = stream.read(len(NPY_START) + 2)
    if len(start) != len(NPY_START) + 2 or not start.startswith(NPY_START):
        raise FrugalError(f"{name} is not an array of numbers or text")
    (length,) = struct.unpack("<H", start[-2:])
    found = NPY_HEADER.fullmatch(stream.read(length)) if length <= MAX_NPY_HEADER else None
    if found is None or chr(found[1][1]) not in KINDS:
        given = f" ({found[1].decode()})" if found else ""
        raise FrugalError(f"{name} is not an array of numbers or text{given}")
    dtype = np.dtype(found[1].decode())
    shape = tuple(int(part) for part in found[3].split(b",") if part.strip())
    if not dtype.itemsize or len(shape) > 2 or max(shape, default=0) > MAX_BYTES:
        raise FrugalError(f"{name} declares the shape {shape} of {dtype}")
    if len(start) + length + math.prod(shape) * dtype.itemsize != size:
        raise FrugalError(f"{name} declares {math.prod(shape):,} values, which it does not have")
    return Declared(dtype, shape, found[2] == b"True")


def check_declared(name: str, declared: Declared, dtype: DTypeLike | None, shape: Shape | None) -> None:
    """Before anything is allocated: the type and, where the shape is not None, the length."""
    if dtype is not None and declared.dtype != np.dtype(dtype):
        raise FrugalError(f"{name} holds {declared.dtype} where {np.dtype(dtype)} was expected")
    if shape is None:
        return
    fits = len(declared.shape) == len(shape) and all(
        wanted in (None, given) for wanted, given in zip(shape, declared.shape, strict=True)
    )
    if not fits:
        wanted = " x ".join("any" if length is None else str(length) for length in shape)
        raise FrugalError(f"{name} has shape {declared.shape} where {wanted} was expected")


def fill(values: np.ndarray, stream: IO[bytes]) -> None:
    """Reads the values; zipfile compares the checksum with the last of them."""
    order: Literal["F", "C"] = "F" if values.ndim > 1 and not values.flags.c_contiguous else "C"
    flat = values.reshape(-1, order=order).view(np.uint8)
    done = 0
    while done < len(flat):
        part = stream.read(min(CHUNK, len(flat) - done))
        if not part:
            raise FrugalError("it ends early")
        flat[done : done + len(part)] = np.frombuffer(part, np.uint8)
        done += len(part)
    stream.read(1)


def described(values: np.ndarray) -> str:
    return f"{values.dtype} of shape {values.shape}"
