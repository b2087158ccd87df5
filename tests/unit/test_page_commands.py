"""Every command and every program on the pages runs, in the order of the page, and gives what the page shows.

Commands are found by reading the pages. What needs Snakemake, a network or data that are not ours has tests
of its own and is listed in `ELSEWHERE` word by word; a new command that is neither run nor listed fails here.
"""

import json
import re
import runpy
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers import ROOT
from made_up_tables import made_up_tables

from frugalmct.cli import COMMANDS, main
from frugalmct.live import Budget, Call, PerCallRouter
from frugalmct.market import Market
from frugalmct.paper.tables import write_table
from frugalmct.predict import PREDICTORS
from frugalmct.select.methods import METHODS
from frugalmct.sources import SOURCES
from frugalmct.sources.jsonl import read_jsonl

PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("config/*.md")),
    *sorted(ROOT.glob("examples/*/README.md")),
]
PLANNED = "tests/workflow/test_page_workflows.py::test_every_snakemake_line_is_planned"
MAKE = "tests/workflow/test_page_workflows.py::test_every_make_target_is_there"
REPORT = "tests/unit/paper/jobs/test_own_report.py::test_from_a_file_to_the_report"
SERVE = "tests/unit/serve/test_serve_command.py::test_the_page_s_program_and_options"
TAGS = "tests/unit/test_coco_tags.py::test_the_real_answers_load_and_are_as_the_readme_says"
ELSEWHERE = {
    "make results": MAKE,
    "make test": MAKE,
    "frugalmct report mine.jsonl --prices Google=15 Microsoft=10": REPORT,
    "frugalmct report mine.jsonl --prices Google=15 Microsoft=10 --items-per-month 50000": REPORT,
    "frugalmct serve strategy.npz --total 120 --items 100000 --per 10000 --ledger sqlite:///ledger.db": SERVE,
    "frugalmct serve strategy.npz --ledger sqlite:///ledger.db --per 10000 --host 0.0.0.0 "
    "--token-file token": SERVE,
    "python examples/coco-tags/make_coco_tags.py "
    "Practical-Deep-Learning-Book/code/chapter-8/data-nov-2019": TAGS,
    "snakemake --workflow-profile workflow/profiles/slurm": PLANNED,
    "snakemake --cores 8 --config data=release": PLANNED,
    "snakemake --cores 8 --config data=release release_dir=../FrugalMCT": PLANNED,
    "snakemake --cores 8 --config data=release release_dir=../FrugalMCT missing_services=drop "
    "'only=[PASCAL]'": PLANNED,
    "snakemake --cores 2 --directory SOMEWHERE --configfile config.yaml tests/config/tiny.yaml": PLANNED,
    "snakemake --cores 2 --directory examples/coco-tags": PLANNED,
    "snakemake --cores 2 --directory examples/llm-routing": PLANNED,
    "snakemake --cores 2 --directory examples/own-data": PLANNED,
}
"""What the test here does not run, for it needs Snakemake, listens, or takes data of others: who does."""
RUN_BY_ANOTHER_TEST = {
    "docs/live.md": "tests/unit/test_cli_live.py::test_every_command_of_the_page",
    "docs/serve.md": SERVE,
}
MONEY, SURE = 0.011, 0.0
"""How far a number may be from the one shown: what is learnt differs in the last digits between machines."""


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    found = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"))
    return [Block(language, text) for language, text in found]


def commands(block: Block) -> Iterator[str]:
    """Without comments, lines that end in a backslash joined."""
    if block.language in ("sh", "bash"):
        for line in block.text.replace("\\\n", " ").splitlines():
            if command := re.sub(r"(^|\s)#.*", "", line).strip():
                yield command


def runs(command: str) -> bool:
    return command not in ELSEWHERE


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


# --- the folder that pages presuppose


def some_tickets(items: int, *names: str) -> Market:
    """Tickets under other names of services, at prices that pages mention."""
    prices = {"Keyword": 0.1, "Tagger": 4.0, "Expert": 10.0}
    market = read_jsonl(ROOT / "examples" / "own-data" / "tickets.jsonl", prices).subset(np.arange(items))
    market = market.with_services(list(prices)[-len(names) :])
    object.__setattr__(market, "services", names)
    return market


def prepare(page: str) -> dict[str, Any]:
    """Files and names that a page takes as given."""
    shutil.copytree(ROOT / "examples", "examples", ignore=shutil.ignore_patterns("results", ".snakemake"))
    prompts = Path("examples/llm-routing/prompts.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    names: dict[str, Any] = {}
    if page == "README.md":
        Path("results/markets").mkdir(parents=True)
        some_tickets(120, "Google", "Microsoft").save("results/markets/mine.npz")
        names |= {"item": {"id": "a1"}, "ask": lambda service, item: [["refund", 0.9]]}
        names["accuracy"] = np.random.default_rng(0).random((200, 4)) * 0.2 + np.linspace(0.5, 0.8, 4)
    if page == "docs/extend.md":
        Path("results/tables").mkdir(parents=True)
        write_table(made_up_tables(("PASCAL",))["tradeoff"], Path("results/tables/tradeoff.csv"))
    if page == "docs/plus.md":
        whole = some_tickets(200, "Keyword", "Tagger", "Expert")
        names |= {
            "training_market": whole.subset(np.arange(120)),
            "test_market": whole.subset(np.arange(120, 200)),
        }
    if page == "docs/llm-routing.md":
        Path("prompts.jsonl").write_text("".join(prompts[:150]), encoding="utf-8")
        Path("item.json").write_text(prompts[0], encoding="utf-8")
        names["other_market"] = read_jsonl("examples/llm-routing/prompts.jsonl").subset(np.arange(150, 200))
    if page == "examples/own-data/README.md":
        Path("examples/own-data/results/markets").mkdir(parents=True)
        some_tickets(120, "Keyword", "Tagger", "Expert").save("examples/own-data/results/markets/tickets.npz")
    if page == "examples/llm-routing/README.md":
        record = json.loads(prompts[0])
        costs, sure = record["costs"], record["answer_features"]
        names |= {"Budget": Budget, "PerCallRouter": PerCallRouter}
        names["ask"] = lambda model, item: Call("said", costs[model], sure.get(model))
    return names


def run_command(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    words = shlex.split(command)
    if words[0] == "python":
        runpy.run_path(words[1])
        return capsys.readouterr().out
    assert words[0] == "frugalmct", f"{command}: run it here, or say in ELSEWHERE who does"
    code = main(words[1:])
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


# A block that begins with its name is a file.
FILE = re.compile(r"# (\w+\.py)\n")
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


def assert_shown(shown: str, printed: str, tolerance: float) -> None:
    """That these lines stand in the output one after the other, the numbers as near as that."""
    wanted, lines = shown.rstrip().splitlines(), printed.splitlines()
    places = range(len(lines) - len(wanted) + 1)
    assert any(all(map(_like, wanted, lines[at:], [tolerance] * len(wanted))) for at in places), printed


def _like(shown: str, printed: str, tolerance: float) -> bool:
    if " ".join(NUMBER.sub("#", shown).split()) != " ".join(NUMBER.sub("#", printed).split()):
        return False
    pairs = zip(*(NUMBER.findall(line.replace(",", "")) for line in (shown, printed)), strict=True)
    return all(abs(float(a) - float(b)) <= tolerance for a, b in pairs)


WITH_SOMETHING_TO_RUN = [
    page
    for page in PAGES
    if name_of(page) not in RUN_BY_ANOTHER_TEST
    and any(block.language == "python" or any(map(runs, commands(block))) for block in blocks(page))
]


@pytest.mark.parametrize("page", WITH_SOMETHING_TO_RUN, ids=name_of)
def test_the_page_runs_and_gives_what_it_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for registry in (PREDICTORS, METHODS, SOURCES):  # what a page adds ends with it
        monkeypatch.setattr(registry, "_targets", dict(registry._targets))
    names, printed, last = prepare(name_of(page)), None, ""
    compared = 0
    for block in blocks(page):
        if file := FILE.match(block.text) if block.language == "python" else None:
            Path(file[1]).write_text(block.text, encoding="utf-8")
            monkeypatch.delitem(sys.modules, Path(file[1]).stem, raising=False)
        elif block.language == "python":
            exec(block.text, names)
            printed = capsys.readouterr().out
        elif mine := [command for command in commands(block) if runs(command)]:
            printed, last = "".join(run_command(command, capsys) for command in mine), mine[-1]
        elif block.language == "" and printed is not None:
            assert_shown(block.text, printed, SURE if " check " in last else MONEY)
            compared, printed = compared + 1, None
        else:
            printed = None
    shown = sum(block.language == "" for block in blocks(page))
    assert compared == shown, "an output stands right after what gives it"


def test_pages_that_say_what_is_run_are_found():
    """A page that is not looked at any more would pass."""
    found = set(map(name_of, WITH_SOMETHING_TO_RUN))
    assert {"README.md", "docs/llm-routing.md", "docs/plus.md", "examples/llm-routing/README.md"} <= found
    assert "examples/own-data/README.md" in found
    assert all((ROOT / page).is_file() for page in RUN_BY_ANOTHER_TEST)


def test_what_runs_elsewhere_is_on_a_page_and_its_test_exists():
    shown = {command for page in PAGES for block in blocks(page) for command in commands(block)}
    assert set(ELSEWHERE) <= shown, "a command that no page has any more"
    for test in {*ELSEWHERE.values(), *RUN_BY_ANOTHER_TEST.values()}:
        file, _, name = test.partition("::")
        assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8"), test


def test_a_number_that_differs_is_found():
    assert_shown("a  1.50 %\nb 2\n", "x\na 1.50 %\n b   2\n", SURE)
    for shown in ("a 1.51 %\n", "b 2\na 1.50 %\n", "c 1.50 %\n"):
        with pytest.raises(AssertionError):
            assert_shown(shown, "a 1.50 %\nb 2\n", SURE)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_options_that_a_page_names_exist(page, capsys):
    """In a sentence as well as in a block."""
    text = page.read_text(encoding="utf-8")
    spoken = re.findall(r"`(frugalmct [^`\n]+)`", text)
    written = [
        command for block in blocks(page) for command in commands(block) if command.startswith("frugalmct ")
    ]
    for command in {*spoken, *written}:
        words = shlex.split(command)
        assert words[1] in (*COMMANDS, "--version"), command
        nested = words[1:3] if words[1] == "ledger" and len(words) > 2 else words[1:2]
        if options := {word for word in words if re.match(r"--[a-z]", word)} - {"--version"}:
            with pytest.raises(SystemExit):
                main([*nested, "--help"])
            helped = capsys.readouterr().out
            assert all(re.search(rf"{option}\b", helped) for option in options), command


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_items_that_a_page_shows_can_be_read(page, tmp_path):
    for number, block in enumerate(blocks(page)):
        if block.language == "json" and '"id"' in block.text:
            file = tmp_path / f"{number}.jsonl"
            file.write_text(block.text, encoding="utf-8")
            assert len(read_jsonl(file)) == len(block.text.splitlines())


def test_models_alone_are_as_good_as_the_walk_through_says():
    page = (ROOT / "examples" / "llm-routing" / "README.md").read_text(encoding="utf-8")
    market = read_jsonl(ROOT / "examples" / "llm-routing" / "prompts.jsonl")
    sentence = re.search(r"(?m)^`large` alone has .*", page)[0]
    said = re.findall(r"`(\w+)` (?:alone has )?([\d.]+) at ([\d.]+)", sentence)
    assert [name for name, _, _ in said] == ["large", "medium"]
    for name, quality, cost in said:
        k = market.service_index(name)
        assert (f"{market.quality[:, k].mean():.3f}", f"{market.costs[:, k].mean():.3f}") == (
            quality,
            cost.rstrip("."),
        )
