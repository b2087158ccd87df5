"""One line on how a dataset came out, for whoever watches the run."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from frugalmct.paper.exhibits.cost_savings import cost_savings
from frugalmct.paper.looks import name_of
from frugalmct.paper.names import DONE, ONLINE, PER_CALL, PLUS
from frugalmct.suspicions import few_test_items

ARMS = (ONLINE, PLUS)


def headline(dataset: str, task: str, tradeoff: pd.DataFrame, test_items: int) -> str:
    """From the dataset's rows of the long table, with the numbers that the table of savings will have.

    Withheld where test items are so few that it would be a matter of chance.
    """
    if few := next(few_test_items(test_items), None):
        return f"{dataset} {DONE}. {few}"
    savings = cost_savings(tradeoff, {dataset: task}, ARMS)
    savings = savings[savings["method"].isin((*ARMS, PER_CALL))]
    rows = savings.astype(object).where(savings.notna(), None).to_dict("records")
    if not rows[0]["best_service"]:
        return f"{dataset} {DONE}: {rows[0]['reason']}."
    outcomes = [f"{name_of(row['method'])}: {', '.join(_facts(row))}" for row in rows]
    return f"{dataset} {DONE}: {'; '.join([_best_service(rows[0]), *outcomes])}."


def _best_service(row: Mapping[str, Any]) -> str:
    best = f"best service {row['best_service']}, {100 * row['best_accuracy']:.1f} %"
    return f"{best} at {row['best_cost']:.4g}"


def _facts(row: Mapping[str, Any]) -> Iterator[str]:
    if row["cost"] is not None:
        yield f"as accurate at {row['cost']:{'.2g' if row['cost'] < 99.5 else ',.0f'}}"
    if row["saving"] is not None:
        paper = f" (paper: {100 * row['paper_saving']:.0f} %)" if row["paper_saving"] is not None else ""
        yield f"saving {100 * row['saving']:.0f} %{paper}"
    if row["reason"]:
        yield row["reason"]
