"""The page as a whole: summary, the exhibits section by section, provenance."""

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from frugalmct.files import write_text
from frugalmct.paper.columns import in_units
from frugalmct.paper.exhibit import Exhibit
from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.jobs.times import job_times, rule_times
from frugalmct.paper.plotting import write_figure
from frugalmct.paper.report import provenance
from frugalmct.paper.report.beside import MEASURES, comparisons
from frugalmct.paper.report.claims import CLAIMS, NEEDED, claims_table, counts_of
from frugalmct.paper.report.front import front_titles, fronts
from frugalmct.paper.report.gaps import gap_lines
from frugalmct.paper.report.html import Html, drawn, gap, image, joined, section, table, tag
from frugalmct.paper.report.jobs_chart import plot_jobs
from frugalmct.paper.report.parts import Part, is_about_paper, own_parts, paper_parts
from frugalmct.paper.report.run import Run
from frugalmct.paper.report.warnings import warnings_box

TITLE = "FrugalMCT: results"
# Of a run of own data alone, below all that was made.
GAPS = ("gaps", "Not in this run")


def write_report(
    output: str | Path,
    tables: Iterable[str | Path],
    figures: Iterable[str | Path],
    settings: dict[str, Any],
    benchmarks: str | Path,
    root: str | Path,
    timings: Iterable[str | Path] | None = None,
) -> Run:
    """Reads what the run made and writes the page; returns what it found.

    timings: the files of the folder `benchmarks` that are of this run's jobs; all if it is not given.
    """
    run = Run.read(tables, figures, settings)
    jobs = job_times(Path(benchmarks), timings)
    write_text(output, page(run, jobs, Path(root)))
    return run


def page(run: Run, jobs: pd.DataFrame, root: Path) -> str:
    # Of own data alone nobody expects all that the paper has, nor of the paper's what is made of own data.
    about_paper = is_about_paper(run)
    exhibits = [
        exhibit
        for exhibit in all_exhibits()
        if exhibit.name in run.asked or (about_paper and exhibit.section != "own")
    ]
    own, papers = ([_part(part) for part in parts(run, exhibits)] for parts in (own_parts, paper_parts))
    answers, several = list(fronts(run)), len(run.own)
    middle = _summary(run, exhibits) if about_paper else section(*GAPS, *_gaps(run, exhibits))
    content = [*answers[:several], *own, *answers[several:], middle, *papers]
    main = tag("main", top(run), *content, provenance_section(run, jobs, root), id="top")
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
    body = joined([contents(run, exhibits), main, script])
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


# In full: the workflow finds the data files that a module names.
ASSETS = "paper/report"


def asset(name: str) -> str:
    return resources.files("frugalmct").joinpath(f"{ASSETS}/{name}").read_text(encoding="utf-8")


def contents(run: Run, exhibits: Sequence[Exhibit]) -> Html:
    answers, several = [_link(*titled) for titled in front_titles(run)], len(run.own)
    own, papers = ([_links(part) for part in parts(run, exhibits)] for parts in (own_parts, paper_parts))
    middle = _link("summary", "Summary") if is_about_paper(run) else _link(*GAPS)
    lines = [
        *answers[:several], *own, *answers[several:], middle, *papers, _link("provenance", "Provenance"),
    ]  # fmt: skip
    return tag(
        "nav", tag("details", tag("summary", "Contents"), tag("ul", *lines), open=""), aria_label="Contents"
    )


def _link(identity: str, title: str) -> Html:
    return tag("li", tag("a", title, href=f"#{identity}"))


def _links(part: Part) -> Html:
    below = [_link(part.link(exhibit), part.heading(exhibit)) for exhibit in part.exhibits]
    return tag("li", tag("a", part.title, href=f"#{part.identity}"), *([tag("ul", *below)] if below else []))


# ---- summary


def top(run: Run) -> Html:
    return tag("header", tag("h1", TITLE), _banner(run), tag("p", _what_was_run(run)), warnings_box(run))


def _summary(run: Run, exhibits: Sequence[Exhibit]) -> Html:
    gaps = [tag("h3", "Gaps"), *_gaps(run, exhibits)]
    return section("summary", "Summary", *_summary_tables(run), *gaps)


def _banner(run: Run) -> Html:
    """What was asked: no real service, or real ones; and which of them are left out."""
    title, kind = ("SIMULATED DATA", "banner") if run.simulated else ("REAL DATA", "banner real")
    released, recorded = run.of_kind("release"), run.of_kind("recorded")
    if not run.simulated and not released:
        return Html("")
    lines = []
    if run.simulated:
        lines.append(
            f"No real service was asked for {', '.join(run.simulated)}. "
            "Numbers beside the paper's say how alike the simulation is, not whether the paper is right."
        )
    if released:
        lines.append(f"Answers of real services, as the authors released them: {', '.join(released)}.")
    if recorded:
        lines.append(f"Recorded answers: {', '.join(recorded)}.")
    lines += [
        f"{dataset} is without {services}, whose answers are not in the release at hand."
        for dataset, services in run.dropped.items()
    ]
    return tag("div", tag("strong", title), *(tag("p", line) for line in lines), class_=kind, role="note")


def _what_was_run(run: Run) -> str:
    statistics, count = run.statistics, len(run.datasets)
    datasets = f"{count} dataset{'' if count == 1 else 's'}"
    given = {key: run.settings.get(key, "?") for key in ("repeats", "scale", "predictor", "seed")}
    items = f"{int(statistics['items'].sum()):,} items" if "items" in statistics else "items not known"
    return (
        f"{datasets} ({items}), {given['repeats']} repetition{'' if given['repeats'] == 1 else 's'}, "
        f"scale {given['scale']}, "
        f"predictor {str(given['predictor']).replace('_', ' ')}, seed {given['seed']}. "
        "Intervals are 95 %, over repetitions: random splits of one dataset."
    )


def _summary_tables(run: Run) -> Iterator[Html]:
    yield tag("h3", "What the paper claims, on this run's numbers")
    claims = run.tables.get(CLAIMS)
    if claims is None or not set(claims) >= NEEDED:
        yield gap("The test of the claims", run.why_missing(CLAIMS))
    else:
        yield counts_of(claims)
    yield tag("h3", "The paper beside this run")
    beside = comparisons(run.tables)
    if beside.empty:
        yield gap("The comparison", "none of this run's datasets has numbers in the paper")
    else:
        tolerances = "; ".join(f"{measure.name}: {measure.words(measure.tolerance)}" for measure in MEASURES)
        yield tag("p", f"A value counts as the paper's within a tolerance. {tolerances}.", class_="note")
        yield table(beside, "Paper and this run, and how far apart they are", fold=False)


def _gaps(run: Run, exhibits: Sequence[Exhibit]) -> Iterator[Html]:
    """Everything that could not be had, in one place."""
    absent = {
        exhibit.name: run.why_missing(exhibit.name) for exhibit in exhibits if exhibit.name not in run.tables
    }
    lines = gap_lines(run.tables, run.missing | absent, run.datasets, run.settings)
    yield (
        tag("ul", *(tag("li", line) for line in lines))
        if lines
        else tag("p", "None: every cell has its value.")
    )


# ---- exhibits


def _part(part: Part) -> Html:
    exhibits = [_exhibit(part, exhibit) for exhibit in part.exhibits]
    return section(part.identity, part.title, *part.lead, *exhibits)


def _exhibit(part: Part, exhibit: Exhibit) -> Html:
    title = part.heading(exhibit)
    return section(part.link(exhibit), title, *_exhibit_parts(part, exhibit, title), level=3)


def _exhibit_parts(part: Part, exhibit: Exhibit, title: str) -> Iterator[Html]:
    run = part.run
    lines = _reading(run, exhibit)
    if lines:
        yield tag("p", *(joined([line, Html("<br>")], " ") for line in lines), class_="reading")
    if run.papers:
        yield tag("p", tag("strong", "Beside the paper: "), exhibit.differs, class_="differs")
    whole = [name for name in run.figures if name == exhibit.name]
    each = [name for name in run.figures if name.startswith(f"{exhibit.name}/")]
    for name in whole or each:
        yield _figure(run, title, name, lines)
    # Beside the paper's datasets own ones are in pictures of all, which stand in the paper's part.
    if not whole and not each and (exhibit.plot or exhibit.plot_each) and not part.prefix:
        yield gap("The figure", run.why_missing(exhibit.name))
    if whole and each and not _of_one_dataset(run, exhibit):
        pictures = [_figure(run, title, name, []) for name in each]
        yield tag("details", tag("summary", f"One figure per dataset ({len(each)})"), *pictures)
    yield _table(run, exhibit, title)


def _of_one_dataset(run: Run, exhibit: Exhibit) -> bool:
    """Whether the figure of all datasets is that of the only one."""
    shown = run.tables.get(exhibit.name)
    return shown is not None and "dataset" in shown and shown["dataset"].nunique() == 1


def _reading(run: Run, exhibit: Exhibit) -> list[str]:
    """No reading without numbers, nor of a table of another shape than expected."""
    if exhibit.name not in run.tables:
        return []
    try:
        return [line for line in exhibit.reading(run.tables[exhibit.name]) if line]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        return [f"No reading: the table is not as expected ({type(error).__name__}: {error})."]


def _figure(run: Run, title: str, name: str, lines: list[str]) -> Html:
    whose = name.partition("/")[2]
    ending = f" ({whose})" if whose else ""
    alt = " ".join([f"Figure: {title}{ending}.", *lines])
    return image(run.figures[name], alt, f"{title}{ending}.{run.stamp(whose)}")


def _table(run: Run, exhibit: Exhibit, title: str) -> Html:
    content = run.tables.get(exhibit.name)
    if content is None:
        return gap("The table", run.why_missing(exhibit.name))
    # A table of another shape than expected is shown as it is.
    with suppress(KeyError, IndexError, ValueError, TypeError):
        content = exhibit.shown(content)
    if exhibit.name == CLAIMS and set(content) >= NEEDED:
        return claims_table(content, title)
    units = {run.unit(dataset) for dataset in content["dataset"]} if "dataset" in content else set()
    return table(content, title, lambda name: in_units(exhibit.column(name), units))


# ---- provenance


def provenance_section(run: Run, jobs: pd.DataFrame, root: Path) -> Html:
    times = rule_times(jobs)
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
    words = "When each job of the last run ran. The job that wrote this report is not drawn."
    drawing = io.BytesIO()
    write_figure(plot_jobs(jobs), drawing, "svg")
    return drawn("svg+xml", drawing.getvalue(), f"Figure: {words}", words)
