"""What it costs to be as accurate as the best single service, beside the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import (
    DATASET,
    METHOD,
    MONEY,
    REASON,
    REPETITIONS,
    TASK,
    Column,
    with_bounds,
)
from frugalmct.paper.curves import DatasetResults, datasets_of, joined_reasons, not_reached
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.intervals import interval
from frugalmct.paper.looks import look_of, name_of
from frugalmct.paper.names import (
    BEST_SINGLE,
    CLUSTERS,
    DAP,
    FRUGALML,
    NEAREST,
    ONLINE,
    PER_CALL,
    PLUS,
    RANDOM_MIX,
    THRESHOLD,
)
from frugalmct.paper.plotting import (
    INK,
    PAPER_COLOR,
    common_cost_label,
    legend_below,
    new_figure,
    picture,
    plain_log,
    short,
    title_of,
)
from frugalmct.paper.printed import printed_of
from frugalmct.paper.wording import counted, percent, without_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Cost savings at the best service's accuracy"
SECTION = "paper"
NEEDS = ("tradeoff",)
OF = (LABELS, CALLS)
SETTINGS = ("tasks", "units")
_COST, _COST_LOW, _COST_HIGH = with_bounds(
    Column("cost", "what the method pays to be as accurate as the best service", unit=MONEY)
)
_SAVING, _SAVING_LOW, _SAVING_HIGH = with_bounds(
    Column("saving", "share of the best service's cost that is saved", "share")
)
COLUMNS = (
    DATASET, METHOD, TASK,
    Column("best_service", "the service with the highest mean test accuracy", "text"),
    Column("best_accuracy", "its accuracy", "share"),
    Column("best_cost", "its price", unit=MONEY),
    _COST, _SAVING,
    Column("paper_accuracy", "accuracy of the paper's best service", "share"),
    Column("paper_best_cost", "its price in the paper", unit=MONEY),
    _COST.printed(), _SAVING.printed(),
    _COST_LOW, _COST_HIGH, _SAVING_LOW, _SAVING_HIGH,
    Column("reached", "in how many repetitions that accuracy is reached"),
    REPETITIONS, REASON,
)  # fmt: skip
CAPTION = """
The paper's table of cost savings: what FrugalMCT pays to be as accurate as the best service alone, beside
it FrugalMCT plus, and in the table FrugalML and the dummy predictor (DAP), measured in the same way. The
cost is read off each repetition's test curve, straight between budgets, then averaged over those that
reach it, with 95 % intervals; costs are on a logarithmic scale. The best service is the one with the
highest mean test accuracy; the paper's differs where the data do.
"""
DIFFERS = (
    "The paper prints one number per dataset, for FrugalMCT alone; here it is a mean over repetitions with "
    "its 95 % interval, and the others' savings stand beside it. Between two budgets the curve is taken as "
    "straight. The paper's saving on GMB is 80 %, but the costs it prints there, 4.1 of 30, make 86 %."
)
# The paper's method, ours, and the baselines that heed a budget, each in the paper's form.
METHODS = (ONLINE, PLUS, FRUGALML, DAP)
# Where calls have costs of their own: our method, and the others.
ROUTERS = (PER_CALL, THRESHOLD, NEAREST, CLUSTERS, RANDOM_MIX)
OF_BEST_SERVICE = ("paper_accuracy", "paper_best_cost")
HEADLINE = "Cost saved at the best service's accuracy"


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return cost_savings(inputs.table("tradeoff"), settings["tasks"])


def cost_savings(
    tradeoff: pd.DataFrame, tasks: Mapping[str, str], methods: Sequence[str] = METHODS
) -> pd.DataFrame:
    """What methods pay for the accuracy of the best service, one row per dataset of `tasks` and method.

    FrugalMCT's row is there even if it has no result; a method that was not run is left out. Where calls have
    costs of their own, the methods are those for such calls.
    """
    known = set(tradeoff["method"])
    rows = [
        _savings_row(results, method, tasks[results.dataset])
        for results in datasets_of(tradeoff, list(tasks))
        for method in (methods if results.of(PER_CALL).empty else ROUTERS)
        if method == ONLINE or method in known
    ]
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def _savings_row(results: DatasetResults, method: str, task: str) -> dict[str, Any]:
    row = {
        "dataset": results.dataset,
        "method": method,
        "task": task,
        "repetitions": len(results.repetitions),
        "reached": 0,
    }
    # The paper prints what FrugalMCT saves; its best service is the same for all.
    paper = _paper_savings(results.dataset)
    row |= {key: value for key, value in paper.items() if method == ONLINE or key in OF_BEST_SERVICE}
    best = results.best
    if best is None:
        return row | {"reason": "no result of any single service"}
    costs, savings = results.costs_at_best(method), results.savings(method)
    reached = int(np.isfinite(costs).sum())
    return (
        row
        | {"best_service": best.name, "best_accuracy": best.accuracy, "best_cost": best.cost}
        | interval(costs).within(0).columns("cost")
        | interval(savings).within(most=1).columns("saving")
        | {
            "reached": reached,
            "reason": joined_reasons(
                results.missing(method)
                or not_reached(reached, costs.size, "the best service's accuracy is not reached"),
                "" if best.cost > 0 else "the best service costs nothing",
            ),
        }
    )


def _paper_savings(dataset: str) -> dict[str, float | None]:
    paper = printed_of(dataset).get("paper")
    if not paper:
        return {}
    return {
        "paper_accuracy": paper["best_api"]["accuracy_pct"] / 100,
        "paper_best_cost": paper["best_api"]["cost"],
        "paper_cost": paper["frugalmct_cost_at_that_accuracy"],
        "paper_saving": paper["saving_pct"] / 100,
    }


def of_method(table: pd.DataFrame, method: str = ONLINE) -> pd.DataFrame:
    """One method's rows; a table of one method may not name it. In place of FrugalMCT's, which has one price
    per service, those of FrugalMCT per call where calls have costs of their own."""
    names = [ONLINE, PER_CALL] if method == ONLINE else [method]
    return table[table["method"].isin(names)] if "method" in table else table


def reading(table: pd.DataFrame) -> list[str]:
    online = of_method(table).dropna(subset=["saving"])
    if online.empty:
        return ["No dataset has a saving in this run."]
    least, most = online.loc[online["saving"].idxmin()], online.loc[online["saving"].idxmax()]
    same = online.dropna(subset=["paper_saving"])
    beside = f" The paper's mean over the same datasets is {percent(same['paper_saving'].mean(), 0)}."
    ends = (
        f"It is least on {least['dataset']} ({percent(least['saving'], 0)}) and most on "
        f"{most['dataset']} ({percent(most['saving'], 0)})."
    )
    mean, datasets = percent(online["saving"].mean(), 0), counted(len(online), "dataset")
    return [
        f"The mean saving of FrugalMCT is {mean} over {datasets}." + (beside if len(same) else ""),
        *([ends] if len(online) > 1 else []),
        *_others(table, online),
    ]


def _others(table: pd.DataFrame, online: pd.DataFrame) -> Iterator[str]:
    """Each other method on the datasets on which both reach the best service's accuracy."""
    ours = online.set_index("dataset")["saving"]
    means = []
    for method in (*METHODS[1:], *ROUTERS[1:]):
        theirs = of_method(table, method).dropna(subset=["saving"]).set_index("dataset")["saving"]
        both = ours.index.intersection(theirs.index)
        if len(both):
            means.append(
                f"{name_of(method)} {percent(theirs[both].mean(), 0)} where FrugalMCT saves "
                f"{percent(ours[both].mean(), 0)} ({counted(len(both), 'dataset')})"
            )
    if means:
        yield f"Where both reach that accuracy: {'; '.join(means)}."


shown = without_columns("repetitions", "task", "data")


FRUGAL, BETTER, SERVICE = look_of(ONLINE), look_of(PLUS), look_of(BEST_SINGLE)


@picture(HEADLINE, "dataset", "best_cost")
def plot(table: pd.DataFrame, units: Mapping[str, str] | None = None) -> Figure:
    """Costs on the left, logarithmic since they span four powers of ten; the share saved on the right."""
    plus, table = of_method(table, PLUS), of_method(table).reset_index(drop=True)
    plus = plus.set_index("dataset").reindex(table["dataset"])
    figure = new_figure(8.2, 1.5 + 0.42 * len(table))
    costs, shares = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    places = np.arange(len(table))
    _costs(costs, table, plus, places)
    costs.set_xlabel(common_cost_label(table["dataset"], units))
    _shares(shares, table, plus, places)
    costs.set_yticks(places, [short(str(name), 18) for name in table["dataset"]])
    costs.set_ylim(len(table) - 0.4, -0.6)
    title_of(figure, HEADLINE)
    legend_below(figure, [costs, shares], 3)
    return figure


def _costs(axis: Axes, table: pd.DataFrame, plus: pd.DataFrame, places: np.ndarray) -> None:
    ours, service = table["cost"], table["best_cost"]
    axis.hlines(places, ours, service, color=FRUGAL.color, alpha=0.35, linewidth=3)
    axis.plot(service, places, SERVICE.marker, color=SERVICE.color, markersize=7, label="best service")
    axis.plot(ours, places, FRUGAL.marker, color=FRUGAL.color, markersize=7, label="FrugalMCT, this run")
    if plus["cost"].notna().any():
        axis.plot(
            plus["cost"], places, BETTER.marker, color=BETTER.color, markersize=8, label="FrugalMCT plus"
        )
    if "paper_cost" in table and table["paper_cost"].notna().any():
        axis.plot(
            table["paper_cost"],
            places,
            "o",
            markerfacecolor="none",
            color=PAPER_COLOR,
            markersize=7,
            label="FrugalMCT, paper",
        )
    for place in places[ours.isna().to_numpy()]:
        axis.annotate(
            "not reached", (service.iloc[place], place), (-8, 0), textcoords="offset points",
            ha="right", va="center", fontsize=8, color=INK,
        )  # fmt: skip
    if (pd.concat([ours, plus["cost"], service]).dropna() > 0).all():
        plain_log(axis.xaxis)
    axis.grid(axis="x")


def _shares(axis: Axes, table: pd.DataFrame, plus: pd.DataFrame, places: np.ndarray) -> None:
    """Three bars a dataset: the paper's number below, plus above."""
    if "paper_saving" in table and table["paper_saving"].notna().any():
        axis.barh(places + 0.27, 100 * table["paper_saving"], 0.26, color="#d4d4d4", label="saving, paper")
    least = [0.0]
    for rows, look, offset in ((plus, BETTER, -0.27), (table, FRUGAL, 0.0)):
        shares = 100 * rows["saving"].to_numpy(dtype=float)
        known = np.isfinite(shares)
        if known.any():
            axis.barh(places + offset, shares, 0.26, color=look.color, label=f"saving, {look.name}")
        for place, share in zip(places[known], shares[known], strict=True):
            least.append(float(share))
            axis.annotate(
                f"{share:.0f} %", (max(share, 0), place + offset), (3, 0), textcoords="offset points",
                va="center", fontsize=7, color=INK,
            )  # fmt: skip
    # A loss of several times the cost would leave no room for the savings; its number still says so.
    axis.set_xlim(max(min(least), -50), 112)
    axis.set_xlabel("saving (%)")
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x")
