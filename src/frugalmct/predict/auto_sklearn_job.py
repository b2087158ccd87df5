"""The part of the auto-sklearn predictor that runs in auto-sklearn's own environment, as a program.

    python auto_sklearn_job.py introduce FILE     # check the interpreter; write a launcher of it
    python auto_sklearn_job.py fit FOLDER         # request.json, training.npz -> estimates.npz, models.pkl
    python auto_sklearn_job.py estimate FOLDER    # models.pkl, items.npz -> estimates.npz

auto-sklearn's last release runs on Python 3.9 alone: nothing newer is used here, and nothing of the package.
Arrays cross over as `.npz`. The models stay in the folder, which belongs to one predictor and goes with it.
A mistake that a user can mend ends the program with code 3 and its sentence on the error stream.
"""

import json
import pickle
import shlex
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_matrix, issparse

PYTHON = (3, 9)
VERSION = "0.15.0"
SAID = 3
# Two, since a search takes at least half a minute: auto-sklearn refuses less.
FOLDS = 2
LEAST_SECONDS = 30 * FOLDS


def main(command: str, place: str) -> None:
    COMMANDS[command](Path(place))


def introduce(file: Path) -> None:
    """Only what has shown that it is the right interpreter gets a launcher."""
    check_interpreter()
    file.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    file.chmod(0o755)


def fit(folder: Path) -> None:
    """A search for each fold, on all the others: each item is estimated by what has not seen it."""
    autosklearn = check_interpreter()
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    with np.load(folder / "training.npz") as arrays:
        features, accuracy = unpack(arrays), arrays["accuracy"]
    fold_of = np.random.default_rng(request["seed"]).permutation(len(accuracy)) % FOLDS
    estimates, found = np.empty(accuracy.shape), []
    for fold in range(FOLDS):
        seen = fold_of != fold
        model = search(autosklearn, features[seen], accuracy[seen], request, folder / f"search{fold}")
        estimates[~seen] = predicted(model, features[~seen])
        found.append(model)
    np.savez(folder / "estimates.npz", estimates=estimates)
    with (folder / "models.pkl").open("wb") as handle:
        pickle.dump(found, handle)


def search(
    autosklearn: Any, features: Any, accuracy: np.ndarray, request: dict[str, Any], folder: Path
) -> Any:
    """An ensemble found in its share of the seconds."""
    seconds = request["seconds"] // FOLDS
    model = autosklearn.regression.AutoSklearnRegressor(
        time_left_for_this_task=seconds,
        per_run_time_limit=seconds // 2,
        memory_limit=request["memory_mb"],
        n_jobs=request["jobs"],
        seed=request["seed"],
        metric=autosklearn.metrics.mean_squared_error,
        # What was learnt of other data sets is there for one target only.
        initial_configurations_via_metalearning=0,
        # Models that grow step by step count as far as they came when their time is up.
        resampling_strategy="holdout-iterative-fit",
        resampling_strategy_arguments={"train_size": 0.8},
        tmp_folder=str(folder),
    )
    # Whole numbers, such as accuracies of only 0 and 1, would be taken for classes.
    target = 0.25 + accuracy / 2
    try:
        model.fit(features, target if target.shape[1] > 1 else target[:, 0])
        print(model.sprint_statistics())
        found = "Success" in model.cv_results_["status"]
    except UnboundLocalError:  # how it fails when its time is up before the first ensemble
        traceback.print_exc()
        found = False
    if not found:
        tell(
            f"auto-sklearn found no model in {seconds} of its {request['seconds']} seconds; give it more "
            "seconds or memory_mb (predictor_options.auto_sklearn)."
        )
    return model


def predicted(model: Any, items: Any) -> np.ndarray:
    return 2 * model.predict(items).reshape(items.shape[0], -1) - 0.5


def estimate(folder: Path) -> None:
    check_interpreter()
    with (folder / "models.pkl").open("rb") as handle:
        found = pickle.load(handle)
    with np.load(folder / "items.npz") as arrays:
        items = unpack(arrays)
    np.savez(folder / "estimates.npz", estimates=sum(predicted(model, items) for model in found) / len(found))


def check_interpreter() -> Any:
    """auto-sklearn, if this is the Python it runs on and the release that was tried."""
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] != PYTHON:
        tell(f"{sys.executable} is Python {found}, and auto-sklearn runs on 3.9; run `make automl-env`.")
    try:
        import autosklearn
        import autosklearn.metrics
        import autosklearn.regression
    except ImportError as error:
        tell(f"{sys.executable} has no working auto-sklearn ({error}); run `make automl-env`.")
    if autosklearn.__version__ != VERSION:
        has = f"auto-sklearn {autosklearn.__version__}"
        tell(f"{sys.executable} has {has} instead of {VERSION}; run `make automl-env`.")
    print(f"auto-sklearn {VERSION} on Python {found}: {sys.executable}")
    return autosklearn


def tell(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    sys.exit(SAID)


def pack(table: Any) -> dict[str, Any]:
    """A table as plain arrays, a sparse one as the three of CSR and its shape."""
    if not issparse(table):
        return {"table": table}
    return {"data": table.data, "indices": table.indices, "indptr": table.indptr, "shape": table.shape}


def unpack(arrays: Any) -> Any:
    if "table" in arrays:
        return arrays["table"]
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    return csr_matrix(parts, shape=tuple(arrays["shape"]))


COMMANDS = {"introduce": introduce, "fit": fit, "estimate": estimate}

# auto-sklearn starts processes that import this file again.
if __name__ == "__main__":
    main(*sys.argv[1:])
