"""What an exhibit is, what it is built from, and how it is made: its table, its figures and its caption."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pandas as pd

from frugalmct.files import write_text
from frugalmct.paper.columns import DATA, Column
from frugalmct.paper.tables import read_as_text, read_table, stacked, write_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from frugalmct.market import LabelMarket, Market
    from frugalmct.paper.stages.call_estimates import RepetitionCalls
    from frugalmct.paper.stages.estimate import RepetitionEstimates
    from frugalmct.plans import Plan

SECTIONS = {
    "own": "Your own services",
    "claims": "The paper's claims",
    "paper": "The paper's tables and figures",
    "solvers": "Comparison of solvers",
    "beyond": "Beyond the paper",
    "data": "The data",
}
STAGES = (
    "markets", "selections", "plus", "baselines", "per_call", "routers", "estimates", "plans",
    "call_estimates",
)  # fmt: skip
STUDY = "studies/"
# Kinds of datasets that an exhibit may be OF.
LABELS, CALLS = "labels", "calls"

Cell = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Inputs:
    """The files that an exhibit is built from, by the names in its NEEDS, read when they are asked for."""

    files: Mapping[str, Sequence[str]]

    def table(self, exhibit: str) -> pd.DataFrame:
        """Another exhibit's table; without rows where the run has none."""
        wanted = load_exhibit(exhibit)
        if not self.files[exhibit]:
            return pd.DataFrame(columns=[column.name for column in wanted.columns])
        return wanted.read(self.files[exhibit][0])

    def rows(self, name: str) -> pd.DataFrame:
        """The rows of a stage, of every dataset and repetition."""
        tables = [read_table(file) for file in self.files[name]]
        return stacked(tables) if tables else pd.DataFrame()

    def study(self, name: str) -> pd.DataFrame:
        """The rows of a study as they were written: a label "007" must not become a number."""
        return stacked(read_as_text(file) for file in self.files[f"{STUDY}{name}"])

    def markets(self) -> "Iterator[Market]":
        """One at a time."""
        from frugalmct.market import Market

        return (Market.load(file) for file in self.files["markets"])

    def label_markets(self) -> "Iterator[LabelMarket]":
        """Those of label sets."""
        from frugalmct.market import LabelMarket

        return (market for market in self.markets() if isinstance(market, LabelMarket))

    def estimates(
        self, prices: Mapping[str, Mapping[str, float]]
    ) -> "Iterator[tuple[Cell, RepetitionEstimates]]":
        """One repetition of one dataset at a time, at the prices of its services."""
        from frugalmct.paper.stages.estimate import RepetitionEstimates

        for file in self.files["estimates"]:
            cell = dataset, _ = cell_of(file)
            yield cell, RepetitionEstimates.load(file, prices[dataset])

    def call_estimates(self) -> "Iterator[tuple[Cell, RepetitionCalls]]":
        """The same where calls have costs of their own."""
        from frugalmct.paper.stages.call_estimates import RepetitionCalls

        return ((cell_of(file), RepetitionCalls.load(file)) for file in self.files["call_estimates"])

    def plans(self) -> "dict[Cell, list[Plan]]":
        from frugalmct.paper.stages.plans import load_plans

        return {cell_of(file): load_plans(file) for file in self.files["plans"]}


def cell_of(file: str) -> Cell:
    """Dataset and repetition of a file `<stage>/<dataset>/<repetition>.<ending>`."""
    path = Path(file)
    return path.parent.name, int(path.stem)


def _always(_: Any) -> bool:
    return True


def _whole(table: pd.DataFrame) -> pd.DataFrame:
    return table


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A module of `frugalmct.paper.exhibits`, as an object."""

    name: str
    module: ModuleType

    @cached_property
    def title(self) -> str:
        return self.module.TITLE

    @cached_property
    def own_title(self) -> str:
        """As owners of services read it, to whom the paper is nothing."""
        return getattr(self.module, "OWN_TITLE", self.title)

    @cached_property
    def section(self) -> str:
        """A key of SECTIONS."""
        return self.module.SECTION

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Stages, `studies/<study>`, or names of other exhibits."""
        return self.module.NEEDS

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """What it takes of the run's settings; a change of anything else does not make it again."""
        return getattr(self.module, "SETTINGS", ())

    @cached_property
    def drawn_with(self) -> tuple[str, ...]:
        """Further tables that its figures show."""
        return getattr(self.module, "DRAWN_WITH", ())

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Every table says where its answers come from, in its last column."""
        own = tuple(self.module.COLUMNS)
        return own if DATA in own else (*own, DATA)

    @cached_property
    def caption(self) -> str:
        return " ".join(self.module.CAPTION.split())

    @cached_property
    def differs(self) -> str:
        """How it differs from the paper's."""
        return self.module.DIFFERS

    @cached_property
    def studies(self) -> tuple[str, ...]:
        """The studies among its needs."""
        return tuple(need.removeprefix(STUDY) for need in self.needs if need.startswith(STUDY))

    def shows(self, datasets: Sequence[str], per_call: Collection[str]) -> list[str]:
        """Of these datasets those that it shows: of label sets with prices, of calls with costs of their own
        (`per_call`), or of both, as its OF says."""
        kinds = getattr(self.module, "OF", (LABELS,))
        return [name for name in datasets if (CALLS if name in per_call else LABELS) in kinds]

    def applies(self, datasets: Mapping[str, str], studies: Collection[str]) -> bool:
        """Whether it has anything to show: of these datasets, given with where their answers come from, and
        of the studies that are made of some."""
        return (
            bool(datasets)
            and set(self.studies) <= set(studies)
            and getattr(self.module, "applies", _always)(datasets)
        )

    def build(self, inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
        return self.module.build(inputs, settings)

    def reading(self, table: pd.DataFrame) -> list[str]:
        """Two lines on what the numbers say."""
        return self.module.reading(table)

    def shown(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table as the report shows it."""
        return getattr(self.module, "shown", _whole)(table)

    @cached_property
    def plot(self) -> "Callable[..., Figure] | None":
        """One figure of all datasets."""
        return getattr(self.module, "plot", None)

    @cached_property
    def plot_each(self) -> "Callable[..., Figure] | None":
        """One figure per dataset, of its rows."""
        return getattr(self.module, "plot_each", None)

    def datasets_drawn(self, datasets: Sequence[str]) -> list[str]:
        """Of which of the datasets that it shows there is a figure each."""
        if self.plot_each is None:
            return []
        draws = getattr(self.module, "draws", _always)
        return [name for name in datasets if draws(name)]

    def read(self, path: str | Path) -> pd.DataFrame:
        """Its table as written, names as text."""
        names = [column.name for column in self.columns if column.kind == "text"]
        return read_table(path, names)

    def column(self, name: str) -> Column:
        """What is known of a column, also of one that only the report shows (`precision Google`)."""
        extra = getattr(self.module, "SHOWN_COLUMNS", ())
        known = {column.name: column for column in (*self.columns, *extra)}
        if name in known:
            return known[name]
        first = known.get(name.partition(" ")[0])
        return Column(name, first.about, first.kind, first.unit) if first else Column(name, "")


def load_exhibit(name: str) -> Exhibit:
    return Exhibit(name, import_module(f"frugalmct.paper.exhibits.{name}"))


def make_exhibit(
    name: str,
    files: Mapping[str, Sequence[str]],
    settings: Mapping[str, Any],
    table: str,
    figures: Sequence[str],
    caption: str,
) -> pd.DataFrame:
    """Builds and writes the table, draws the figures from what was written, and writes the caption.

    `settings["data"]` says of every dataset where its answers come from. A figure is named after the exhibit,
    or, in a folder of that name, after its dataset.
    """
    exhibit = load_exhibit(name)
    inputs = Inputs(files)
    built = with_data(exhibit.build(inputs, settings), settings["data"])
    write_table(in_columns(exhibit, built), table)
    written = exhibit.read(table)
    draw(exhibit, [written, *map(inputs.table, exhibit.drawn_with)], figures, settings.get("units"))
    write_text(caption, f"{exhibit.caption}\n")
    return written


def in_columns(exhibit: Exhibit, table: pd.DataFrame) -> pd.DataFrame:
    """The exhibit's columns in their order; one that it does not describe is a programmer's mistake."""
    names = [column.name for column in exhibit.columns]
    if unknown := [column for column in table if column not in names]:
        raise ValueError(f"{exhibit.name}: columns {unknown} are not among its COLUMNS")
    return table.reindex(columns=names)


def with_data(table: pd.DataFrame, data: Mapping[str, str]) -> pd.DataFrame:
    """The table with the column `data`, by dataset where it has not got one."""
    if "data" in table or "dataset" not in table:
        return table
    return table.assign(data=table["dataset"].map(data))


def draw(
    exhibit: Exhibit,
    tables: Sequence[pd.DataFrame],
    figures: Sequence[str],
    units: Mapping[str, str] | None = None,
) -> None:
    """Each figure from the exhibit's table, or from the rows of the dataset after which it is named.

    units: dataset -> what its costs are in, for the axes of exhibits that name it in their SETTINGS.
    """
    if not figures:
        return
    from frugalmct.paper.plotting import save_figure

    options = {"units": units} if "units" in exhibit.settings else {}
    stems = dict.fromkeys(Path(file).with_suffix("") for file in figures)
    for stem in stems:
        if stem.parent.name == exhibit.name and exhibit.plot_each is not None:
            figure = exhibit.plot_each(*(rows_of(table, stem.name) for table in tables), **options)
        elif exhibit.plot is not None:
            figure = exhibit.plot(*tables, **options)
        else:
            raise AssertionError(f"{exhibit.name} draws no {stem.name}")
        save_figure(figure, [file for file in figures if Path(file).with_suffix("") == stem])


def rows_of(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """One dataset's rows; none of a table that has no datasets."""
    return table[table["dataset"] == dataset] if "dataset" in table else table.head(0)
