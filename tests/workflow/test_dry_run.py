"""What the default configuration would run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from frugalmct.paper.printed import printed

PROJECT = Path(__file__).parents[2]


def dry_run(folder: Path, *arguments: str) -> str:
    command = [
        *(sys.executable, "-m", "snakemake", "--dry-run", "--snakefile", str(PROJECT / "Snakefile")),
        *("--configfile", str(PROJECT / "config.yaml"), "--directory", str(folder), *arguments),
    ]
    outcome = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout + outcome.stderr


def counts(output: str) -> dict[str, int]:
    """Rule -> number of jobs."""
    return {rule: int(number) for rule, number in re.findall(r"(?m)^([a-z_]+) +(\d+)$", output)}


def test_default_run_has_nine_markets_and_five_splits_of_each(tmp_path):
    output = dry_run(tmp_path)
    planned = counts(output)
    assert planned["make_market"] == 9
    assert planned["split_market"] == 45
    for dataset in printed():
        assert f"Market of {dataset}" in output
    assert "results/figures/label_distribution/COCO.svg" in output
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(
            ("--config", "only=[PASCAL]", "--", "markets"),
            {"split_market": 5, "combine_answers": 0},
            marks=pytest.mark.slow,
        ),
        (("--config", "only=[PASCAL]", "--", "selections"), {"select_services": 5, "write_report": 0}),
        (("--config", "only=[COCO]", "repeats=1", "--", "figures"), {"make_market": 1, "write_report": 0}),
        pytest.param(
            ("--", "results/figures/label_distribution/COCO.png"),
            {"exhibits_data_each": 1},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["markets", "selections", "figures", "a figure by name"],
)
def test_milestones_and_files_can_be_asked_for(tmp_path, arguments, expected):
    planned = counts(dry_run(tmp_path, *arguments))
    assert {rule: planned.get(rule, 0) for rule in expected} == expected


def test_the_default_profile_is_found():
    assert (PROJECT / "profiles").resolve() == (PROJECT / "workflow" / "profiles").resolve()
    assert (PROJECT / "profiles" / "default" / "config.yaml").is_file()


def test_the_cluster_profile_names_rules_that_there_are(tmp_path):
    folder = PROJECT / "workflow" / "profiles" / "slurm"
    profile = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    planned = counts(dry_run(tmp_path, "--workflow-profile", str(folder)))
    rules = "".join(file.read_text(encoding="utf-8") for file in PROJECT.glob("workflow/rules/*.smk"))
    # Some have no job in the default run, which has no calls with costs of their own.
    written = set(re.findall(r"(?m)^rule (\w+):", rules))
    assert {*profile["set-resources"], *profile["set-threads"]} <= planned.keys() | written
    assert "retries:" not in rules, "they would run in the same allocation"
