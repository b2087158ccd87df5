"""What a market of any kind may hold beside its answers: costs of single calls, texts, numbers of answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile
from frugalmct.checks import check_money
from frugalmct.errors import FrugalError
from frugalmct.market.known import Answered
from frugalmct.market.packing import pack_long_text

Numbers = tuple[NDArray[np.float64] | None, ...]


@dataclass(frozen=True, eq=False)
class Extras:
    """costs: (items, services) what each call cost, in the unit of budgets; text: (items,) Python's texts,
    known before any service is asked; answer_numbers: for each service (items, n) numbers that are known
    once it has answered, or None. Each may be missing, as None."""

    costs: NDArray[np.float64] | None = None
    text: NDArray[np.object_] | None = None
    answer_numbers: Numbers | None = None

    def check(self, market: str, items: int, services: int) -> None:
        if self.costs is not None:
            if self.costs.shape != (items, services):
                raise FrugalError(
                    f"Market {market}: costs are {self.costs.shape}; they must be {items} items x {services} "
                    "services."
                )
            check_money(f"Market {market}", self.costs)
        if self.text is not None and len(self.text) != items:
            raise FrugalError(f"Market {market}: there are {len(self.text)} texts for {items} items.")
        if self.answer_numbers is not None:
            wrong = [own for own in self.answer_numbers if own is not None and len(own) != items]
            if wrong or len(self.answer_numbers) != services:
                raise FrugalError(
                    f"Market {market}: answer features must be one table of {items} rows, or none, for each "
                    f"of the {services} services."
                )

    def completed(self, answered: Answered, service: int) -> Answered:
        """A service's answers with what is known of them here."""
        numbers = None if self.answer_numbers is None else self.answer_numbers[service]
        return replace(answered, numbers=numbers, cost=None if self.costs is None else self.costs[:, service])

    def subset(self, rows: np.ndarray) -> "Extras":
        numbers = self.answer_numbers
        return Extras(
            None if self.costs is None else self.costs[rows],
            None if self.text is None else self.text[rows],
            None if numbers is None else tuple(None if own is None else own[rows] for own in numbers),
        )

    def with_services(self, keep: Sequence[int]) -> "Extras":
        return replace(
            self,
            costs=None if self.costs is None else self.costs[:, list(keep)],
            answer_numbers=None
            if self.answer_numbers is None
            else tuple(self.answer_numbers[k] for k in keep),
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        arrays = {}
        if self.costs is not None:
            arrays["costs"] = np.asarray(self.costs, dtype=np.float64)
        if self.text is not None:
            arrays |= pack_long_text("prompts", self.text)
        for service, own in enumerate(self.answer_numbers or ()):
            if own is not None:
                arrays[f"answer{service}.numbers"] = np.asarray(own, dtype=np.float64)
        return arrays

    @classmethod
    def read(cls, file: ArrayFile, items: int, services: int) -> "Extras":
        numbers: Numbers = tuple(
            file.floats(f"answer{k}.numbers", (items, None)) if f"answer{k}.numbers" in file else None
            for k in range(services)
        )
        return cls(
            file.floats("costs", (items, services), least=0) if "costs" in file else None,
            file.long_text("prompts") if "prompts.text" in file else None,
            numbers if any(own is not None for own in numbers) else None,
        )
