"""The report in a real browser: pictures load, tables sort, nothing fails, nothing is fetched, phones fit."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from made_up_tables import made_up_tables

from frugalmct.paper.exhibit import draw, load_exhibit
from frugalmct.paper.report.page import write_report
from frugalmct.paper.tables import write_table

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = "<script>window.evil = true; alert(1)</script>"

# Before anything else in the page: note whatever goes wrong.
WATCH = """<script>
window.troubles = [];
addEventListener("error", (event) => troubles.push(event.message || event.target.alt), true);
addEventListener("unhandledrejection", (event) => troubles.push("rejected: " + event.reason));
addEventListener("securitypolicyviolation", (event) => troubles.push("blocked: " + event.blockedURI));
window.alert = (words) => troubles.push("alert: " + words);
console.error = (...words) => troubles.push("console: " + words.join(" "));
</script>"""

# After everything: use the page as a reader would, and tell the outer page what was seen.
PROBE = """<script>
addEventListener("load", () => {
  const column = (table, place) => [...table.tBodies[0].rows].map((row) => row.cells[place].dataset.value);
  const tables = [...document.querySelectorAll("table.sortable")].map((table) => {
    const heads = [...table.tHead.rows[0].cells];
    return {
      caption: table.caption.textContent,
      columns: heads.map((head, place) => {
        head.querySelector("button").click();
        const up = { sort: head.getAttribute("aria-sort"), values: column(table, place) };
        head.querySelector("button").click();
        const down = { sort: head.getAttribute("aria-sort"), values: column(table, place) };
        const sorted = heads.filter((other) => other.getAttribute("aria-sort") !== "none").length;
        return { numeric: head.className === "number", up, down, sorted };
      }),
    };
  });
  dispatchEvent(new Event("beforeprint"));
  const folded = document.querySelectorAll("main details:not([open])").length;
  dispatchEvent(new Event("afterprint"));
  for (const details of document.querySelectorAll("details")) details.open = true;
  parent.postMessage({
    name: window.name,
    width: innerWidth,
    scroll_width: document.documentElement.scrollWidth,
    images: [...document.images].map((image) => [image.complete && image.naturalWidth, image.alt]),
    tables,
    folded,
    requests: performance.getEntriesByType("resource").map((entry) => entry.name)
      .filter((name) => !name.startsWith("data:")),
    troubles: window.troubles,
    evil: window.evil === true,
  }, "*");
});
</script>"""

# Headless windows have a smallest width; a frame has none.
OUTER = """<!DOCTYPE html><body><iframe name="phone" src="probed.html" width="390" height="844"></iframe>
<iframe name="desk" src="probed.html" width="1200" height="900"></iframe><pre id="seen"></pre><script>
const seen = {};
addEventListener("message", ({ data }) => {
  seen[data.name] = data;
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
</script></body>"""


# The made-up datasets on the page, each with its name there; which of them has figures; how many pictures
# there are: one of the first screen, and where several datasets are shown one of all.
KINDS = {
    "paper": ({"COCO": "COCO", "PASCAL": "PASCAL"}, "COCO", 5),
    "own": ({"COCO": "tickets"}, "tickets", 4),
    "mixed": ({"COCO": "COCO", "PASCAL": EVIL}, "COCO", 4),
}
FIGURES = ("tradeoff", "per_label", "label_distribution")


def write_everything(folder: Path, kind: str) -> Path:
    """A report of made-up tables, with names that would be scripts: a label, a service, an own dataset."""
    datasets, drawn, _ = KINDS[kind]
    tables = {
        name: content.replace({"label 3": EVIL, "Microsoft": EVIL} | datasets)
        for name, content in made_up_tables(tuple(datasets)).items()
    }
    for name, content in tables.items():
        write_table(content, folder / f"{name}.csv")
    (folder / "solver_agreement.csv").unlink()
    stems = ["tradeoff", *(f"{name}/{drawn}" for name in FIGURES)]
    figures = {stem: folder / "figures" / f"{stem}.svg" for stem in stems}
    for stem, file in figures.items():
        name = stem.partition("/")[0]
        draw(load_exhibit(name), [tables[name]], [file])
    write_report(
        folder / "report.html",
        [folder / f"{name}.csv" for name in tables],
        list(figures.values()),
        {"seed": 1, "datasets": {name: {} for name in datasets.values()}, "a long word": "x" * 500},
        folder / "benchmarks",
        folder,
    )
    return folder / "report.html"


def visit(folder: Path) -> dict[str, dict]:
    """Opens the report in two widths, with no network, and returns what its probes saw."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    probed = page.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{PROBE}</body>")
    (folder / "probed.html").write_text(probed, encoding="utf-8")
    (folder / "outer.html").write_text(OUTER, encoding="utf-8")
    command = [
        *(
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ),
        *("--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000", "--dump-dom"),
        *(f"--user-data-dir={folder / 'profile'}", (folder / "outer.html").as_uri()),
    ]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    found = re.search(r'<pre id="seen">(.+?)</pre>', outcome.stdout, re.DOTALL)
    assert found, outcome.stdout[-2000:] + outcome.stderr[-2000:]
    return json.loads(unescape(found[1]))


@pytest.fixture(scope="module", params=list(KINDS))
def kind(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def seen(tmp_path_factory, kind) -> dict[str, dict]:
    if not BROWSER:
        pytest.skip(
            "no chromium on this machine: the report is not looked at in a browser (apt install chromium)"
        )
    folder = tmp_path_factory.mktemp("browser")
    write_everything(folder, kind)
    return visit(folder)


@pytest.fixture(params=["phone", "desk"])
def view(request, seen) -> dict:
    return seen[request.param]


# One browser, for one worker.
pytestmark = pytest.mark.xdist_group("tiny run")


def test_all_images_load(view, kind):
    assert len(view["images"]) == KINDS[kind][2]
    assert all(width for width, _ in view["images"])
    assert all(alt for _, alt in view["images"])


def test_nothing_goes_wrong_and_names_run_no_script(view):
    assert view["troubles"] == []
    assert view["evil"] is False


def test_no_request_leaves_the_page(view):
    assert view["requests"] == []


def test_the_page_is_as_wide_as_the_screen(seen):
    assert seen["phone"]["width"] == 390
    for view in seen.values():
        assert view["scroll_width"] <= view["width"]


def test_every_table_sorts_both_ways_by_every_column(view):
    assert len(view["tables"]) > 15
    numeric = 0
    for content in view["tables"]:
        for column in content["columns"]:
            assert (column["up"]["sort"], column["down"]["sort"]) == ("ascending", "descending")
            assert column["sorted"] == 1, "one column at a time is called sorted"
            assert_sorted(column)
            numeric += column["numeric"]
    assert numeric > 40


def assert_sorted(column: dict) -> None:
    up, down = column["up"]["values"], column["down"]["values"]
    filled = [value for value in up if value != ""]
    assert up[len(filled) :] == down[len(filled) :] == [""] * (len(up) - len(filled)), "gaps are last"
    assert sorted(up) == sorted(down)
    if column["numeric"]:
        numbers = [float(value) for value in filled]
        assert numbers == sorted(numbers)
        assert [float(value) for value in down[: len(filled)]] == sorted(numbers, reverse=True)
    else:
        assert filled == down[: len(filled)][::-1] or len(set(filled)) < len(filled)


def test_paper_shows_what_the_screen_folds(view):
    assert view["folded"] == 1, "all but the settings"
