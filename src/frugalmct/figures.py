"""The pictures of results/figures: one look, the same bytes every time, and said of what data they are."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from frugalmct.errors import FrugalError, listed
from frugalmct.files import replacing

STYLE = {
    "figure.dpi": 150,
    "font.size": 9,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "figure.constrained_layout.use": True,
    # Names come from data: a dollar sign in one is not a formula.
    "text.parse_math": False,
    # Text stays text: smaller files, and a browser finds the glyphs of any script.
    "svg.fonttype": "none",
    "svg.hashsalt": "frugalmct",
}
# Without these both formats would carry the time or the version that wrote them.
NO_TRACES = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}

BAR_COLOR = "#2f6f9f"
STAMP_COLOR = "#b3261e"
WIDE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "PingFang SC", "Arial Unicode MS")
LABELS_SHOWN = 80
LABELS_PER_COLUMN = 40


def save_figure(figure: Figure, paths: Iterable[str | Path]) -> None:
    """One figure in the format of each path's ending."""
    for path in map(Path, paths):
        kind = path.suffix.removeprefix(".")
        with replacing(path) as temporary, mpl.rc_context(STYLE):
            figure.savefig(temporary, format=kind, metadata=NO_TRACES.get(kind))


def _font_families() -> list[str]:
    """The font that is always there, and after it those installed that know other scripts."""
    installed = set(font_manager.get_font_names())
    return ["DejaVu Sans", *(name for name in WIDE_FONTS if name in installed)]


def stamp_simulated(figure: Figure) -> None:
    """A reader who sees only this picture must know that no real service was asked."""
    figure.text(
        0.995, 0.995, "SIMULATED DATA", ha="right", va="top", color=STAMP_COLOR, fontsize=9, fontweight="bold"
    )


def plot_label_distribution(table: pd.DataFrame, dataset: str) -> Figure:
    """Share of a dataset's items that have each label, most frequent first."""
    rows = table[table["dataset"] == dataset]
    if rows.empty:
        raise FrugalError(f"No labels of {dataset} in the table; it has {listed(table['dataset'].unique())}.")
    shown = rows.head(LABELS_SHOWN)
    starts = range(0, len(shown), LABELS_PER_COLUMN)
    columns = [shown.iloc[start : start + LABELS_PER_COLUMN] for start in starts]
    # The rarer labels mostly need less room: a narrower column of the same scale.
    most = shown["share"].iloc[0]
    widths = [max(part["share"].iloc[0] / most, 0.5) for part in columns]
    widest = 112 * most
    with mpl.rc_context(STYLE | {"font.family": _font_families()}):
        figure = Figure(figsize=(5.4 * sum(widths), 1.2 + 0.165 * len(columns[0])))
        axes = figure.subplots(1, len(columns), squeeze=False, width_ratios=widths)[0]
        for axis, part, width in zip(axes, columns, widths, strict=True):
            _label_bars(axis, part)
            axis.set_xlim(0, widest * width)
            axis.xaxis.set_major_locator(MaxNLocator(max(round(6 * width), 2), steps=[1, 2, 5, 10]))
        of_all = f"{len(shown)} most frequent of {len(rows):,}" if len(rows) > len(shown) else f"{len(rows)}"
        figure.suptitle(f"{dataset}: how often each label occurs ({of_all} labels)", x=0.01, ha="left")
        figure.supxlabel("items with the label (%)", fontsize=9)
        if (rows["data"] == "simulated").any():
            stamp_simulated(figure)
    return figure


def _label_bars(axis: Axes, part: pd.DataFrame) -> None:
    places = np.arange(len(part))
    percent = part["share"].to_numpy() * 100
    axis.barh(places, percent, height=0.72, color=BAR_COLOR)
    axis.set_yticks(places, [_short(str(label)) for label in part["label"]], fontsize=7.5)
    axis.set_ylim(len(part) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", color="#dddddd", linewidth=0.6)
    for place, value in zip(places, percent, strict=True):
        axis.annotate(
            f"{value:.2g}" if value < 1 else f"{value:.1f}",
            (value, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            color="#444444",
        )


def _short(label: str, limit: int = 24) -> str:
    return label if len(label) <= limit else f"{label[: limit - 1]}…"
