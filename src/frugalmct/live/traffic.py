"""Sketches of the traffic, shared through the ledger's notes, and the health that they tell of."""

import hashlib
import logging
import math
import threading
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from frugalmct.errors import FrugalError
from frugalmct.live.drift import Drift, compare
from frugalmct.live.records import WouldWait
from frugalmct.live.sketch import Recent, Sketch
from frugalmct.mixing import CascadePlan
from frugalmct.strategy import Strategy

LOG = logging.getLogger("frugalmct.live")
PREFIX = "traffic "
"""Of the notes that keep sketches; one per strategy and plan, whose items alone can be compared."""
SHARE_EVERY = 100
"""Items after which a process adds what it has seen to the common sketch."""


def training_sketch(strategy: Strategy, plan: CascadePlan) -> Sketch:
    """What the traffic is held against: the training items, and what the plan would have chosen for them."""
    cascade, given = strategy.training.cascade(plan.base), strategy.training.given[plan.base]
    expected = cascade.walk(plan.dual_price).expected
    kept = len(cascade) / given.items  # counts are of all items, estimates of those kept
    counts = np.round(given.counts * kept).astype(np.int64)
    silent = round(given.silent * kept)
    rows = cascade.estimates[plan.base]
    return Sketch.of_counts(rows, counts, silent, strategy.labels.tolist(), expected)


class Traffic:
    """What this process has seen since it last shared it, and what all have."""

    def __init__(self, money: Any, training: Sketch, services: tuple[str, ...]) -> None:
        self.training, self.services = training, services
        digest = hashlib.blake2b(self.training.to_text().encode(), digest_size=8).hexdigest()
        self.key = f"{PREFIX}{digest}"
        self._money = money
        self._own = self.training.like()
        self._lock = threading.Lock()

    def add(self, *item: Any, **details: Any) -> None:
        with self._lock:
            self._own.add(*item, **details)
            full = self._own.items >= SHARE_EVERY
        if full:
            try:
                self.share()
            except WouldWait:
                pass  # with the next item
            except FrugalError as error:  # the item has its answer: it must not be lost for this
                LOG.warning("The sketch of the traffic could not be shared, and is kept: %s", error)

    def judge(self, accuracy: float) -> None:
        with self._lock:
            self._own.judge(accuracy)

    def share(self) -> Recent:
        """Adds what is new here to what all processes have seen, and returns that."""
        with self._lock:
            part, self._own = self._own, self.training.like()

        def change(old: str | None) -> str:
            recent = Recent(self.training.like()) if old is None else Recent.from_text(old)
            recent.absorb(part)
            return recent.to_text()

        try:
            return Recent.from_text(self._money.note(self.key, change))
        except Exception:
            with self._lock:
                self._own = self._own.merge(part)
            raise

    def elsewhere(self) -> dict[str, int]:
        """The other sketches of traffic that the ledger has, with their items."""
        found = self._money.notes(PREFIX)
        counts = {key: Recent.from_text(text).sketch.items for key, text in found.items()}
        return {key: items for key, items in counts.items() if items and key != self.key}

    def drift(self) -> Drift:
        return compare(self.training, self.share().sketch, choices=self.services)


@dataclass(frozen=True)
class Health:
    """One look at a router. Money is in the unit of the budget; times are seconds since 1970.

    drift: the verdict on the last few thousand items, with the accuracy expected and the one promised;
    ends_at: when the money will be gone if it goes on being spent as it was, None if nothing was spent;
    lasts_for: the items that the money left pays for at the mean cost so far; items_left: those still to
    come by the budget, None where that is not known; turned_away: those that this process sent nowhere for
    want of money; left_out: services that fail too often to be asked.
    """

    drift: Drift
    money: float
    spent: float
    reserved: float
    left: float
    items: int
    items_left: float | None
    turned_away: int
    lasts_for: float | None
    ends_at: float | None
    period_end: float | None
    dual_price: float
    planned_dual_price: float
    left_out: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.warnings

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        drift = self.drift
        values = {name: value for name, value in asdict(self).items() if name != "drift"}
        values["drift"] = {
            "items": drift.items,
            "enough": drift.enough,
            "drifted": drift.drifted,
            "furthest": [asdict(distance) for distance in drift.distances[:5]],
        }
        values["accuracy"] = {
            "promised": _number(drift.promised),
            "expected": _number(drift.expected),
            "gap": _number(drift.gap),
            "below_promise": drift.below_promise,
            "reached": _number(drift.reached),
            "judged": drift.judged,
        }
        return values | {"ok": self.ok}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
