"""Items as JSON Lines, from a file or from standard input, one at a time."""

import sys
from collections.abc import Iterator
from typing import Any

from frugalmct.errors import FrugalError
from frugalmct.sources.lines import MAX_LINE_BYTES, lines, opened
from frugalmct.values import DECODER, Malformed, shown


def read_items(path: str) -> Iterator[dict[str, Any]]:
    """Each line's object; `-` is standard input. Blank lines are skipped."""
    if path == "-":
        yield from _items("standard input", lines(sys.stdin.buffer))
    else:
        with opened(path) as handle:
            yield from _items(path, lines(handle))


def _items(name: str, found: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(found, 1):
        if line:
            yield _item(f"{name}, line {number}", line)


def _item(where: str, line: bytes) -> dict[str, Any]:
    if len(line) >= MAX_LINE_BYTES:
        raise FrugalError(f"{where}: the line is longer than {MAX_LINE_BYTES:,} bytes; give one item a line.")
    try:
        item = DECODER.decode(line.decode())
    except Malformed as error:
        raise FrugalError(f"{where}: {error}") from None
    except (ValueError, RecursionError):
        raise FrugalError(f"{where}: not valid JSON; each line must be one JSON object.") from None
    predictions = item.get("predictions", {}) if isinstance(item, dict) else None
    if not isinstance(predictions, dict):
        raise FrugalError(
            f"{where}: {shown(item)} is not an item; give an object with id and predictions, the answers of "
            "services by name."
        )
    return item
