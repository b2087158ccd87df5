"""What is written for people: short, plain words, links that lead somewhere, a drawing that is true."""

import re
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).parents[2]
PAGES = [
    *sorted(PROJECT.glob("*.md")),
    *sorted(PROJECT.glob("docs/*.md")),
    *sorted(PROJECT.glob("config/*.md")),
    *sorted(PROJECT.glob("examples/**/*.md")),
    PROJECT / "results" / "README.md",
]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
FOLDERS = ("src", "workflow", "docs", "config", "examples", "benchmarks", "tools", "envs")
ODD_WORDS = re.compile(r"\bcan not\b|\bdearer\b|\bdearest\b|\bby lot\b|\b(is|are) told\b", re.IGNORECASE)


def test_the_readme_is_short_and_begins_with_what_it_gives():
    assert len(README.splitlines()) < 220
    titles = re.findall(r"(?m)^## (.+)$", README)
    assert titles == ["Two commands", "Your own services", "How it works", "Configuration", "More"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[\w-]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_drawing_has_the_rules_there_are():
    drawn = set(
        re.findall(r"\b([a-z]+_[a-z]+)(?=\[| -->|$)", re.search(r"```mermaid(.*?)```", README, re.S)[1], re.M)
    )
    rules = "".join(file.read_text(encoding="utf-8") for file in PROJECT.glob("workflow/rules/*.smk"))
    assert {"read_answers", "make_market", "estimate_accuracy", "select_services", "write_report"} <= drawn
    assert drawn <= set(re.findall(r"rule (\w+):", rules))


def test_words_are_plain():
    files = [
        file
        for folder in FOLDERS
        for file in (PROJECT / folder).rglob("*")
        if file.suffix in (".py", ".smk", ".md", ".yaml", ".rst")
    ]
    for file in [*PAGES, *files, PROJECT / "config.yaml", PROJECT / "Makefile"]:
        found = ODD_WORDS.search(file.read_text(encoding="utf-8"))
        assert not found, f"{file.relative_to(PROJECT)}: {found[0]}"


def test_every_folder_of_results_is_described():
    described = (PROJECT / "results" / "README.md").read_text(encoding="utf-8")
    rules = "".join(file.read_text(encoding="utf-8") for file in PROJECT.glob("workflow/rules/*.smk"))
    for folder in set(re.findall(r"results/([a-z]+)/", rules)):
        assert f"`{folder}/`" in described, folder


def test_the_catalogue_finds_what_it_looks_for():
    assert (PROJECT / "workflow" / "Snakefile").is_file() and (PROJECT / "config" / "README.md").is_file()
    assert (PROJECT / "config" / "config.yaml").resolve() == (PROJECT / "config.yaml").resolve()
    usage = yaml.safe_load((PROJECT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))["usage"]
    assert usage["report"] is True and "mandatory-flags" in usage
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["authors"] == [{"name": "the FrugalMCT-repro contributors"}] and citation["references"]


def test_the_config_is_short():
    assert len((PROJECT / "config.yaml").read_text(encoding="utf-8").splitlines()) < 150
