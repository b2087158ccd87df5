"""Whether several solvers of the offline problem agree."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from frugalmct.paper.columns import BUDGET, DATASET, REPETITION, STATUS, Column
from frugalmct.paper.exhibit import CALLS, LABELS, Inputs
from frugalmct.paper.wording import percent

TITLE = "Do the solvers agree?"
SECTION = "solvers"
NEEDS = ("studies/solver_agreement",)
OF = (LABELS, CALLS)
COLUMNS = (
    DATASET, REPETITION, BUDGET,
    Column("solver", "the exact method, or a general solver on what fixing leaves", "text"),
    Column("accuracy", "mean estimated accuracy of the selection", "share"),
    Column("bound", "no selection has a higher mean estimated accuracy", "share"),
    Column("proven", "whether the solver proved that no selection is better", "flag"),
    STATUS,
    Column("difference", "accuracy less that of the exact method"),
)  # fmt: skip
CAPTION = """
The offline problem of every budget, in the first repetition, by three solvers: they must agree.
difference is to the exact method's mean estimated accuracy; proven says whether the solver proved its
answer to be the best, status how it ended. Where calls have costs of their own, the problem has what each
is expected to cost. A solver not done in its time, which is shorter for one that
was stopped before, has time_limit and no numbers: how far it came differs from run to run.
"""
DIFFERS = "Not in the paper: every offline problem of the first repetition is solved by several solvers."
SHOWN_COLUMNS = (Column("proven", "how many problems were proven"),)


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return inputs.rows("studies/solver_agreement")


def reading(table: pd.DataFrame) -> list[str]:
    difference, proven = table["difference"].abs().max(), (table["proven"].astype(str) == "True").mean()
    return [
        f"Over {len(table):,} problems the largest difference in accuracy is {difference:.2g}.",
        f"{percent(proven)} of the solutions are proven to be the best.",
    ]


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset and solver."""
    proven = table.assign(proven=table["proven"].astype(str) == "True", difference=table["difference"].abs())
    groups = proven.groupby(["dataset", "solver"], sort=False)
    return groups.agg(
        problems=("budget", "size"), proven=("proven", "sum"), largest_difference=("difference", "max")
    ).reset_index()
