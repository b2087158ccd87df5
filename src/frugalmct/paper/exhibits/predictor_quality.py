"""How good the estimates of accuracy are, beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import BASE, DATASET, REPETITION, Column
from frugalmct.paper.exhibit import CALLS, LABELS, Cell, Inputs
from frugalmct.paper.intervals import with_intervals
from frugalmct.paper.looks import look_of, predictor_name
from frugalmct.paper.names import DAP, DUMMY, ONLINE
from frugalmct.paper.plotting import INK, hollow, legend_below, marks, new_figure, picture, short, title_of
from frugalmct.paper.printed import printed_of
from frugalmct.plans import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from frugalmct.paper.stages.call_estimates import RepetitionCalls
    from frugalmct.paper.stages.estimate import RepetitionEstimates

TITLE = "Quality of the accuracy predictors"
SECTION = "paper"
NEEDS = ("estimates", "plans", "call_estimates")
OF = (LABELS, CALLS)
SETTINGS = ("predictor", "prices")
_RMSE = Column("rmse", "root mean square error of estimated accuracy on test items", head="RMSE")
_PCC = Column("pcc", "correlation of estimated with true accuracy on test items", head="correlation")
COLUMNS = (
    DATASET, Column("predictor", "what made the estimates", "text"), REPETITION, _RMSE, _PCC, _RMSE.printed(),
    _PCC.printed(), BASE,
    Column(
        "cost_pcc", "correlation of estimated with true cost of a call, where calls have costs of their own",
        head="correlation of costs",
    ),
)  # fmt: skip
CAPTION = """
The paper's table of predictor performance: root mean square error and correlation of estimated with true
accuracy on test items, mean over the services, with 95 % intervals. "mean" is the dummy, which estimates
the same for every item: its correlation is 0, the paper's is 0 up to noise. Hollow marks are the paper's
numbers. Where calls have costs of their own, accuracy is the quality of a service's answer, estimated once
those have answered who are asked first, and what a call will cost is estimated too.
"""
DIFFERS = (
    "The dummy's correlation is 0 by definition (a constant); the paper prints small numbers about 0. "
    "The table has means over repetitions."
)
# The paper's words for the predictors it measures.
PAPER_PREDICTORS = {"random_forest": "random_forest", DUMMY: "dummy"}


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    plans = inputs.plans()
    rows = [
        row
        for cell, estimates in inputs.estimates(settings["prices"])
        for row in quality_rows(cell, estimates, plans[cell], settings["predictor"])
    ]
    rows += [row for cell, calls in inputs.call_estimates() for row in call_rows(cell, calls)]
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def quality_rows(
    cell: Cell, estimates: RepetitionEstimates, plans: Sequence[Plan], predictor: str
) -> Iterator[dict[str, Any]]:
    """RMSE and correlation of the predictor and of the dummy, for every base that a plan uses."""
    dataset, repetition = cell
    for base in sorted({plan.base for plan in plans}):
        own = estimates.by_base[base]
        compared = {predictor: own.test} | ({} if predictor == DUMMY else {DUMMY: own.dummy().test})
        for name, test in compared.items():
            yield (
                {"dataset": dataset, "predictor": name, "repetition": repetition}
                | test.quality()
                | _paper_quality(dataset, name)
                | {"base": estimates.services[base]}
            )


def call_rows(cell: Cell, calls: RepetitionCalls) -> Iterator[dict[str, Any]]:
    """The same for all who are asked first at some budget."""
    from frugalmct.percall.fitting import PREDICTOR

    dataset, repetition = cell
    for first, own in calls.by_first.items():
        for name, test in ((PREDICTOR, own.test), (DUMMY, own.dummy().test)):
            yield (
                {"dataset": dataset, "predictor": name, "repetition": repetition}
                | test.errors()
                | {"base": calls.names(first)}
            )


def _paper_quality(dataset: str, predictor: str) -> dict[str, float]:
    paper = printed_of(dataset).get("paper", {}).get("predictor", {})
    word = PAPER_PREDICTORS.get(predictor)
    return {f"paper_{measure}": paper.get(f"{measure}_{word}") for measure in ("rmse", "pcc")}


def reading(table: pd.DataFrame) -> list[str]:
    means = table.groupby("predictor", sort=False)[["rmse", "pcc"]].mean()
    return [
        f"{str(name).replace('_', ' ')}: RMSE {row['rmse']:.2f} and correlation {row['pcc']:.2f}, "
        "means over datasets."
        for name, row in means.iterrows()
    ]


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Means over repetitions and bases."""
    numbers = table.drop(columns=["repetition"], errors="ignore").dropna(axis="columns", how="all")
    means = numbers.groupby(["dataset", "predictor"], sort=False).mean(numeric_only=True).reset_index()
    return means.assign(predictor=means["predictor"].astype(str).str.replace("_", " "))


MEASURES = {"rmse": "RMSE (lower is better)", "pcc": "correlation (higher is better)"}


@picture(TITLE, "dataset", "predictor", "rmse")
def plot(table: pd.DataFrame) -> Figure:
    """One panel per measure; ours filled, the paper's hollow."""
    datasets = list(table["dataset"].unique())
    figure = new_figure(8.2, 1.4 + 0.34 * len(datasets))
    axes = figure.subplots(1, len(MEASURES), sharey=True)
    for axis, (measure, label) in zip(axes, MEASURES.items(), strict=True):
        for predictor in table["predictor"].unique():
            _points(axis, table[table["predictor"] == predictor], str(predictor), measure, datasets)
        axis.set_xlabel(label)
        axis.grid(axis="x")
    axes[0].set_yticks(np.arange(len(datasets)), [short(str(name), 18) for name in datasets])
    axes[0].set_ylim(len(datasets) - 0.4, -0.6)
    title_of(figure, TITLE)
    legend_below(figure, axes, 4)
    return figure


def _points(axis: Axes, rows: pd.DataFrame, predictor: str, measure: str, datasets: list[str]) -> None:
    look = look_of(DAP if predictor == DUMMY else ONLINE)
    if measure not in rows:
        return
    ours = with_intervals(rows, ["dataset"], measure)
    places = np.array([datasets.index(dataset) for dataset in ours["dataset"]])
    name = predictor_name(predictor)
    marks(axis, ours[measure], places, look, errors=ours["half"].fillna(0), label=f"{name}, this run")
    paper = f"paper_{measure}"
    if paper in rows and rows[paper].notna().any():
        theirs = rows.groupby("dataset", sort=False)[paper].first().reindex(ours["dataset"])
        hollow(axis, theirs, places, look, label=f"{name}, paper")
    if measure == "pcc":
        axis.axvline(0, color=INK, linewidth=0.6)
