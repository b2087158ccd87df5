"""auto-sklearn for real: a short search in its own Python, started by Snakemake."""

from pathlib import Path

import numpy as np
import pytest
from tiny_project import PROJECT, SERVICES, Project

from frugalmct.metrics import pearson
from frugalmct.paper.stages.estimate import RepetitionEstimates
from frugalmct.predict.available import automl_python, missing

PYTHON = Path(automl_python(folder=PROJECT)).absolute()
SENTENCE = missing("auto_sklearn", str(PYTHON))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(SENTENCE), reason=SENTENCE or ""),
    pytest.mark.xdist_group("tiny run"),
]

TOO_SLOW = "this machine is too slow, or too busy, for a search by the clock"
# One base: one search a repetition. Items enough that whatever it finds has learnt something.
CONFIG = f"""
only: [own]
scale: 0.25
repeats: 1
predictor: auto_sklearn
predictor_options: {{auto_sklearn: {{seconds: 120, python: {PYTHON}}}}}
datasets: {{own: {{base: free}}}}
"""


def test_a_short_search_through_snakemake(project: Project):
    searched = project.beside("searched")
    output = searched.run("--", "results/estimates/own/0.npz", config=CONFIG, succeed=None)
    if "auto-sklearn found no model in 60 of its 120 seconds" in output:
        pytest.skip(TOO_SLOW)
    assert (searched.folder / "results/estimates/own/0.npz").is_file(), output
    log = (searched.folder / "results/logs/estimate_accuracy/own/0.log").read_text(encoding="utf-8")
    assert "auto-sklearn 0.15.0 on Python 3.9" in log
    file = searched.folder / "results/estimates/own/0.npz"
    own = RepetitionEstimates.load(file, dict.fromkeys(SERVICES, 1.0)).by_base[0]
    for part in (own.train, own.test):
        assert part.estimated.shape == part.actual.shape
        assert np.all((part.estimated >= 0) & (part.estimated <= 1))
        # Whatever was found, the mean at least is known.
        assert abs(part.estimated[:, 0].mean() - part.actual[:, 0].mean()) < 0.1
    if "using Dummy losses" in log:
        pytest.skip(TOO_SLOW)
    for part in (own.train, own.test):
        # How many labels the base gave says much about its own accuracy: a forest reaches 0.5, a line 0.6.
        assert pearson(part.estimated[:, 0], part.actual[:, 0]) > 0.1


def test_another_python_is_found_out_before_anything_is_learnt(project: Project):
    misled = project.beside("misled")
    wrong = CONFIG.replace(str(PYTHON), str(PROJECT / ".venv" / "bin" / "python"))
    output = misled.run("--", "results/estimates/own/0.npz", config=wrong, succeed=False)
    assert "and auto-sklearn runs on 3.9; run `make automl-env`." in output
    assert not (misled.folder / "results/estimates").exists()
