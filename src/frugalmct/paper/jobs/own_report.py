"""From a file of recorded answers to the report, without a configuration written by hand."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import frugalmct
from frugalmct.checks import whole_number
from frugalmct.errors import FrugalError
from frugalmct.files import write_text
from frugalmct.paper.config import validate
from frugalmct.paper.config.datasets import DATASET_NAME
from frugalmct.values import shown

TASK = "tags"


def dataset_name(data: Path) -> str:
    """After its file."""
    name = data.name.removesuffix(".gz").removesuffix(".jsonl")
    if DATASET_NAME.fullmatch(name):
        return name
    raise FrugalError(
        f"report: the file's name {shown(data.name)} cannot name a dataset; rename it, with letters, digits "
        "and _ - + . only."
    )


def own_config(data: Path, prices: Mapping[str, float], **block: Any) -> dict[str, Any]:
    """The configuration of one dataset; what is not given has its default, and costs in the file need no
    prices."""
    given = {key: value for key, value in block.items() if value is not None}
    given |= {"prices": dict(prices)} if prices else {}
    source = {"kind": "jsonl", "path": str(data.resolve())}
    return {"datasets": {dataset_name(data): {"task": TASK, "source": source} | given}}


def make_report(folder: Path, config: Mapping[str, Any], cores: int) -> Path:
    """Writes the configuration into a folder, runs the workflow there, and returns the report."""
    whole_number("report", "cores", cores, least=1)
    validate(config)
    snakefile = workflow_file()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FrugalError(
            f"report: the folder {folder} cannot be made ({error.strerror}); name another one with --output."
        ) from None
    write_text(folder / "config.yaml", yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), "--directory", str(folder)]
    done = subprocess.run([*command, "--cores", str(cores), "--quiet", "all"])
    if done.returncode:
        raise FrugalError(
            f"report: the workflow failed, as said above; its logs are in {folder / 'results/logs'}."
        )
    return folder / "results" / "report.html"


def workflow_file() -> Path:
    """Beside the package in the project's folder; an installed package alone does not have it."""
    found = Path(frugalmct.__file__).parents[2] / "workflow" / "Snakefile"
    if not found.is_file():
        raise FrugalError(
            "report: the workflow is not part of the installed package; clone the project, and run this "
            "in its environment."
        )
    return found
