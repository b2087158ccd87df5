"""What a router of costs per call hands out: a ticket while an item is being asked about, and the result."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from frugalmct.live.calls import Call
from frugalmct.live.records import Reservation


@dataclass(frozen=True)
class PerCallResult:
    """answer: that of `service`, whose answer stands; asked: all that answered, in order; failed: those that
    did not, with the reason; cost: of all calls, in the unit of the budget; expected: the quality that was
    expected of the answer, None where that is not known; error: why there is no answer, if there is none."""

    id: str
    answer: Any
    service: str | None
    asked: tuple[str, ...]
    cost: float
    expected: float | None
    failed: dict[str, str] = field(default_factory=dict)
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        values = asdict(self) | {"asked": list(self.asked)}
        return values if self.error else {name: values[name] for name in values if name != "error"}


class Estimated(NamedTuple):
    """(services,) qualities and costs, and the dual price at which they are weighed."""

    accuracy: np.ndarray
    costs: np.ndarray
    dual_price: float


@dataclass
class CallTicket:
    """One item on its way. `ask` is whom to ask now; None once it can be closed."""

    id: str
    key: str
    """What the ledger knows the item by: unique even if an id comes twice."""
    item: Mapping[str, Any]
    columns: Any
    """What estimates are made of, but for answers."""
    ask: str | None = None
    reserved: Reservation | None = None
    estimate: float = 0.0
    """What the call of `ask` is expected to cost."""
    calls: dict[int, Call] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    cost: float = 0.0
    """Of all calls so far, in the unit of the budget."""
    paid: float = 0.0
    """The same in the unit of calls."""
    known: Estimated | None = None
    """Once all that are asked first have answered."""
    stands: int | None = None
    """Whose answer it is, once nobody more is asked."""
    closed: bool = False
    """Whether it is counted among the traffic."""

    def reasons(self) -> str:
        """Why nobody answered."""
        return "; ".join(f"{name}: {why}" for name, why in self.failed.items()) or "no service was asked"

    def noted(self) -> dict[str, Any]:
        """All that is known now, for `restore`."""
        return vars(self) | {"calls": self.calls.copy(), "failed": self.failed.copy()}

    def restore(self, noted: dict[str, Any]) -> None:
        vars(self).update(noted)
