"""Pieces of the page. Text is escaped here and nowhere else: callers pass names as the data have them."""

import base64
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import Column
from frugalmct.paper.looks import name_of
from frugalmct.paper.names import SINGLE

LONGEST_OPEN = 25


class Html(str):
    """Text that is markup already."""


def text(value: Any) -> Html:
    return value if isinstance(value, Html) else Html(escape(str(value), quote=True))


def tag(name: str, *content: Any, **attributes: str) -> Html:
    """`class_` and `aria_sort` stand for class and aria-sort."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{written}>{''.join(map(text, content))}</{name}>")


def joined(parts: Iterable[Any], between: str = "\n") -> Html:
    return Html(between.join(map(text, parts)))


def gap(what: str, reason: str) -> Html:
    """Where something should be and is not: seen, and with its reason."""
    return tag("p", tag("strong", f"{what} is missing: "), reason, class_="gap", role="note")


@dataclass(frozen=True)
class Cell:
    """What is shown, and what it sorts by."""

    shown: Any
    value: float | str | None


def plain_column(name: str) -> Column:
    """Of a table that is no exhibit's."""
    return Column(name, "")


def number(value: float, share: bool = False) -> str:
    """Short, and never in a form that only programs read."""
    if share:
        # A gap that a solver left may be tiny; it must not look like none.
        small = 1e-6 < abs(100 * value) < 0.05
        return f"{100 * value:.1g}" if small else f"{100 * value:.1f}".replace("-0.0", "0.0")
    if float(value).is_integer():
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:,.1f}"
    if abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:.{2 if abs(value) >= 1 else 3}f}".rstrip("0").rstrip(".")


def cell(value: Any, column: Column) -> Cell:
    if isinstance(value, Cell):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)) or value is pd.NA:
        return Cell("–", None)
    # A label, service or dataset may be called True, 007 or 1e5: only a column of flags has yes and no in it.
    flag = isinstance(value, bool | np.bool_) or (column.kind == "flag" and value in ("True", "False"))
    if flag and column.kind != "text":
        return Cell("yes" if str(value) == "True" else "no", str(value))
    if (isinstance(value, int | float) or hasattr(value, "dtype")) and column.kind != "text":
        return Cell(number(float(value), column.kind == "share"), float(value))
    method = column.name in ("method", "name") or (column.kind != "text" and str(value).startswith(SINGLE))
    shown = name_of(str(value)) if method else str(value)
    return Cell(shown, shown)


def row_cells(row: dict[str, Any], columns: Sequence[Column]) -> list[Cell]:
    return [_with_interval(cell(row[column.name], column), row, column) for column in columns]


def _with_interval(mean: Cell, row: dict[str, Any], column: Column) -> Cell:
    """An interval stands in small print under its mean rather than in columns of its own."""
    low, high = row.get(f"{column.name}_low"), row.get(f"{column.name}_high")
    if mean.value is None or low is None or high is None or pd.isna(low) or pd.isna(high):
        return mean
    share = column.kind == "share"
    bounds = f"{number(float(low), share)} to {number(float(high), share)}"
    return Cell(joined([mean.shown, tag("small", bounds)], " "), mean.value)


def table(
    frame: pd.DataFrame,
    caption: str,
    column_of: Callable[[str], Column] = plain_column,
    *,
    fold: bool = True,
) -> Html:
    """A table that sorts by any column, in a box that scrolls by itself; a long one is folded."""
    bounds = {f"{column}_{end}" for column in frame for end in ("low", "high")}
    columns = [column_of(str(name)) for name in frame.columns if str(name) not in bounds]
    cells = [row_cells(row, columns) for row in frame.rename(columns=str).to_dict("records")]
    numeric = [any(isinstance(row[place].value, float) for row in cells) for place in range(len(columns))]
    heads = [_th(column, number) for column, number in zip(columns, numeric, strict=True)]
    rows = [tag("tr", *map(_td, row, numeric)) for row in cells]
    built = tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *heads)),
            tag("tbody", joined(rows)),
            class_="sortable",
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )
    if len(frame) <= LONGEST_OPEN or not fold:
        return built
    return tag("details", tag("summary", f"Table: {caption} ({len(frame):,} rows)"), built)


def _th(column: Column, numeric: bool) -> Html:
    """What a column means appears when the pointer rests on its heading."""
    about = {"title": column.about} if column.about else {}
    button = tag("button", column.heading, type="button", **about)
    return tag("th", button, scope="col", aria_sort="none", class_="number" if numeric else "text")


def _td(content: Cell, numeric: bool) -> Html:
    # An empty value says to the sorting that there is none.
    value = "" if content.value is None else content.value
    key = repr(value) if isinstance(value, float) else str(value)
    return tag("td", content.shown, class_="number" if numeric else "text", data_value=key)


HEAVIEST_SVG = 400_000


def image(svg: Path, alt: str, caption: str) -> Html:
    """The picture inside the page; as PNG where the drawing would be heavy."""
    png = svg.with_suffix(".png")
    heavy = svg.stat().st_size > HEAVIEST_SVG and png.exists()
    chosen, kind = (png, "png") if heavy else (svg, "svg+xml")
    return drawn(kind, chosen.read_bytes(), alt, caption)


def drawn(kind: str, content: bytes, alt: str, caption: str) -> Html:
    """A picture's bytes inside the page."""
    data = base64.b64encode(content).decode("ascii")
    picture = Html(f'<img src="data:image/{kind};base64,{data}" alt="{escape(alt, quote=True)}">')
    return tag("figure", picture, tag("figcaption", caption))


def section(identity: str, title: str, *content: Any, level: int = 2) -> Html:
    heading = tag(f"h{level}", title, id=f"{identity}-title")
    return tag("section", heading, joined(content), id=identity, aria_labelledby=f"{identity}-title")
