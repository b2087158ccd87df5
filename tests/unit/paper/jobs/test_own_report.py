import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from helpers import ROOT

from frugalmct.errors import FrugalError
from frugalmct.paper.config import validate
from frugalmct.paper.jobs import own_report
from frugalmct.paper.jobs.own_report import dataset_name, make_report, own_config, workflow_file

TICKETS = ROOT / "examples" / "own-data" / "tickets.jsonl"
PROMPTS = ROOT / "examples" / "llm-routing" / "prompts.jsonl"
PRICES = {"Keyword": 0.1, "Tagger": 4.0, "Expert": 20.0}


def test_a_configuration_needs_a_file_and_prices():
    config = own_config(TICKETS, PRICES, unit=None, items_per_month=40_000)
    valid = validate(config)["datasets"]["tickets"]
    assert valid["prices"] == PRICES and valid["source"] == {"kind": "jsonl", "path": str(TICKETS)}
    assert valid["items_per_month"] == 40_000 and valid["unit"] == "USD per 10,000 items"
    assert valid["studies"] == []


def test_costs_in_the_file_need_no_prices():
    prompts = ROOT / "examples" / "llm-routing" / "prompts.jsonl"
    config = own_config(prompts, {}, unit="USD per 1,000 prompts")
    assert validate(config)["datasets"]["prompts"]["per_call"]
    with pytest.raises(FrugalError, match="tickets has no 'prices'"):
        validate(own_config(TICKETS, {}))


@pytest.mark.parametrize(
    ("file", "name"), [("a.jsonl", "a"), ("a.jsonl.gz", "a"), ("folder/b-1.jsonl", "b-1")]
)
def test_a_dataset_is_named_after_its_file(file, name):
    assert dataset_name(Path(file)) == name


def test_a_file_whose_name_cannot_be_a_datasets():
    with pytest.raises(FrugalError, match=r"'my file\.jsonl' cannot name a dataset; rename it"):
        dataset_name(Path("my file.jsonl"))


def test_a_service_without_a_price_is_said_before_anything_is_written(tmp_path):
    config = own_config(TICKETS, {"Keyword": 1.0, "Tagger": 4.0})
    with pytest.raises(FrugalError, match="has no price of 'Expert'"):
        make_report(tmp_path / "new", config, cores=1)
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(
            FrugalError, match=r"file.* cannot be made \(.*\); name another one with --output"
        ):
            make_report(folder, own_config(TICKETS, PRICES), cores=1)


def test_no_cores_are_refused(tmp_path):
    with pytest.raises(FrugalError, match="cores is 0"):
        make_report(tmp_path / "new", own_config(TICKETS, PRICES), cores=0)
    assert not (tmp_path / "new").exists()


def test_without_the_project_there_is_no_workflow(monkeypatch, tmp_path):
    assert workflow_file() == ROOT / "workflow" / "Snakefile"
    monkeypatch.setattr(own_report.frugalmct, "__file__", str(tmp_path / "a" / "b" / "__init__.py"))
    with pytest.raises(FrugalError, match="clone the project"):
        workflow_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "options"),
    [
        (TICKETS, ["--prices", *(f"{name}={price}" for name, price in PRICES.items())]),
        (PROMPTS, ["--unit", "USD per 1,000 prompts"]),
    ],
    ids=["tickets", "prompts"],
)
def test_from_a_file_to_the_report(tmp_path, file, options):
    command = [sys.executable, "-m", "frugalmct.cli", "report", str(file), "--json"]
    command += ["--items-per-month", "50000", *options]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0
    made = json.loads(done.stdout.splitlines()[-1])
    page = (tmp_path / made["report"]).read_text(encoding="utf-8")
    assert f'id="answer-{file.stem}"' in page and "What the paper claims" not in page
    assert "saved a month, of 50,000 items" in page and 'id="question-worth"' in page
    assert yaml.safe_load((tmp_path / made["config"]).read_text(encoding="utf-8"))["datasets"][file.stem]
