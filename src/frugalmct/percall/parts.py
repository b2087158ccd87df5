"""All that a strategy with costs per call is made of, and its file of plain arrays."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile
from frugalmct.checks import MAX_MONEY
from frugalmct.errors import FrugalError, listed
from frugalmct.files import write_arrays
from frugalmct.made import ItemIds, Made
from frugalmct.metrics import METRICS
from frugalmct.percall.columns import ItemColumns
from frugalmct.percall.model import First, FirstModel, checked_first
from frugalmct.percall.training import PerCallTraining
from frugalmct.values import MAX_SERVICES, Fields

FORMAT = "frugalmct-percall-2"


@dataclass(frozen=True)
class PerCallPlan:
    """What to do at one budget: who is asked first for every item, and the dual price to begin with.

    accuracy, cost, asks_no_more: what the training items reach so, each estimated without itself; what one of
    them costs; and the share of them for which only those asked first are asked.
    """

    budget: float
    first: First
    dual_price: float
    accuracy: float
    cost: float
    asks_no_more: float

    @classmethod
    def from_dict(cls, row: Any, services: int) -> "PerCallPlan":
        fields = Fields("a plan", row)
        plan = cls(
            fields.number("budget", least=0, most=MAX_MONEY),
            checked_first(fields.take("first"), services),
            fields.number("dual_price", least=0),
            fields.number("accuracy", least=0, most=1),
            fields.number("cost", least=0, most=MAX_MONEY),
            fields.number("asks_no_more", least=0, most=1),
        )
        fields.done()
        return plan


@dataclass(frozen=True, eq=False)
class Parts:
    """services, prices: (services,) mean costs of a call; items: what is seen of items beforehand; training:
    what is kept of the items learnt from."""

    services: tuple[str, ...]
    prices: NDArray[np.float64]
    metric: str
    plans: tuple[PerCallPlan, ...]
    models: Mapping[First, FirstModel]
    items: ItemColumns
    training: PerCallTraining
    made: Made
    ids: ItemIds


def write_parts(parts: Parts, path: str | Path) -> None:
    described = []
    arrays = {"prices": parts.prices} | parts.ids.to_arrays() | parts.training.to_arrays()
    for number, model in enumerate(parts.models.values()):
        row, own = model.to_arrays(f"model{number}.")
        described.append(row)
        arrays |= own
    items, own = parts.items.to_arrays()
    arrays |= {f"items.{name}": part for name, part in own.items()}
    header = {
        "format": FORMAT,
        "services": list(parts.services),
        "metric": parts.metric,
        "priced": parts.training.priced,
        "made": parts.made.to_dict(),
        "items": items,
        "plans": [asdict(plan) | {"first": list(plan.first)} for plan in parts.plans],
        "models": described,
    }
    write_arrays(path, arrays, header, compress=True)


def read_parts(file: ArrayFile) -> Parts:
    header = file.header(FORMAT)
    services = tuple(header.names("services", most=MAX_SERVICES))
    items = ItemColumns.from_arrays(header.take("items"), file.group("items."))
    rows = header.rows("models")
    models = [
        FirstModel.read(row, file, f"model{number}.", len(services), items.columns)
        for number, row in enumerate(rows)
    ]
    prices = file.prices(len(services))
    parts = Parts(
        services,
        prices,
        header.text("metric"),
        tuple(PerCallPlan.from_dict(row, len(services)) for row in header.rows("plans")),
        {model.first: model for model in models},
        items,
        PerCallTraining.read(file, prices, [model.first for model in models], header.flag("priced")),
        Made.from_dict(header.take("made")),
        ItemIds.read(file),
    )
    header.done()
    checks = {
        f"its metric must be one of {listed(METRICS)}": parts.metric in METRICS,
        "it has two models for the same services": len(parts.models) == len(rows),
        "it has two plans for one budget": len({plan.budget for plan in parts.plans}) == len(parts.plans),
        "a plan has no model": all(plan.first in parts.models for plan in parts.plans),
    }
    for sentence, holds in checks.items():
        if not holds:
            raise FrugalError(sentence)
    return parts
