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


def run(*command: str | Path, cwd: Path) -> str:
    """Without what the tests' own environment says about where packages are."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True)
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


def named_packages() -> set[str]:
    """What pyproject.toml names, without its extras, and what these bring along."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting, found = list(project["dependencies"]), set()
    while waiting:
        needed = Requirement(waiting.pop())
        if needed.name not in found and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
            found.add(needed.name)
            waiting += distribution(needed.name).requires or []
    return found


def environment(folder: Path) -> Path:
    """A new environment that has the packages named, and nothing else; its Python."""
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    place = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    for name in named_packages():
        for top in {file.parts[0] for file in distribution(name).files} - {"..", "__pycache__"}:
            Path(place.strip(), top).symlink_to(Path(sysconfig.get_path("purelib"), top))
    return python


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


def test_installed_into_an_empty_environment_it_works_anywhere(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    python = environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    write_own_data(tmp_path / "own.jsonl", items=400)
    frugalmct = python.with_name("frugalmct")
    assert "no problems found" in run(frugalmct, "check", "own.jsonl", cwd=tmp_path)
    train = ("train", "own.jsonl", *PRICES, "--budget", "6", "-o", "strategy.npz")
    assert "learnt from 400 items" in run(frugalmct, *train, cwd=tmp_path)
    route = ("route", "strategy.npz", "own.jsonl", "--total", "2400", "--items", "400")
    assert run(frugalmct, *route, cwd=tmp_path).count("\n") == 400
    where = Path(run(python, "-c", FIT, cwd=tmp_path).strip())
    assert where.is_relative_to(tmp_path / "env") and (where.parent / "py.typed").exists()
