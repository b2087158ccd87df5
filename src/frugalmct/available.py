"""What a predictor needs beyond the rest of the package, told before any work starts.

This module imports nothing heavy: the workflow asks it each time that it is read.
"""

import os
from importlib.util import find_spec
from pathlib import Path

AUTOML_VARIABLE = "FRUGALMCT_AUTOML_PYTHON"
AUTOML_PYTHON = ".venv-automl/bin/python"


def automl_python(given: str | None = None) -> str:
    """The interpreter with auto-sklearn: as given, or as the environment says, or the usual one here."""
    return given or os.environ.get(AUTOML_VARIABLE) or AUTOML_PYTHON


def missing(predictor: str, python: str | None = None) -> str | None:
    """Why a predictor can not be used here and how to mend it, in one sentence; None when it can be."""
    if predictor == "flaml" and (absent := [name for name in ("flaml", "lightgbm") if not find_spec(name)]):
        return f"Predictor 'flaml' needs {' and '.join(absent)}; run `pip install 'frugalmct[automl]'`."
    if predictor == "auto_sklearn" and not os.access(automl_python(python), os.X_OK):
        place = Path(automl_python(python)).absolute()
        return f"Predictor 'auto_sklearn' needs a Python with auto-sklearn as {place}; run `make automl-env`."
    return None
