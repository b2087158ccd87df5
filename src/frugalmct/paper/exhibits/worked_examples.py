"""A few test items, from the base's answer over the estimates and the decision to the combined answer."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from frugalmct.paper.columns import BASE, BUDGET, COST, DATA, DATASET, Column
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.wording import percent, without_columns

TITLE = "Worked examples"
SECTION = "paper"
NEEDS = ("studies/worked_examples",)
COLUMNS = (
    DATASET, BUDGET,
    Column("example", "what the item shows", "text"),
    Column("item", "the item's name", "text"),
    BASE,
    Column("base_answer", "the base's labels with their scores", "text"),
    Column("estimates", "estimated accuracy of the base with each service", "text"),
    Column("net_values", "estimates less dual price times cost; the highest one decides", "text"),
    Column("decision", "whom to call", "text"),
    Column("addon_answer", "the labels of the service called", "text"),
    Column("combined_answer", "the labels that were kept", "text"),
    Column("truth", "the true labels", "text"),
    Column("base_accuracy", "accuracy of the base's own answer", "share"),
    Column("result_accuracy", "accuracy of the combined answer", "share"),
    COST, DATA,
)  # fmt: skip
CAPTION = """
The paper's first figure, c and d: a few test items from the base's answer over the estimates and the
decision to the combined answer and the truth. net_values are the estimates less dual price times cost;
the highest one decides.
"""
DIFFERS = "The paper shows photographs; here answers stand as text. They are chosen by rule, failures too."


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return inputs.study("worked_examples")


def reading(table: pd.DataFrame) -> list[str]:
    called = (~table["decision"].astype(str).str.endswith(" alone")).sum()
    return [
        f"{len(table)} items, each to show something else; an add-on is called for {called} of them.",
        f"Their accuracy is between {percent(table['result_accuracy'].min(), 0)} and "
        f"{percent(table['result_accuracy'].max(), 0)}; failures are shown as well.",
    ]


shown = without_columns("data", "budget", "base", "net_values")
