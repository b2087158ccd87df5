"""What a reader of the code relies on: one style, and a workflow that Snakemake itself finds in order."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

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
        pytest.param(("mypy",), marks=pytest.mark.slow),
        ("snakefmt", "--check", "Snakefile", "workflow"),
        pytest.param(("snakemake", "--lint"), marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_tools_find_nothing(command):
    outcome = run(*command)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_the_snakefiles_are_short():
    assert len((PROJECT / "Snakefile").read_text(encoding="utf-8").splitlines()) <= 3
    assert len((PROJECT / "workflow" / "Snakefile").read_text(encoding="utf-8").splitlines()) < 50


def rules() -> dict[str, str]:
    """Rule name -> its text, of those that run something; `study_*` and `exhibits_*` are made in loops."""
    found = {}
    for file in RULE_FILES:
        for text in re.split(r"(?m)^(?= *rule[ :])", file.read_text(encoding="utf-8"))[1:]:
            if "script:" in text or "shell:" in text:
                named = re.match(r"rule (\w+):", text) or re.search(r'f"(\w+_)\{', text)
                found[named[1] + ("*" if named[1].endswith("_") else "")] = text
    return found


SCRIPT_OF_LOOP = {"study_*": "run_study", "exhibits_*": "make_exhibits"}


@pytest.mark.parametrize("rule", rules())
def test_rules_are_complete(rule):
    text = rules()[rule]
    for directive in ("log:", "benchmark:", "message:", "conda:"):
        assert directive in text, f"rule {rule} has no {directive}"
    script = SCRIPT_OF_LOOP.get(rule, rule)
    assert "shell:" in text or (f'"../scripts/{script}.py"' in text and "code=" in text)
    assert "run:" not in text
    assert re.fullmatch(r"[a-z]+_[a-z_*]+", rule), "rules are verb_noun"


def test_memory_stands_in_the_profiles():
    for profile in ("default", "slurm"):
        settings = yaml.safe_load((PROJECT / "profiles" / profile / "config.yaml").read_text("utf-8"))
        assert settings["default-resources"]["mem_mb"] == "2000 * attempt"


def test_every_script_belongs_to_a_rule_and_is_short():
    scripts = sorted((PROJECT / "workflow" / "scripts").glob("*.py"))
    assert {script.stem for script in scripts} == {
        SCRIPT_OF_LOOP.get(rule, rule) for rule, text in rules().items() if "script:" in text
    }
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


LOCKS = ("requirements.lock", "envs/automl-build.txt", "envs/automl-requirements.txt")
# A version, on which systems if not on all, and the checksums of its files.
PIN = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[A-Za-z0-9.+!]+)(?P<marker> ; [a-zA-Z0-9_.'=<>! ]+)?"
    r"(?P<hashes>( \\\n    --hash=sha256:[0-9a-f]{64})+)\n"
)


def pins(lock: str) -> dict[str, re.Match]:
    """Package -> what the lock says of it; every line of it is a comment or belongs to a pin."""
    text = (PROJECT / lock).read_text(encoding="utf-8")
    body = re.sub(r"(?m)^#.*\n", "", text)
    found = list(PIN.finditer(body))
    assert "".join(pin[0] for pin in found) == body, "versions and checksums, and nothing else"
    return {pin["name"]: pin for pin in found}


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_hold_exact_versions_with_checksums_only(lock):
    assert len(pins(lock)) > 4
    installs = [line for line in (PROJECT / "Makefile").read_text("utf-8").splitlines() if lock in line]
    assert any("--require-hashes" in line for line in installs)
    assert all("--require-hashes" in line for line in installs if "--requirement" in line)


def test_the_lock_has_the_files_of_every_system():
    """Checksums of the wheels of Linux, macOS and Windows: more than one system has."""
    found = pins("requirements.lock")
    assert {"numpy", "snakemake", "pytest", "setuptools"} <= found.keys()
    assert not {"pip", "wheel", "frugalmct"} & found.keys()
    assert found["colorama"]["marker"] == " ; sys_platform == 'win32'"
    assert found["numpy"]["hashes"].count("--hash") > 20


def test_the_environment_of_auto_sklearn_is_pinned_and_conda_has_the_same_versions():
    build, rest = pins(LOCKS[1]), pins(LOCKS[2])
    assert all(build[name]["version"] == rest[name]["version"] for name in build.keys() & rest.keys())
    locked = {name: pin["version"] for name, pin in (build | rest).items()}
    assert locked["auto-sklearn"] == "0.15.0"
    assert int(locked["setuptools"].split(".")[0]) < 66 and locked["cython"].startswith("0.")
    environment = (PROJECT / "envs" / "automl.yaml").read_text(encoding="utf-8")
    found = dict(re.findall(r"(?m)^  - ([\w-]+)=([\d.]+)$", environment))
    assert found.pop("python") == "3.9" and found and found == {name: locked[name] for name in found}


def test_the_conda_environment_has_the_locked_versions():
    lock = {name: pin["version"] for name, pin in pins("requirements.lock").items()}
    environment = (PROJECT / "envs" / "core.yaml").read_text(encoding="utf-8")
    pinned = re.findall(r"(?m)^  - ([\w.-]+)=([\d.]+)$", environment)
    assert {"numpy", "scipy", "pandas", "scikit-learn", "matplotlib-base"} <= {name for name, _ in pinned}
    for name, version in pinned:
        if name != "python":
            assert lock[name.removesuffix("-base")] == version, name
