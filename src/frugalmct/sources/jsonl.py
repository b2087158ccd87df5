"""Recorded answers as JSON Lines: one item a line, as plain text or gzip, read as a stream.

    {"id": "a1", "truth": ["car"], "predictions": {"Google": [["car", 0.98]], "Microsoft": []}}
    {"id": "q1", "text": "How many ...", "quality": {"A": 1.0, "B": 0.0}, "costs": {"A": 2.6, "B": 0.2}}

A file holds items of one kind: either the first, whose answers are labels, or the second, of whose answers
only the quality is known.

- `id`: a non-empty text, unique in the file. A number is refused rather than converted: 1 and "1" would
  be one item to us and two to whoever wrote them.
- `truth`: the true labels, each a non-empty text; a repeated one counts once.
- `predictions`: for every service the list of its [label, score] pairs, scores in [0, 1]; a repeated label
  counts once, with its highest score. `null`, a service that failed, counts as an empty list.
- `quality`: for every service how good its answer was, from 0 to 1; `null`, a service that failed, is 0.

Each of these is optional, and is on every line or on none:

- `text` and `features` (equally many finite numbers): known before any service is asked.
- `costs`: what the call of every service cost, in the unit of budgets.
- `answer_features`: for some services a list of numbers, equally many on every line, that are known once
  that service has answered. `null` counts as zeros.

Blank lines are skipped, and so is a byte order mark. Whether a file is gzip is decided by its content, so its
name does not matter.
"""

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from frugalmct.errors import FrugalError
from frugalmct.market import LabelMarket, Market, QualityMarket
from frugalmct.sources.columns import MAX_FEATURE as MAX_FEATURE
from frugalmct.sources.faults import MAX_COUNTED, Fault
from frugalmct.sources.lines import MAX_LINE_BYTES, Swollen, lines, opened
from frugalmct.sources.reading import thinned
from frugalmct.sources.records import Records
from frugalmct.values import DECODER, Malformed
from frugalmct.values import MAX_TEXT as MAX_TEXT


class DataProblems(FrugalError):
    """Everything wrong with a data file: the first problems in full, and how many there are in all."""

    def __init__(self, path: str | Path, problems: Sequence[Fault], total: int) -> None:
        super().__init__(path, problems, total)
        self.path = path
        self.problems = tuple(problems)
        self.total = total

    def __str__(self) -> str:
        if self.total == 1:
            return f"{self.path}, {self.problems[0]}"
        unlisted = self.total - len(self.problems)
        end = "; reading ended there" if self.total >= MAX_COUNTED else ""
        rest = [f"and {unlisted:,} more{end}"] if unlisted else []
        return "\n  ".join([f"{self.path} has {self.total:,} problems:", *map(str, self.problems), *rest])


def load(name: str, block: Mapping[str, Any], *, seed: int = 0, scale: float = 1.0) -> Market:
    """The market of a config block `{task, prices, source: {kind: jsonl, path}}`.

    The path is relative to the working directory.
    """
    market = read_jsonl(block["source"]["path"], block.get("prices"), name=name, task=block["task"])
    return thinned(market, seed, scale)


def read_jsonl(
    path: str | Path, prices: Mapping[str, float] | None = None, *, name: str = "", task: str = ""
) -> LabelMarket | QualityMarket:
    """The market in a file; a file with anything wrong raises `DataProblems`.

    `prices` says which services there must be and in which order. Without it the services are those of the
    first item, at price 0. Where the file has costs, prices are the means of these, whatever was given. The
    label vocabulary is sorted by code point.
    """
    reader = Records(tuple(prices or ()))
    with opened(path) as handle:
        _read_items(handle, reader)
    if reader.faults.count:
        raise DataProblems(path, reader.faults.first, reader.faults.count)
    if not reader.ids:
        raise FrugalError(f"{path}: the file has no items; give one JSON object a line.")
    try:
        return reader.market(name or _plain_name(path), task, prices or {})
    except FrugalError as error:
        raise FrugalError(f"{path}: {error}") from None


def _plain_name(path: str | Path) -> str:
    return Path(path).name.removesuffix(".gz").removesuffix(".jsonl")


def _read_items(handle: BinaryIO, reader: Records) -> None:
    """Feeds every line to the reader; damage of the gzip data is one more problem of the file."""
    faults = reader.faults
    try:
        for line in lines(handle):
            faults.line += 1
            if line:
                _read_line(line, reader)
            if faults.count >= MAX_COUNTED:
                break
    except Swollen as error:
        faults.add(str(error), after=1)
    except EOFError:
        faults.add("the gzip data end early here; the file was cut short, so make it again.", after=1)
    except (gzip.BadGzipFile, zlib.error) as error:
        faults.add(f"the gzip data are damaged here ({error}); make the file again.", after=1)


def _read_line(line: bytes, reader: Records) -> None:
    try:
        record = _parse(line)
    except Malformed as error:
        reader.faults.add(str(error))
    else:
        reader.read(record)


def _parse(line: bytes) -> Any:
    if len(line) >= MAX_LINE_BYTES:
        raise Malformed(f"the line is longer than {MAX_LINE_BYTES:,} bytes; give one item a line.")
    try:
        return DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        byte, column = line[error.start], error.start + 1
        raise Malformed(
            f"byte 0x{byte:02x} at column {column} is not UTF-8; save the file as UTF-8, plain or gzip."
        ) from None
    except json.JSONDecodeError as error:
        raise Malformed(
            f"not valid JSON at column {error.pos + 1} ({error.msg}); each line must be one JSON object."
        ) from None
    except RecursionError:
        raise Malformed("the JSON is nested too deeply; an item has four levels at most.") from None
    except ValueError:
        # What is left is Python's limit on the digits of an integer.
        raise Malformed("a number has too many digits; give a finite number.") from None
