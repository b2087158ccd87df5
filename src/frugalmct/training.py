"""What a strategy keeps of its training: how it was made, estimates to price anew, and which items it saw.

Estimates are kept as float32 and for at most `MOST_ROWS` items, of item ids only hashes are: a strategy stays
a file of a few megabytes, from which nobody reads the training data.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile
from frugalmct.errors import FrugalError, listed
from frugalmct.estimates import Estimates
from frugalmct.market import Evidence, LabelMarket, Market
from frugalmct.model import Learning
from frugalmct.sparse import set_sizes
from frugalmct.values import Fields

MOST_ROWS = 20_000
MOST_IDS = 20_000


@dataclass(frozen=True)
class Made:
    """What a strategy was made with.

    features: the kind, None for the task's own; abstain: whether a silent service has no say (`silence`);
    unit: what prices and budgets are in, a text such as `USD per 10,000 calls`, empty if it was not given;
    period: when the answers were recorded, likewise.
    """

    market: str
    task: str
    items: int
    predictor: str
    features: str | None
    labels_per_item: int | None
    abstain: bool
    seed: int
    unit: str = ""
    period: str = ""

    @classmethod
    def of(cls, market: Market, learning: Learning, unit: str) -> "Made":
        return cls(
            market=market.name,
            task=market.task,
            items=len(market),
            predictor=learning.predictor,
            features=learning.features,
            labels_per_item=learning.labels_per_item,
            abstain=learning.abstain,
            seed=learning.seed,
            unit=unit or market.settings.unit,
            period=market.settings.period,
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> "Made":
        fields = Fields("what it was made with", values)
        features = fields.take("features")
        if features is not None and not isinstance(features, str):
            raise FrugalError("what it was made with: features must be a text or null")
        made = cls(
            market=fields.text("market"),
            task=fields.text("task"),
            items=fields.whole("items", least=1),
            predictor=fields.text("predictor"),
            features=features,
            labels_per_item=fields.optional_whole("labels_per_item", least=1),
            abstain=fields.flag("abstain"),
            seed=fields.whole("seed", most=2**63),
            unit=fields.text("unit"),
            period=fields.text("period") if "period" in fields else "",
        )
        fields.done()
        return made


@dataclass(frozen=True, eq=False)
class Training:
    """Of one base: out-of-sample estimates of the training items, and how often it gave each label or none.

    given: (labels,) items for which the base gave the label; silent: items for which it gave none; items: how
    many there were, of which `estimates` may hold fewer.
    """

    estimates: Estimates
    given: NDArray[np.int64]
    silent: int
    items: int

    @classmethod
    def of(cls, estimates: Estimates, evidence: Evidence) -> "Training":
        items, labels = evidence.scores.shape
        rows = np.arange(items) if items <= MOST_ROWS else np.linspace(0, items - 1, MOST_ROWS).astype(int)
        return cls(
            estimates.rows(rows),
            np.bincount(evidence.scores.indices, minlength=labels).astype(np.int64),
            int((np.diff(evidence.scores.indptr) == 0).sum()),
            items,
        )

    def to_arrays(self, prefix: str) -> dict[str, np.ndarray]:
        return {
            f"{prefix}estimated": self.estimates.estimated.astype(np.float32),
            f"{prefix}actual": self.estimates.actual.astype(np.float32),
            f"{prefix}given": self.given.astype(np.int64),
            f"{prefix}items": np.array([self.items, self.silent], dtype=np.int64),
        }

    @classmethod
    def read(cls, file: ArrayFile, prefix: str, base: int, prices: NDArray[np.float64]) -> "Training":
        shape = (None, len(prices))
        parts = [
            file.floats(f"{prefix}{name}", shape, dtype=np.float32, least=0, most=1)
            for name in ("estimated", "actual")
        ]
        if len(parts[0]) != len(parts[1]) or not 0 < len(parts[0]) <= MOST_ROWS:
            raise FrugalError(
                f"{prefix}estimated and {prefix}actual must have as many rows, 1 to {MOST_ROWS}"
            )
        items, silent = file.wholes(f"{prefix}items", (2,)).tolist()
        given = file.wholes(f"{prefix}given", (None,), most=items)
        if not silent <= items or items < len(parts[0]):
            raise FrugalError(f"{prefix}items must be how many there were, and how many of them were silent")
        return cls(Estimates(base, prices, *parts), given, silent, items)


class ItemIds:
    """Hashes of item ids, the lowest `MOST_IDS` of them: enough to see whether others are among them."""

    def __init__(self, hashes: NDArray[np.int64], complete: bool) -> None:
        self.hashes, self.complete = hashes, complete

    @classmethod
    def of(cls, items: Iterable[str]) -> "ItemIds":
        hashes = np.unique(_hashes(items))
        return cls(hashes[:MOST_IDS], len(hashes) <= MOST_IDS)

    def known(self, items: Iterable[str]) -> float:
        """The share of these items that are among them; where not all were kept, of those that could be."""
        asked = _hashes(items)
        if not self.complete:
            asked = asked[asked <= self.hashes[-1]]
        return float(np.isin(asked, self.hashes).mean()) if len(asked) else 0.0

    def to_arrays(self) -> dict[str, np.ndarray]:
        return {"ids.hashes": self.hashes, "ids.complete": np.array([self.complete], dtype=np.int64)}

    @classmethod
    def read(cls, file: ArrayFile) -> "ItemIds":
        hashes = file.wholes("ids.hashes", (None,), most=2**63 - 1)
        if not 0 < len(hashes) <= MOST_IDS or np.any(np.diff(hashes) <= 0):
            raise FrugalError(f"ids.hashes must be 1 to {MOST_IDS} numbers in rising order")
        return cls(hashes, bool(file.wholes("ids.complete", (1,), most=1)[0]))


def _hashes(items: Iterable[str]) -> NDArray[np.int64]:
    digests = (hashlib.blake2b(str(item).encode(), digest_size=8).digest() for item in items)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64).__rshift__(1).astype(np.int64)


def with_prices(training: Mapping[int, Training], prices: NDArray[np.float64]) -> dict[int, Training]:
    """The same records at other prices."""
    return {
        base: replace(own, estimates=replace(own.estimates, prices=prices)) for base, own in training.items()
    }


def learning_for(market: Market, learning: Learning | None, settings: Mapping[str, Any]) -> Learning:
    """How to learn from a market: as it says itself, unless `learning` is given; then settings change it."""
    known = {field.name for field in fields(Learning)}
    if unknown := [name for name in settings if name not in known]:
        raise FrugalError(
            f"Strategy.fit: there is no setting {listed(map(repr, unknown))}; known: {listed(sorted(known))}."
        )
    learning = replace(learning or Learning(**market.settings.learning()), **settings)
    if learning.labels_per_item is None and "labels_per_item" not in settings and _one_label_each(market):
        learning = replace(learning, labels_per_item=1)
    return learning


def _one_label_each(market: Market) -> bool:
    """Whether truth and answers never have two labels: then two answers together must not either."""
    return isinstance(market, LabelMarket) and all(
        set_sizes(sets).max(initial=0) <= 1 for sets in (market.truth, *market.scores)
    )
