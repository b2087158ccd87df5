"""Whatever is registered as an exhibit or a study keeps the promises that workflow and report rely on."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from docutils.core import publish_doctree
from drawings import drawn_text, texts, words
from helpers import ROOT
from made_up_tables import made_up_tables
from matplotlib.figure import Figure
from small_run import SmallRun

import frugalmct.paper.exhibits
import frugalmct.paper.studies
import frugalmct.paper.studies.calls
from frugalmct import registry
from frugalmct.paper.columns import Column
from frugalmct.paper.exhibit import SECTIONS, STAGES, STUDY, Exhibit, draw, load_exhibit, rows_of
from frugalmct.paper.exhibits.registry import EXHIBITS, all_exhibits
from frugalmct.paper.jobs.code import code_files
from frugalmct.paper.jobs.times import job_times
from frugalmct.paper.plotting import save_figure
from frugalmct.paper.report.page import Run, page, write_report
from frugalmct.paper.studies import solver_runtime
from frugalmct.paper.studies.calls import solver_runtime as call_solver_runtime
from frugalmct.paper.studies.calls.case import READERS as CALL_READERS
from frugalmct.paper.studies.case import READERS
from frugalmct.paper.studies.registry import CALL_STUDIES, STUDIES
from frugalmct.paper.tables import write_table
from frugalmct.select import methods
from frugalmct.select.methods import METHODS

KINDS = ("text", "number", "share", "flag")
MOST_LINES = 8
# What is in the folder of studies beside the studies.
SHARED = {"base", "case", "draws", "guarded", "offline", "scope", "registry"}
DRAWN = [(exhibit, "plot") for exhibit in all_exhibits() if exhibit.plot]
DRAWN_EACH = [(exhibit, "plot_each") for exhibit in all_exhibits() if exhibit.plot_each]

every_exhibit = pytest.mark.parametrize("exhibit", all_exhibits(), ids=EXHIBITS)
every_figure = pytest.mark.parametrize(
    ("exhibit", "way"),
    [*DRAWN, *DRAWN_EACH],
    ids=[f"{exhibit.name}-{way}" for exhibit, way in (*DRAWN, *DRAWN_EACH)],
)
every_figure_of_all = pytest.mark.parametrize(
    "exhibit", [exhibit for exhibit, _ in DRAWN], ids=[exhibit.name for exhibit, _ in DRAWN]
)
every_study = pytest.mark.parametrize("study", STUDIES)


def files_in(package) -> set[str]:
    return {file.stem for file in Path(package.__file__).parent.glob("*.py")} - {"__init__"}


@cache
def offered(file: str, start: str, entry: str) -> frozenset[str]:
    """The keys of a dictionary in a rule file: what the workflow can give."""
    text = (ROOT / "workflow" / "rules" / file).read_text(encoding="utf-8")
    block = re.search(rf"^( *){start} = {{\n(.*?)^\1}}", text, re.MULTILINE | re.DOTALL)
    return frozenset(re.findall(entry, block[2], re.MULTILINE))


def exhibit_settings() -> frozenset[str]:
    return offered("common_exhibits.smk", "EXHIBIT_SETTINGS", r'^    "(\w+)":')


def study_settings() -> frozenset[str]:
    return offered("common_studies.smk", "known", r'^ +"(\w+)": lambda:')


# ---- files and registries


def test_every_file_is_registered_and_every_name_has_its_file():
    assert files_in(frugalmct.paper.exhibits) - {"registry"} == set(EXHIBITS)
    assert files_in(frugalmct.paper.studies) - SHARED == set(STUDIES)
    assert files_in(frugalmct.paper.studies.calls) - {"case"} == set(CALL_STUDIES) <= set(STUDIES)
    assert len(set(EXHIBITS)) == len(EXHIBITS) and len(set(STUDIES)) == len(STUDIES)


def test_the_workflow_offers_settings():
    assert {"data", "datasets"} <= exhibit_settings() and {"budget", "learning"} <= study_settings()


# ---- what an exhibit says about itself


@every_exhibit
def test_it_has_a_title_and_a_section(exhibit):
    assert exhibit.title and exhibit.title == exhibit.title.strip() and "\n" not in exhibit.title
    assert exhibit.section in SECTIONS
    assert sum(exhibit.title == other.title for other in all_exhibits()) == 1


@every_exhibit
def test_its_needs_are_known_and_do_not_go_round(exhibit):
    for need in exhibit.needs:
        studied = need.startswith(STUDY) and need.removeprefix(STUDY) in STUDIES
        assert studied or need in STAGES or need in EXHIBITS, need
    assert exhibit.name not in ancestors(exhibit.name)
    assert set(exhibit.drawn_with) <= set(exhibit.needs) & set(EXHIBITS)


def ancestors(name: str) -> set[str]:
    found, waiting = set(), [name]
    while waiting:
        tables = {need for need in load_exhibit(waiting.pop()).needs if need in EXHIBITS}
        waiting += tables - found
        found |= tables
    return found


@every_exhibit
def test_its_settings_are_those_that_the_workflow_offers(exhibit):
    assert isinstance(exhibit.needs, tuple) and isinstance(exhibit.settings, tuple)
    assert set(exhibit.settings) <= exhibit_settings()


@every_exhibit
def test_its_columns_are_described(exhibit):
    names = [column.name for column in exhibit.columns]
    assert len(set(names)) == len(names) and names.count("data") == 1
    for column in exhibit.columns:
        assert column.kind in KINDS, column
        assert re.fullmatch(r"[a-z][a-z0-9_]*", column.name), column
        assert column.about.strip() and "\n" not in column.about, column
        assert exhibit.column(column.name).heading.strip()


@every_exhibit
def test_its_caption_is_a_paragraph_of_plain_text(exhibit):
    lines = exhibit.module.CAPTION.strip().splitlines()
    assert 1 <= len(lines) <= 10, "a few lines"
    rendered = publish_doctree(exhibit.caption, settings_overrides={"halt_level": 1, "report_level": 5})
    assert [node.tagname for node in rendered] == ["paragraph"]
    assert rendered.astext() == exhibit.caption, "nothing in it is markup"


@every_exhibit
def test_it_says_how_it_differs_from_the_paper(exhibit):
    assert exhibit.differs.strip().endswith(".") and "\n" not in exhibit.differs


# ---- what it says and shows of a table


@every_exhibit
def test_its_reading_is_a_few_lines(exhibit):
    for datasets, repeats in ((("PASCAL", "COCO"), 3), (("COCO",), 1), (("mine",), 2)):
        lines = exhibit.reading(made_up_tables(datasets, repeats)[exhibit.name])
        assert 1 <= len(lines) <= MOST_LINES
        for line in lines:
            assert line.strip() and "\n" not in line and line.endswith((".", "`")), line
            assert not re.search(r"\bnan\b|<NA>", line), line


@every_exhibit
def test_what_is_shown_is_a_table_of_known_columns(exhibit):
    table = made_up_tables()[exhibit.name]
    before = table.copy()
    shown = exhibit.shown(table)
    assert isinstance(shown, pd.DataFrame) and len(shown)
    pd.testing.assert_frame_equal(table, before)
    for name in map(str, shown.columns):
        assert exhibit.column(name).heading.strip(), name


@every_exhibit
def test_without_rows_there_is_still_a_report(exhibit, tmp_path):
    tables = made_up_tables()
    tables[exhibit.name] = tables[exhibit.name].head(0)
    for name, table in tables.items():
        write_table(table, tmp_path / f"{name}.csv")
    files = [tmp_path / f"{name}.csv" for name in tables]
    run = write_report(tmp_path / "report.html", files, [], {}, tmp_path / "benchmarks", tmp_path)
    assert run.missing == {exhibit.name: "it has no rows in this run"}
    # Nor does the page itself depend on empty tables being sorted out before.
    unsorted = Run(tables, {}, {}, {})
    assert f'id="{exhibit.name}"' in page(unsorted, job_times(tmp_path / "benchmarks"), tmp_path)


# ---- figures


def figure(exhibit: Exhibit, way: str, tables: dict[str, pd.DataFrame], dataset: str = "COCO") -> Figure:
    """Drawn of tables as the job draws it: of all datasets, or of the rows of one."""
    shown = [tables[name] for name in (exhibit.name, *exhibit.drawn_with)]
    if way == "plot_each":
        return exhibit.plot_each(*(rows_of(table, dataset) for table in shown))
    return exhibit.plot(*shown)


@every_figure
def test_a_figure_has_the_same_bytes_every_time(exhibit, way, tmp_path):
    for run in ("one", "two"):
        drawn = figure(exhibit, way, made_up_tables())
        assert isinstance(drawn, Figure)
        save_figure(drawn, [tmp_path / f"{run}.svg", tmp_path / f"{run}.png"])
    for kind in ("svg", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    assert "Nothing to show" not in texts(tmp_path / "one.svg")


@every_figure
def test_a_figure_is_stamped_with_the_kind_of_its_data(exhibit, way):
    stamps = {"simulated": ["SIMULATED DATA"], "release": ["REAL DATA"], "recorded": []}
    for data, expected in stamps.items():
        shown = words(figure(exhibit, way, made_up_tables(data=data)))
        assert [stamp for stamp in ("SIMULATED DATA", "REAL DATA") if stamp in shown] == expected


@every_figure_of_all
def test_a_figure_of_all_datasets_is_real_only_if_all_of_them_are(exhibit):
    for other, expected in (("simulated", "SIMULATED DATA"), ("recorded", "")):
        tables = made_up_tables(data="release")
        for table in tables.values():
            if "dataset" in table:
                table.loc[table["dataset"] == "COCO", "data"] = other
        shown = words(figure(exhibit, "plot", tables))
        assert "REAL DATA" not in shown and expected in shown


@every_figure
def test_a_table_without_rows_columns_or_values_is_a_gap_that_says_so(exhibit, way, tmp_path):
    draw_table, table = getattr(exhibit, way), made_up_tables()[exhibit.name]
    gap = "Nothing to show: the table has no rows in this run."
    assert gap in drawn_text(draw_table(table.head(0)), tmp_path)
    assert gap in words(draw_table(pd.DataFrame()))
    assert "Nothing to show: no column" in words(draw_table(pd.DataFrame({"something": [1]})))
    empty = table.assign(**dict.fromkeys(table, np.nan))
    assert "Nothing to show: every row is without a value" in words(draw_table(empty))


@every_figure
def test_one_repetition_has_no_band_and_one_dataset_is_enough(exhibit, way, tmp_path):
    drawn = figure(exhibit, way, made_up_tables(("COCO",), repeats=1))
    shown = drawn_text(drawn, tmp_path)
    assert "COCO" in shown and "Nothing to show" not in shown and "bands" not in shown


@every_figure
@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_of_data_are_never_markup_or_formula(exhibit, way, tmp_path):
    odd = "<b>$x$&"
    tables = {
        name: table.replace({"COCO": odd, "Microsoft": odd})
        for name, table in made_up_tables(("COCO",)).items()
    }
    assert odd in drawn_text(figure(exhibit, way, tables, odd), tmp_path)


@every_figure
def test_a_figure_is_written_under_the_name_that_the_report_looks_for(exhibit, way, tmp_path):
    stem = exhibit.name if way == "plot" else f"{exhibit.name}/COCO"
    files = [tmp_path / "figures" / f"{stem}.{ending}" for ending in ("svg", "png")]
    tables = made_up_tables()
    draw(exhibit, [tables[name] for name in (exhibit.name, *exhibit.drawn_with)], files)
    run = Run.read([], files, {})
    assert run.figures == {stem: files[0]} and all(file.stat().st_size for file in files)


# ---- from a run's files to tables


@pytest.fixture(scope="module")
def small_run(tmp_path_factory) -> SmallRun:
    return SmallRun(tmp_path_factory.mktemp("run"))


@every_study
def test_a_study_says_what_it_needs_and_gives_rows(study, small_run):
    kinds = {"": READERS} | ({"calls.": CALL_READERS} if study in CALL_STUDIES else {})
    for kind, readers in kinds.items():
        module = import_module(f"frugalmct.paper.studies.{kind}{study}")
        assert isinstance(module.NEEDS, tuple) and set(module.NEEDS) <= set(readers)
        assert isinstance(module.SETTINGS, tuple) and set(module.SETTINGS) <= study_settings()
    assert len(small_run.study(study)) == len(kinds)
    for file in small_run.study(study):
        rows = pd.read_csv(file)
        assert len(rows) and "dataset" in rows and set(rows["dataset"]) == {Path(file).parent.name}


@every_study
def test_a_study_is_shown_by_some_exhibit(study):
    assert any(f"{STUDY}{study}" in exhibit.needs for exhibit in all_exhibits())


@every_study
def test_what_a_study_imports_by_name_is_in_its_fingerprint(study, small_run, monkeypatch, tmp_path):
    """Whatever it loads while it runs, also in processes of its own."""
    record = tmp_path / "imported"

    def noted(name: str) -> ModuleType:
        with record.open("a") as lines:
            lines.write(f"{name}\n")
        return import_module(name)

    for place in (registry, methods):
        monkeypatch.setattr(place, "import_module", noted)
    for dataset, kind in small_run.kinds(study).items():
        record.write_text("")
        module = small_run.study_module(study, kind)
        small_run.studied(study, dataset, kind)
        plugins = [*getattr(module, "PLUGINS", []), *small_run.predictors(module)]
        files = code_files(ROOT / "workflow" / "scripts" / "run_study.py", module.__name__, *plugins)
        for name in set(record.read_text().split()):
            assert Path(import_module(name).__file__) in files, f"{module.__name__} imports {name}"


def test_the_solver_study_has_every_solver_in_its_fingerprint():
    """Those too that are not installed here: they may be where it runs."""
    for module in (solver_runtime, call_solver_runtime):
        assert {METHODS.load(name).__module__ for name in METHODS.names()} <= set(module.PLUGINS)


@every_exhibit
def test_it_builds_exactly_its_columns(exhibit, small_run):
    built = small_run.build(exhibit.name)
    described = [column.name for column in exhibit.columns]
    assert set(built) <= set(described)
    assert set(described) - set(built) <= {"data"}, "the column that every table gets"
    assert len(built)


@every_exhibit
def test_it_is_made_from_a_runs_files(exhibit, small_run):
    made = small_run.make(exhibit.name)
    table = exhibit.read(made.table)
    assert table.columns.tolist() == [column.name for column in exhibit.columns] and len(table)
    assert table["data"].notna().all()
    assert made.caption.read_text(encoding="utf-8") == f"{exhibit.caption}\n"
    assert all(file.stat().st_size for file in made.figures)
    assert bool(made.figures) == bool(exhibit.plot or exhibit.plot_each)
    assert exhibit.reading(table) and isinstance(exhibit.shown(table), pd.DataFrame)
    for column in exhibit.columns:
        assert is_of_kind(table[column.name].dropna(), column), column


def is_of_kind(values: pd.Series, column: Column) -> bool:
    kind = column.kind
    if kind == "flag":
        return set(values.astype(str)) <= {"True", "False"}
    numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if kind == "text":
        return not numeric or values.empty
    # A share may be a difference of two: never more than 1 either way. Only a cost can be more than twice
    # another, so that a saving is a loss of more than all.
    least = -np.inf if column.name.startswith("saving") else -1 - 1e-9
    return values.empty or (numeric and (kind == "number" or values.between(least, 1 + 1e-9).all()))
