"""Upper concave hulls of (cost, accuracy) points, and the mixtures of two of their vertices.

What a random mixture of policies can reach lies on or below the hull, so its vertices are all that any
budget needs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import FloatArray, real_number
from frugalmct.errors import FrugalError

TOLERANCE = 1e-12
"""Points no further than this above a chord count as on it: mean accuracies are not known better."""

AFFORDABLE = 1e-12
"""How far, as a share of the cheapest cost, a budget may lie below it: budgets are often sums."""


def concave_vertices(x: FloatArray, y: FloatArray) -> NDArray[np.int64]:
    """The vertices, in order, of the upper hull from the first point to the last; x rises strictly.

    The point furthest above a chord is a vertex and splits it into two chords: a pass over the points for
    each vertex at worst, and vertices are few.
    """
    vertices = {0, x.size - 1}
    chords = [(0, x.size - 1)]
    while chords:
        first, last = chords.pop()
        if last - first < 2:
            continue
        between = slice(first + 1, last)
        along = (x[between] - x[first]) / (x[last] - x[first])
        above = y[between] - y[first] - along * (y[last] - y[first])
        furthest = int(above.argmax())
        if above[furthest] > TOLERANCE:
            vertex = first + 1 + furthest
            vertices.add(vertex)
            chords += [(first, vertex), (vertex, last)]
    return np.array(sorted(vertices), dtype=np.int64)


def rising_hull(cost: FloatArray, accuracy: FloatArray) -> NDArray[np.int64]:
    """Which points are the hull's vertices from the cheapest to the most accurate; both rise strictly.

    Of points that are alike the first is taken.
    """
    order = np.lexsort((-accuracy, cost))
    before = np.concatenate([[-np.inf], np.maximum.accumulate(accuracy[order])[:-1]])
    worth_it = order[accuracy[order] > before + TOLERANCE]
    return worth_it[concave_vertices(cost[worth_it], accuracy[worth_it])]


class Mixture(NamedTuple):
    """Two vertices, and the probability of `high`, the more expensive; both the same where one will do."""

    low: int
    high: int
    probability: float


def mixture_at(cost: FloatArray, budget: float) -> Mixture:
    """The mixture of a rising hull's vertices with the highest accuracy whose mean cost is in the budget."""
    low = max(int(np.searchsorted(cost, budget, side="right")) - 1, 0)
    if low == cost.size - 1 or budget <= cost[low]:
        return Mixture(low, low, 0.0)
    step = cost[low + 1] - cost[low]
    return Mixture(low, low + 1, float((budget - cost[low]) / step))


def affordable_budget(where: str, value: object, cheapest: float) -> float:
    """The budget as a number that pays for the cheapest thing there is."""
    budget = real_number(where, "budget", value, "the mean cost an item may incur, a number")
    if not budget >= cheapest * (1 - AFFORDABLE):
        raise FrugalError(
            f"{where}: budget {budget:g} does not pay for the cheapest service it may call, at {cheapest:g}; "
            "raise the budget."
        )
    return budget
