"""What a learner needs of a market, whatever its answers are, and what is known of an item when one decides.

A learner asks two things of a market: what is known of the items once the base has answered (`evidence`),
and how accurate each choice of a service beside the base is (`choice_accuracy`). How the answers of two
services become one is learnt by a function for each kind of market (`frugalmct.model.FITTERS`). A new kind
of market is a class, and a line there.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from frugalmct.arrays import ArrayFile, open_arrays
from frugalmct.checks import check_money
from frugalmct.errors import FrugalError, listed
from frugalmct.files import write_arrays
from frugalmct.market.extras import Extras
from frugalmct.market.known import Answered, Known, label_sets
from frugalmct.market.packing import pack_bytes
from frugalmct.market.settings import NOTHING_SAID, MarketSettings
from frugalmct.sparse import sorted_labels
from frugalmct.values import REMAKE, Fields, shown

if TYPE_CHECKING:
    from frugalmct.combine import Combiners

FORMAT = "frugalmct-market-2"

DATA_KINDS = ("simulated", "release", "recorded")
"""Where answers come from: no service was asked; the authors published them; they are somebody's own file."""

Answer = Sequence[tuple[str, float]]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of items when it is decided whom to ask next: the base's answers, and no truth.

    scores: (items, labels) the base's scores; labels: the names of the columns; given: (items, numbers) that
    the items bring along, or None.
    """

    scores: csr_matrix
    labels: NDArray[np.str_]
    given: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, answers: Sequence[Answer], given: NDArray[np.float64] | None = None) -> "Evidence":
        """From plain answers, `[[("car", 0.9)], []]`; a label given twice counts with its highest score."""
        scores, labels = label_sets(answers)
        return cls(scores, labels, given)

    def __len__(self) -> int:
        return self.scores.shape[0]

    def over(self, labels: NDArray[np.str_]) -> "Evidence":
        """The same with these labels as the first columns; any others come after them."""
        if np.array_equal(self.labels, labels):
            return self
        names, columns = joint_vocabulary(labels, self.labels)
        return Evidence(moved_columns(self.scores, columns, len(names)), names, self.given)


def joint_vocabulary(
    first: NDArray[np.str_], second: NDArray[np.str_]
) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """All labels, `first` in its order and then what is new in `second`; and where those of `second` went."""
    place = {label: number for number, label in enumerate(first.tolist())}
    columns = [place.setdefault(label, len(place)) for label in second.tolist()]
    return np.array(list(place), dtype=np.str_), np.array(columns, dtype=np.int64)


def moved_columns(matrix: csr_matrix, columns: NDArray[np.int64], width: int) -> csr_matrix:
    shape = (matrix.shape[0], width)
    return sorted_labels(csr_matrix((matrix.data, columns[matrix.indices], matrix.indptr), shape=shape))


# Filled by the classes themselves, so that a file can be read without knowing its kind.
_KINDS: dict[str, type["Market"]] = {}


class Market(ABC):
    """Items and what every service answered for them, at what price."""

    kind: ClassVar[str]
    name: str
    task: str
    items: NDArray[np.str_]
    services: tuple[str, ...]
    prices: NDArray[np.float64]
    data: str
    extras: Extras
    settings: MarketSettings = NOTHING_SAID

    @property
    def price_list(self) -> dict[str, float]:
        """Service -> its price."""
        return dict(zip(self.services, self.prices.tolist(), strict=True))

    def __init_subclass__(cls) -> None:
        _KINDS[cls.kind] = cls

    @abstractmethod
    def evidence(self, base: int) -> Evidence:
        """What is known of the items once service `base` has answered them."""

    @abstractmethod
    def answered(self, service: int) -> Answered:
        """What a service gave for every item, but for what `extras` holds of it."""

    @abstractmethod
    def choice_accuracy(self, combiners: "Combiners", metric: str = "accuracy") -> NDArray[np.float64]:
        """(items, services) true accuracy of the base combined with each service."""

    @abstractmethod
    def service_accuracy(self, metric: str = "accuracy") -> NDArray[np.float64]:
        """(items, services) true accuracy of each service alone."""

    @abstractmethod
    def statistics(self) -> dict[str, Any]:
        """How much there is of what, and what each service achieves alone."""

    @abstractmethod
    def subset(self, rows: ArrayLike) -> Self:
        """The market of some of its items, in the order given."""

    @abstractmethod
    def with_services(self, services: Sequence[str]) -> Self:
        """The market with only these services, in this order."""

    @abstractmethod
    def with_prices(self, prices: NDArray[np.float64]) -> Self:
        """The market at other (services,) prices."""

    @abstractmethod
    def to_arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays of all that the header of a market file does not hold."""

    @classmethod
    @abstractmethod
    def read(cls, header: Fields, file: ArrayFile) -> Self:
        """What `to_arrays` gave, and of the header all but format and kind; anything else is refused."""

    def save(self, path: str | Path, *, compress: bool = False) -> None:
        """One `.npz` of plain arrays; uncompressed loads fastest, compressed is several times smaller."""
        header: dict[str, Any] = {
            "format": FORMAT,
            "kind": self.kind,
            "name": self.name,
            "task": self.task,
            "services": list(self.services),
            "data": self.data,
        }
        if self.settings != NOTHING_SAID:
            header["settings"] = self.settings.to_dict()
        arrays: dict[str, Any] = {
            "header": pack_bytes(json.dumps(header)),
            "prices": np.asarray(self.prices, dtype=np.float64),
        }
        write_arrays(path, arrays | self.to_arrays() | self.extras.to_arrays(), compress=compress)

    @staticmethod
    def load(path: str | Path) -> "Market":
        """Reads what `save` wrote, of whichever kind; anything else is named as such."""
        with open_arrays(path, f"market file of format {FORMAT}", REMAKE) as file:
            header = file.header(FORMAT)
            kind = header.text("kind")
            if kind not in _KINDS:
                raise FrugalError(f"its kind is {shown(kind)}; known: {listed(_KINDS)}")
            # Files from before settings were kept have none.
            said = MarketSettings.from_dict(header.take("settings")) if "settings" in header else NOTHING_SAID
            market = _KINDS[kind].read(header, file)
            object.__setattr__(market, "settings", said)  # markets are frozen once made
            header.done()
            return market

    def __len__(self) -> int:
        return len(self.items)

    def known(self, asked: Sequence[int] = ()) -> Known:
        """What is known of the items once these services have answered, and of no other one anything."""
        answers = {k: self.extras.completed(self.answered(k), k) for k in asked}
        return Known(len(self), self.extras.text, self.given, answers)

    @property
    def given(self) -> NDArray[np.float64] | None:
        """(items, numbers) that the items bring along, or None."""
        return getattr(self, "features", None)

    @property
    def costs(self) -> NDArray[np.float64]:
        """(services,) prices, or (items, services) what each call cost where that is known."""
        return self.prices if self.extras.costs is None else self.extras.costs

    def over(self, labels: NDArray[np.str_]) -> "Market":
        """The market with these labels first in its vocabulary, where it has one."""
        return self

    def service_index(self, service: str) -> int:
        if service not in self.services:
            raise FrugalError(
                f"Market {self.name} has no service '{service}'; its services: {listed(self.services)}."
            )
        return self.services.index(service)

    def names(self, services: Iterable[int]) -> str:
        """`Google + Microsoft`, of services by number."""
        return " + ".join(self.services[service] for service in services)

    def check_services(self) -> None:
        """Called by every kind of market when one is made."""
        if not self.services:
            raise FrugalError(f"Market {self.name} has no services; it needs at least one.")
        if len(set(self.services)) != len(self.services):
            raise FrugalError(f"Market {self.name} names a service twice: {listed(self.services)}.")
        if not np.all(np.isfinite(self.prices)) or np.any(self.prices < 0):
            raise FrugalError(
                f"Market {self.name} has prices {listed(self.prices)}; each must be a finite number >= 0."
            )
        check_money(f"Market {self.name}", np.asarray(self.prices, dtype=np.float64))
        self.extras.check(self.name, len(self), len(self.services))
        if self.data not in DATA_KINDS:
            raise FrugalError(f"Market {self.name} has data '{self.data}'; known: {listed(DATA_KINDS)}.")
