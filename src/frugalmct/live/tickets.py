"""What a router hands out: a ticket while an item is being asked about, and the result."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.cascade import State
from frugalmct.errors import FrugalError
from frugalmct.live.answers import Labels
from frugalmct.live.records import Reservation


class OutOfMoney(FrugalError):
    """What is left of the budget does not pay for the base: the item was not sent anywhere. With costs per
    call `cost` is what was paid until the money ended."""

    cost = 0.0


class NoAnswer(FrugalError):
    """Every service that could be asked failed; `cost` is what was charged for it."""

    cost = 0.0


GROWING = ("waiting", "answers", "failed", "steps")
"""What a ticket keeps lists and mappings of."""


@dataclass
class Ticket:
    """One item on its way. `ask` is whom to ask now; None once it can be closed."""

    id: str
    key: str
    """What the ledger knows the item by: unique even if an id comes twice."""
    features: Any = None
    ask: str | None = None
    base: State = ()
    drawn: bool = False
    """Whether it follows the other one of two plans that are mixed."""
    reservation: Reservation | None = None
    paid: Reservation | None = None
    """The base's last: what was left then is what pacing goes by."""
    waiting: list[Reservation] = field(default_factory=list)
    """For services of the base that are asked after this one."""
    cost: float = 0.0
    answers: dict[str, Labels] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    estimates: NDArray[np.float64] | None = None
    """(services,), once the base has answered; `latest` are those of the last step."""
    latest: NDArray[np.float64] | None = None
    dual_price: float = 0.0
    expected: float = float("nan")
    steps: list[tuple[int, float, float]] = field(default_factory=list)
    """Each add-on that answered, with the accuracy expected with it and without."""
    short: bool = False
    """Whether the best add-on could not be paid for."""
    trials: tuple[str, ...] = ()
    """Services that are asked, or about to be, to see whether they are back."""
    closed: bool = False

    def as_it_is(self) -> dict[str, Any]:
        """All that is noted here now, for `restore`; of what grows in place, copies."""
        noted = vars(self).copy()
        for name in GROWING:
            noted[name] = noted[name].copy()
        return noted

    def restore(self, noted: dict[str, Any]) -> None:
        """Takes back whatever was noted since."""
        vars(self).update(noted)

    def state(self, services: Sequence[str]) -> State:
        """The base, and whoever else has answered."""
        return tuple(sorted({*self.base, *map(services.index, self.answers)}))

    def base_answered(self, services: Sequence[str]) -> bool:
        """Whether some service of the base has."""
        return any(services[service] in self.answers for service in self.base)


@dataclass(frozen=True)
class Result:
    """answer: `[["car", 0.93], ...]`, highest score first; None if there is none, then `error` says why.

    asked: the services that answered, in order; failed: those that did not, with the reason; cost: what the
    item cost, in the unit of the budget; why: the choice in a sentence; expected: the accuracy that was
    expected of it.
    """

    id: str
    answer: list[list[Any]] | None
    asked: tuple[str, ...]
    cost: float
    why: str
    expected: float = float("nan")
    failed: dict[str, str] = field(default_factory=dict)
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        values = {
            "id": self.id,
            "answer": self.answer,
            "asked": list(self.asked),
            "cost": self.cost,
            "why": self.why,
            "expected": None if np.isnan(self.expected) else round(self.expected, 6),
        }
        return values | {name: value for name in ("failed", "error") if (value := getattr(self, name))}
