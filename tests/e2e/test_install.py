"""The package as others get it: built, installed into an environment with what it names alone, and used."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tiny_project import PROJECT, write_own_data

pytestmark = pytest.mark.slow

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
SOURCES = ("src", "pyproject.toml", "README.md", "LICENSE")
PRICES = ("--prices", "free=0.01", "fair=5", "dear=12.5")
FIT = """
import frugalmct
from frugalmct import Strategy
from frugalmct.sources.jsonl import read_jsonl
market = read_jsonl("own.jsonl", {"free": 0.01, "fair": 5, "dear": 12.5})
reached = Strategy.fit(market.subset(range(300)), budgets=6).evaluate(market.subset(range(300, 400)), 6)
assert 0 < reached.cost <= 6 and 0 < reached.accuracy <= 1
print(frugalmct.__file__)
"""


def plain_environment() -> dict[str, str]:
    """Without what the tests' own environment says about where packages are."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=plain_environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the sdist of a copy, and with the wheel that is built of that sdist and nothing else."""
    copy, unpacked, dist = (tmp_path_factory.mktemp(name) for name in ("source", "unpacked", "dist"))
    for name in SOURCES:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, copy / name)
    build = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
    run(sys.executable, "-c", build, "build_sdist", dist, cwd=copy)
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (folder,) = unpacked.iterdir()
    run(sys.executable, "-c", build, "build_wheel", dist, cwd=folder)
    return dist


def interpreters() -> dict[str, str | None]:
    """Every version that the project supports, and where it is, if it is at hand."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[str, str | None] = {}
    for version in VERSIONS:
        places = [shutil.which(f"python{version}"), *map(str, kept.glob(f"{version}.*/bin/python"))]
        found[version] = next((place for place in places if place and _is(place, version)), None)
    return found | {RUNNING: sys.executable}


def _is(python: str, version: str) -> bool:
    """A name on PATH may lead nowhere."""
    tell = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", tell], capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.strip() == version


def dependencies() -> list[str]:
    """What pyproject.toml names, without its extras."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"])


def named_packages() -> set[str]:
    """What pyproject.toml names, and what these bring along."""
    waiting, found = dependencies(), set()
    while waiting:
        needed = Requirement(waiting.pop())
        if needed.name not in found and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
            found.add(needed.name)
            waiting += distribution(needed.name).requires or []
    return found


def link_packages(python: Path) -> None:
    """Those of the tests' own environment, which has the very versions that are locked; no network."""
    place = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=python.parent)
    for name in {*named_packages(), "setuptools"}:
        for top in {file.parts[0] for file in distribution(name).files} - {"..", "__pycache__"}:
            link = Path(place.strip(), top)
            if link.is_dir():  # setuptools as this Python brings it, which may be too old to build with
                shutil.rmtree(link)
            link.unlink(missing_ok=True)
            link.symlink_to(Path(sysconfig.get_path("purelib"), top))


def fetch_packages(python: Path, version: str) -> None:
    """From the index, as pip is set up here; without them there is nothing to try."""
    fetch = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--only-binary",
        ":all:",
        *dependencies(),
        "setuptools",
    ]
    done = subprocess.run(list(map(str, fetch)), capture_output=True, text=True, env=plain_environment())
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        pytest.skip(f"numpy, scipy and scikit-learn cannot be installed for Python {version} here: {reason}")


@pytest.fixture(scope="module", params=VERSIONS)
def python(request, tmp_path_factory) -> Path:
    """The Python of a new environment that has the packages named, and nothing else."""
    version, found = request.param, interpreters()[request.param]
    if found is None:
        pytest.skip(f"no Python {version} on this machine: neither python{version} on PATH nor one of pyenv")
    folder = tmp_path_factory.mktemp("environment")
    run(found, "-m", "venv", folder, cwd=folder)
    inside = folder / "bin" / "python"
    if version == RUNNING:
        link_packages(inside)
    else:
        fetch_packages(inside, version)
    return inside


def test_the_archives_hold_all_that_is_needed_and_no_tests(built):
    (wheel,) = built.glob("*.whl")
    (sdist,) = built.glob("*.tar.gz")
    names = set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/src/")[2] for name in archive.getnames()}
    source = PROJECT / "src"
    wanted = {
        str(file.relative_to(source))
        for file in source.rglob("*")
        if file.suffix in {".py", ".yaml", ".css", ".js", ".html", ".typed"} and ".egg-info" not in str(file)
    }
    assert wanted <= names and wanted <= packed
    assert not [name for name in names if name.startswith(("tests", "workflow"))]


@pytest.mark.parametrize("archive", ["*.whl", "*.tar.gz"], ids=["wheel", "sdist"])
def test_installed_into_an_empty_environment_it_works_anywhere(built, python, archive, tmp_path):
    (package,) = built.glob(archive)
    plainly = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--force-reinstall")
    run(python, "-m", "pip", "install", *plainly, package, cwd=tmp_path)
    write_own_data(tmp_path / "own.jsonl", items=400)
    frugalmct = python.with_name("frugalmct")
    assert "no problems found" in run(frugalmct, "check", "own.jsonl", cwd=tmp_path)
    train = ("train", "own.jsonl", *PRICES, "--budget", "6", "-o", "strategy.npz")
    assert "learnt from 400 items" in run(frugalmct, *train, cwd=tmp_path)
    route = ("route", "strategy.npz", "own.jsonl", "--total", "2400", "--items", "400")
    assert run(frugalmct, *route, cwd=tmp_path).count("\n") == 400
    where = Path(run(python, "-c", FIT, cwd=tmp_path).strip())
    assert where.is_relative_to(python.parents[1]) and (where.parent / "py.typed").exists()


def test_the_versions_tried_are_those_that_the_project_names():
    named = (PROJECT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    listed = ", ".join(f'"{version}"' for version in VERSIONS)
    assert f"python: [{listed}]" in named
