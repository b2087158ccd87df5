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
from frugalmct.paper.exhibit import SECTIONS, Exhibit
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
    parts = [
        section(part_identity(part), title, *(_exhibit(run, exhibit) for exhibit in own))
        for part, title, own in parts_of(run, exhibits)
    ]
    below = [] if about_paper else [section(*GAPS, *_gaps(run, exhibits))]
    main = tag("main", summary(run, exhibits), *parts, *below, provenance_section(run, jobs, root), id="top")
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


def is_about_paper(run: Run) -> bool:
    """Whether the page has the paper's part; that of a run of own data alone has none."""
    return bool(run.papers) or not run.datasets


# In full: the workflow finds the data files that a module names.
ASSETS = "paper/report"


def asset(name: str) -> str:
    return resources.files("frugalmct").joinpath(f"{ASSETS}/{name}").read_text(encoding="utf-8")


def part_identity(part: str) -> str:
    """Apart from the identities of exhibits: a section and an exhibit may have the same name."""
    return f"part-{part}"


def parts_of(run: Run, exhibits: Sequence[Exhibit]) -> Iterator[tuple[str, str, list[Exhibit]]]:
    """The sections that have exhibits, each with its title; without the paper's datasets none is its own."""
    titles = SECTIONS if run.papers else SECTIONS | {"paper": "Tables and figures", "beyond": "More of it"}
    for part, title in titles.items():
        if own := [exhibit for exhibit in exhibits if exhibit.section == part]:
            yield part, title, own


def contents(run: Run, exhibits: Sequence[Exhibit]) -> Html:
    lines = [tag("li", tag("a", title, href=f"#{identity}")) for identity, title in front_titles(run)]
    about_paper = is_about_paper(run)
    if about_paper:
        lines.append(tag("li", tag("a", "Summary", href="#summary")))
    for part, title, own in parts_of(run, exhibits):
        below = [tag("li", tag("a", exhibit.title, href=f"#{exhibit.name}")) for exhibit in own]
        link = tag("a", title, href=f"#{part_identity(part)}")
        lines.append(tag("li", link, tag("ul", *below)))
    if not about_paper:
        lines.append(tag("li", tag("a", GAPS[1], href=f"#{GAPS[0]}")))
    lines.append(tag("li", tag("a", "Provenance", href="#provenance")))
    return tag(
        "nav", tag("details", tag("summary", "Contents"), tag("ul", *lines), open=""), aria_label="Contents"
    )


# ---- summary


def summary(run: Run, exhibits: Sequence[Exhibit]) -> Html:
    return tag(
        "header",
        tag("h1", TITLE),
        _banner(run),
        tag("p", _what_was_run(run)),
        warnings_box(run),
        *fronts(run),
        *([_summary(run, exhibits)] if is_about_paper(run) else []),
    )


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


def _exhibit(run: Run, exhibit: Exhibit) -> Html:
    return section(exhibit.name, exhibit.title, *_exhibit_parts(run, exhibit), level=3)


def _exhibit_parts(run: Run, exhibit: Exhibit) -> Iterator[Html]:
    lines = _reading(run, exhibit)
    if lines:
        yield tag("p", *(joined([line, Html("<br>")], " ") for line in lines), class_="reading")
    if run.papers:
        yield tag("p", tag("strong", "Beside the paper: "), exhibit.differs, class_="differs")
    whole = [name for name in run.figures if name == exhibit.name]
    each = [name for name in run.figures if name.startswith(f"{exhibit.name}/")]
    for name in whole or each:
        yield _figure(run, exhibit, name, lines)
    if not whole and not each and (exhibit.plot or exhibit.plot_each):
        yield gap("The figure", run.why_missing(exhibit.name))
    if whole and each and not _of_one_dataset(run, exhibit):
        pictures = [_figure(run, exhibit, name, []) for name in each]
        yield tag("details", tag("summary", f"One figure per dataset ({len(each)})"), *pictures)
    yield _table(run, exhibit)


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


def _figure(run: Run, exhibit: Exhibit, name: str, lines: list[str]) -> Html:
    whose = name.partition("/")[2]
    ending = f" ({whose})" if whose else ""
    alt = " ".join([f"Figure: {exhibit.title}{ending}.", *lines])
    return image(run.figures[name], alt, f"{exhibit.title}{ending}.{run.stamp(whose)}")


def _table(run: Run, exhibit: Exhibit) -> Html:
    content = run.tables.get(exhibit.name)
    if content is None:
        return gap("The table", run.why_missing(exhibit.name))
    # A table of another shape than expected is shown as it is.
    with suppress(KeyError, IndexError, ValueError, TypeError):
        content = exhibit.shown(content)
    if exhibit.name == CLAIMS and set(content) >= NEEDED:
        return claims_table(content, exhibit.title)
    units = {run.unit(dataset) for dataset in content["dataset"]} if "dataset" in content else set()
    return table(content, exhibit.title, lambda name: in_units(exhibit.column(name), units))


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
