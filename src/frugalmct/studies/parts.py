"""The tables of a study's jobs, put together."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from frugalmct.tables import stacked


def joined(paths: Iterable[str | Path]) -> pd.DataFrame:
    """All rows, every cell as the text it was written as: a label "007" must not become a number."""
    return stacked(pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8") for path in paths)
