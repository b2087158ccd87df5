"""Work in a process of its own: a crash, or memory taken, is seen from outside."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from helpers import ROOT, SOURCE_DIR

HERE = Path(__file__).parent
PROGRAM = """
import faulthandler, json, resource, sys, time
faulthandler.enable()
resource.setrlimit(resource.RLIMIT_AS, ({space}, {space}))
from frugalmct.errors import FrugalError
start = time.process_time()
try:
    said = (lambda value: None if value is None else str(value))({expression})
except FrugalError as error:
    said = str(error)
seconds = time.process_time() - start
status = open("/proc/self/status").read()
peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
print(json.dumps(dict(said=said, seconds=seconds, peak_mib=peak)))
"""


def run(arguments: list[str], timeout: float = 600) -> dict[str, Any]:
    """What a Python program prints as JSON; it must end well."""
    paths = [str(SOURCE_DIR), str(ROOT / "tests"), str(HERE)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
    outcome = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        env=environment,
    )
    assert outcome.returncode == 0, f"ended with {outcome.returncode}: {outcome.stderr[-2000:]}"
    return json.loads(outcome.stdout)


def evaluated(expression: str, timeout: float = 600, space: int = 6 * 2**30) -> dict[str, Any]:
    """What an expression gives, or the sentence that it ends with; its CPU seconds and its peak of memory."""
    return run(["-c", PROGRAM.format(expression=expression, space=space)], timeout)


def load(kind: str, path: Path, then: str = "None") -> dict[str, Any]:
    """Loads a file of a kind, and does something with it, which may call it `found`."""
    use = f"(lambda found: {then})(KINDS[{kind!r}].load(Path({str(path)!r})))"
    setting = "__import__('array_originals', fromlist=['*']).__dict__"
    return evaluated(f"eval({use!r}, {setting})")
