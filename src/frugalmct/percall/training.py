"""What a strategy with costs per call keeps of its training: estimates out of sample, and what was true.

Plans for other prices, and what a budget buys, come from it. It holds as many items as other strategies keep.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile
from frugalmct.checks import check_money
from frugalmct.errors import FrugalError
from frugalmct.percall.model import First, Learnt, Walked, dual_price_curve, walk
from frugalmct.percall.spending import DualPriceCurve, Spending
from frugalmct.plans import DELTA
from frugalmct.training import Trials, most_rows

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trained:
    """Training items once the services `first` have answered.

    accuracy, estimated: (items, services) qualities and costs as estimated out of sample; quality, costs: the
    true ones; caps: (services,) the prices where every call of a service costs the same, else None.
    """

    first: First
    accuracy: Numbers
    estimated: Numbers
    quality: Numbers
    costs: Numbers
    caps: Numbers | None = None

    def __len__(self) -> int:
        return len(self.quality)

    def rows(self, rows: NDArray[np.int64]) -> Self:
        """Of some of the items."""
        tables = {name: getattr(self, name)[rows] for name in ("accuracy", "estimated", "quality", "costs")}
        return replace(self, **tables)

    def without(self, service: int) -> "Trained":
        """As if there were no such service, which must not be one of those asked first."""
        tables = {
            name: np.delete(getattr(self, name), service, axis=1)
            for name in ("accuracy", "estimated", "quality", "costs")
        }
        caps = None if self.caps is None else np.delete(self.caps, service)
        return replace(self, first=tuple(k - (k > service) for k in self.first), caps=caps, **tables)

    @cached_property
    def curve(self) -> DualPriceCurve:
        """The dual price at every budget."""
        return dual_price_curve(self.accuracy, self.estimated, self.costs, self.first)

    def walk(self, budget: float, curve: DualPriceCurve) -> Walked:
        """Decided on the estimates and at the dual prices of `curve`, settled with the true costs."""
        spending = Spending(curve, budget, len(self), self.first, delta=DELTA, caps=self.caps)
        return walk(spending, self.accuracy, self.estimated, self.costs)


class OnTrial:
    """Training items, trial by trial: each at dual prices of items that are not among those tried."""

    def __init__(self, trained: Trained, trials: Trials) -> None:
        self.trained = trained
        self._parts = [
            (trained.rows(priced_on).curve, trained.rows(tried_on)) for priced_on, tried_on in trials
        ]

    def tried(self, budget: float) -> NDArray[np.float64]:
        """The true quality of what is chosen for each item that is tried."""
        found = [part.walk(budget, curve).reached(part.quality) for curve, part in self._parts]
        return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class PerCallTraining:
    """Of all sets of services asked first.

    quality: (items, services); costs: (items, services) what each call cost, or (services,) the prices;
    accuracy, estimated: by set, out of sample; at prices that are the same for all calls nothing is estimated
    of costs.
    """

    quality: Numbers
    costs: Numbers
    accuracy: Mapping[First, Numbers]
    estimated: Mapping[First, Numbers]

    @classmethod
    def of(cls, quality: Numbers, costs: Numbers, learnt: Sequence[Learnt]) -> "PerCallTraining":
        estimated = {own.model.first: own.costs for own in learnt} if costs.ndim == 2 else {}
        return cls(quality, costs, {own.model.first: own.accuracy for own in learnt}, estimated)

    def __len__(self) -> int:
        return len(self.quality)

    @property
    def priced(self) -> bool:
        """Whether every call of a service costs the same."""
        return self.costs.ndim == 1

    def first(self, first: First) -> Trained:
        costs = np.broadcast_to(self.costs, self.quality.shape)
        estimated = costs if self.priced else self.estimated[first]
        caps = self.costs if self.priced else None
        return Trained(first, self.accuracy[first], estimated, self.quality, costs, caps)

    def kept(self) -> "PerCallTraining":
        """As many of the items as a file may hold, spread evenly."""
        most = most_rows(self.quality.shape[1], _tables(len(self.accuracy), self.priced))
        if len(self) <= most:
            return self
        rows = np.linspace(0, len(self) - 1, most).astype(np.int64)
        return PerCallTraining(
            self.quality[rows],
            self.costs if self.priced else self.costs[rows],
            {first: table[rows] for first, table in self.accuracy.items()},
            {first: table[rows] for first, table in self.estimated.items()},
        )

    def at_prices(self, prices: Numbers, factors: Numbers) -> "PerCallTraining":
        """At new prices; where calls have costs of their own, at these costs times the factors."""
        if self.priced:
            return replace(self, costs=prices)
        estimated = {first: table * factors for first, table in self.estimated.items()}
        return replace(self, costs=self.costs * factors, estimated=estimated)

    def of_firsts(self, firsts: Sequence[First]) -> "PerCallTraining":
        return replace(
            self,
            accuracy={first: self.accuracy[first] for first in firsts},
            estimated={} if self.priced else {first: self.estimated[first] for first in firsts},
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Sets in the order of `accuracy`; prices are elsewhere in the file."""
        shares = {"quality": self.quality}
        shares |= {f"accuracy{number}": table for number, table in enumerate(self.accuracy.values())}
        money = {} if self.priced else {"costs": self.costs}
        money |= {f"estimated{number}": table for number, table in enumerate(self.estimated.values())}
        arrays = {f"training.{name}": table.astype(np.float32) for name, table in shares.items()}
        return arrays | {f"training.{name}": np.asarray(table) for name, table in money.items()}

    @classmethod
    def read(
        cls, file: ArrayFile, prices: Numbers, firsts: Sequence[First], priced: bool
    ) -> "PerCallTraining":
        """priced: what the header says of it."""
        services = len(prices)
        if priced == ("training.costs" in file):
            raise FrugalError("there must be training.costs, or one price for all calls of a service")
        most = most_rows(services, _tables(len(firsts), priced))
        quality = file.floats("training.quality", (None, services), dtype=np.float32, least=0, most=1)
        if not 0 < len(quality) <= most:
            raise FrugalError(f"training.quality must have 1 to {most} rows")

        accuracy = {
            first: file.floats(f"training.accuracy{n}", quality.shape, dtype=np.float32, least=0, most=1)
            for n, first in enumerate(firsts)
        }
        if priced:
            return cls(quality, prices, accuracy, {})
        names = ["costs", *(f"estimated{n}" for n in range(len(firsts)))]
        tables = [file.floats(f"training.{name}", quality.shape, least=0) for name in names]
        for name, table in zip(names, tables, strict=True):
            check_money(f"training.{name}", table)
        return cls(quality, tables[0], accuracy, dict(zip(firsts, tables[1:], strict=True)))


def _tables(firsts: int, priced: bool) -> int:
    """How many tables are kept."""
    return 1 + firsts if priced else 2 + 2 * firsts
