"""JSON that others wrote: decoded strictly, within limits, and asked field by field for what it must be.

Nothing is converted: "1" is no number, 1 is no yes, and NaN is nothing at all.
"""

import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from frugalmct.errors import FrugalError, listed

# numpy pads every text of an array to the longest one: a single endless name would cost gigabytes.
MAX_TEXT = 500
MAX_LONG_TEXT = 16 * 2**20
"""Bytes of a text that is no name, such as a prompt: those of the longest line that is read."""
MAX_SERVICES = 1000
MAX_JSON_BYTES = 16 * 2**20
"""The largest JSON header or file that we read back; decoded it takes at most 30 times as much."""
MAX_JSON_DEPTH = 10

REMAKE = "make it again with `snakemake --force {path}`"
"""The remedy for every result of a run. That a file was merely removed Snakemake does not mind, as long as
what was made of it is there."""


class Malformed(Exception):
    """Not the JSON that is wanted; its text says why."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise Malformed(f"the key {shown(_first_twice(pairs))} is given twice in one object; give it once.")
    return record


def _first_twice(pairs: Sequence[tuple[str, Any]]) -> str:
    """The first key that comes again later, in one pass over the pairs and one over the keys."""
    seen: dict[str, bool] = {}
    for key, _ in pairs:
        seen[key] = key in seen
    return next(key for key, twice in seen.items() if twice)


def _refuse_constant(constant: str) -> Any:
    raise Malformed(f"{constant} is not a JSON number; give a finite number.")


DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)


def shown(value: Any) -> str:
    """What was given, short: data can be of any size and nesting, a message cannot."""
    match value:
        case None | True | False:
            return json.dumps(value)
        case list():
            return f"a list of {len(value)}"
        case dict():
            return "an object"
        # What follows would be made in full only to be cut.
        case str() if len(value) > 1000:
            return f"{value[:49]!r}... ({len(value):,} characters)"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"


def text_fault(value: Any) -> str | None:
    """Why a value cannot be the name of something, if so."""
    if type(value) is not str:
        return f"is {shown(value)}; it must be a non-empty text."
    if not value:
        return "is empty; it must be a non-empty text."
    if len(value) > MAX_TEXT:
        return f"is {len(value):,} characters long; at most {MAX_TEXT} are allowed."
    if "\0" in value:
        return f"is {shown(value)}; the character NUL is not allowed."
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"is {shown(value)}; half a surrogate pair is not a character."
    return None


def decoded_json(content: bytes, what: str) -> Any:
    """A JSON text that we wrote ourselves once, or a FrugalError that says why it is none."""
    if len(content) > MAX_JSON_BYTES:
        raise FrugalError(f"{what} is {len(content):,} bytes long; at most {MAX_JSON_BYTES:,} are read")
    try:
        value = DECODER.decode(content.decode())
    except Malformed as error:
        raise FrugalError(f"{what}: {error}") from None
    except RecursionError:
        raise FrugalError(f"{what} is nested too deeply; {MAX_JSON_DEPTH} levels are allowed") from None
    except ValueError as error:
        # Not UTF-8, not JSON, or a number of too many digits.
        raise FrugalError(f"{what} is not JSON ({error})") from None
    if not _no_deeper(value, MAX_JSON_DEPTH):
        raise FrugalError(f"{what} is nested too deeply; {MAX_JSON_DEPTH} levels are allowed")
    return value


def _no_deeper(value: Any, levels: int) -> bool:
    """Whether containers lie in each other at most that deep; what is no container is not visited."""
    if type(value) not in (dict, list):
        return True
    inside = value.values() if type(value) is dict else value
    return levels > 0 and all(
        _no_deeper(child, levels - 1) for child in inside if type(child) in (dict, list)
    )


@contextmanager
def reading(path: str | Path, kind: str, remedy: str) -> Iterator[None]:
    """Whatever fails inside becomes one sentence: the file, what is wrong with it, and the remedy.

    `{path}` in the remedy stands for the file, as one word of a command.
    """
    remedy = remedy.replace("{path}", shlex.quote(str(path)))
    try:
        yield
    except FileNotFoundError:
        raise FrugalError(f"{path}: no such {kind}; {remedy}.") from None
    except FrugalError as error:
        raise FrugalError(f"{path}: not a {kind} that can be used: {one_line(error)}; {remedy}.") from None
    except MemoryError:
        raise FrugalError(f"{path}: this {kind} does not fit into memory; use a larger machine.") from None
    # Damaged bytes fail in zipfile, zlib or numpy, each with exceptions of its own.
    except Exception as error:
        raise FrugalError(f"{path}: not a {kind}, or a damaged one ({one_line(error)}); {remedy}.") from None


def one_line(error: Exception) -> str:
    """What an exception says, on one line of bearable length and without its full stop."""
    text = " ".join(str(error).split()) or type(error).__name__
    return printable(text[:400]).rstrip(".")


def printable(text: str) -> str:
    """A text for a terminal: what would move its cursor, change its colours or turn the line is escaped."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def printable_lines(message: object) -> str:
    """A message for a terminal, its lines kept."""
    return "\n".join(map(printable, str(message).split("\n")))


@contextmanager
def json_in(path: str | Path, kind: str, remedy: str) -> Iterator[Any]:
    """What a JSON file of ours holds; while it is taken apart, whatever fails becomes one sentence."""
    with reading(path, kind, remedy):
        with Path(path).open("rb") as handle:
            content = handle.read(MAX_JSON_BYTES + 1)
        yield decoded_json(content, "the file")


class Fields:
    """The fields of a JSON object, each asked for once by what it must be; `done` refuses what is left."""

    def __init__(self, what: str, values: Any) -> None:
        self.what = what
        if not isinstance(values, Mapping):
            raise FrugalError(f"{what} is {shown(values)} where an object was expected")
        self._left = dict(values)

    def take(self, name: str) -> Any:
        if name not in self._left:
            raise FrugalError(f"{self.what} has no '{name}'")
        return self._left.pop(name)

    def text(self, name: str) -> str:
        """A text, which may be empty."""
        value = self.take(name)
        if value != "" and (fault := text_fault(value)):
            raise self._fault(name, fault)
        return value

    def names(self, name: str, most: int | None = None) -> list[str]:
        """A list of texts, no two alike."""
        values = self.take(name)
        if type(values) is not list:
            raise self._fault(name, f"is {shown(values)}; it must be a list of texts")
        if most is not None and len(values) > most:
            raise self._fault(name, f"has {len(values):,} entries; at most {most:,} are allowed")
        check_names(f"{self.what}: {name}", values)
        return values

    def rows(self, name: str) -> list[Any]:
        """A list that is not empty."""
        values = self.take(name)
        if type(values) is not list or not values:
            raise self._fault(name, f"is {shown(values)}; it must be a list with at least one entry")
        return values

    def flag(self, name: str) -> bool:
        value = self.take(name)
        if type(value) is not bool:
            raise self._fault(name, f"is {shown(value)}; it must be true or false")
        return value

    def whole(self, name: str, least: int = 0, most: int = 2**31 - 1) -> int:
        value = self.take(name)
        if type(value) is not int or not least <= value <= most:
            raise self._fault(name, f"is {shown(value)}; it must be a whole number from {least} to {most}")
        return value

    def optional_whole(self, name: str, least: int = 0) -> int | None:
        return None if self._is_null(name) else self.whole(name, least)

    def optional_number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float | None:
        return None if self._is_null(name) else self.number(name, least, most)

    def optional_text(self, name: str) -> str | None:
        return None if self._is_null(name) else self.text(name)

    def optional_flag(self, name: str) -> bool | None:
        return None if self._is_null(name) else self.flag(name)

    def _is_null(self, name: str) -> bool:
        """Whether the field is there and null; then it has been asked for."""
        null = name in self._left and self._left[name] is None
        if null:
            del self._left[name]
        return null

    def __contains__(self, name: str) -> bool:
        """Whether the field is there, and was not asked for yet."""
        return name in self._left

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        return self._number(name, self.take(name), least, most)

    def numbers(self, name: str, least: float = -math.inf, most: float = math.inf) -> list[float]:
        values = self.take(name)
        if type(values) is not list:
            raise self._fault(name, f"is {shown(values)}; it must be a list of numbers")
        return [self._number(name, value, least, most) for value in values]

    def done(self) -> None:
        if self._left:
            raise FrugalError(f"{self.what} has unknown fields: {few(self._left)}")

    def _number(self, name: str, value: Any, least: float, most: float) -> float:
        if type(value) not in (int, float) or not least <= value <= most or abs(value) > 1e308:
            raise self._fault(name, f"is {shown(value)}; it must be a number from {least:g} to {most:g}")
        return float(value)

    def _fault(self, name: str, fault: str) -> FrugalError:
        return FrugalError(f"{self.what}: {name} {fault}")


def numbered(what: str, values: Any, most: int = MAX_SERVICES) -> Iterator[tuple[int, Any]]:
    """The entries of an object by number: "0", "1" and so on, in their one spelling."""
    if type(values) is not dict:
        raise FrugalError(f"{what} is {shown(values)} where an object was expected")
    for key, value in values.items():
        if not re.fullmatch(r"0|[1-9][0-9]{0,8}", key, re.ASCII) or int(key) >= most:
            raise FrugalError(f"{what}: {shown(key)} is not a whole number below {most}")
        yield int(key), value


def check_names(what: str, values: Sequence[Any]) -> None:
    """That each is a text, empty at most, and none comes twice."""
    for value in values:
        if value != "" and (fault := text_fault(value)):
            raise FrugalError(f"{what}: one {fault}")
    if len(set(values)) != len(values):
        twice = _first_twice([(value, None) for value in values])
        raise FrugalError(f"{what}: {shown(twice)} is given twice")


def few(names: Sequence[Any] | Mapping[Any, Any], most: int = 10) -> str:
    """Names for a message, the first of them if they are many."""
    first = [shown(name) for name, _ in zip(names, range(most), strict=False)]
    return listed(first) + (f" and {len(names) - most:,} more" if len(names) > most else "")
