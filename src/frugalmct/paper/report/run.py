"""What one run made, as the report reads it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from frugalmct.errors import FrugalError, listed
from frugalmct.paper.columns import USUAL_UNIT
from frugalmct.paper.curves import DatasetResults
from frugalmct.paper.exhibit import load_exhibit
from frugalmct.paper.printed import printed_of
from frugalmct.paper.report.beside import dropped_services
from frugalmct.paper.report.gaps import NOT_MADE, missing_because
from frugalmct.splits import training_items

NO_ROWS = "it has no rows in this run"


@dataclass(frozen=True, eq=False)
class Run:
    """What one run made: tables and figures by name, its settings, and why what is missing is missing."""

    tables: dict[str, pd.DataFrame]
    figures: dict[str, Path]
    settings: dict[str, Any]
    missing: dict[str, str]

    @classmethod
    def read(
        cls, tables: Iterable[str | Path], figures: Iterable[str | Path], settings: dict[str, Any]
    ) -> "Run":
        """A file that is not there, is empty or cannot be read becomes a gap, never a stop.

        Figures are named after their exhibit, and after a slash their dataset where they have one.
        """
        found, missing = {}, {}
        for path in map(Path, tables):
            if not path.is_file():
                missing[path.stem] = NOT_MADE
                continue
            try:
                content = load_exhibit(path.stem).read(path)
            except FrugalError as error:
                missing[path.stem] = f"its file cannot be read ({str(error).rstrip('.')})"
                continue
            if content.empty:
                missing[path.stem] = NO_ROWS
            else:
                found[path.stem] = content
        drawings = {figure_name(path): path for path in map(Path, figures) if path.suffix == ".svg"}
        existing = {name: path for name, path in drawings.items() if path.is_file()}
        return cls(found, existing, settings, missing)

    @property
    def statistics(self) -> pd.DataFrame:
        return self.tables.get("dataset_statistics", pd.DataFrame())

    def of_kind(self, kind: str) -> list[str]:
        """The datasets whose data are `simulated`, in the authors' `release`, or `recorded` by a user."""
        if "data" not in self.statistics:
            return []
        return [str(name) for name in self.statistics.loc[self.statistics["data"] == kind, "dataset"]]

    @property
    def simulated(self) -> list[str]:
        return self.of_kind("simulated")

    @property
    def datasets(self) -> list[str]:
        return [str(name) for name in self.statistics["dataset"]] if "dataset" in self.statistics else []

    @property
    def asked(self) -> set[str]:
        """The tables that the run was to make."""
        return {*self.tables, *self.missing}

    @property
    def papers(self) -> list[str]:
        """The datasets that the paper has."""
        return [name for name in self.datasets if printed_of(name)]

    @property
    def own(self) -> list[str]:
        return [name for name in self.datasets if not printed_of(name)]

    def only(self, datasets: Collection[str]) -> "Run":
        """What was made of these alone; a picture that shows others as well is left out."""
        tables = {
            name: table[table["dataset"].astype(str).isin(datasets)]
            for name, table in self.tables.items()
            if "dataset" in table
        }
        alone = {name for name, table in tables.items() if len(table) == len(self.tables[name])}
        figures = {
            name: path
            for name, path in self.figures.items()
            if name in alone or name.partition("/")[2] in datasets
        }
        return replace(
            self, tables={name: table for name, table in tables.items() if len(table)}, figures=figures
        )

    def without(self, datasets: Collection[str]) -> "Run":
        """The rest; pictures of all datasets stay."""
        tables = {
            name: table[~table["dataset"].astype(str).isin(datasets)] if "dataset" in table else table
            for name, table in self.tables.items()
        }
        absent = dict.fromkeys((name for name in tables if tables[name].empty), NO_ROWS)
        figures = {
            name: path
            for name, path in self.figures.items()
            if name.partition("/")[0] not in absent and name.partition("/")[2] not in datasets
        }
        kept = {name: table for name, table in tables.items() if name not in absent}
        return replace(self, tables=kept, figures=figures, missing=self.missing | absent)

    def stamp(self, dataset: str = "") -> str:
        """What is said of the data under a figure, of one dataset or of all."""
        shown = [dataset] if dataset in self.datasets else self.datasets
        simulated = [name for name in shown if name in self.simulated]
        if simulated:
            return " Simulated data" + (f": {listed(simulated)}." if len(simulated) < len(shown) else ".")
        return " Real data." if shown and set(shown) <= set(self.of_kind("release")) else ""

    def unit(self, dataset: str) -> str:
        """What its costs and budgets are in."""
        return self.settings.get("datasets", {}).get(dataset, {}).get("unit") or USUAL_UNIT

    def mean_costs(self, dataset: str) -> dict[str, float]:
        """Service -> what a call of it costs on average, as measured; empty where no service has results."""
        rows = self.tables.get("tradeoff", pd.DataFrame())
        if not {"dataset", "repetition", "method", "accuracy", "cost"} <= set(rows):
            return {}
        singles = DatasetResults(rows, dataset).singles
        return dict(zip(singles["service"], singles["cost"].astype(float), strict=True))

    def test_items(self, dataset: str) -> int | None:
        """How many items nothing is learnt from; None if that is not known."""
        if not {"dataset", "items"} <= set(self.statistics) or "train_share" not in self.settings:
            return None
        items = self.statistics.loc[self.statistics["dataset"].astype(str) == dataset, "items"].dropna()
        if items.empty:
            return None
        return int(items.iloc[0]) - training_items(int(items.iloc[0]), self.settings["train_share"])

    @property
    def dropped(self) -> dict[str, str]:
        """Dataset -> the services left out since their answers are missing."""
        return dropped_services(self.statistics)

    def why_missing(self, name: str) -> str:
        return self.missing.get(name) or missing_because(name, self.tables, self.datasets)


def figure_name(path: Path) -> str:
    """`tradeoff`, or `tradeoff/PASCAL` of one dataset."""
    return path.stem if path.parent.name == "figures" else f"{path.parent.name}/{path.stem}"
