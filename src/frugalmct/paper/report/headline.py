"""One line on how a dataset came out, for whoever watches the run."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from frugalmct.paper.exhibits.cost_savings import cost_savings
from frugalmct.paper.names import DONE
from frugalmct.suspicions import few_test_items


def headline(dataset: str, task: str, tradeoff: pd.DataFrame, test_items: int) -> str:
    """From the dataset's rows of the long table, with the numbers that the table of savings will have.

    Withheld where test items are so few that it would be a matter of chance.
    """
    if few := next(few_test_items(test_items), None):
        return f"{dataset} {DONE}. {few}"
    savings = cost_savings(tradeoff, {dataset: task})
    row = savings.astype(object).where(savings.notna(), None).iloc[0].to_dict()
    return f"{dataset} {DONE}: {'; '.join(_facts(row))}."


def _facts(row: Mapping[str, Any]) -> Iterator[str]:
    if row["best_service"]:
        best = f"best service {row['best_service']}, {100 * row['best_accuracy']:.1f} %"
        yield f"{best} at {row['best_cost']:.4g}"
    if row["cost"] is not None:
        yield f"FrugalMCT as accurate at {row['cost']:.2g}"
    if row["saving"] is not None:
        paper = f" (paper: {100 * row['paper_saving']:.0f} %)" if row["paper_saving"] is not None else ""
        yield f"saving {100 * row['saving']:.0f} %{paper}"
    if row["reason"]:
        yield row["reason"]
