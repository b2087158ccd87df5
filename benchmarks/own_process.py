"""A measurement in a process of its own: its peak memory is then its own, and it can be stopped."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any


def peak_mib() -> float:
    """The most memory this process has held so far."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)


def in_own_process(script: str | Path, *arguments: str, seconds: float | None = None) -> dict[str, Any]:
    """What the script prints with these arguments, as JSON; `subprocess.TimeoutExpired` after the seconds."""
    command = [sys.executable, str(script), *arguments]
    outcome = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=seconds)
    return json.loads(outcome.stdout.splitlines()[-1])
