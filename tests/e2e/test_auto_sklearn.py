"""auto-sklearn for real: a short search in its own Python, started by Snakemake."""

from pathlib import Path

import numpy as np
import pytest
from tiny_project import PROJECT, Project

from frugalmct.available import automl_python, missing
from frugalmct.metrics import pearson
from frugalmct.predictions import Predictions

PYTHON = Path(automl_python(folder=PROJECT)).absolute()
SENTENCE = missing("auto_sklearn", str(PYTHON))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(SENTENCE), reason=SENTENCE or ""),
    pytest.mark.xdist_group("tiny run"),
]

# One base, so that there is one search a repetition.
CONFIG = f"""
only: [own]
repeats: 1
predictor: auto_sklearn
predictor_options: {{auto_sklearn: {{seconds: 60, python: {PYTHON}}}}}
datasets: {{own: {{base: free}}}}
"""


def test_a_short_search_through_snakemake(project: Project):
    searched = project.beside("searched")
    searched.run("--", "results/predictions/own/0.npz", config=CONFIG)
    log = (searched.folder / "results/logs/predict_accuracy/own/0.log").read_text(encoding="utf-8")
    assert "auto-sklearn 0.15.0 on Python 3.9" in log
    predicted = Predictions.load(searched.folder / "results/predictions/own/0.npz").by_base[0]
    for estimates, truth in (
        (predicted.train_estimates, predicted.train_accuracy),
        (predicted.test_estimates, predicted.test_accuracy),
    ):
        assert estimates.shape == truth.shape and np.all((estimates >= 0) & (estimates <= 1))
        # The base's own accuracy can be told from how many labels it gave.
        assert pearson(estimates[:, 0], truth[:, 0]) > 0.2


def test_another_python_is_found_out_before_anything_is_learnt(project: Project):
    misled = project.beside("misled")
    wrong = CONFIG.replace(str(PYTHON), str(PROJECT / ".venv" / "bin" / "python"))
    output = misled.run("--", "results/predictions/own/0.npz", config=wrong, succeed=False)
    assert "and auto-sklearn runs on 3.9; run `make automl-env`." in output
    assert not (misled.folder / "results/predictions").exists()
