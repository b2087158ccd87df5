"""The examples are what they say they are; what their pages print, test_page_commands.py compares."""

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from helpers import ROOT
from released import real_folder

from frugalmct.paper.config import validate
from frugalmct.sources import load_market
from frugalmct.strategy import Strategy

OWN = ROOT / "examples" / "own-data"


def read_config(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_tickets_are_those_that_the_script_makes():
    made = runpy.run_path(str(OWN / "make_tickets.py"))["tickets"]()
    lines = (OWN / "tickets.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == made


def test_the_configuration_is_short_and_right(monkeypatch):
    text = (OWN / "config.yaml").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 10
    monkeypatch.chdir(OWN)
    valid = validate(yaml.safe_load(text))
    assert list(valid["datasets"]) == ["tickets"]


def test_a_strategy_learns_from_the_tickets(monkeypatch):
    monkeypatch.chdir(OWN)
    block = read_config(OWN / "config.yaml")["datasets"]["tickets"]
    market = load_market("tickets", block)
    strategy = Strategy.fit(market, budgets=[8], base="Keyword")
    asked = strategy.decide(market, 8).sum(axis=1)
    assert asked.min() == 1 < asked.max(), "some tickets are worth a more expensive service"


def test_the_example_can_be_run_from_the_top_folder(tmp_path):
    for name in ("config.yaml", "tickets.jsonl"):
        shutil.copy(OWN / name, tmp_path)
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--directory", str(tmp_path)]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "Market of tickets" in outcome.stdout + outcome.stderr
    assert "Market of COCO" not in outcome.stdout + outcome.stderr


def test_the_example_of_one_label_data_reads_the_release(tmp_path, monkeypatch):
    folder = real_folder("FrugalML", "RAFDB")
    config = read_config(ROOT / "examples" / "rafdb.yaml")
    place = tmp_path / config["datasets"]["RAFDB"]["source"]["path"]
    place.parent.mkdir(parents=True)
    place.symlink_to(folder.resolve(), target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    block = validate(config)["datasets"]["RAFDB"]
    assert block["labels_per_item"] == 1 and {2, 5, 8, 10} <= set(block["budgets"])
    assert "dropped" not in block


LLM = ROOT / "examples" / "llm-routing"


def test_the_configuration_of_routed_calls_is_short_and_right(monkeypatch):
    text = (LLM / "config.yaml").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 11
    monkeypatch.chdir(LLM)
    assert validate(yaml.safe_load(text))["datasets"]["prompts"]["per_call"]


def test_the_prompts_are_those_that_the_script_makes():
    made = runpy.run_path(str(LLM / "make_prompts.py"))["prompts"]()
    lines = (LLM / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == made


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.yaml")), ids=lambda path: path.name)
def test_examples_name_no_place_of_this_machine(path):
    assert str(ROOT.parent) not in path.read_text(encoding="utf-8")
