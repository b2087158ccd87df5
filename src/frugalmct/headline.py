"""One line on how a dataset came out, for whoever watches the run."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from frugalmct.results import collect_tradeoff, cost_savings


def headline(dataset: str, task: str, parts: Sequence[pd.DataFrame]) -> str:
    """From the dataset's rows of the long table, with the numbers that the table of savings will have."""
    savings = cost_savings(collect_tradeoff(parts), {dataset: task})
    row = savings.astype(object).where(savings.notna(), None).iloc[0].to_dict()
    return f"{dataset} is done: {'; '.join(_told(row))}."


def _told(row: Mapping[str, Any]) -> list[str]:
    told = []
    if row["best_service"]:
        best = f"best service {row['best_service']}, {100 * row['best_accuracy']:.1f} %"
        told.append(f"{best} at {row['best_cost']:.4g}")
    if row["frugalmct_cost"] is not None:
        told.append(f"FrugalMCT as accurate at {row['frugalmct_cost']:.2g}")
    if row["saving"] is not None:
        paper = f" (paper: {100 * row['paper_saving']:.0f} %)" if row["paper_saving"] is not None else ""
        told.append(f"saving {100 * row['saving']:.0f} %{paper}")
    if row["reason"]:
        told.append(row["reason"])
    return told
