"""FLAML's and auto-sklearn's predictors where they differ from the others."""

import ast
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from frugalmct.errors import FrugalError
from frugalmct.predict import auto_sklearn_job, make_predictor
from frugalmct.predict.trees import Forest

JOB = Path(auto_sklearn_job.__file__)


def learnable(items: int = 400, seed: int = 0):
    rng = np.random.default_rng(seed)
    features = rng.random((items, 6), dtype=np.float32)
    accuracy = np.clip(features[:, :2] * 0.8 + rng.normal(0, 0.05, (items, 2)), 0, 1)
    return features, accuracy


def test_boosters_as_a_forest_estimate_what_lightgbm_does():
    lightgbm = pytest.importorskip("lightgbm")
    features, accuracy = learnable()
    columns = np.array([0, 1, 3, 5])
    models = [
        lightgbm.LGBMRegressor(n_estimators=trees, num_leaves=9, verbose=-1).fit(features[:, columns], target)
        for trees, target in zip((7, 30), accuracy.T, strict=True)
    ]
    forest = Forest.of_boosters([model.booster_ for model in models], columns)
    new = learnable(seed=1)[0]
    theirs = np.column_stack([model.predict(new[:, columns]) for model in models])
    np.testing.assert_allclose(forest.estimate(new), theirs, atol=1e-5)
    again = Forest.from_arrays(forest.arrays(), columns=6, services=2, boosted=True)
    np.testing.assert_array_equal(again.estimate(new), forest.estimate(new))


def test_flaml_learns_what_there_is_to_learn():
    pytest.importorskip("flaml")
    features, accuracy = learnable()
    predictor = make_predictor("flaml", trials=4).fit(features, accuracy)
    new, truth = learnable(seed=1)
    for estimates, known in ((predictor.estimate(new), truth), (predictor.training_estimates, accuracy)):
        assert np.sqrt(np.mean((estimates - known) ** 2)) < 0.4 * known.std()


def test_flaml_goes_by_its_trials_not_by_the_clock(monkeypatch):
    pytest.importorskip("flaml")
    features, accuracy = learnable()
    usual = make_predictor("flaml", trials=6).fit(features, accuracy)
    clock, ticks = time.time, iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: clock() + 100 * next(ticks))
    odd = make_predictor("flaml", trials=6).fit(features, accuracy)
    np.testing.assert_array_equal(odd.estimate(features), usual.estimate(features))


def test_flaml_ends_when_its_seconds_are_over():
    pytest.importorskip("flaml")
    features, accuracy = learnable()
    started = time.monotonic()
    make_predictor("flaml", trials=100_000, seconds=0.5).fit(features, accuracy)
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    ("name", "options", "part"),
    [
        ("flaml", {"trials": 0}, "trials is 0"),
        ("flaml", {"seconds": -1}, "seconds is -1"),
        ("auto_sklearn", {"seconds": 59}, "at least 60"),
        ("auto_sklearn", {"memory_mb": 0}, "memory_mb is 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(name, options, part):
    with pytest.raises(FrugalError, match=part):
        make_predictor(name, **options)


def test_without_its_python_auto_sklearn_says_how_to_make_it(tmp_path):
    predictor = make_predictor("auto_sklearn", python=str(tmp_path / "python"))
    with pytest.raises(FrugalError, match="make automl-env"):
        predictor.fit(*learnable())


def test_what_is_no_program_is_told_too(tmp_path):
    (tmp_path / "python").mkdir()
    with pytest.raises(FrugalError, match="cannot be started"):
        make_predictor("auto_sklearn", python=str(tmp_path / "python")).fit(*learnable())


@pytest.mark.parametrize("program", ["/bin/sh", "touch", "-c", "python -c x", 3, "/tmp/python/../touch"])
def test_another_program_than_python_is_refused(program):
    with pytest.raises(FrugalError, match="give the path of an interpreter"):
        make_predictor("auto_sklearn", python=program)


def test_the_wrong_python_is_found_out_by_the_job_itself():
    predictor = make_predictor("auto_sklearn", python=sys.executable)
    with pytest.raises(FrugalError, match=r"auto-sklearn runs on 3\.9; run `make automl-env`"):
        predictor.fit(*learnable())


def test_the_wrong_python_gets_no_launcher(tmp_path):
    command = [sys.executable, str(JOB), "introduce", str(tmp_path / "launcher")]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == auto_sklearn_job.SAID and not (tmp_path / "launcher").exists()
    assert outcome.stderr.count("\n") == 1 and "make automl-env" in outcome.stderr


def test_the_job_is_python_3_9_and_stands_alone():
    tree = ast.parse(JOB.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any(module.startswith("frugalmct") for module in imported)


@pytest.mark.parametrize("table", [np.eye(3, dtype=np.float32), csr_matrix(np.eye(3, dtype=np.float32))])
def test_tables_cross_over_as_plain_arrays(tmp_path, table):
    np.savez(tmp_path / "table.npz", **auto_sklearn_job.pack(table))
    with np.load(tmp_path / "table.npz", allow_pickle=False) as arrays:
        back = auto_sklearn_job.unpack(arrays)
    assert type(back) is type(table)
    np.testing.assert_array_equal(csr_matrix(back).toarray(), csr_matrix(table).toarray())
