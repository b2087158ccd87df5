"""Where the numbers come from: settings, versions, code, machine, and the time that each rule took."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

PACKAGES = (
    "frugalmct", "numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "pulp", "highspy", "snakemake",
)  # fmt: skip
UNKNOWN = "not known"


def versions() -> pd.DataFrame:
    rows = [("Python", platform.python_version()), *((name, _version(name)) for name in PACKAGES)]
    return pd.DataFrame(rows, columns=["package", "version"])


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def facts(root: Path, settings: dict[str, Any]) -> pd.DataFrame:
    """Code, machine, seed and time of writing."""
    rows = [
        ("code", commit(root)),
        ("seed", f"{settings.get('seed', UNKNOWN)}, with the dataset's name and the repetition"),
        ("repetitions", str(settings.get("repeats", UNKNOWN))),
        ("system", platform.platform()),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("memory", _memory()),
        ("written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    ]
    return pd.DataFrame(rows, columns=["fact", "value"])


def commit(root: Path) -> str:
    """The commit, and whether files differ from it."""
    try:
        found = _git(root, "rev-parse", "HEAD")
        return f"{found}, with changes" if _git(root, "status", "--porcelain", "-uno") else found
    except (OSError, subprocess.SubprocessError):
        return f"commit {UNKNOWN}"


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine() or UNKNOWN)


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    except (AttributeError, OSError, ValueError):
        return UNKNOWN
