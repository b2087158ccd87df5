"""The quality market: what a service answered is not kept, but how good it was, from 0 to 1.

There is nothing to combine: the answer of the service that is chosen stands. The quality is the outcome, and
is in nothing that a learner sees of an item (`known`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from frugalmct.arrays import ArrayFile
from frugalmct.errors import FrugalError
from frugalmct.market.extras import Extras
from frugalmct.market.interface import Evidence, Market
from frugalmct.market.known import Answered
from frugalmct.market.packing import pack_text
from frugalmct.market.settings import NOTHING_SAID, MarketSettings
from frugalmct.values import MAX_SERVICES, Fields

if TYPE_CHECKING:
    from frugalmct.combine import Combiners


@dataclass(frozen=True, eq=False)
class QualityMarket(Market):
    """quality: (items, services) in [0, 1]; prices: (services,), the mean cost where `extras` has costs;
    features: (items, numbers) known before any service is asked, or None."""

    kind = "quality"

    name: str
    task: str
    items: NDArray[np.str_]
    services: tuple[str, ...]
    prices: NDArray[np.float64]
    quality: NDArray[np.float64]
    features: NDArray[np.float64] | None = None
    data: str = "recorded"
    extras: Extras = field(default_factory=Extras)
    settings: MarketSettings = NOTHING_SAID

    def __post_init__(self) -> None:
        shape = (len(self.items), len(self.services))
        if self.quality.shape != shape or len(self.prices) != shape[1]:
            raise FrugalError(
                f"Market {self.name}: quality is {self.quality.shape} and there are {len(self.prices)} "
                f"prices, but there are {shape[0]} items and {shape[1]} services."
            )
        if self.quality.size and not (self.quality.min() >= 0 and self.quality.max() <= 1):
            raise FrugalError(f"Market {self.name} has qualities outside [0, 1]; rescale them.")
        if self.features is not None and (self.features.ndim != 2 or len(self.features) != shape[0]):
            raise FrugalError(
                f"Market {self.name}: features are {self.features.shape}; they must be one row per item."
            )
        self.check_services()

    def evidence(self, base: int) -> Evidence:
        """No labels: of such a base nothing is known but what the items bring along."""
        return Evidence(csr_matrix((len(self), 0)), np.array([], dtype=np.str_), self.features)

    def answered(self, service: int) -> Answered:
        return Answered()

    def choice_accuracy(self, combiners: "Combiners | None" = None, metric: str = "accuracy") -> np.ndarray:
        return self.quality

    def service_accuracy(self, metric: str = "accuracy") -> NDArray[np.float64]:
        return self.quality

    def subset(self, rows: ArrayLike) -> "QualityMarket":
        which = np.arange(len(self))[np.asarray(rows) if np.size(rows) else np.zeros(0, np.int64)]
        return replace(
            self,
            items=self.items[which],
            quality=self.quality[which],
            features=None if self.features is None else self.features[which],
            extras=self.extras.subset(which),
        )

    def with_services(self, services: Sequence[str]) -> "QualityMarket":
        keep = [self.service_index(service) for service in services]
        return replace(
            self,
            services=tuple(services),
            prices=self.prices[keep],
            quality=self.quality[:, keep],
            extras=self.extras.with_services(keep),
        )

    def with_prices(self, prices: NDArray[np.float64]) -> "QualityMarket":
        return replace(self, prices=prices)

    def statistics(self) -> dict[str, Any]:
        """What there is, and what each service achieves alone."""
        means = self.quality.mean(axis=0) if len(self) else np.zeros(len(self.services))
        return {
            "items": len(self),
            "service_accuracy": dict(zip(self.services, means.tolist(), strict=True)),
            "service_cost": self.price_list,
        }

    def to_arrays(self) -> dict[str, np.ndarray]:
        arrays = pack_text("items", self.items) | {"quality": np.asarray(self.quality, dtype=np.float64)}
        if self.features is not None:
            arrays["features"] = np.asarray(self.features, dtype=np.float64)
        return arrays

    @classmethod
    def read(cls, header: Fields, file: ArrayFile) -> "QualityMarket":
        services = tuple(header.names("services", most=MAX_SERVICES))
        items = file.text("items")
        size = (len(items), len(services))
        return cls(
            name=header.text("name"),
            task=header.text("task"),
            items=items,
            services=services,
            prices=file.prices(len(services)),
            quality=file.floats("quality", size, least=0, most=1),
            features=file.floats("features", (len(items), None)) if "features" in file else None,
            data=header.text("data"),
            extras=Extras.read(file, *size),
        )
