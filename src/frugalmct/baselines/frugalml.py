"""FrugalML as the paper adapts it to label sets, solved exactly for every budget at once.

The mean score of the base's labels is the one quality score, all labels are one superclass, and where the
quality is below a threshold an add-on is asked, whose answer replaces the base's. For one (base, add-on)
the items sorted by quality give, by prefix sums, cost and accuracy at every threshold; the upper hull over
all of these policies is all that can be reached, and a mixture of two neighbours on it meets any budget.

Where the accuracies of a base's combinations are given instead of the services' own, the add-on's answer is
combined with the base's rather than replacing it, as FrugalMCT does; all else is the same.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.checks import FloatArray, accuracy_table, base_index, cost_vector, number_array
from frugalmct.errors import FrugalError
from frugalmct.hull import affordable_budget, concave_vertices, mixture_at, rising_hull
from frugalmct.seeds import generator

IntArray = NDArray[np.int64]

SPEND_ROUNDING = 1e-12
"""How much of the budget the rounding of a sum of costs may take; more than that is overspending."""


class Policy(NamedTuple):
    """Ask `base`; where its quality is below `threshold`, take the answer of `addon` instead.

    The base alone is the policy whose add-on is the base.
    """

    base: int
    addon: int
    threshold: float


class Choices(NamedTuple):
    """Per item the base and the service whose answer counts: the add-on, or the base where none is asked."""

    base: IntArray
    addon: IntArray


class WeightedChoices(NamedTuple):
    """What happens to every item with this probability."""

    probability: float
    base: IntArray
    addon: IntArray


@dataclass(frozen=True, eq=False)
class Hull:
    """The policies worth mixing, from the cheapest to the most accurate, with their training means."""

    cost: FloatArray
    accuracy: FloatArray
    base: IntArray
    addon: IntArray
    threshold: FloatArray

    def __len__(self) -> int:
        return self.cost.size

    def policy(self, vertex: int) -> Policy:
        return Policy(int(self.base[vertex]), int(self.addon[vertex]), float(self.threshold[vertex]))


@dataclass(frozen=True)
class PolicyMixture:
    """One policy, or two of which one is drawn for each item; cost and accuracy are training means."""

    policies: tuple[Policy, ...]
    probabilities: tuple[float, ...]
    cost: float
    accuracy: float


class FrugalML:
    """`fit` once, then `mixture`, `decide` or `expected` at any budget.

    base: the only service to use as base; any of them, or a mixture of two, if it is none.
    """

    def __init__(self, base: int | None = None) -> None:
        self.base = base
        self._bases: tuple[int, ...] = ()
        self._costs: FloatArray = np.empty(0)
        self._hull: Hull | None = None

    def fit(
        self, quality: ArrayLike, accuracy: ArrayLike | Mapping[int, ArrayLike], costs: ArrayLike
    ) -> Self:
        """Learns from (items, services) quality scores, and accuracies of the services alone.

        accuracy: (items, services); or, by base, the same of that base combined with each service: then the
        bases are those given.
        """
        costs = cost_vector("FrugalML", costs)
        quality = _quality_table(quality, costs.size)
        tables = self._accuracies(accuracy, quality, costs.size)
        _check_finite(quality, tables)
        hulls = [_hull_of_base(quality[:, base], table, costs, base) for base, table in tables.items()]
        candidates = _joined(hulls)
        self._hull = _picked(candidates, rising_hull(candidates.cost, candidates.accuracy))
        self._costs, self._bases = costs, tuple(tables)
        return self

    def _accuracies(
        self, accuracy: ArrayLike | Mapping[int, ArrayLike], quality: FloatArray, services: int
    ) -> dict[int, FloatArray]:
        """Of every base that may be used."""
        given = accuracy if isinstance(accuracy, Mapping) else dict.fromkeys(range(services), accuracy)
        bases = given if self.base is None else [base_index("FrugalML", self.base, services)]
        if not bases or any(base not in given for base in bases):
            raise FrugalError(
                f"FrugalML: accuracy has the bases {sorted(given)}, but {list(bases) or 'none'} is to be "
                "used; give the accuracies of every base that may be."
            )
        checked: dict[int, FloatArray] = {}
        for base in bases:
            table = accuracy_table("FrugalML", given[base], services=services)
            if not len(table):
                raise FrugalError("FrugalML has no items to learn from; give at least one row.")
            if len(quality) != len(table):
                raise FrugalError(
                    f"FrugalML: quality has {len(quality)} items but accuracy has {len(table)}; "
                    "give one row per item in both."
                )
            checked[base_index("FrugalML", base, services)] = table
        return checked

    @property
    def hull(self) -> Hull:
        if self._hull is None:
            raise FrugalError("FrugalML has not been fitted; call fit first.")
        return self._hull

    def mixture(self, budget: float) -> PolicyMixture:
        """The mixture with the highest training accuracy whose mean training cost is within the budget."""
        hull = self.hull
        budget = affordable_budget("FrugalML", budget, float(hull.cost[0]))
        low, high, probability = mixture_at(hull.cost, budget)
        if low == high:
            return PolicyMixture(
                (hull.policy(low),), (1.0,), float(hull.cost[low]), float(hull.accuracy[low])
            )
        shares = (1 - probability, probability)
        return PolicyMixture(
            (hull.policy(low), hull.policy(high)),
            shares,
            min(budget, float(shares[0] * hull.cost[low] + shares[1] * hull.cost[high])),
            float(shares[0] * hull.accuracy[low] + shares[1] * hull.accuracy[high]),
        )

    def expected(self, quality: ArrayLike, budget: float) -> list[WeightedChoices]:
        """What every policy of the mixture would do, with its probability: expectations without sampling."""
        mixture = self.mixture(budget)
        quality = self._checked_quality(quality, mixture)
        return [
            WeightedChoices(probability, *_apply(policy, quality))
            for probability, policy in zip(mixture.probabilities, mixture.policies, strict=True)
        ]

    def decide(
        self, quality: ArrayLike, budget: float, seed: int = 0, *, never_over: bool = False
    ) -> Choices:
        """Choices for each item, its policy drawn with the mixture's probabilities.

        The draw of an item depends on the seed and its row number alone, so budgets share their draws and
        a longer table begins as a shorter one. The budget holds in expectation, as FrugalML has it; with
        `never_over` these items never cost more: in their order, one that no longer fits goes without its
        add-on, or to the cheapest base, and money for the cheapest base is kept for all who follow.
        """
        parts = self.expected(quality, budget)
        draws = generator(seed, "frugalml").random(parts[0].base.size)
        expensive = draws < parts[-1].probability
        base = np.where(expensive, parts[-1].base, parts[0].base)
        addon = np.where(expensive, parts[-1].addon, parts[0].addon)
        if never_over:
            return self._held_to_budget(Choices(base, addon), float(budget))
        return Choices(base, addon)

    def _held_to_budget(self, choices: Choices, budget: float) -> Choices:
        base, addon = (column.copy() for column in choices)
        cheapest = min(self._bases, key=lambda service: self._costs[service])
        floor = float(self._costs[cheapest])
        extra = item_costs(base, addon, self._costs) - floor
        limit = base.size * (max(0.0, budget - floor) + SPEND_ROUNDING * budget)
        spent = np.cumsum(extra)
        first = int(np.searchsorted(spent, limit, side="right"))
        room = limit - (spent[first - 1] if first else 0.0)
        base_extra = self._costs[base] - floor
        for item in range(first, base.size):
            if extra[item] <= room:
                room -= extra[item]
            elif base_extra[item] <= room:
                room -= base_extra[item]
                addon[item] = base[item]
            else:
                base[item] = addon[item] = cheapest
        return Choices(base, addon)

    def _checked_quality(self, quality: ArrayLike, mixture: PolicyMixture) -> FloatArray:
        table = _quality_table(quality, self._costs.size)
        _check_finite(table, [policy.base for policy in mixture.policies])
        return table


def item_costs(base: IntArray, addon: IntArray, costs: ArrayLike) -> FloatArray:
    """What each item pays: its base, and its add-on where that is another service."""
    costs = np.asarray(costs, dtype=np.float64)
    return costs[base] + np.where(addon != base, costs[addon], 0.0)


def _hull_of_base(quality: FloatArray, accuracy: FloatArray, costs: FloatArray, base: int) -> Hull:
    """The base alone, and per add-on the thresholds that are on the hull of that pair."""
    items = quality.size
    order = np.argsort(quality, kind="stable")
    in_order = quality[order]
    # Equal qualities cannot be distinguished: only where the value changes is there a threshold.
    ends = np.append(np.flatnonzero(in_order[1:] != in_order[:-1]) + 1, items)
    share = np.append(0.0, ends / items)
    threshold = np.concatenate([[-np.inf], in_order[ends[:-1]], [np.inf]])
    alone = float(accuracy[:, base].mean())
    base_in_order = accuracy[order, base]
    hulls = [_policies(base, base, costs[[base]], np.array([alone]), threshold[:1])]
    for addon in range(costs.size):
        if addon == base:
            continue
        gained = np.cumsum(accuracy[order, addon] - base_in_order)[ends - 1] / items
        reached = alone + np.append(0.0, gained)
        kept = concave_vertices(share, reached)[1:]
        cost = costs[base] + share[kept] * costs[addon]
        hulls.append(_policies(base, addon, cost, reached[kept], threshold[kept]))
    return _joined(hulls)


def _policies(base: int, addon: int, cost: FloatArray, accuracy: FloatArray, threshold: FloatArray) -> Hull:
    return Hull(cost, accuracy, np.full(cost.size, base), np.full(cost.size, addon), threshold)


_PARTS = ("cost", "accuracy", "base", "addon", "threshold")


def _joined(hulls: list[Hull]) -> Hull:
    return Hull(*(np.concatenate([getattr(hull, part) for hull in hulls]) for part in _PARTS))


def _picked(hull: Hull, vertices: IntArray) -> Hull:
    return Hull(*(getattr(hull, part)[vertices] for part in _PARTS))


def _apply(policy: Policy, quality: FloatArray) -> Choices:
    base = np.full(len(quality), policy.base, dtype=np.int64)
    asked = quality[:, policy.base] < policy.threshold
    return Choices(base, np.where(asked, policy.addon, policy.base))


def _quality_table(quality: ArrayLike, services: int) -> FloatArray:
    table = number_array("FrugalML", "quality", quality, "a table of items by services")
    if table.ndim != 2 or table.shape[1] != services:
        raise FrugalError(
            f"FrugalML: quality has shape {table.shape}; give a table of items by {services} services."
        )
    return table


def _check_finite(quality: FloatArray, bases: Iterable[int]) -> None:
    """Only the columns of services that are used as base: where another is, no quality may be known."""
    for base in bases:
        if not np.all(np.isfinite(quality[:, base])):
            raise FrugalError(
                f"FrugalML: quality of service {base} holds values that are not finite; "
                "an empty answer has quality 0."
            )
