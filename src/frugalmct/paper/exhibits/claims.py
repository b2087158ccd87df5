"""Every claim of the paper, tested on this run's numbers."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from frugalmct.paper.claims.claim import CANNOT, FAILS, HOLDS
from frugalmct.paper.claims.claim import DIFFERS as OTHER_DATA
from frugalmct.paper.claims.registry import claims_table
from frugalmct.paper.claims.results import Results
from frugalmct.paper.columns import DATA, Column
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.printed import printed_of

TITLE = "Every claim, tested"
SECTION = "claims"
NEEDS = (
    "tradeoff", "ensembles", "case_study", "runtime", "solver_runtime", "solver_agreement", "training_size",
    "predictor_quality", "predictors", "per_label", "label_distribution", "dataset_statistics",
    "service_prices", "worked_examples", "robustness",
)  # fmt: skip
SETTINGS = ("dropped", "train_share")
COLUMNS = (
    Column("claim", "what the paper says", "text"),
    Column("place", "where it says so", "text"),
    Column("measured", "this run's numbers; after `plus`, those of frugalmct_plus", "text"),
    Column("test", "what is asked of them", "text"),
    Column("verdict", f"{HOLDS}, {FAILS}, {CANNOT}, or {OTHER_DATA}", "text"),
    Column(
        "note", "what else there is to know; why it cannot be tested; where a verdict is circular", "text"
    ),
    DATA,
)
CAPTION = """
Every claim of the paper with its place, this run's numbers, the test, and the verdict that the test gives.
What fails stands first. Intervals are of 95 % over random splits of one dataset, paired by split and
corrected for their overlap (Nadeau and Bengio 2003); they say nothing of other datasets. Where a claim
states numbers of the paper's own data, and the data of this run are others, a miss is said to differ because
of data. The claims are tested for frugalmct_online, which follows the paper; numbers after plus are of
frugalmct_plus.
"""
DIFFERS = (
    "The paper tests none of its claims for significance. A verdict comes from the test beside it. On "
    "simulated data a number is said to be so far from the paper's, never better, and verdicts that follow "
    "from what the simulation is fitted to are called circular."
)


def applies(datasets: Mapping[str, str]) -> bool:
    """The paper claims nothing of other datasets."""
    return any(map(printed_of, datasets))


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    kinds = settings["data"]
    tables = {name: _of(inputs.table(name), kinds) for name in NEEDS if inputs.files.get(name)}
    results = Results(tables, kinds, settings["dropped"], 1 - settings["train_share"])
    return claims_table(results).assign(data=", ".join(dict.fromkeys(kinds.values())))


def _of(table: pd.DataFrame, datasets: Mapping[str, str]) -> pd.DataFrame:
    """The rows of datasets that the paper's method is run on: of label sets, with a price per service."""
    return table[table["dataset"].isin(datasets)] if "dataset" in table else table


def reading(table: pd.DataFrame) -> list[str]:
    counts = table["verdict"].value_counts()
    told = [
        f"{verdict} {counts[verdict]}" for verdict in (HOLDS, FAILS, OTHER_DATA, CANNOT) if verdict in counts
    ]
    failed = table.loc[table["verdict"] == FAILS, "claim"]
    lines = [f"Of {len(table)} claims: {'; '.join(told)}."]
    return [
        *lines,
        *([f"The first that does not hold: {str(failed.iloc[0]).rstrip('.')}."] if len(failed) else []),
    ]
