"""What each service is worth: accuracy and saving when it is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.estimates import Estimates
from frugalmct.paper.columns import DATASET, MONEY, REPETITIONS, SERVICE, Column, with_bounds
from frugalmct.paper.curves import Curve, DatasetResults
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.intervals import interval
from frugalmct.paper.looks import look_of
from frugalmct.paper.names import ONLINE, PER_CALL, WITHOUT
from frugalmct.paper.plotting import INK, new_figure, picture, short, title_of
from frugalmct.paper.printed import printed_of
from frugalmct.paper.wording import points, without_columns
from frugalmct.plans import DELTA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from frugalmct.paper.stages.estimate import RepetitionEstimates

TITLE = "What each service is worth"
SECTION = "own"
NEEDS = ("estimates", "plans", "tradeoff")
OF = (LABELS, CALLS)
SETTINGS = ("datasets", "prices")
COLUMNS = (
    DATASET, SERVICE,
    Column("price", "what it costs", unit=MONEY),
    *with_bounds(Column("loss", "mean accuracy over all budgets that is lost without it", "share")),
    *with_bounds(
        Column("saving_without", "saving at the best service's accuracy, without this service", "share")
    ),
    *with_bounds(Column("saving_with", "the same with all services", "share")),
    Column("method", "the method that does without it", "text"),
    REPETITIONS,
)  # fmt: skip
CAPTION = """
FrugalMCT by the paper's method with one service less, for every service: what accuracy is lost, mean over
the budgets, and what is still saved at the best service's accuracy. From the same estimates: nothing is
learnt anew. A service whose loss is not above 0 can be dropped. 95 % intervals over repetitions.
"""
DIFFERS = "Not in the paper."
NOT_PLUS = (
    "Tried with FrugalMCT, the paper's method: FrugalMCT plus reaches other accuracies and savings, with all "
    "services and without one."
)


def applies(datasets: Mapping[str, str]) -> bool:
    """It answers a question that only owners of services have."""
    return any(not printed_of(name) for name in datasets)


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    own = [name for name in settings["datasets"] if not printed_of(name)] or settings["datasets"]
    tradeoff, plans = inputs.table("tradeoff"), inputs.plans()
    found: dict[str, list[tuple[RepetitionEstimates, int, list[float]]]] = {name: [] for name in own}
    for (dataset, repetition), estimates in inputs.estimates(settings["prices"]):
        if dataset in found:
            budgets = [plan.budget for plan in plans[dataset, repetition]]
            found[dataset].append((estimates, repetition, budgets))
    rows = []
    for results in (DatasetResults(tradeoff, name) for name in own):
        rows += [*worth_rows(results, found[results.dataset]), *call_rows(results)]
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def worth_rows(
    results: DatasetResults, found: list[tuple[RepetitionEstimates, int, list[float]]]
) -> Iterator[dict[str, Any]]:
    """One row per service."""
    if not found or results.best is None:
        return
    services, prices = found[0][0].services, found[0][0].prices
    whole = [reached(estimates, budgets, None) for estimates, _, budgets in found]
    saved = [
        _saving(curve, results, repetition) for curve, (_, repetition, _) in zip(whole, found, strict=True)
    ]
    for number, service in enumerate(services):
        without = [reached(estimates, budgets, number) for estimates, _, budgets in found]
        still = [
            _saving(curve, results, repetition)
            for curve, (_, repetition, _) in zip(without, found, strict=True)
        ]
        lost = [_mean_loss(all_of, less) for all_of, less in zip(whole, without, strict=True)]
        yield (
            {"dataset": results.dataset, "service": service, "price": prices[number]}
            | interval(lost).columns("loss")
            | interval(still).within(-1, 1).columns("saving_without")
            | interval(saved).within(-1, 1).columns("saving_with")
            | {"method": ONLINE, "repetitions": len(found)}
        )


def call_rows(results: DatasetResults) -> Iterator[dict[str, Any]]:
    """One row per service where calls have costs of their own: their jobs tried it without each."""
    if results.of(PER_CALL).empty or results.best is None:
        return
    repetitions = results.repetitions
    whole = [results.of(PER_CALL, repetition) for repetition in repetitions]
    saved = [_saving(rows, results, number) for rows, number in zip(whole, repetitions, strict=True)]
    for service, price in zip(results.singles["service"], results.singles["cost"], strict=True):
        without = [results.of(f"{WITHOUT}{service}", repetition) for repetition in repetitions]
        still = [_saving(rows, results, number) for rows, number in zip(without, repetitions, strict=True)]
        lost = [_mean_loss(all_of, less) for all_of, less in zip(whole, without, strict=True)]
        yield (
            {"dataset": results.dataset, "service": service, "price": price}
            | interval(lost).columns("loss")
            | interval(still).within(-1, 1).columns("saving_without")
            | interval(saved).within(-1, 1).columns("saving_with")
            | {"method": PER_CALL, "repetitions": len(repetitions)}
        )


Reached: TypeAlias = pd.DataFrame
"""Budget, cost and accuracy, one row per budget that pays for some base."""


def reached(estimates: RepetitionEstimates, budgets: list[float], without: int | None) -> Reached:
    """What Algorithm 1 reaches on the test items when a service is left out.

    The base is the one that does best on the training items, by estimates of trees that did not see them.
    """
    bases = {
        base: (_left_out(own.train, without), _left_out(own.test, without))
        for base, own in estimates.by_base.items()
        if base != without
    }
    rows = []
    for budget in budgets:
        tried = [_routed(train, test, budget) for train, test in bases.values() if train.base_cost <= budget]
        if tried:
            _, cost, accuracy = max(tried)
            rows.append({"budget": budget, "cost": cost, "accuracy": accuracy})
    return pd.DataFrame(rows, columns=["budget", "cost", "accuracy"])


def _left_out(estimates: Estimates, without: int | None) -> Estimates:
    """An estimate below any other is never chosen."""
    if without is None or without == estimates.base:
        return estimates
    estimated = estimates.estimated.copy()
    estimated[:, without] = 0.0
    return replace(estimates, estimated=estimated)


def _routed(train: Estimates, test: Estimates, budget: float) -> tuple[float, float, float]:
    """Accuracy on the training items, then cost and accuracy on the test items, at one dual price."""
    price = train.dual_price(budget, DELTA)
    learnt = train.reached(train.route(budget, price)).mean()
    choices = test.route(budget, price)
    return float(learnt), test.cost(choices), float(test.reached(choices).mean())


def _mean_loss(whole: Reached, less: Reached) -> float:
    """At the budgets that both can pay for."""
    both = whole.merge(less, on="budget", suffixes=("", "_less"))
    return float((both["accuracy"] - both["accuracy_less"]).mean()) if len(both) else np.nan


def _saving(found: Reached, results: DatasetResults, repetition: int) -> float:
    best = results.best
    if best is None or not best.cost or found.empty:
        return np.nan
    curve = Curve.of(found["cost"], found["accuracy"])
    return 1 - curve.cheapest(best.by_repetition.get(repetition, np.nan)) / best.cost


def reading(table: pd.DataFrame) -> list[str]:
    lines = []
    for dataset, rows in table.groupby("dataset", sort=False):
        most = rows.loc[rows["loss"].idxmax()]
        idle = ~(rows["loss_high"].fillna(rows["loss"]) > 0)
        open_ones = ~idle & (rows["loss_low"] <= 0)
        line = f"{dataset}: without {most['service']} {points(-most['loss'])} of accuracy, the most"
        if idle.any():
            line += f"; {listed(rows.loc[idle, 'service'])} can be dropped"
        if open_ones.any():
            line += (
                f"; whether {listed(rows.loc[open_ones, 'service'])} can be dropped, these items do not tell"
            )
        if not (idle | open_ones).any():
            line += "; all services earn their place"
        lines.append(f"{line}.")
    if "method" in table and (table["method"] == ONLINE).any():
        lines.append(NOT_PLUS)
    return lines


shown = without_columns("data")


@picture(TITLE, "dataset", "service", "loss")
def plot(table: pd.DataFrame) -> Figure:
    """Bars of what is lost without each service, one panel per dataset."""
    panels = list(table.groupby("dataset", sort=False))
    heights = [len(rows) + 1.5 for _, rows in panels]
    figure = new_figure(6.8, 0.8 + 0.36 * sum(heights))
    axes = figure.subplots(len(panels), squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axis, (dataset, rows) in zip(axes, panels, strict=True):
        _bars(axis, rows.reset_index(drop=True))
        axis.set_title(str(dataset))
    axes[-1].set_xlabel("points of accuracy lost without it, mean over budgets")
    title_of(figure, TITLE)
    return figure


def _bars(axis: Axes, rows: pd.DataFrame) -> None:
    loss, low, high = (100 * rows[name].to_numpy(dtype=float) for name in ("loss", "loss_low", "loss_high"))
    ends = np.nan_to_num([loss - low, high - loss])
    axis.barh(rows.index, loss, 0.6, xerr=ends, color=look_of(ONLINE).color, ecolor=INK, capsize=3)
    axis.set_yticks(rows.index, [short(str(name), 18) for name in rows["service"]])
    axis.invert_yaxis()
    axis.axvline(0, color=INK, linewidth=0.8)
    axis.grid(axis="x")
