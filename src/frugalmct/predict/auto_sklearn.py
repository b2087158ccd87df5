"""auto-sklearn as an accuracy predictor: a search over many kinds of models, in a Python of its own.

auto-sklearn needs an older Python than the rest, so that fitting and estimating are programs run by that
Python (`auto_sklearn_job.py`); arrays go to and fro as files in a folder that this predictor keeps as long
as it lives. The search is limited by time: two runs need not find the same models.
"""

import json
import logging
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from frugalmct.arrays import Described
from frugalmct.errors import FrugalError
from frugalmct.predict import auto_sklearn_job
from frugalmct.predict.available import AUTOML_PYTHON, automl_python, missing
from frugalmct.predict.base import Estimates, Matrix, Predictor, whole
from frugalmct.predict.columns import MAX_COLUMNS, fullest_columns
from frugalmct.seeds import small_seed

log = logging.getLogger("frugalmct")

SECONDS = 60
MEMORY_MB = 1500
# Fewer items than this cannot be split into folds that teach something: all are like the average one.
LEAST_ITEMS = 30
# A search ends within its time or soon after; what is still running after this has hung.
PATIENCE = 600


class AutoSklearn(Predictor):
    """One multi-output ensemble.

    `seconds` is how long to search; `memory_mb` what a model may take; `python` the interpreter that has
    auto-sklearn, by default that of `make automl-env`; `max_columns` the most columns used of a sparse table,
    the fullest ones.
    """

    name = "auto_sklearn"

    def __init__(
        self,
        *,
        seconds: int = SECONDS,
        memory_mb: int = MEMORY_MB,
        python: str | None = None,
        max_columns: int = MAX_COLUMNS,
        jobs: int = 1,
    ) -> None:
        super().__init__(jobs=jobs)
        self.seconds = whole("seconds", seconds, least=auto_sklearn_job.LEAST_SECONDS)
        self.memory_mb = whole("memory_mb", memory_mb, least=1)
        self.python = _checked_python(python or automl_python())
        self.max_columns = whole("max_columns", max_columns, least=1)
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def _fit(self, features: Matrix, accuracy: Estimates, seed: int) -> Estimates:
        if sentence := missing(self.name, self.python):
            raise FrugalError(sentence)
        self._mean = accuracy.mean(axis=0)
        if len(accuracy) < LEAST_ITEMS:
            return self._average(len(accuracy))
        self._chosen, table = fullest_columns(features, self.max_columns)
        self._folder = tempfile.TemporaryDirectory(prefix="frugalmct-auto-sklearn-")
        request = {
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            "jobs": self.jobs,
            "seed": small_seed(seed, "auto_sklearn"),
        }
        self._file("request.json").write_text(json.dumps(request), encoding="utf-8")
        np.savez(self._file("training.npz"), accuracy=accuracy, **auto_sklearn_job.pack(table))
        return self._run("fit", self.seconds)

    def _estimate(self, features: Matrix) -> Estimates:
        if self._folder is None or not features.shape[0]:
            return self._average(features.shape[0])
        items = fullest_columns(features[:, self._chosen], len(self._chosen))[1]
        np.savez(self._file("items.npz"), **auto_sklearn_job.pack(items))
        return self._run("estimate", 0)

    def _average(self, items: int) -> Estimates:
        return np.tile(self._mean, (items, 1))

    def _file(self, name: str) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / name

    def _run(self, command: str, seconds: int) -> Estimates:
        """What the job wrote; if it did not, one sentence, with all that it said in the log."""
        assert self._folder is not None
        job = [self.python, auto_sklearn_job.__file__, command, self._folder.name]
        code, output, trouble = _finished(job, seconds + PATIENCE)
        log.info("auto-sklearn, %s:\n%s%s", command, output, trouble)
        if code:
            last = (trouble.strip().splitlines() or ["it said nothing"])[-1]
            raise FrugalError(
                last if code == auto_sklearn_job.SAID else f"auto-sklearn ended with code {code} ({last})."
            )
        with np.load(self._file("estimates.npz"), allow_pickle=False) as arrays:
            return arrays["estimates"]

    def _state(self) -> Described:
        raise FrugalError(
            "What auto-sklearn found cannot be saved as plain data; train with another predictor, such as "
            "random_forest or flaml, to take a strategy away."
        )

    def _restore(self, details: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        raise FrugalError("auto_sklearn is never saved")


def _checked_python(python: Any) -> str:
    """By its name a Python: options come from a configuration, which starts no other program."""
    if not isinstance(python, str) or not re.fullmatch(r"python[0-9.]*(\.exe)?", Path(python).name):
        raise FrugalError(f"python is {python!r}; give the path of an interpreter, such as {AUTOML_PYTHON}.")
    return python


def _finished(command: list[str], seconds: int) -> tuple[int, str, str]:
    """Exit code, output and errors of a program; it and all that it started are ended when time is up."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=_environment(),
            start_new_session=True,
        )
    except OSError as error:
        raise FrugalError(f"{command[0]} cannot be started ({error}); run `make automl-env`.") from None
    try:
        output, trouble = process.communicate(timeout=seconds)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise FrugalError(
                f"auto-sklearn did not end within {seconds} seconds, and was stopped."
            ) from None
        raise
    return process.returncode, output, trouble


def _environment() -> dict[str, str]:
    """Ours without what would lead another Python to our packages; one thread a process: jobs are counted."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return ours | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
