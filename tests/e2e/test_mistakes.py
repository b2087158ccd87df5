"""What a user sees after a mistake: a sentence, and nothing has been done."""

import subprocess
import sys

import pytest
import yaml
from tiny_project import PROJECT, Project

# One worker does all that share the run.
pytestmark = pytest.mark.xdist_group("tiny run")


@pytest.fixture
def untouched(project: Project, tmp_path) -> Project:
    (tmp_path / "here").mkdir()
    return Project(project.root, tmp_path / "here")


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ("sclae: 0.1", "config: sclae is not a key of the configuration; did you mean 'scale'?"),
        ("only: [PASKAL]", "config: only[0] is 'PASKAL', which is no dataset; did you mean 'PASCAL'?"),
        ("only: [own]", "config: datasets.own.source.path is 'own.jsonl', and there is no such file in "),
        ("only: [PASCAL]\npredictor: auto_sklearn", "bin/python is not there; run `make automl-env`."),
        ("scale: 0.1\nscale: 0.2", "line 2: the key 'scale' is given twice; keep one of them."),
    ],
)
def test_a_mistake_in_the_config_is_told_before_any_job_starts(untouched, config, sentence):
    output = untouched.run(config=config, succeed=False)
    assert sentence in output
    assert "Traceback" not in output and "Error" not in output and "File " not in output
    assert len([line for line in output.splitlines() if not line.startswith("Using ")]) == 1
    assert not (untouched.folder / "results").exists()


def test_a_target_after_configfile_is_said_to_be_one(untouched):
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--configfile", "config.yaml", "tables"]
    ended = subprocess.run(
        command, cwd=untouched.root, env=untouched.environment, text=True, capture_output=True, check=False
    )
    assert ended.returncode == 1 and ended.stdout == ""
    *others, last = ended.stderr.splitlines()
    assert last.startswith("--configfile: there is no file 'tables' here; ")
    assert last.endswith("put it first: snakemake tables --configfile config.yaml")
    assert all(line.startswith("Using workflow specific profile") for line in others)


def test_a_config_file_that_is_no_yaml_is_told_with_its_line(untouched):
    (untouched.folder / "config.yaml").write_text("seed: 1\nonly: [a\nscale: 1\n", encoding="utf-8")
    output = untouched.run(succeed=False)
    assert "config.yaml, line 3, column 6: is not valid YAML" in output
    assert "Traceback" not in output


@pytest.mark.slow
def test_a_mistake_in_the_data_is_told_on_the_console_and_traced_in_the_log(finished):
    broken = finished.beside("broken")
    with (broken.folder / "own.jsonl").open("a", encoding="utf-8") as handle:
        handle.write(
            '{"id": "last", "truth": ["x"], "predictions": {"free": [], "fair": [], "dear": [["x", 7]]}}\n'
        )
    output = broken.run("--", "results/markets/own.npz", "results/markets/PASCAL.npz", succeed=False)
    sentence = "own.jsonl, line 4001: dear, entry 1: the score is 7; it must be a number in [0, 1]."
    assert output.splitlines()[-1] == sentence, "after all that Snakemake says of it"
    assert "Traceback" not in output
    assert "Traceback" in (broken.folder / "results/logs/read_answers/own.log").read_text(encoding="utf-8")
    assert (broken.folder / "results/markets/PASCAL.npz").exists(), "what does not depend on it is made"
    assert not (broken.folder / "results/markets/own.npz").exists()


@pytest.mark.slow
def test_what_is_rarely_meant_is_said_at_once_and_on_the_report(finished):
    few = finished.beside("few")
    own = few.folder / "own.jsonl"
    own.write_text("".join(own.read_text(encoding="utf-8").splitlines(keepends=True)[:80]), encoding="utf-8")
    config = "only: [own]\nscale: 1\ndatasets: {own: {budgets: [1, 5, 400], studies: []}}"
    output = few.run("--", "results/report.html", "results/headlines/own.txt", config=config)
    ample = "own: Of the budgets, 400 cannot be spent: no item can cost more than 17.51."
    rare = "With 40 test items chance decides, and no headline is given below 50; record more items."
    assert output.index(f"Warning: {ample}") < output.index("Building DAG of jobs")
    assert output.count(f"Warning: own: {rare}") == 1 and f"own is done. {rare}" in output
    report = (few.folder / "results/report.html").read_text(encoding="utf-8")
    assert ample in report and f"own: {rare}" in report


def test_tiny_stays_on_top_of_the_projects_config():
    tiny = yaml.safe_load((PROJECT / "tests" / "config" / "tiny.yaml").read_text(encoding="utf-8"))
    studies = {"predictor_study", "solver_study"}
    assert set(tiny) == {"only", "scale", "repeats", "predictor_options", "datasets"} | studies
