"""Every line with snakemake that a page shows, planned in a copy of the project; and lines with make."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from frugalmct.predict.available import missing

PROJECT = Path(__file__).parents[2]
PAGES = [
    PROJECT / "README.md",
    *sorted(PROJECT.glob("docs/*.md")),
    *sorted(PROJECT.glob("config/*.md")),
    *sorted(PROJECT.glob("examples/*/README.md")),
]
COPIED = ("Snakefile", "workflow", "config", "config.yaml", "envs", "examples", "tests/config")
MINE = """
  mine:
    task: MIC
    source: {kind: jsonl, path: mine.jsonl}
    prices: {Google: 15, Microsoft: 10}
"""
# Recorded answers that a reader would have: the file, and its services.
RECORDED = {
    "mine.jsonl": ("Google", "Microsoft"),
    "somewhere/own.jsonl": ("free", "fair", "dear"),
    "examples/coco-tags/coco-tags.jsonl": ("Google", "Amazon", "Microsoft"),
    "examples/coco-tags/coco-text.jsonl": ("Google", "Amazon", "Microsoft"),
}


def lines(word: str) -> list[str]:
    """In blocks and in sentences, without comments; `<...>` stands for what only a reader knows."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    blocks = "\n".join(re.findall(r"(?ms)^```(?:sh|bash)\n(.*?)^```$", text)).replace("\\\n", " ")
    shown = [line.partition(" #")[0].strip() for line in blocks.splitlines() if line.startswith(f"{word} ")]
    spoken = re.findall(rf"`({word} [^`\n]+)`", text)
    return sorted({line for line in (*shown, *spoken) if "<" not in line})


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy in which nothing has run, with a dataset `mine`."""
    folder = tmp_path_factory.mktemp("pages") / "project"
    for name in COPIED:
        source, target = PROJECT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            kept = shutil.ignore_patterns("results", ".snakemake", "__pycache__")
            shutil.copytree(source, target, ignore=kept, symlinks=True)
        else:
            shutil.copy(source, target)
    config = (folder / "config.yaml").read_text(encoding="utf-8")
    (folder / "config.yaml").write_text(
        re.sub(r"(?m)^datasets:\n", f"datasets:{MINE}", config), encoding="utf-8"
    )
    (folder / "mine.yaml").write_text(f"datasets:{MINE}", encoding="utf-8")
    for file, services in RECORDED.items():
        answers = {service: [["car", 0.9]] for service in services}
        items = [{"id": str(n), "truth": ["car"], "predictions": answers} for n in range(20)]
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return folder


def cannot_run(words: list[str]) -> str:
    if "predictor=auto_sklearn" in words and (sentence := missing("auto_sklearn", "nowhere/python")):
        return f"not planned in a copy without that environment: {sentence}"
    if any("slurm" in word for word in words) and not find_spec("snakemake_executor_plugin_slurm"):
        return "snakemake-executor-plugin-slurm is not installed: the profile of the cluster is not planned"
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("line", lines("snakemake"))
def test_every_snakemake_line_is_planned(project, line):
    words = shlex.split(line.replace("SOMEWHERE", "somewhere"))[1:]
    if reason := cannot_run(words):
        pytest.skip(reason)
    command = [sys.executable, "-m", "snakemake", *words]
    # It only takes a lock away; all others say what they would do.
    command += [] if "--unlock" in words else ["--dry-run"]
    command += [] if {"--cores", "--unlock", "--workflow-profile"} & set(words) else ["--cores", "1"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_every_make_target_is_there():
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    for line in lines("make"):
        assert re.search(rf"(?m)^{re.escape(line.split()[1])}:", makefile), line


def test_lines_are_found():
    """A pattern that finds nothing any more would pass."""
    assert {"make results", "make test"} <= set(lines("make"))
    assert "snakemake --cores 2 --directory examples/own-data" in lines("snakemake")
    assert len(lines("snakemake")) > 15
