"""The cheapest budget for a target accuracy: what the test shows, and what training promised."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from frugalmct.paper.columns import BUDGET, DATASET, MONEY, REASON, REPETITIONS, SERVICE, Column, with_bounds
from frugalmct.paper.curves import DatasetResults, datasets_of, joined_reasons, not_reached
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.intervals import interval
from frugalmct.paper.names import ONLINE, PER_CALL, PLUS
from frugalmct.paper.wording import without_columns
from frugalmct.select import Frontier

if TYPE_CHECKING:
    from frugalmct.paper.stages.estimate import RepetitionEstimates

TITLE = "The cheapest budget for a target accuracy"
SECTION = "beyond"
NEEDS = ("tradeoff", "estimates")
OF = (LABELS, CALLS)
SETTINGS = ("datasets", "prices")
COLUMNS = (
    DATASET,
    Column("target", "the accuracy to reach, in words", "text"),
    SERVICE,
    Column("points", "points of accuracy above that service"),
    Column("target_accuracy", "the accuracy to reach", "share"),
    *with_bounds(BUDGET),
    Column("reached", "in how many repetitions some budget reaches it"),
    *with_bounds(Column("plus_budget", "the cheapest budget of FrugalMCT plus that reaches it", unit=MONEY)),
    Column("plus_reached", "in how many repetitions it does"),
    *with_bounds(
        Column("predicted_budget", "the budget that training estimates say", unit=MONEY), "predicted",
    ),
    Column("predicted_reached", "in how many repetitions those estimates reach it"),
    REPETITIONS, REASON,
)  # fmt: skip
CAPTION = """
The cheapest budget at which FrugalMCT is as accurate as each service alone, and 1 to 3 points above the
best: read off the test curve (budget; of FrugalMCT plus plus_budget), and foreseen from FrugalMCT's
estimates of training items only (predicted_budget). The target is one number per dataset, the mean over
repetitions. Empty where out of reach, with the reason; means and 95 % intervals are over the repetitions
that reach it. Where calls have costs of their own, budget is of FrugalMCT per call, and the others are empty.
"""
DIFFERS = "Not in the paper. “Predicted” is what the training items promise before any test item is seen."
POINTS_ABOVE_BEST = (1, 2, 3)


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    estimates = inputs.estimates(settings["prices"])
    foresight = {cell: foreseen_budget(found) for cell, found in estimates}
    return cheapest_budgets(inputs.table("tradeoff"), foresight, settings["datasets"])


def foreseen_budget(estimates: "RepetitionEstimates") -> Callable[[float], float]:
    """Target accuracy -> the budget it takes by the training estimates, with the cheapest of the bases."""
    return partial(_cheapest_budget, [own.train.frontier for own in estimates.by_base.values()])


def _cheapest_budget(frontiers: Sequence[Frontier], target: float) -> float:
    found = [frontier.cheapest_budget(target) for frontier in frontiers if target <= frontier.accuracies[-1]]
    return min(found, default=np.nan)


Foresight = Mapping[tuple[str, int], Callable[[float], float]]
"""(dataset, repetition) -> the budget that a target accuracy is estimated to take, NaN out of reach."""


def cheapest_budgets(tradeoff: pd.DataFrame, foresight: Foresight, datasets: Sequence[str]) -> pd.DataFrame:
    """What a target accuracy takes: read off the test curve, and foreseen from the training estimates."""
    rows = [row for results in datasets_of(tradeoff, datasets) for row in _budget_rows(results, foresight)]
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def _budget_rows(results: DatasetResults, foresight: Foresight) -> Iterator[dict[str, Any]]:
    count = len(results.repetitions)
    head = {"dataset": results.dataset, "repetitions": count}
    head |= dict.fromkeys(("reached", "plus_reached", "predicted_reached"), 0)
    if results.best is None:
        yield head | {"reason": "no result of any single service"}
        return
    calls = not results.of(PER_CALL).empty
    arm = PER_CALL if calls else ONLINE
    for target in _targets(results):
        wanted = target["target_accuracy"]
        needed, plus = _needed(results, arm, wanted), _needed(results, PLUS, wanted)
        foreseen = [
            np.nan if calls else foresight[results.dataset, repetition](wanted)
            for repetition in results.repetitions
        ]
        reached, better, hoped = (int(np.isfinite(budgets).sum()) for budgets in (needed, plus, foreseen))
        yield (
            head
            | target
            | interval(needed).within(0).columns("budget")
            | interval(plus).within(0).columns("plus_budget")
            | interval(foreseen).within(0).columns("predicted_budget", "predicted")
            | {"reached": reached}
            | dict.fromkeys(("plus_reached", "predicted_reached"))
            | ({} if calls else {"plus_reached": better, "predicted_reached": hoped})
            | {
                "reason": joined_reasons(
                    results.missing(arm) or not_reached(reached, count, "out of reach of the test curve"),
                    ""
                    if calls
                    else results.missing(PLUS) or not_reached(better, count, "out of reach of plus"),
                    "" if calls else not_reached(hoped, count, "out of reach of the training estimates"),
                )
            }
        )


def _needed(results: DatasetResults, method: str, target: float) -> list[float]:
    """The cheapest budget of each repetition, by its test curve."""
    curves = (results.curve(method, repetition, "budget") for repetition in results.repetitions)
    return [curve.cheapest(target) for curve in curves]


def _targets(results: DatasetResults) -> Iterator[dict[str, Any]]:
    """Every service's own accuracy, then whole points above the best."""
    for service, accuracy in zip(results.singles["service"], results.singles["accuracy"], strict=True):
        yield {"target": f"as {service}", "service": service, "points": 0, "target_accuracy": accuracy}
    best = results.best
    if best is None:
        return
    for points in POINTS_ABOVE_BEST:
        yield {
            "target": f"{best.name} + {points} points" if points > 1 else f"{best.name} + 1 point",
            "service": best.name,
            "points": points,
            "target_accuracy": best.accuracy + points / 100,
        }


def reading(table: pd.DataFrame) -> list[str]:
    reached, plus = table["budget"].notna().sum(), table["plus_budget"].notna().sum()
    by_plus = "" if table["plus_reached"].isna().all() else f", {plus} by FrugalMCT plus"
    return [
        f"{reached} of {len(table)} targets are reached by some budget{by_plus}.",
        "A target is the accuracy of a service, or a few points more than the best one's.",
    ]


shown = without_columns("repetitions", "data")
