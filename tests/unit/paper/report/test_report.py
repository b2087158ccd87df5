import base64
import re
import time
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import ROOT
from made_up_tables import made_up_tables

from frugalmct.paper.columns import ACCURACY as ACCURACY_COLUMN
from frugalmct.paper.columns import Column
from frugalmct.paper.exhibit import SECTIONS, draw, load_exhibit
from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.exhibits.tradeoff import plot
from frugalmct.paper.jobs.code import code_files
from frugalmct.paper.jobs.times import job_times, rule_times
from frugalmct.paper.plotting import save_figure
from frugalmct.paper.report.beside import ACCURACY, RMSE, SAVING, SERVICE, comparisons, distance
from frugalmct.paper.report.html import cell, image, number, plain_column, table, tag, text
from frugalmct.paper.report.page import asset, write_report
from frugalmct.paper.report.provenance import commit, facts, versions
from frugalmct.paper.tables import write_table

EVIL = "<script>alert(1)</script>"
SETTINGS = {"seed": 7, "repeats": 3, "scale": 0.1, "predictor": "random_forest", "datasets": {"COCO": {}}}
# In the order of the page.
EXHIBITS = [exhibit for part in SECTIONS for exhibit in all_exhibits() if exhibit.section == part]


class Elements(HTMLParser):
    """Every element with its attributes, ids, and whether each was closed where it was opened."""

    VOID = ("meta", "link", "img", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def of(self, name: str) -> list[dict]:
        return [attributes for tag, attributes in self.found if tag == name]


def reported(folder: Path, tables: dict[str, pd.DataFrame], figures: bool = True, settings=SETTINGS) -> str:
    paths = [folder / f"{name}.csv" for name in tables]
    for name, content in tables.items():
        write_table(content, folder / f"{name}.csv")
    drawings = []
    if figures:
        drawings = [folder / "figures" / f"{name}.svg" for name in ("tradeoff", "tradeoff/COCO")]
        draw(load_exhibit("tradeoff"), [tables["tradeoff"]], drawings)
    write_report(folder / "report.html", paths, drawings, settings, folder / "benchmarks", folder)
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    return reported(tmp_path_factory.mktemp("report"), made_up_tables())


def test_every_item_is_there_in_order_and_linked(page):
    elements = Elements(page)
    assert not elements.open, "every element is closed"
    identities = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(set(identities)) == len(identities)
    places = [identities.index(exhibit.name) for exhibit in EXHIBITS]
    assert places == sorted(places)
    links = {attributes["href"][1:] for attributes in elements.of("a")}
    assert {exhibit.name for exhibit in EXHIBITS} <= links <= set(identities)
    headings = [tag for tag, _ in elements.found if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1" and headings.count("h1") == 1
    assert all(int(below[1]) - int(above[1]) <= 1 for above, below in pairwise(headings))


def test_the_only_datasets_figure_is_not_repeated(page, tmp_path):
    assert "One figure per dataset (1)" in page
    alone = reported(tmp_path, made_up_tables(("COCO",)))
    assert 'id="tradeoff"' in alone and "One figure per dataset" not in alone


def test_of_own_data_alone_what_was_not_made_comes_last(page, tmp_path):
    tables = made_up_tables(("mine",), data="recorded")
    own = reported(tmp_path, tables, figures=False, settings=SETTINGS | {"datasets": {"mine": {}}})
    order = [own.index(f'<section id="{name}"') for name in ("answer-mine", "tradeoff", "gaps", "provenance")]
    assert order == sorted(order) and 'id="summary"' not in own and 'href="#summary"' not in own
    assert 'id="summary"' in page and 'id="gaps"' not in page


def test_simulated_is_said_large_and_on_every_figure(page, tmp_path):
    assert '<div class="banner" role="note"><strong>SIMULATED DATA</strong>' in page
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert captions and all("Simulated data." in caption for caption in captions)
    recorded = made_up_tables()
    recorded["dataset_statistics"]["data"] = "recorded"
    assert "SIMULATED" not in reported(tmp_path, recorded, figures=False)


def test_a_figure_of_recorded_answers_is_not_called_simulated(tmp_path):
    tables = made_up_tables()
    statistics = tables["dataset_statistics"]
    statistics.loc[statistics["dataset"] == "COCO", "data"] = "recorded"
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", reported(tmp_path, tables))
    simulated = ", ".join(name for name in statistics["dataset"] if name != "COCO")
    of_coco = [caption for caption in captions if "COCO" in caption.partition("Simulated")[0]]
    assert of_coco and not any("Simulated" in caption for caption in of_coco)
    assert all(f"Simulated data: {simulated}." in caption for caption in captions if caption not in of_coco)


def test_real_data_are_said_to_be_real_and_what_is_dropped_is_said(tmp_path):
    tables = made_up_tables(("PASCAL",), data="release")
    del tables["simulation_fidelity"]
    tables["dataset_statistics"] = tables["dataset_statistics"].assign(dropped_services="SSD")
    settings = SETTINGS | {"case_study": {"dataset": "COCO"}, "training_size": {"PASCAL": 6, "MTWI": 15}}
    page = reported(tmp_path, tables, settings=settings)
    assert '<div class="banner real" role="note"><strong>REAL DATA</strong>' in page
    assert "SIMULATED" not in page
    assert "as the authors released them: PASCAL." in page
    assert "PASCAL is without SSD, whose answers are not in the release at hand." in page
    assert "below the paper, without SSD" in page or "(within 2 points), without SSD" in page
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert captions and all("Real data." in caption for caption in captions)
    assert "Table simulation_fidelity: no dataset of this run is simulated." in page
    assert "COCO is not among the datasets run; others stand in for it" in page
    assert "Accuracy and training size: MTWI are not shown" in page


def test_the_release_stands_beside_the_paper_where_they_differ():
    tables = made_up_tables(("CONLL", "PASCAL"))
    tables["cost_savings"]["paper_accuracy"] = [0.526, 0.748]
    rows = comparisons(tables)
    services = rows[rows["what"] == SERVICE.name].set_index("dataset")
    assert services.loc["CONLL", "paper"].value == 0.526 and services.loc["CONLL", "release"].value == 0.6136
    assert services.loc["PASCAL", "release"].value == 0.7482
    assert rows.loc[rows["what"] != SERVICE.name, "release"].map(lambda cell: cell.value).isna().all()


def test_the_page_needs_nothing_from_outside(page):
    elements = Elements(page)
    assert not re.search(r"(src|href)=[\"'](?!data:|#)", page)
    assert "url(" not in asset("page.css") and "@import" not in asset("page.css")
    assert not re.search(r"fetch|XMLHttpRequest|import ", asset("page.js"))
    assert all(attributes["src"].startswith("data:image/") for attributes in elements.of("img"))
    assert all(attributes["alt"] for attributes in elements.of("img"))
    code = code_files(ROOT / "workflow" / "scripts" / "write_report.py")
    assert {"page.css", "page.js"} <= {file.name for file in code}, "a change of them makes the page again"


def test_tables_sort_by_button_and_say_so(page):
    elements = Elements(page)
    heads = elements.of("th")
    assert heads and all(head["aria-sort"] == "none" and head["scope"] == "col" for head in heads)
    assert len(elements.of("button")) == len(heads)
    assert 'setAttribute("aria-sort"' in page
    regions = [attributes for attributes in elements.of("div") if attributes.get("class") == "scroll"]
    assert len(regions) == len(elements.of("table"))
    assert all(attributes["tabindex"] == "0" and attributes["aria-label"] for attributes in regions)


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_from_data_are_harmless_wherever_they_appear(tmp_path):
    evil = {"COCO": EVIL, "Microsoft": EVIL, "person": EVIL, "label 3": EVIL, "ok": EVIL, "cbc": EVIL}
    tables = {
        name: content.replace(evil).replace({"Microsoft": EVIL, "single:Microsoft": f"single:{EVIL}"})
        for name, content in made_up_tables().items()
    }
    tables["cost_savings"].loc[0, "reason"] = f'"><img src=x onerror=alert(1)>{EVIL}'
    settings = SETTINGS | {"datasets": {EVIL: {"task": EVIL}}, "predictor": EVIL, "seed": EVIL}
    page = reported(tmp_path, tables, settings=settings)
    assert page.count("<script>") == 1, "the page's own"
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    elements = Elements(page)
    assert not any("onerror" in attributes for _, attributes in elements.found)
    assert all(attributes["src"].startswith("data:") for attributes in elements.of("img"))


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory) -> dict[str, Path]:
    """Every table as a file; a test that spoils one puts it back."""
    folder = tmp_path_factory.mktemp("tables")
    for name, content in made_up_tables().items():
        write_table(content, folder / f"{name}.csv")
    return {name: folder / f"{name}.csv" for name in made_up_tables()}


@pytest.mark.parametrize("name", made_up_tables())
def test_a_missing_or_empty_table_is_a_gap_with_its_reason(tmp_path, on_disk, name):
    file, paths = on_disk[name], list(on_disk.values())
    content = file.read_bytes()
    try:
        file.unlink()
        assert f"Table {name}: it was not made in this run." in written(tmp_path, paths)
        file.write_bytes(content.partition(b"\n")[0] + b"\n")
        assert f"Table {name}: it has no rows in this run." in written(tmp_path, paths)
        for damaged in (b"", b"dataset\n\xff\xfe\n")[name != "claims" :]:
            file.write_bytes(damaged)
            page = written(tmp_path, paths)
            assert f"Table {name}: its file cannot be read" in page
            assert 'class="gap"' in page and "The table is missing" in page
    finally:
        file.write_bytes(content)


def written(folder: Path, tables: list[Path]) -> str:
    write_report(folder / "report.html", tables, [], SETTINGS, folder / "benchmarks", folder)
    return (folder / "report.html").read_text(encoding="utf-8")


def test_with_nothing_at_all_there_is_still_a_page(tmp_path):
    page = written(tmp_path, [])
    expected = [exhibit for exhibit in EXHIBITS if exhibit.section != "own"]
    assert page.count("The table is missing") == len(expected) > 20
    assert "The test of the claims is missing" in page


def test_a_table_of_another_shape_is_shown_with_no_reading(tmp_path):
    tables = made_up_tables()
    tables = {name: pd.DataFrame({"dataset": ["COCO"], "strange": [1]}) for name in tables}
    page = written_tables(tmp_path, tables)
    assert "strange" in page and "No reading: the table is not as expected" in page


def written_tables(folder: Path, tables: dict[str, pd.DataFrame]) -> str:
    for name, content in tables.items():
        write_table(content, folder / f"{name}.csv")
    return written(folder, [folder / f"{name}.csv" for name in tables])


def test_reasons_and_failures_are_gathered(tmp_path):
    tables = made_up_tables()
    tables["cost_savings"].loc[0, "reason"] = "not reached in 1 of 3 repetitions"
    tables["solver_runtime"].loc[0, "status"] = "failed: no licence"
    page = written_tables(tmp_path, tables)
    assert "Table cost_savings, PASCAL, frugalmct_online: not reached in 1 of 3 repetitions." in page
    assert "Table solver_runtime, COCO, online: failed: no licence." in page


@pytest.mark.parametrize(
    ("ours", "paper", "measure", "kind", "words"),
    [
        (0.52, 0.50, ACCURACY, "within", "as in the paper (within 2 points)"),
        (0.521, 0.50, ACCURACY, "outside", "2.1 points above the paper"),
        (0.479, 0.50, ACCURACY, "outside", "2.1 points below the paper"),
        (0.20, 0.28, RMSE, "outside", "0.08 below the paper"),
        (0.32, 0.28, RMSE, "outside", "0.04 above the paper"),
        (0.6, 0.5, SERVICE, "outside", "10 points above the paper"),
        (np.nan, 0.5, ACCURACY, "nothing", "no value in this run"),
        (0.5, None, ACCURACY, "nothing", "not in the paper"),
    ],
)
def test_one_rule_for_all_distances(ours, paper, measure, kind, words):
    assert distance(ours, paper, measure) == (kind, words)


def test_what_the_simulation_is_fitted_to_is_said_of_simulated_data_alone():
    for data, said in (("simulated", True), ("release", False)):
        rows = comparisons(made_up_tables(data=data))
        services = rows.loc[rows["what"] == SERVICE.name, "distance"].map(lambda cell: cell.value)
        assert services.str.endswith("fitted to it").tolist() == [said] * 2
        savings = rows.loc[rows["what"] == SAVING.name, "distance"].map(lambda cell: cell.value)
        assert not savings.str.contains("fitted").any(), "savings are the prediction"


def test_the_paper_is_beside_only_where_it_has_numbers():
    tables = made_up_tables()
    assert len(comparisons(tables)) == 2 * 5
    tables["cost_savings"].loc[0, ["paper_saving", "paper_accuracy"]] = np.nan
    assert len(comparisons(tables)) == 2 * 5 - 2
    assert comparisons({}).empty


def test_claims_are_counted_in_the_summary_and_shown_open_with_their_verdicts(page):
    words = "does not hold 1; differs because of data 1; holds 1; cannot be tested on this data 1"
    assert f"4 claims: {words}." in page
    part = page[page.index('<section id="claims"') :]
    part = part[: part.index("</section>")]
    assert "<details>" not in part and '<span class="verdict does-not-hold">does not hold</span>' in part
    assert part.index("does not hold</span>") < part.index(">holds</span>")
    assert "Claim 0 <small>abstract</small>" in part and "<small>Test: within 10 points</small>" in part


def test_numbers_are_short():
    assert [number(value) for value in (0.01, 6.0, 31.01, 123287, 1234.56, 0.00012)] == [
        "0.01", "6", "31.01", "123,287", "1,234.6", "0.00012",
    ]  # fmt: skip
    assert [number(value, share=True) for value in (0.5, -1e-12, 2e-6)] == ["50.0", "0.0", "0.0002"]
    assert ACCURACY_COLUMN.printed().heading == "paper: accuracy (%)"
    assert load_exhibit("cost_savings").column("best_cost").heading == "best cost (USD)"
    assert load_exhibit("per_label").column("precision Google").heading == "precision Google (%)"
    assert cell(np.nan, plain_column("x")).value is None and cell(True, plain_column("x")).shown == "yes"
    assert cell("single:Google", Column("method", "", "text")).shown == "Google"


def test_intervals_stand_under_their_mean():
    frame = pd.DataFrame({"accuracy": [0.5], "accuracy_low": [0.45], "accuracy_high": [0.55]})
    built = table(frame, "x", load_exhibit("ensembles").column)
    assert "50.0 <small>45.0 to 55.0</small>" in built
    assert built.count("<th ") == 1


def test_text_and_attributes_are_escaped():
    assert text("<&>\"'") == "&lt;&amp;&gt;&quot;&#x27;"
    assert tag("p", "<b>", title='"x') == '<p title="&quot;x">&lt;b&gt;</p>'


def test_a_heavy_drawing_goes_in_as_png(tmp_path, monkeypatch):
    save_figure(plot(made_up_tables()["tradeoff"]), [tmp_path / "x.svg", tmp_path / "x.png"])
    assert "data:image/svg+xml;base64," in image(tmp_path / "x.svg", "alt", "caption")
    monkeypatch.setattr("frugalmct.paper.report.html.HEAVIEST_SVG", 10)
    assert "data:image/png;base64," in image(tmp_path / "x.svg", "alt", "caption")


def test_the_jobs_are_drawn_once_there_are_times(tmp_path):
    words = "When each job of the last run ran."
    write_report(tmp_path / "report.html", [], [], SETTINGS, tmp_path / "benchmarks", tmp_path)
    assert words not in (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "fit_all.tsv").write_text("s\tmax_rss\n1.5\t-\n", encoding="utf-8")
    write_report(tmp_path / "report.html", [], [], SETTINGS, tmp_path / "benchmarks", tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    (drawing,) = re.findall(rf'src="data:image/svg\+xml;base64,([^"]+)" alt="Figure: {words}', page)
    assert "fit_all: 2 s" in base64.b64decode(drawing).decode("utf-8")


def test_provenance(tmp_path):
    for place, seconds in (("fit/a/0", 1.5), ("fit/b/0", 2.5), ("tabulate", 0.5)):
        file = tmp_path / "benchmarks" / f"{place}.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:01\t-\n", encoding="utf-8")
    (tmp_path / "benchmarks" / "broken.tsv").write_text("", encoding="utf-8")
    jobs = job_times(tmp_path / "benchmarks")
    assert sorted(jobs["end"] - jobs["start"]) == pytest.approx([0.5, 1.5, 2.5])
    assert jobs["end"].max() == pytest.approx(time.time(), abs=60), "the time of the file"
    times = rule_times(jobs)
    assert list(times["rule"]) == ["fit", "tabulate"]
    assert list(times["jobs"]) == [2, 1] and times["all_jobs_seconds"][0] == 4
    assert commit(tmp_path) == "commit not known"
    assert "7, with the dataset's name" in str(facts(tmp_path, SETTINGS)["value"].tolist())
    assert "numpy" in versions()["package"].tolist()
