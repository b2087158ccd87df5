"""FLAML as an accuracy predictor: its cost-frugal search (CFO) over the parameters of boosted trees.

FLAML's own `AutoML` learns one target at a time, keeps no out-of-fold estimates and goes by the clock. The
search beneath it need not: here a trial is judged by the error of all services together, and its cost is the
size of the model instead of the seconds it took. So many trials with one seed always give the same model; a
limit in `seconds` ends the search where the clock says, which differs from machine to machine.
"""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import Described
from frugalmct.errors import FrugalError
from frugalmct.predict.available import missing
from frugalmct.predict.base import Estimates, Matrix, Predictor, whole
from frugalmct.predict.columns import MAX_COLUMNS, fullest_columns
from frugalmct.predict.trees import Forest
from frugalmct.seeds import generator, small_seed

TRIALS = 10
# A trial is judged on one of these folds; the estimates of the training items come from all of them.
FOLDS = 4
# Fewer items than this have no folds that teach something: one leaf, the average, is all there is to learn.
LEAST_ITEMS = 40

Parameters = Mapping[str, Any]
Rows = NDArray[np.int64]

# Where the search starts: small, so that the first trials cost little.
START = {"trees": 40, "leaves": 8, "leaf_items": 40, "rate": 0.1, "columns": 0.5, "shrinkage": 1.0}


class Flaml(Predictor):
    """Boosted trees (LightGBM), the same parameters for every service.

    `trials` is how many sets of parameters are tried; `seconds` after how long no new trial begins, if given;
    `max_columns` the most columns used of a sparse table, the fullest ones.
    """

    name = "flaml"
    libraries = ("flaml", "lightgbm")

    def __init__(
        self,
        *,
        trials: int = TRIALS,
        seconds: float | None = None,
        max_columns: int = MAX_COLUMNS,
        jobs: int = 1,
    ) -> None:
        super().__init__(jobs=jobs)
        self.trials = whole("trials", trials, least=1)
        self.seconds = _checked_seconds(seconds)
        self.max_columns = whole("max_columns", max_columns, least=1)

    def _fit(self, features: Matrix, accuracy: Estimates, seed: int) -> Estimates:
        if sentence := missing(self.name):
            raise FrugalError(sentence)
        columns, table = fullest_columns(features, self.max_columns)
        if len(accuracy) < LEAST_ITEMS:
            mean = accuracy.mean(axis=0)
            self._forest = Forest.constant(mean)
            return np.tile(mean, (len(accuracy), 1))
        boosting = _Boosting(table, accuracy, small_seed(seed, self.name), self.jobs)
        parameters = self._search(boosting)
        self._forest = Forest.of_boosters(boosting.models(parameters, np.arange(len(accuracy))), columns)
        return boosting.out_of_fold(parameters)

    def _search(self, boosting: "_Boosting") -> Parameters:
        """The parameters of least error on a fold that the trial did not see."""
        search = _cost_frugal_search(boosting.seed)
        end = time.monotonic() + self.seconds
        best: tuple[float, Parameters] = (np.inf, START)
        for trial in range(self.trials):
            parameters = search.suggest(str(trial))
            if parameters is None or (trial and time.monotonic() > end):
                break
            error = boosting.error(parameters)
            cost = parameters["trees"] * parameters["leaves"]
            search.on_trial_complete(str(trial), {"error": error, "cost": cost, "config": parameters})
            best = min(best, (error, parameters), key=lambda tried: tried[0])
        return best[1]

    def _estimate(self, features: Matrix) -> Estimates:
        return self._forest.estimate(features, self.jobs)

    def _estimate_row(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        return self._forest.estimate_row(row)

    def _state(self) -> Described:
        return {}, self._forest.arrays()

    def _restore(self, details: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        self._forest = Forest.from_arrays(arrays, self._columns or 0, self._services, boosted=True)


def _checked_seconds(value: Any) -> float:
    """No limit is an endless one."""
    if value is None:
        return np.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise FrugalError(f"seconds is {value!r}; it must be a number above 0, or None for no limit.")
    return float(value)


def _cost_frugal_search(seed: int) -> Any:
    with warnings.catch_warnings():
        # It says that its AutoML is not installed, which is not used.
        warnings.simplefilter("ignore")
        from flaml import CFO, tune
    space = {
        "trees": tune.lograndint(20, 400),
        "leaves": tune.lograndint(4, 64),
        "leaf_items": tune.lograndint(5, 200),
        "rate": tune.loguniform(0.02, 0.3),
        "columns": tune.uniform(0.1, 1.0),
        "shrinkage": tune.loguniform(0.01, 100),
    }
    return CFO(
        space=space,
        metric="error",
        mode="min",
        low_cost_partial_config=START,
        points_to_evaluate=[dict(START)],
        cost_attr="cost",
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Boosting:
    """One training set, on which boosted trees of different parameters are grown."""

    table: Matrix
    accuracy: Estimates
    seed: int
    jobs: int

    def error(self, parameters: Parameters) -> float:
        seen, unseen = next(self._folds())
        return float(np.mean((self._estimates(parameters, seen, unseen) - self.accuracy[unseen]) ** 2))

    def out_of_fold(self, parameters: Parameters) -> Estimates:
        found = np.empty_like(self.accuracy)
        for seen, unseen in self._folds():
            found[unseen] = self._estimates(parameters, seen, unseen)
        return found

    def models(self, parameters: Parameters, rows: Rows) -> Sequence[Any]:
        """One fitted model a service."""
        from lightgbm import LGBMRegressor

        def fitted(target: NDArray[np.float64]) -> Any:
            model = LGBMRegressor(
                n_estimators=parameters["trees"],
                num_leaves=parameters["leaves"],
                min_child_samples=parameters["leaf_items"],
                learning_rate=parameters["rate"],
                colsample_bytree=parameters["columns"],
                reg_lambda=parameters["shrinkage"],
                max_bin=63,
                random_state=self.seed,
                # Threads go to whole models: inside one they would change the last bits.
                n_jobs=1,
                deterministic=True,
                force_row_wise=True,
                verbose=-1,
            )
            return model.fit(self.table[rows], target[rows]).booster_

        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(fitted, self.accuracy.T))

    def _estimates(self, parameters: Parameters, seen: Rows, unseen: Rows) -> Estimates:
        models = self.models(parameters, seen)
        return np.column_stack([model.predict(self.table[unseen], num_threads=1) for model in models])

    def _folds(self) -> Iterator[tuple[Rows, Rows]]:
        order = generator(self.seed, "folds").permutation(len(self.accuracy))
        for fold in range(FOLDS):
            yield np.sort(np.delete(order, np.s_[fold::FOLDS])), np.sort(order[fold::FOLDS])
