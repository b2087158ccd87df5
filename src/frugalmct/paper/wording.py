"""How readings and tables of the report say numbers."""

from collections.abc import Callable

import pandas as pd

from frugalmct.paper.columns import MONEY


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def points(share: float) -> str:
    # Not -0.0, which is neither less nor more.
    return f"{round(100 * share, 1) + 0.0:+.1f} points"


def money(cost: float) -> str:
    return f"{cost:.3g} {MONEY}"


def counted(number: int, thing: str) -> str:
    """`1 dataset`, `9 datasets`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def without_columns(*columns: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """The table without these columns, nor empty ones: the report has no room for them."""

    def shown(table: pd.DataFrame) -> pd.DataFrame:
        empty = [column for column in table if table[column].isna().all()]
        return table.drop(columns=[*columns, *empty], errors="ignore")

    return shown
