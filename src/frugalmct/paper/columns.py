"""What a column of a table is: what it holds, in which unit, and how the report heads it."""

from collections.abc import Collection
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Column:
    """A column of a table: what it holds, in which unit, and how the report heads it.

    kind: `text`, `number`, `share` (a part of 1, per cent in the report), or `flag` (true or false).
    """

    name: str
    about: str
    kind: str = "number"
    unit: str = ""
    head: str = ""

    @property
    def heading(self) -> str:
        unit = "%" if self.kind == "share" else self.unit
        plain = self.name.removeprefix("paper_")
        words = self.head or f"{'paper: ' if plain != self.name else ''}{plain.replace('_', ' ')}"
        return f"{words}{f' ({unit})' if unit else ''}"

    def printed(self) -> "Column":
        """The paper's number beside it."""
        head = f"paper: {self.head}" if self.head else ""
        about = f"the paper's number: {self.about}"
        return replace(self, name=f"paper_{self.name}", about=about, head=head)


def with_bounds(column: Column, prefix: str = "") -> tuple[Column, Column, Column]:
    """A mean, and the ends of its 95 % interval."""
    name = prefix or column.name
    low = replace(
        column, name=f"{name}_low", about=f"lower end of the 95 % interval of {column.name}", head=""
    )
    high = replace(
        column, name=f"{name}_high", about=f"upper end of the 95 % interval of {column.name}", head=""
    )
    return column, low, high


MONEY = "USD"
# What costs and budgets are in, unless a dataset says otherwise; and what is said of several units at once.
USUAL_UNIT = "USD per 10,000 items"
EACH_ITS_UNIT = "in the unit of its data"


def in_units(column: Column, units: Collection[str]) -> Column:
    """A column of money as it is headed where the datasets' costs are in these units."""
    if column.unit != MONEY or set(units) <= {USUAL_UNIT}:
        return column
    return replace(column, unit=next(iter(units)) if len(set(units)) == 1 else EACH_ITS_UNIT)


DATASET = Column("dataset", "the dataset's name in the configuration", "text")
TASK = Column("task", "the kind of labels", "text")
METHOD = Column("method", "who answers: FrugalMCT, a baseline, or single:<service>", "text")
SERVICE = Column("service", "a service", "text")
BASE = Column("base", "the service asked for every item", "text")
BUDGET = Column("budget", "the mean cost an item may incur, base included", unit=MONEY)
REPETITION = Column("repetition", "which random split into training and test items")
REPETITIONS = Column("repetitions", "how many random splits the row is made of")
ACCURACY = Column("accuracy", "mean accuracy on the test items", "share")
COST = Column("cost", "mean cost per item, base included", unit=MONEY)
STATUS = Column("status", "how it ended, or why a cell is empty", "text")
REASON = Column("reason", "why something could not be had; empty where nothing is missing", "text")
DATA = Column("data", "where the answers come from: simulated, release, or recorded", "text")
