"""What a strategy says about its making: the settings that travel with it, and which items it saw.

Of item ids only hashes are kept: nobody reads the training data from a strategy.
"""

import hashlib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import ArrayFile
from frugalmct.errors import FrugalError, listed
from frugalmct.market import LabelMarket, Market
from frugalmct.model import Learning
from frugalmct.sparse import set_sizes
from frugalmct.values import Fields

PAPER, PLUS = METHODS = ("paper", "plus")
PER_CALL = "per_call"
MOST_IDS = 20_000


@dataclass(frozen=True)
class Made:
    """What a strategy was made with.

    features: the kind, None for the task's own; abstain: whether a silent service has no say (`silence`);
    unit: what prices and budgets are in, a text such as `USD per 10,000 calls`, empty if it was not given;
    period: when the answers were recorded, likewise.
    """

    method: str
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
    def of(cls, method: str, market: Market, learning: Learning, unit: str) -> "Made":
        return cls(
            method=method,
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
        made = cls(
            method=fields.text("method"),
            market=fields.text("market"),
            task=fields.text("task"),
            items=fields.whole("items", least=1),
            predictor=fields.text("predictor"),
            features=fields.optional_text("features"),
            labels_per_item=fields.optional_whole("labels_per_item", least=1),
            abstain=fields.flag("abstain"),
            seed=fields.whole("seed", most=2**63),
            unit=fields.text("unit"),
            period=fields.text("period"),
        )
        fields.done()
        return made


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

    def warn(self, market: Market) -> None:
        """Of items of a market that the strategy was trained on, in the name of whoever called the caller."""
        if share := self.known(market.items):
            warnings.warn(
                f"{100 * share:.0f} % of the items of market {market.name} have ids of items that this "
                "strategy was trained on; what it reaches on those is better than what new items will show.",
                stacklevel=3,
            )

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


def learning_for(
    method: str, market: Market, learning: Learning | None, settings: Mapping[str, Any]
) -> Learning:
    """How to learn from a market: as it says itself, unless `learning` is given; then settings change it."""
    known = {field.name for field in fields(Learning)}
    if unknown := [name for name in settings if name not in known]:
        raise FrugalError(
            f"Strategy.fit: there is no setting {listed(map(repr, unknown))}; known: {listed(sorted(known))}."
        )
    said = market.settings.learning()
    if method != PAPER:
        said.pop("abstain", None)  # the config's `silence` is of the paper's method; the others abstain
    if learning is not None:
        learning = replace(learning, **settings)
    elif method == PAPER:
        learning = Learning.paper(**(said | dict(settings)))
    else:
        learning = Learning(**(said | dict(settings)))
    if learning.labels_per_item is None and "labels_per_item" not in settings and _one_label_each(market):
        learning = replace(learning, labels_per_item=1)
    return learning


def _one_label_each(market: Market) -> bool:
    """Whether truth and answers never have two labels: then two answers together must not either."""
    return isinstance(market, LabelMarket) and all(
        set_sizes(sets).max(initial=0) <= 1 for sets in (market.truth, *market.scores)
    )
