"""What Snakemake passes on as text is what it would be in a config file; names and tasks that lead astray."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from snakemake.cli import parse_config
from snakemake.exceptions import PeriodicWildcardError
from snakemake.io import PeriodicityDetector

from frugalmct.errors import FrugalError
from frugalmct.paper.config import validate, with_command_line
from frugalmct.paper.config.datasets import ENDLESS

BLOCK = {"task": "MIC", "source": {"kind": "simulated"}, "prices": {"a": 1}}
PROJECT = Path(__file__).parents[4]


def config() -> dict:
    return yaml.safe_load((PROJECT / "config.yaml").read_text(encoding="utf-8"))


def run_with(*entries: str) -> dict:
    """The settings that `snakemake --config ...` would have."""
    given = parse_config(list(entries))
    merged = config()
    for key, value in given.items():
        nested = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merged[key] | value if nested else value
    return validate(with_command_line(merged, given))


@pytest.mark.parametrize(
    ("entry", "key", "expected"),
    [
        ("compress_markets=true", "compress_markets", True),
        ("compress_markets=True", "compress_markets", True),
        ("compress_markets=false", "compress_markets", False),
        ("scale=0.1", "scale", 0.1),
        ("repeats=2", "repeats", 2),
        ("delta=auto", "delta", "auto"),
        ("delta=0.5", "delta", 0.5),
        ("release_dir=null", "release_dir", None),
        ("release_dir=true", "release_dir", "true"),
        ("only=[COCO]", "only", ["COCO"]),
        ("case_study={dataset: PASCAL, budget: 8}", "case_study", {"dataset": "PASCAL", "budget": 8}),
        ("solver_study={items: [10], time_limit: 2.5}", "solver_study", {"items": [10], "time_limit": 2.5}),
        ("training_size={PASCAL: 7}", "training_size", {"PASCAL": 7, "MTWI": 15, "CONLL": 3}),
    ],
)  # fmt: skip
def test_what_the_command_line_says_is_what_a_file_would_say(entry, key, expected):
    assert run_with(entry)[key] == expected


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("compress_markets=maybe", "config: compress_markets is 'maybe'; it must be true or false."),
        ("compress_markets=1", "config: compress_markets is 1; it must be true or false."),
        ("scale=[0.1]", "config: scale is a list of 1; it must be a number."),
        ("repeats=true", "config: repeats is 'true'; it must be a whole number."),
        ("only=COCO", "config: only is 'COCO'; it must be a list such as [a, b]."),
    ],
)
def test_what_is_neither_is_said_in_a_sentence(entry, sentence):
    with pytest.raises(FrugalError) as failure:
        run_with(entry)
    assert str(failure.value) == sentence


def test_a_number_in_quotes_in_a_file_is_still_a_mistake():
    with pytest.raises(FrugalError, match=r"scale is '0\.1'; it must be a number, without quotes"):
        validate(with_command_line(config() | {"scale": "0.1"}, {}))


@pytest.mark.parametrize("name", ["a" * 64, "a" * 20, "ab" * 20, "x" + "abc" * 21])
def test_a_name_that_snakemake_takes_for_an_endless_path_is_refused(name):
    assert PeriodicityDetector().is_periodic(name), "otherwise there is no need to refuse it"
    with pytest.raises(FrugalError, match=r"config: datasets has the name 'x?ab?c?.* repeats itself less\.$"):
        validate({"datasets": {name: BLOCK | {"source": config_source()}}})


@pytest.mark.parametrize("name", ["a" * 19, "ab" * 10, "abcdefgh" * 8, "a" * 30 + "b"])
def test_other_long_names_are_allowed(name):
    assert not PeriodicityDetector().is_periodic(name)
    assert not ENDLESS.search(name)
    assert issubclass(PeriodicWildcardError, Exception)


def config_source() -> dict:
    return {"kind": "jsonl", "path": "own.jsonl"}


@pytest.mark.parametrize(
    ("key", "value"),
    [("task", "MIC\n"), ("task", "M\nIC"), ("features", "labels\n"), ("features", "spacy:en_core_web_md\n")],
)
def test_a_line_break_in_a_word_is_refused(key, value):
    with pytest.raises(
        FrugalError, match=rf"config: datasets\.mine\.{key} is {re.escape(repr(value))}; it must be"
    ):
        validate({"datasets": {"mine": BLOCK | {"source": config_source(), key: value}}})


def test_a_commit_with_a_line_break_is_refused():
    source = {"url": "https://example.org/x", "commit": "a" * 40 + "\n"}
    with pytest.raises(FrugalError, match=r"config: release_source\.commit is 'a+\\n'; it must be"):
        validate(config() | {"release_source": source})


@pytest.mark.parametrize("missing", ["snakemake", "pandas"])
def test_the_forecast_says_what_is_not_installed(tmp_path, missing):
    """In a Python that cannot find it."""
    code = (
        "import sys, importlib.abc\n"
        "class Hide(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {missing!r}: raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Hide())\n"
        "import importlib.util\n"
        "real = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *rest: None if name == {missing!r} else real(name, *rest)\n"
        "from frugalmct.paper.__main__ import main\n"
        "main(['forecast'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith("forecast: ") and "frugalmct[workflow]" in done.stderr
    assert done.stderr.count("\n") == 1
