"""FrugalMCT beside votes over all services: accuracy, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import (
    ACCURACY,
    BUDGET,
    COST,
    DATASET,
    METHOD,
    REASON,
    REPETITIONS,
    SERVICE,
    with_bounds,
)
from frugalmct.paper.curves import ROUNDING, DatasetResults, datasets_of, joined_reasons, not_reached
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.intervals import interval
from frugalmct.paper.looks import in_order, look_of, name_of
from frugalmct.paper.names import (
    BEST_SINGLE,
    DAP_BEST_BASE,
    FRUGALMCT,
    FRUGALML,
    FRUGALML_COMBINED,
    FRUGALML_LEARNED,
    FRUGALML_THRESHOLDS,
    MAJORITY,
    MAJORITY_ABSTAINING,
    ONLINE,
    PLUS,
    WEIGHTED,
    WEIGHTED_ABSTAINING,
    single,
)
from frugalmct.paper.plotting import (
    common_cost_label,
    hollow,
    legend_below,
    marks,
    new_figure,
    picture,
    plain_log,
    short,
    title_of,
)
from frugalmct.paper.printed import printed_of
from frugalmct.paper.wording import without_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Comparison with ensembles"
SECTION = "paper"
NEEDS = ("tradeoff",)
SETTINGS = ("datasets", "units")
COLUMNS = (
    DATASET, METHOD, *with_bounds(ACCURACY), COST, ACCURACY.printed(), COST.printed(), SERVICE, BUDGET,
    REPETITIONS, REASON,
)  # fmt: skip
CAPTION = """
The paper's comparison with ensembles: accuracy (left, with 95 % intervals over repetitions) and cost
(right, logarithmic) of the best service, FrugalML, FrugalMCT and both votes. FrugalMCT and FrugalML are
shown at the least cost at which their mean test accuracy is within 0.05 points of the best over all
budgets; votes call every service. Hollow marks are the paper's numbers. The table has further rows: the
baselines with what FrugalMCT gets (silent services that abstain, a θ per service, the combiner, the best base
for each budget), and frugalmct_plus.
"""
DIFFERS = (
    "Of budgets whose accuracies differ by less than 0.05 points, the cheapest is shown. In the table also "
    "the baselines in forms that get what FrugalMCT gets, and FrugalML with the combiner of plus."
)
HEADLINE = "FrugalMCT and ensembles"

# The paper's name of each row -> the method of the long table.
ENSEMBLES = {
    BEST_SINGLE: None,
    FRUGALML: FRUGALML,
    FRUGALMCT: ONLINE,
    MAJORITY: MAJORITY,
    WEIGHTED: WEIGHTED,
}
# Not in the paper, and only in the table: ours, and the baselines with what FrugalMCT gets.
FAIR = (
    PLUS, FRUGALML_THRESHOLDS, FRUGALML_COMBINED, FRUGALML_LEARNED, DAP_BEST_BASE, MAJORITY_ABSTAINING,
    WEIGHTED_ABSTAINING,
)  # fmt: skip
# Budgets whose mean accuracy is this close to the best count as reaching it; the cheapest of them is shown.
AS_GOOD = 0.0005


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return ensembles(inputs.table("tradeoff"), settings["datasets"])


def ensembles(tradeoff: pd.DataFrame, datasets: Sequence[str]) -> pd.DataFrame:
    """Each method at the least cost at which it is as accurate as it gets; of FAIR those that were run."""
    known = set(tradeoff["method"])
    compared = ENSEMBLES | {method: method for method in FAIR if method in known}
    rows = [
        _ensemble_row(results, name, method)
        for results in datasets_of(tradeoff, datasets)
        for name, method in compared.items()
    ]
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def _ensemble_row(results: DatasetResults, name: str, method: str | None) -> dict[str, Any]:
    paper = printed_of(results.dataset).get("paper", {}).get("ensembles_accuracy_pct_and_cost", {})
    row: dict[str, Any] = {"dataset": results.dataset, "method": name, "repetitions": 0}
    if name in paper:
        accuracy, cost = paper[name]
        row |= {"paper_accuracy": accuracy / 100, "paper_cost": cost}
    if method is None:
        if results.best is None:
            return row | {"reason": "no result of any single service"}
        row["service"] = results.best.name
        method = single(results.best.name)
    rows = results.of(method)
    if rows.empty:
        return row | {"reason": results.missing(method)}
    budget = cheapest_of_the_best(rows)
    chosen = rows[rows["budget"] == budget]
    return (
        row
        | interval(chosen["accuracy"]).within(0, 1).columns("accuracy")
        | {"cost": chosen["cost"].mean(), "budget": budget, "repetitions": len(chosen)}
        | {"reason": joined_reasons(not_reached(len(chosen), len(results.repetitions), "no result"))}
    )


def cheapest_of_the_best(rows: pd.DataFrame) -> float:
    """Of the budgets whose mean accuracy is within `AS_GOOD` of the highest, that with the least cost."""
    means = rows.groupby("budget")[["accuracy", "cost"]].mean()
    as_good = means[means["accuracy"] >= means["accuracy"].max() - AS_GOOD - ROUNDING]
    return float(as_good["cost"].idxmin())


def reading(table: pd.DataFrame) -> list[str]:
    means = table.pivot_table(index="dataset", columns="method", values=["accuracy", "cost"])
    accuracy, cost = means["accuracy"], means["cost"]
    if FRUGALMCT not in accuracy:
        return ["FrugalMCT has no value in this run."]
    lines = []
    for other in (WEIGHTED, MAJORITY):
        if other in accuracy:
            ahead = (accuracy[FRUGALMCT] >= accuracy[other] - 1e-9).sum()
            ratio = (cost[other] / cost[FRUGALMCT]).median()
            lines.append(
                f"FrugalMCT is at or above the {name_of(other).lower()} on {ahead} of {len(means)} datasets; "
                f"the vote costs {ratio:.1f} times as much (median)."
            )
    return lines


shown = without_columns("repetitions", "data")


@picture(HEADLINE, "dataset", "method", "accuracy", "cost")
def plot(table: pd.DataFrame, units: Mapping[str, str] | None = None) -> Figure:
    """What the paper compares: accuracy on the left (the paper's hollow), cost on the right."""
    table = table[~table["method"].isin(FAIR)]
    datasets, methods = list(table["dataset"].unique()), in_order(table["method"].astype(str))
    figure = new_figure(8.2, 1.5 + 0.52 * len(datasets))
    accuracy, cost = axes = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    offsets = np.linspace(-0.3, 0.3, len(methods)) if len(methods) > 1 else [0.0]
    for method, offset in zip(methods, offsets, strict=True):
        own, look = table[table["method"] == method], look_of(method)
        places = np.array([datasets.index(dataset) for dataset in own["dataset"]]) + offset
        marks(accuracy, 100 * own["accuracy"], places, look, errors=_errors(own), label=look.name)
        marks(cost, own["cost"], places, look)
        if "paper_accuracy" in own:
            hollow(accuracy, 100 * own["paper_accuracy"], places, look)
            hollow(cost, own["paper_cost"], places, look)
    if "paper_accuracy" in table and table["paper_accuracy"].notna().any():
        hollow(accuracy, [], [], look_of(BEST_SINGLE), label="hollow: the paper's")
    for axis in axes:
        axis.grid(axis="x")
        for border in np.arange(1, len(datasets)) - 0.5:
            axis.axhline(border, color="#cccccc", linewidth=0.8)
    accuracy.set_yticks(np.arange(len(datasets)), [short(str(name), 18) for name in datasets])
    accuracy.set_ylim(len(datasets) - 0.5, -0.5)
    accuracy.set_xlabel("accuracy (%)")
    cost.set_xlabel(common_cost_label(datasets, units))
    if (table["cost"] > 0).all():
        plain_log(cost.xaxis)
    title_of(figure, HEADLINE)
    legend_below(figure, axes, 3)
    return figure


def _errors(rows: pd.DataFrame) -> np.ndarray | None:
    if not {"accuracy_low", "accuracy_high"} <= set(rows):
        return None
    low, high = rows["accuracy"] - rows["accuracy_low"], rows["accuracy_high"] - rows["accuracy"]
    return 100 * np.vstack([low.fillna(0).clip(lower=0), high.fillna(0).clip(lower=0)])
