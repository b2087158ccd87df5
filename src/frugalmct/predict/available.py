"""What a predictor needs beyond the rest of the package, said before any work starts.

This module imports nothing heavy: the workflow asks it each time that it is read.
"""

import os
from importlib.util import find_spec
from pathlib import Path

AUTOML_VARIABLE = "FRUGALMCT_AUTOML_PYTHON"
AUTOML_PYTHON = ".venv-automl/bin/python"


def automl_python(given: str = AUTOML_PYTHON, folder: str | Path = ".") -> str:
    """The interpreter with auto-sklearn: as the environment variable says, or the given one of the folder."""
    return os.environ.get(AUTOML_VARIABLE) or str(Path(folder, given))


def missing(predictor: str, python: str = AUTOML_PYTHON) -> str | None:
    """Why a predictor cannot be used here and how to mend it, in one sentence; None when it can be."""
    if predictor == "flaml" and (absent := [name for name in ("flaml", "lightgbm") if not find_spec(name)]):
        return f"Predictor 'flaml' needs {' and '.join(absent)}; run `pip install 'frugalmct[automl]'`."
    if predictor == "auto_sklearn" and not os.access(python, os.X_OK):
        return (
            f"Predictor 'auto_sklearn' needs auto-sklearn, and {python} is not there; run `make automl-env`."
        )
    return None
