"""What a reader of the code relies on: one style, and a workflow that Snakemake itself finds in order."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
RULE_FILES = sorted((PROJECT / "workflow" / "rules").glob("*.smk"))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=PROJECT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("snakefmt", "--check", "Snakefile", "workflow"),
        ("snakemake", "--lint"),
    ],
    ids=" ".join,
)
def test_tools_find_nothing(command):
    outcome = run(*command)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_snakefile_is_short():
    assert len((PROJECT / "Snakefile").read_text(encoding="utf-8").splitlines()) < 50


def rules() -> dict[str, str]:
    """Rule name -> its text, of the rules that run something."""
    found = {}
    for file in RULE_FILES:
        for text in re.split(r"(?m)^(?=rule )", file.read_text(encoding="utf-8"))[1:]:
            if "script:" in text or "shell:" in text:
                found[re.match(r"rule (\w+):", text)[1]] = text
    return found


@pytest.mark.parametrize("rule", rules())
def test_rules_are_complete(rule):
    text = rules()[rule]
    for directive in ("log:", "benchmark:", "message:", "conda:", "mem_mb=growing(", "code="):
        assert directive in text, f"rule {rule} has no {directive}"
    assert "shell:" in text or f'"../scripts/{rule}.py"' in text, "the script has the rule's name"
    assert "run:" not in text
    assert re.fullmatch(r"[a-z]+_[a-z_]+", rule), "rules are verb_noun"


def test_every_script_belongs_to_a_rule_and_is_short():
    scripts = sorted((PROJECT / "workflow" / "scripts").glob("*.py"))
    assert [script.stem for script in scripts] == sorted(
        rule for rule, text in rules().items() if "script:" in text
    )
    for script in scripts:
        assert len(script.read_text(encoding="utf-8").splitlines()) <= 25, script.name


def test_nothing_names_this_machine_or_a_package_host():
    hosts = ("pypi" + ".org", "pythonhosted", "anaconda" + ".org", "index-url")
    files = [
        PROJECT / name for name in ("Snakefile", "Makefile", "config.yaml", "requirements.lock", ".ci/run")
    ]
    for file in [*files, *PROJECT.glob("workflow/**/*.*"), *PROJECT.glob("envs/*")]:
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        assert not any(host in text for host in hosts), file
        assert str(PROJECT) not in text, file


def test_the_lock_pins_exact_versions_only():
    lines = (PROJECT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", pin) for pin in pins)
    assert {"numpy", "snakemake", "pytest", "setuptools"} <= {pin.split("==")[0].lower() for pin in pins}
    assert not {"pip", "wheel", "frugalmct"} & {pin.split("==")[0].lower() for pin in pins}


def test_the_environment_of_auto_sklearn_is_pinned_and_conda_has_the_same_versions():
    pins = {}
    for name in ("automl-build.txt", "automl-requirements.txt"):
        lines = (PROJECT / "envs" / name).read_text(encoding="utf-8").splitlines()
        pins |= dict(line.split("==") for line in lines if not line.startswith("#"))
    assert pins["auto-sklearn"] == "0.15.0"
    assert int(pins["setuptools"].split(".")[0]) < 66 and pins["Cython"].startswith("0.")
    environment = (PROJECT / "envs" / "automl.yaml").read_text(encoding="utf-8")
    found = dict(re.findall(r"(?m)^  - ([\w-]+)=([\d.]+)$", environment))
    assert found.pop("python") == "3.9" and found and found == {name: pins[name] for name in found}


def test_the_conda_environment_has_the_locked_versions():
    lock = dict(
        re.findall(r"(?m)^([\w.-]+)==(.+)$", (PROJECT / "requirements.lock").read_text("utf-8").lower())
    )
    environment = (PROJECT / "envs" / "core.yaml").read_text(encoding="utf-8")
    pinned = re.findall(r"(?m)^  - ([\w.-]+)=([\d.]+)$", environment)
    assert {"numpy", "scipy", "pandas", "scikit-learn", "matplotlib-base"} <= {name for name, _ in pinned}
    for name, version in pinned:
        if name != "python":
            assert lock[name.removesuffix("-base")] == version, name
