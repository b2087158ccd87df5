"""How long training takes, and answering for all test items."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.columns import BUDGET, DATA, DATASET, METHOD, Column
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.looks import name_of
from frugalmct.paper.wording import without_columns

TITLE = "End-to-end runtime"
SECTION = "paper"
NEEDS = ("studies/runtime",)
_TRAINING = Column("training_seconds", "time to learn from all training items", unit="s")
_INFERENCE = Column("inference_seconds", "time to answer for all test items", unit="s")
COLUMNS = (
    DATASET, BUDGET, METHOD,
    Column("training_items", "how many items were learnt from"),
    _TRAINING,
    Column("test_items", "how many items were answered"),
    _INFERENCE,
    Column("inference_ms_per_item", "time to answer for one test item", unit="ms"),
    _TRAINING.printed(), _INFERENCE.printed(),
    Column("measured", "what was timed", "text"),
    DATA,
)  # fmt: skip
CAPTION = """
The paper's end-to-end runtimes. Here they are the computation for all training and all test items on one
core, from recorded answers; no service is called. Both methods are learnt with every base that there is, and
choose one; FrugalMCT's forests grow on at most 1,000 items and 256 columns a tree. The paper's inference
times seem to include waiting for the services.
"""
DIFFERS = (
    "Here it is computation alone, on recorded answers; the paper's inference times seem to include the "
    "services' own. FrugalML is solved exactly instead of by a search over a grid."
)


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    return inputs.study("runtime")


def reading(table: pd.DataFrame) -> list[str]:
    table = table[table["dataset"] == table["dataset"].iloc[0]].set_index("method")
    lines = []
    for column, word in (("training_seconds", "Training"), ("inference_seconds", "Inference")):
        times = [f"{name_of(str(name))} {value:.3g} s" for name, value in table[column].dropna().items()]
        lines.append(f"{word}: {listed(times)}.")
    return lines


shown = without_columns("measured", "data")
