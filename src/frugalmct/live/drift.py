"""Whether live traffic is still like the training items, by their sketches.

Three kinds of distance: of each choice's estimates, the largest difference between the two distribution
functions (Kolmogorov-Smirnov); of each frequent label, the difference between the shares of items that have
it; and the same for silence and for labels that training never saw. Each has a limit: a tolerance, since a
difference that costs nothing is no news, plus what chance alone may do. The chances of all distances together
are held to `alpha`, so that of a thousand looks at traffic that has not drifted at most one raises an alarm.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from frugalmct.errors import FrugalError
from frugalmct.live.sketch import Sketch

ALPHA = 0.001
LEAST_ITEMS = 100
"""Fewer live items than this give no verdict."""

TOLERANCE = (0.10, 0.05)
"""Differences that are no news: between distribution functions of estimates, and between shares of items."""

PROMISE_TOLERANCE = 0.02


@dataclass(frozen=True)
class Distance:
    """One comparison. `limit` is the tolerance and the reach of chance together."""

    about: str
    training: float
    live: float
    distance: float
    limit: float

    @property
    def drifted(self) -> bool:
        return self.distance > self.limit


@dataclass(frozen=True)
class Drift:
    """The verdict of one look; `distances` with the one furthest beyond its limit first."""

    items: int
    enough: bool
    distances: tuple[Distance, ...]
    promised: float
    expected: float
    expected_error: float
    reached: float
    judged: int

    @property
    def drifted(self) -> bool:
        return self.enough and any(distance.drifted for distance in self.distances)

    @property
    def gap(self) -> float:
        """How far the accuracy expected now is from the accuracy promised; below 0: less."""
        return self.expected - self.promised

    @property
    def below_promise(self) -> bool:
        """Whether that is more than two points below, beyond three standard errors."""
        return self.enough and self.gap < -PROMISE_TOLERANCE - 3 * self.expected_error

    def __str__(self) -> str:
        if not self.enough:
            return f"no verdict yet: {self.items} items, {LEAST_ITEMS} are needed"
        worst = self.distances[0]
        verdict = f"the traffic has drifted, most of all {worst.about}" if self.drifted else "no drift"
        return f"{verdict}; accuracy expected {self.expected:.3f}, promised {self.promised:.3f}"


def compare(
    training: Sketch,
    live: Sketch,
    *,
    alpha: float = ALPHA,
    tolerance: tuple[float, float] = TOLERANCE,
    choices: tuple[str, ...] | None = None,
    promised: float | None = None,
) -> Drift:
    """The live sketch against that of training. `choices` names the rows of estimates in the messages.

    promised: the accuracy that was promised, by default what training expected of the plan's choices.
    """
    if training.labels != live.labels or training.estimates.shape != live.estimates.shape:
        raise FrugalError("drift.compare: the sketches are of different strategies; start the live one anew.")
    enough = live.items >= LEAST_ITEMS and training.items > 0
    distances = _distances(training, live, alpha, tolerance, choices) if enough else []
    return Drift(
        items=live.items,
        enough=enough,
        distances=tuple(sorted(distances, key=lambda entry: entry.limit - entry.distance)),
        promised=training.expected_accuracy if promised is None else promised,
        expected=live.expected_accuracy,
        expected_error=live.expected_error,
        reached=live.reached_accuracy,
        judged=live.judged,
    )


def _distances(
    training: Sketch,
    live: Sketch,
    alpha: float,
    tolerance: tuple[float, float],
    choices: tuple[str, ...] | None,
) -> list[Distance]:
    each = alpha / (len(training.estimates) + len(training.labels) + 2)
    names = choices or tuple(f"choice {number}" for number in range(len(training.estimates)))
    shares = [("silence", training.silent, live.silent), ("labels never seen", training.unseen, live.unseen)]
    shares += [
        (f"label {label}", int(then), int(now))
        for label, then, now in zip(training.labels, training.given, live.given, strict=True)
    ]
    sizes = (training.items, live.items)
    found = [_of_estimates(training, live, k, name, each, tolerance[0]) for k, name in enumerate(names)]
    return found + [_of_shares(about, counts, sizes, each, tolerance[1]) for about, *counts in shares]


def _of_estimates(
    training: Sketch, live: Sketch, choice: int, name: str, alpha: float, tolerance: float
) -> Distance:
    then, now = training.estimates[choice], live.estimates[choice]
    distance = np.abs(np.cumsum(then) / then.sum() - np.cumsum(now) / now.sum()).max()
    reach = math.sqrt(-math.log(alpha / 2) / 2 * (1 / training.items + 1 / live.items))
    middles = (np.arange(len(then)) + 0.5) / len(then)
    return Distance(
        about=f"the estimates of {name}",
        training=float(then @ middles / then.sum()),
        live=float(now @ middles / now.sum()),
        distance=float(distance),
        limit=tolerance + reach,
    )


def _of_shares(
    about: str, counts: Sequence[int], sizes: tuple[int, int], alpha: float, tolerance: float
) -> Distance:
    (then, now), (before, items) = counts, sizes
    common = (then + now) / (before + items)
    z = NormalDist().inv_cdf(1 - alpha / 2)
    # The second term is what rare labels need, whose counts are far from normal.
    reach = z * math.sqrt(common * (1 - common) * (1 / before + 1 / items)) + z * z / (3 * items)
    share, share_now = then / before, now / items
    return Distance(about, share, share_now, abs(share - share_now), tolerance + reach)
