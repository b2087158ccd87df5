import os
import subprocess
import sys
import time

import numpy as np
import pytest

from frugalmct.errors import FrugalError
from frugalmct.paper.studies.guarded import OutOfTime, guarded


def test_guarded_work_returns_its_result_and_tells_of_its_trouble():
    assert guarded(lambda: None, lambda: np.arange(3).tolist(), 20) == [0, 1, 2]
    with pytest.raises(FrugalError, match="division by zero"):
        guarded(lambda: None, lambda: 1 / 0, 20)
    with pytest.raises(FrugalError, match="without an answer"):
        guarded(lambda: None, lambda: os._exit(1), 20)


def test_what_guarded_work_started_ends_with_it(tmp_path):
    noted = tmp_path / "pid"

    def start_and_wait():
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        noted.write_text(str(child.pid))
        child.wait()

    with pytest.raises(OutOfTime):
        guarded(lambda: None, start_and_wait, 3)
    pid, deadline = int(noted.read_text()), time.monotonic() + 10
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    """Not merely waiting to be buried by whoever inherited it."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")
