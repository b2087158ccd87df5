"""When each job ran: a lane for every job that ran at the same time, a colour for every long rule."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from frugalmct.paper.plotting import legend_below, new_figure, picture, title_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Paul Tol's muted colours and three between: as many rules as a reader can tell apart.
COLORS = (
    "#332288", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77", "#cc6677", "#882255", "#aa4499",
    "#6699cc", "#e69f00",
)  # fmt: skip
OTHER_COLOR = "#bbbbbb"
# A run is never idle for as long; jobs before such a pause are an earlier run's.
LONGEST_PAUSE = 300.0


def last_run(jobs: pd.DataFrame) -> pd.DataFrame:
    """The jobs since the last long pause, by their start."""
    ordered = jobs.sort_values(["start", "end"], ignore_index=True)
    busy_until = ordered["end"].cummax().shift()
    pauses = np.flatnonzero(ordered["start"] - busy_until > LONGEST_PAUSE)
    return ordered.iloc[pauses[-1] if len(pauses) else 0 :].reset_index(drop=True)


def lanes(starts: Sequence[float], ends: Sequence[float]) -> list[int]:
    """For jobs by their start the lowest lane that is free then: no more lanes than ran at once."""
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    taken = []
    for start, end in zip(starts, ends, strict=True):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (end, lane))
        taken.append(lane)
    return taken


@picture("When each job ran", "rule", "start", "end")
def plot_jobs(jobs: pd.DataFrame) -> Figure:
    """Of the last run; `start` and `end` in seconds since 1970."""
    jobs = last_run(jobs)
    began, ended = jobs["start"].min(), jobs["end"].max()
    unit, word = (60.0, "minutes") if ended - began >= 180 else (1.0, "seconds")
    jobs = jobs.assign(
        lane=lanes(jobs["start"].tolist(), jobs["end"].tolist()),
        seconds=jobs["end"] - jobs["start"],
        place=(jobs["start"] - began) / unit,
    )
    count = int(jobs["lane"].max()) + 1
    figure = new_figure(10, min(2.2 + 0.4 * count, 12))
    axis = figure.subplots()
    for name, color, rows in _by_rule(jobs):
        label = f"{name}: {rows['seconds'].sum():,.0f} s"
        axis.barh(
            rows["lane"], rows["seconds"] / unit, 0.86, rows["place"],
            color=color, edgecolor="white", linewidth=0.2, label=label,
        )  # fmt: skip
    axis.set_ylim(count - 0.5, -0.5)
    axis.set_yticks(range(count) if count <= 16 else [])
    axis.set_yticklabels([str(lane + 1) for lane in range(count)] if count <= 16 else [])
    axis.set_ylabel("jobs at once")
    axis.set_xlim(0, max((ended - began) / unit, 1e-9))
    axis.set_xlabel(f"{word} since {datetime.fromtimestamp(began, UTC):%Y-%m-%d %H:%M:%S} UTC")
    busy = jobs["seconds"].sum() / (count * max(ended - began, 1e-9))
    title_of(figure, f"{len(jobs)} jobs, up to {count} at once, lanes {100 * busy:.0f} % busy")
    legend_below(figure, [axis])
    return figure


def _by_rule(jobs: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Name, colour and jobs of the rules that took longest, and of all others together."""
    order = jobs.groupby("rule")["seconds"].sum().sort_values(ascending=False, kind="stable").index
    several = len(order) > len(COLORS)
    own = order[: len(COLORS)]
    parts = [(rule, color, jobs[jobs["rule"] == rule]) for rule, color in zip(own, COLORS, strict=False)]
    if several:
        rest = jobs[~jobs["rule"].isin(own)]
        parts.append((f"{len(order) - len(own)} other rules", OTHER_COLOR, rest))
    return parts
