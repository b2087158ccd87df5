"""What a call will cost, estimated before it is made."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile, Described
from frugalmct.checks import MAX_MONEY
from frugalmct.errors import FrugalError
from frugalmct.predict import Predictor, make_predictor, predictor_from_arrays
from frugalmct.predict.base import Matrix
from frugalmct.values import Fields

TREES = 40
Costs = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CostModel:
    """A forest's estimate for the services whose costs it foretells better than their mean does.

    mean, highest: (services,) of the training calls; foretold: (services,) where the predictor is used, which
    estimates costs as shares of the highest. Where prices are the same for all calls there is no predictor,
    and the mean is the price.
    """

    mean: Costs
    highest: Costs
    foretold: NDArray[np.bool_]
    predictor: Predictor | None = None

    @classmethod
    def fixed(cls, prices: Costs) -> "CostModel":
        return cls(prices, prices, np.zeros(len(prices), dtype=bool))

    @classmethod
    def fit(cls, table: Matrix, costs: Costs, seed: int, jobs: int = 1) -> tuple["CostModel", Costs]:
        """From (items, services) costs; also gives the estimates of these items, out of sample."""
        if costs.ndim == 1:
            return cls.fixed(costs), np.tile(costs, (table.shape[0], 1))
        mean, highest = costs.mean(axis=0), costs.max(axis=0)
        scale = np.where(highest > 0, highest, 1.0)
        predictor = make_predictor("random_forest", trees=TREES, share_per_tree=1.0, jobs=jobs)
        predictor.fit(table, costs / scale, seed=seed)
        estimates = predictor.training_estimates * scale
        error, plain = (((guess - costs) ** 2).mean(axis=0) for guess in (estimates, mean))
        model = cls(mean, highest, error < plain, predictor if np.any(error < plain) else None)
        return model, np.where(model.foretold, estimates, mean)

    def estimate(self, table: Matrix) -> Costs:
        """(items, services)."""
        if self.predictor is None:
            return np.tile(self.mean, (table.shape[0], 1))
        return np.where(self.foretold, self.predictor.estimate(table) * self.highest, self.mean)

    def at_prices(self, prices: Costs, factors: Costs) -> "CostModel":
        """At new prices, which are so many times the old ones: shares of the highest are what they were."""
        if np.array_equal(self.mean, self.highest):
            return CostModel.fixed(prices)
        return replace(self, mean=self.mean * factors, highest=self.highest * factors)

    def to_arrays(self) -> Described:
        arrays = {"mean": self.mean, "highest": self.highest, "foretold": self.foretold.astype(np.int64)}
        if self.predictor is None:
            return {"predictor": None}, arrays
        header, own = self.predictor.to_arrays()
        return {"predictor": header}, arrays | {f"predictor.{name}": part for name, part in own.items()}

    @classmethod
    def read(cls, described: Any, file: ArrayFile, prefix: str, services: int, columns: int) -> "CostModel":
        fields = Fields("a cost model", described)
        header, predictor = fields.take("predictor"), None
        fields.done()
        if header is not None:
            predictor = predictor_from_arrays(header, file.group(f"{prefix}predictor."))
            if (predictor.columns, predictor.services) != (columns, services):
                raise FrugalError("a cost model does not fit its strategy")
        shape = (services,)
        mean, highest = (
            file.floats(f"{prefix}{name}", shape, least=0, most=MAX_MONEY) for name in ("mean", "highest")
        )
        foretold = file.wholes(f"{prefix}foretold", shape, most=1).astype(bool)
        if foretold.any() and predictor is None:
            raise FrugalError("a cost model foretells costs without a predictor")
        return cls(mean, highest, foretold, predictor)
