"""CSV tables: the same bytes for the same numbers, and names that stay text.

A spreadsheet runs a cell that begins like a formula. In our tables such a text has an apostrophe before it,
which spreadsheets take for "this is text"; `read_table` and `read_as_text` take it away again. Numbers are no
formulas, and stay as they are.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from frugalmct.errors import FrugalError
from frugalmct.files import write_text
from frugalmct.values import REMAKE, reading

# Ten significant digits keep every count whole and drop the last bits, in which machines may differ.
FLOAT_FORMAT = "%.10g"

# Columns that hold names, in the tables of stages and studies: a dataset may be called 007.
NAMES = ("dataset", "method", "base", "service", "label", "status", "predictor", "data")

# A text with apostrophes before it gets one more, so that taking one away gives every text back.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_QUOTED_OR_END = re.compile(r'("(?:[^"]|"")*")|\r\n')
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]inf", re.ASCII)


def guarded(value: Any) -> Any:
    """A cell as it is written: a text that a spreadsheet would run has an apostrophe before it."""
    runs = isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value)
    return f"'{value}" if runs else value


def unguarded(value: Any) -> Any:
    """The cell that `guarded` was given."""
    return value[1:] if isinstance(value, str) and _GUARDED.match(value) else value


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """One CSV: the same bytes for the same numbers."""
    safe = _with_texts(table, guarded)
    # Only signs that end lines are put in quotes, and names may hold either of them.
    text = safe.to_csv(index=False, float_format=FLOAT_FORMAT, lineterminator="\r\n")
    write_text(path, _QUOTED_OR_END.sub(lambda found: found[1] or "\n", text), newline="")


def _with_texts(table: pd.DataFrame, change: Callable[[Any], Any]) -> pd.DataFrame:
    """With the cells of text changed; a column without a change stays as it is, of whatever type."""
    changed = {}
    for name, column in table.items():
        if not pd.api.types.is_numeric_dtype(column):
            cells = [change(cell) for cell in column]
            if any(new is not old for new, old in zip(cells, column, strict=True)):
                # A category is one of a list, on which the changed text is not.
                kind = object if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype
                changed[name] = pd.Series(cells, index=column.index, dtype=kind)
    return table.assign(**changed)


def read_table(path: str | Path, names: Iterable[str] = NAMES) -> pd.DataFrame:
    """What `write_table` wrote; in the columns `names` a label such as "NA", "null" or "007" stays text."""
    return _read(path, na_values=[""], dtype=dict.fromkeys(names, "str"))


def read_as_text(path: str | Path) -> pd.DataFrame:
    """Every cell as the text it was written as."""
    return _read(path, dtype=str)


def _read(path: str | Path, **how: Any) -> pd.DataFrame:
    """A table that is whole; what is damaged is named, with the remedy, rather than read in part."""
    with reading(path, "table", REMAKE):
        text = Path(path).read_bytes().decode()
        if text == "\n":
            return pd.DataFrame()
        _check_whole(text)
        table = pd.read_csv(io.StringIO(text, newline=""), keep_default_na=False, **how)
    return _with_texts(table, unguarded)


def _check_whole(text: str) -> None:
    """That the last line has its end and all rows are as long as the first."""
    if not text.endswith("\n"):
        raise FrugalError("it is cut off")
    if "\0" in text:
        raise FrugalError("it has bytes that are no text")
    lengths = map(len, csv.reader(io.StringIO(text, newline=""), strict=True))
    columns = next(lengths)
    if any(length != columns for length in lengths):
        raise FrugalError("its rows are not of one length")


def stacked(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True)
