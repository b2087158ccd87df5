"""What all pictures share: style, writing, intervals, the stamp on the kind of data, the gap for no data."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from scipy.special import stdtrit

from frugalmct.errors import listed
from frugalmct.figures.methods import Look
from frugalmct.files import replacing
from frugalmct.tables import read_table

STYLE = {
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
NO_TRACES = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}

INK = "#333333"
PAPER_COLOR = "#8c8c8c"
STAMPS = {"SIMULATED DATA": "#b3261e", "REAL DATA": "#1b6e3c"}
WIDE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "PingFang SC", "Arial Unicode MS")
COST_LABEL = "cost (USD per 10,000 items)"


def save_figure(figure: Figure, paths: Iterable[str | Path]) -> None:
    """One figure in the format of each path's ending."""
    for path in map(Path, paths):
        kind = path.suffix.removeprefix(".")
        with replacing(path) as temporary:
            write_figure(figure, temporary, kind)


def write_figure(figure: Figure, target: Path | BinaryIO, kind: str) -> None:
    with mpl.rc_context(STYLE):
        figure.savefig(target, format=kind, metadata=NO_TRACES.get(kind))


def read_for_figure(path: str | Path) -> pd.DataFrame:
    """A table; a file without so much as a header counts as a table without rows."""
    try:
        return read_table(path)
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def rows_of(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """One dataset's rows; none of a table that has no datasets."""
    return table[table["dataset"] == dataset] if "dataset" in table else table.head(0)


def simulated_datasets(statistics: pd.DataFrame) -> set[str]:
    """Of the table of datasets, those for which no real service was asked."""
    return _of_kind(statistics, "simulated")


def released_datasets(statistics: pd.DataFrame) -> set[str]:
    """Of the table of datasets, those with what real services answered, as the authors published it."""
    return _of_kind(statistics, "released")


def _of_kind(statistics: pd.DataFrame, kind: str) -> set[str]:
    if not {"dataset", "data"} <= set(statistics):
        return set()
    return set(statistics.loc[statistics["data"] == kind, "dataset"].astype(str))


@contextmanager
def styled() -> Iterator[None]:
    with mpl.rc_context(STYLE | {"font.family": _font_families()}):
        yield


def _font_families() -> list[str]:
    """The font that is always there, and after it those installed that know other scripts."""
    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in WIDE_FONTS if name in installed)]


def stamp(figure: Figure, words: str | None) -> None:
    """A reader who sees only this picture must know whether a real service was asked."""
    if words:
        figure.text(
            0.995, 0.995, words, ha="right", va="top", color=STAMPS[words], fontsize=9, fontweight="bold"
        )


Plot = Callable[..., Figure]


def picture(title: str, *columns: str) -> Callable[[Plot], Plot]:
    """A plot of the rows that have these columns filled: in our style, stamped, or a gap that says why."""

    def decorated(plot: Plot) -> Plot:
        @wraps(plot)
        def drawn(
            table: pd.DataFrame,
            simulated: Collection[str] = (),
            *options: Any,
            released: Collection[str] = (),
        ) -> Figure:
            with styled():
                if missing := [column for column in columns if column not in table]:
                    without = "the table has no rows" if table.empty else f"no column {listed(missing)}"
                    return gap_figure(title, f"{without} in this run")
                rows = table.dropna(subset=list(columns))
                if rows.empty:
                    return gap_figure(title, reason_of(table))
                figure = plot(rows, *options)
                stamp(figure, stamp_of(rows, simulated, released))
            return figure

        return drawn

    return decorated


def stamp_of(
    rows: pd.DataFrame, simulated: Collection[str] = (), released: Collection[str] = ()
) -> str | None:
    """Simulated if any of it is, real if all of it is; of answers in a file of one's own nothing is known."""
    if "data" in rows:
        any_simulated, all_real = (rows["data"] == "simulated").any(), (rows["data"] == "released").all()
    elif "dataset" in rows:
        datasets = rows["dataset"].astype(str)
        any_simulated, all_real = datasets.isin(simulated).any(), datasets.isin(released).all()
    else:
        any_simulated, all_real = bool(simulated), bool(released)
    if any_simulated:
        return "SIMULATED DATA"
    return "REAL DATA" if all_real else None


def reason_of(table: pd.DataFrame) -> str:
    """Why a table has nothing to draw, in its own words where it has any."""
    if table.empty:
        return "the table has no rows in this run"
    told = table["status"].dropna().astype(str).unique() if "status" in table else []
    return f"every row is without a value ({listed(told)})" if len(told) else "every row is without a value"


def gap_figure(title: str, reason: str) -> Figure:
    """A picture of nothing: a reader must see that something is missing here, and why."""
    with styled():
        figure = Figure(figsize=(6, 1.6))
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


def half_width(values: Sequence[float] | pd.Series) -> float:
    """Of the 95 % t interval of the mean; not known from one repetition."""
    count = len(values)
    if count < 2:
        return float("nan")
    return float(stdtrit(count - 1, 0.975) * np.std(values, ddof=1) / np.sqrt(count))


# From two repetitions the interval is thirteen standard errors wide: a band would only hide the curves.
FEWEST_FOR_BAND = 3


def has_bands(rows: pd.DataFrame) -> bool:
    return "seed" in rows and rows["seed"].nunique() >= FEWEST_FOR_BAND


def means_told(rows: pd.DataFrame) -> str:
    """What a curve is made of, for its title."""
    repetitions = rows["seed"].nunique() if "seed" in rows else 1
    if repetitions < 2:
        return "one repetition"
    return f"mean of {repetitions} repetitions{', 95 % bands' if has_bands(rows) else ''}"


def with_intervals(rows: pd.DataFrame, keys: list[str], value: str, *means: str) -> pd.DataFrame:
    """Per key the mean of a value with its half-width, and the means of other columns, in order."""
    groups = rows.groupby(keys, sort=False)
    columns = {value: groups[value].mean(), "half": groups[value].agg(half_width)}
    columns |= {column: groups[column].mean() for column in means}
    return pd.DataFrame(columns).reset_index()


def legend_below(figure: Figure, axes: Iterable[Axes], columns: int = 4) -> None:
    """One legend for all panels, outside them: it hides no data."""
    entries = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        figure.legend(
            entries.values(), entries.keys(), loc="outside lower center", ncols=min(columns, len(entries))
        )


def plain_log(axis: Axis) -> None:
    """A logarithmic scale with numbers as people write them; ticks between the powers where these are few."""
    if axis.axis_name == "x":
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
    axis.plot(x, y, look.marker, **{"color": look.color, "markersize": 5.5, "zorder": 3} | options)


def hollow(axis: Axes, x: Any, y: Any, look: Look, **options: Any) -> None:
    """The paper's points: the mark of ours, larger and empty."""
    marks(axis, x, y, look, markersize=9, markerfacecolor="none", markeredgewidth=0.9, zorder=2, **options)


def short(label: str, limit: int = 24) -> str:
    return label if len(label) <= limit else f"{label[: limit - 1]}…"
