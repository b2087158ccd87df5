"""What all figures share: style, writing, the stamp on the kind of data, the gap where there is nothing.

matplotlib is loaded when something is drawn: much of the workflow reads what exhibits are and draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.files import replacing
from frugalmct.paper.columns import EACH_ITS_UNIT, USUAL_UNIT
from frugalmct.paper.looks import Look
from frugalmct.paper.names import MADE_BY, PER_CALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "figure.dpi": 150,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    # Names come from data: a dollar sign in one is not a formula.
    "text.parse_math": False,
    # Text stays text: smaller files, and a browser finds the glyphs of any script.
    "svg.fonttype": "none",
    "svg.hashsalt": "frugalmct",
}
# Without these both formats would carry the time or the version that wrote them.
# No date, for the same bytes in every run; who made it, so that a figure is known as ours.
METADATA = {"svg": {"Date": None, "Creator": MADE_BY}, "png": {"Software": MADE_BY}}

INK = "#333333"
PAPER_COLOR = "#8c8c8c"
STAMPS = {"SIMULATED DATA": "#b3261e", "REAL DATA": "#1b6e3c"}
WIDE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "PingFang SC", "Arial Unicode MS")


def has_call_costs(table: pd.DataFrame) -> bool:
    """Whether some of these rows are of calls with costs of their own, which may be in any unit."""
    return "method" in table and bool((table["method"] == PER_CALL).any())


def common_cost_label(datasets: Iterable[str], units: Mapping[str, str] | None) -> str:
    """Of an axis that several datasets share."""
    labels = list(dict.fromkeys(cost_label(dataset, units) for dataset in datasets))
    return labels[0] if len(labels) == 1 else f"mean cost of an item, {EACH_ITS_UNIT}"


def save_figure(figure: Figure, paths: Iterable[str | Path]) -> None:
    """One figure in the format of each path's ending."""
    for path in map(Path, paths):
        kind = path.suffix.removeprefix(".")
        with replacing(path) as temporary:
            write_figure(figure, temporary, kind)


def write_figure(figure: Figure, target: Path | BinaryIO, kind: str) -> None:
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure.savefig(target, format=kind, metadata=METADATA.get(kind))


@contextmanager
def styled() -> Iterator[None]:
    import matplotlib as mpl

    with mpl.rc_context(STYLE | {"font.family": _font_families()}):
        yield


def _font_families() -> list[str]:
    """The font that is always there, and after it those installed that know other scripts."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in WIDE_FONTS if name in installed)]


def new_figure(width: float, height: float) -> Figure:
    """An empty one, in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def stamp(figure: Figure, words: str | None) -> None:
    """A reader who sees only this picture must know whether a real service was asked."""
    if words:
        figure.text(
            0.995, 0.995, words, ha="right", va="top", color=STAMPS[words], fontsize=9, fontweight="bold"
        )


Plot = Callable[..., "Figure"]


def cost_label(dataset: str, units: Mapping[str, str] | None) -> str:
    """units: dataset -> what its prices and budgets are in."""
    return f"cost ({(units or {}).get(dataset, USUAL_UNIT)})"


def picture(title: str, *columns: str) -> Callable[[Plot], Plot]:
    """A plot of the rows that have these columns filled: in our style, stamped, or a gap that says why."""

    def decorated(plot: Plot) -> Plot:
        @wraps(plot)
        def drawn(table: pd.DataFrame, *options: Any, **settings: Any) -> Figure:
            with styled():
                if missing := [column for column in columns if column not in table]:
                    without = "the table has no rows" if table.empty else f"no column {listed(missing)}"
                    return gap_figure(title, f"{without} in this run")
                rows = table.dropna(subset=list(columns))
                if rows.empty:
                    return gap_figure(title, reason_of(table))
                figure = plot(rows, *options, **settings)
                stamp(figure, stamp_of(rows))
            return figure

        return drawn

    return decorated


def stamp_of(rows: pd.DataFrame) -> str | None:
    """Simulated if any of it is, real if all of it is; of answers in a file of one's own nothing is known."""
    if "data" not in rows:
        return None
    if (rows["data"] == "simulated").any():
        return "SIMULATED DATA"
    return "REAL DATA" if (rows["data"] == "release").all() else None


def reason_of(table: pd.DataFrame) -> str:
    """Why a table has nothing to draw, in its own words where it has any."""
    if table.empty:
        return "the table has no rows in this run"
    reasons = table["status"].dropna().astype(str).unique() if "status" in table else []
    return (
        f"every row is without a value ({listed(reasons)})"
        if len(reasons)
        else "every row is without a value"
    )


def gap_figure(title: str, reason: str) -> Figure:
    """A picture of nothing: a reader must see that something is missing here, and why."""
    with styled():
        figure = new_figure(6, 1.6)
        axis = figure.subplots()
        axis.set_axis_off()
        axis.set_title(title)
        axis.text(0, 0.5, f"Nothing to show: {reason}.", transform=axis.transAxes, color=INK, wrap=True)
    return figure


def title_of(figure: Figure, text: str) -> None:
    """At the left, where the stamp is not; it also keeps a line free for the stamp."""
    figure.suptitle(text, x=0.01, ha="left", fontsize=11)


def grid_shape(panels: int, widest: int = 3) -> tuple[int, int]:
    columns = 2 if panels == 4 else min(panels, widest)
    return -(-panels // columns), columns


def panels(figure: Figure, count: int, widest: int = 3, **options: Any) -> list[Axes]:
    """That many axes in a grid; the places left over stay white."""
    rows, columns = grid_shape(count, widest)
    axes = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for axis in axes[count:]:
        axis.set_axis_off()
    return list(axes[:count])


# From two repetitions the interval is thirteen standard errors wide: a band would only hide the curves.
FEWEST_FOR_BAND = 3


def has_bands(rows: pd.DataFrame) -> bool:
    return "repetition" in rows and rows["repetition"].nunique() >= FEWEST_FOR_BAND


def means_of(rows: pd.DataFrame) -> str:
    """What a curve is made of, for its title."""
    repetitions = rows["repetition"].nunique() if "repetition" in rows else 1
    if repetitions < 2:
        return "one repetition"
    return f"mean of {repetitions} repetitions{', 95 % bands' if has_bands(rows) else ''}"


def legend_below(figure: Figure, axes: Iterable[Axes], columns: int = 4) -> None:
    """One legend for all panels, outside them: it hides no data."""
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        places: dict[str, Any] = {"loc": "outside lower center", "ncols": min(columns, len(entries))}
        figure.legend(list(entries.values()), list(entries), **places)


def plain_log(axis: Axis) -> None:
    """A logarithmic scale with numbers as people write them; ticks between the powers where these are few."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if axis is axis.axes.xaxis:
        axis.axes.set_xscale("log")
    else:
        axis.axes.set_yscale("log")
    low, high = axis.get_view_interval()
    between = (1.0, 2.0, 5.0) if np.log10(high / low) < 2.2 else (1.0,)
    axis.set_major_locator(LogLocator(subs=between))
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_formatter(NullFormatter())


def marks(axis: Axes, x: Any, y: Any, look: Look, *, errors: Any = None, **options: Any) -> None:
    """Points with their intervals; the legend shows the point alone."""
    if errors is not None:
        axis.errorbar(x, y, xerr=errors, fmt="none", ecolor=look.color, elinewidth=1, capsize=2, zorder=3)
    drawn: dict[str, Any] = {"color": look.color, "markersize": 5.5, "zorder": 3} | options
    axis.plot(x, y, look.marker, **drawn)


def hollow(axis: Axes, x: Any, y: Any, look: Look, **options: Any) -> None:
    """The paper's points: the mark of ours, larger and empty."""
    marks(axis, x, y, look, markersize=9, markerfacecolor="none", markeredgewidth=0.9, zorder=2, **options)


def short(label: str, limit: int = 24) -> str:
    return label if len(label) <= limit else f"{label[: limit - 1]}…"
