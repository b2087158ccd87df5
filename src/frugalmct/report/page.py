"""The page as a whole: summary, the paper's items, solvers, past the paper, data, provenance."""

import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from frugalmct.figures.base import write_figure
from frugalmct.figures.jobs import plot_jobs
from frugalmct.files import write_text
from frugalmct.report import provenance
from frugalmct.report.claims import checked_claims
from frugalmct.report.gaps import gap_lines, missing_because
from frugalmct.report.html import Cell, Html, drawn, gap, image, joined, section, table, tag
from frugalmct.report.items import BEYOND_ITEMS, DATA_ITEMS, PAPER_ITEMS, SOLVER_ITEMS, Item
from frugalmct.report.verdicts import (
    BETTER,
    MEASURES,
    NOTHING,
    WORSE,
    badge,
    comparisons,
    dropped_services,
)
from frugalmct.tables import read_table

TITLE = "FrugalMCT: results"
PARTS = (
    ("paper", "Items of the paper", PAPER_ITEMS),
    ("solvers", "Comparison of solvers", SOLVER_ITEMS),
    ("beyond-paper", "Past the paper", BEYOND_ITEMS),
    ("data", "The data", DATA_ITEMS),
)


@dataclass(frozen=True, eq=False)
class Run:
    """What one run made: tables and figures by name, its settings, and why what is missing is missing."""

    tables: dict[str, pd.DataFrame]
    figures: dict[str, Path]
    settings: dict[str, Any]
    missing: dict[str, str]

    @classmethod
    def read(cls, tables: Iterable[str | Path], figures: Iterable[str | Path], settings: dict) -> "Run":
        """A file that is not there, is empty or can not be read becomes a gap, never a stop."""
        found, missing = {}, {}
        for path in map(Path, tables):
            try:
                content = read_table(path)
            except FileNotFoundError:
                missing[path.stem] = "it was not made in this run"
            except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
                missing[path.stem] = f"its file can not be read ({error})"
            else:
                if content.empty:
                    missing[path.stem] = "it has no rows in this run"
                else:
                    found[path.stem] = content
        drawings = {path.stem: path for path in map(Path, figures) if path.suffix == ".svg"}
        existing = {name: path for name, path in drawings.items() if path.is_file()}
        return cls(found, existing, settings, missing)

    @property
    def statistics(self) -> pd.DataFrame:
        return self.tables.get("dataset_statistics", pd.DataFrame())

    def of_kind(self, kind: str) -> list[str]:
        """The datasets whose data are `simulated`, `released` by the authors, or `recorded` by a user."""
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
    def dropped(self) -> dict[str, str]:
        """Dataset -> the services left out since their answers are missing."""
        return dropped_services(self.statistics)

    def why_missing(self, name: str) -> str:
        return self.missing.get(name) or missing_because(name, self.tables, self.datasets)


def write_report(
    output: str | Path,
    tables: Iterable[str | Path],
    figures: Iterable[str | Path],
    settings: dict[str, Any],
    benchmarks: str | Path,
    root: str | Path,
) -> Run:
    """Reads what the run made and writes the page; returns what it found."""
    run = Run.read(tables, figures, settings)
    write_text(output, page(run, Path(benchmarks), Path(root)))
    return run


def page(run: Run, benchmarks: Path, root: Path) -> str:
    parts = [section(identity, title, *_items(run, items)) for identity, title, items in PARTS]
    main = tag("main", summary(run), *parts, provenance_section(run, benchmarks, root), id="top")
    head = joined(
        [
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            # Nothing may be fetched and no script may run but the page's own.
            Html(
                '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
                "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
            ),
            Html('<link rel="icon" href="data:,">'),
            tag("title", TITLE),
            Html(f"<style>\n{asset('page.css')}</style>"),
        ]
    )
    script = Html(f"<script>\n{asset('page.js')}</script>")
    body = joined([contents(), main, script])
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def asset(name: str) -> str:
    return resources.files("frugalmct").joinpath(f"report/{name}").read_text(encoding="utf-8")


# The two names in full: the workflow finds the files that a module names.
ASSETS = ("report/page.css", "report/page.js")


def contents() -> Html:
    entries = [("summary", "Summary", ()), *PARTS, ("provenance", "Provenance", ())]
    lines = []
    for identity, title, items in entries:
        below = [tag("li", tag("a", item.title, href=f"#{item.name}")) for item in items]
        lines.append(tag("li", tag("a", title, href=f"#{identity}"), tag("ul", *below) if below else ""))
    return tag(
        "nav", tag("details", tag("summary", "Contents"), tag("ul", *lines), open=""), aria_label="Contents"
    )


# ---- summary


def summary(run: Run) -> Html:
    return tag(
        "header",
        tag("h1", TITLE),
        _banner(run),
        tag("p", _what_was_run(run)),
        _headlines(run),
        section("summary", "Summary", *_summary_tables(run), *_gaps(run)),
    )


def _banner(run: Run) -> Html:
    """What was asked: no real service, or real ones; and which of them are left out."""
    title, kind = ("SIMULATED DATA", "banner") if run.simulated else ("REAL DATA", "banner real")
    released, recorded = run.of_kind("released"), run.of_kind("recorded")
    if not run.simulated and not released:
        return Html("")
    told = []
    if run.simulated:
        told.append(
            f"No real service was asked for {', '.join(run.simulated)}. "
            "Numbers beside the paper's tell how alike the simulation is, not whether the paper is right."
        )
    if released:
        told.append(f"Answers of real services, as the authors released them: {', '.join(released)}.")
    if recorded:
        told.append(f"Recorded answers: {', '.join(recorded)}.")
    told += [
        f"{dataset} is without {services}, whose answers are not in the release at hand."
        for dataset, services in run.dropped.items()
    ]
    return tag("div", tag("strong", title), *(tag("p", line) for line in told), class_=kind, role="note")


def _what_was_run(run: Run) -> str:
    statistics = run.statistics
    told = {key: run.settings.get(key, "?") for key in ("repeats", "scale", "predictor", "seed")}
    items = f"{int(statistics['items'].sum()):,} items" if "items" in statistics else "items not known"
    return (
        f"{len(run.datasets)} datasets ({items}), {told['repeats']} repetitions, scale {told['scale']}, "
        f"predictor {str(told['predictor']).replace('_', ' ')}, seed {told['seed']}. "
        "Costs are in USD per 10,000 items; intervals are 95 % over repetitions."
    )


def _headlines(run: Run) -> Html:
    cards = [tag("li", tag("b", number), tag("span", words)) for number, words in _headline_numbers(run)]
    return tag("ul", *cards, class_="cards") if cards else Html("")


def _headline_numbers(run: Run) -> Iterator[tuple[str, str]]:
    savings = _filled(run.tables.get("cost_savings"), "saving", "paper_saving", "frugalmct_cost", "best_cost")
    beyond = _filled(run.tables.get("beyond"), "gain_at_best_cost", "largest_overrun_online")
    if savings is not None:
        printed = savings.dropna(subset=["saving", "paper_saving"])["paper_saving"]
        beside = f" (paper: {100 * printed.mean():.0f} %)" if len(printed) else ""
        yield f"{100 * savings['saving'].mean():.0f} %", f"mean saving at the best service's accuracy{beside}"
        cheaper = (savings["frugalmct_cost"] < savings["best_cost"]).sum()
        yield (
            f"{cheaper} of {len(savings)}",
            "datasets on which that accuracy costs less than the best service",
        )
    if beyond is not None:
        gain = 100 * beyond["gain_at_best_cost"].mean()
        yield f"{gain:+.1f}", "points of accuracy at the best service's cost, mean over datasets"
        yield f"{beyond['largest_overrun_online'].max():.2g}", "largest overrun of a budget, online"


def _filled(content: pd.DataFrame | None, first: str, *others: str) -> pd.DataFrame | None:
    """The table if it has these columns, and a value in the first of them."""
    known = content is not None and {first, *others} <= set(content) and content[first].notna().any()
    return content if known else None


def _summary_tables(run: Run) -> Iterator[Html]:
    claims = [
        {
            "claim": claim.sentence,
            "verdict": _claim_badge(claim.holds),
            "numbers": claim.numbers,
        }
        for claim in checked_claims(run.tables)
    ]
    yield tag("h3", "What the paper claims, on this run's numbers")
    yield table(pd.DataFrame(claims), "Claims and whether they hold")
    yield tag("h3", "The paper beside this run")
    beside = comparisons(run.tables)
    if beside.empty:
        yield gap("The comparison", "none of this run's datasets has numbers in the paper")
    else:
        tolerances = "; ".join(f"{measure.name}: {measure.told()}" for measure in MEASURES)
        yield tag("p", f"A value counts as the paper's within a tolerance. {tolerances}.", class_="note")
        yield table(beside, "Paper and this run, with a verdict each", fold=False)


def _claim_badge(holds: bool | None) -> Cell:
    if holds is None:
        return badge(NOTHING, "can not be told")
    return badge(BETTER, "holds") if holds else badge(WORSE, "does not hold")


def _gaps(run: Run) -> Iterator[Html]:
    """Everything that could not be had, in one place."""
    absent = {
        item.name: run.why_missing(item.name)
        for _, _, items in PARTS
        for item in items
        if item.name not in run.tables
    }
    told = gap_lines(run.tables, run.missing | absent, run.datasets, run.settings)
    yield tag("h3", "Gaps")
    yield (
        tag("ul", *(tag("li", line) for line in told))
        if told
        else tag("p", "None: every cell has its value.")
    )


# ---- items


def _items(run: Run, items: Iterable[Item]) -> Iterator[Html]:
    return (section(item.name, item.title, *_item(run, item), level=3) for item in items)


def _item(run: Run, item: Item) -> Iterator[Html]:
    lines = _reading(run, item)
    if lines:
        yield tag("p", *(joined([line, Html("<br>")], " ") for line in lines), class_="reading")
    yield tag("p", tag("strong", "Beside the paper: "), item.differs, class_="differs")
    names = list(_figure_names(run, item))
    for name in names:
        yield _figure(run, item, name, lines)
    if item.figures and not names:
        yield gap("The picture", run.why_missing(item.name))
    folded = [name for name in run.figures if item.folded and name.startswith(item.folded)]
    if folded:
        pictures = [_figure(run, item, name, []) for name in folded]
        yield tag("details", tag("summary", f"One picture a dataset ({len(folded)})"), *pictures)
    yield _table(run, item)


def _reading(run: Run, item: Item) -> list[str]:
    """No reading without numbers, nor of a table of another shape than expected."""
    if item.name not in run.tables:
        return []
    try:
        return [line for line in item.reading(run.tables) if line]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        return [f"No reading: the table is not as expected ({type(error).__name__}: {error})."]


def _figure_names(run: Run, item: Item) -> Iterator[str]:
    for wanted in item.figures:
        for name in run.figures:
            own = name.endswith(wanted[1:]) if wanted.startswith("*") else name == wanted
            further = not item.folded and not wanted.startswith("*") and name.startswith(f"{wanted}_")
            if own or further:
                yield name


def _figure(run: Run, item: Item, name: str, lines: list[str]) -> Html:
    kind = " Simulated data." if run.simulated else ""
    if run.datasets and run.of_kind("released") == run.datasets:
        kind = " Real data."
    ending = "" if name in item.figures else f" ({name.replace('_', ' ')})"
    alt = " ".join([f"Picture: {item.title}{ending}.", *lines])
    return image(run.figures[name], alt, f"{item.title}{ending}.{kind}")


def _table(run: Run, item: Item) -> Html:
    content = run.tables.get(item.name)
    if content is None:
        return gap("The table", run.why_missing(item.name))
    # A table of another shape than expected is shown as it is.
    with suppress(KeyError, IndexError, ValueError, TypeError):
        content = item.shown(content)
    return table(content, item.title)


# ---- provenance


def provenance_section(run: Run, benchmarks: Path, root: Path) -> Html:
    jobs = provenance.job_times(benchmarks)
    times = provenance.rule_times(jobs)
    shown = (
        [_chart_of_jobs(jobs), table(times, "Time and memory of every rule")]
        if len(times)
        else [gap("Times", "none was measured")]
    )
    config = yaml.safe_dump(run.settings, sort_keys=False, allow_unicode=True, width=100)
    return section(
        "provenance",
        "Provenance",
        table(provenance.facts(root, run.settings), "Code, machine and seeds"),
        table(provenance.versions(), "Versions"),
        tag("h3", "Time per rule"),
        tag(
            "p",
            f"{times['all_jobs_seconds'].sum():,.0f} seconds of jobs in all, as far as kept."
            if len(times)
            else "",
        ),
        *shown,
        tag("h3", "Configuration as run"),
        tag("details", tag("summary", "All settings"), tag("pre", config, tabindex="0")),
    )


def _chart_of_jobs(jobs: pd.DataFrame) -> Html:
    told = "When each job of the last run ran. The job that wrote this report is not drawn."
    drawing = io.BytesIO()
    write_figure(plot_jobs(jobs), drawing, "svg")
    return drawn("svg+xml", drawing.getvalue(), f"Picture: {told}", told)
