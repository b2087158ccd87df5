"""Items that are indifferent at the dual price: moving them up spends money at no loss."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import FloatArray
from frugalmct.select.dual import PricedPicks
from frugalmct.select.item_tiers import AnyTiers, ItemTiers
from frugalmct.select.problem import spend
from frugalmct.select.tiers import Picks, Tiers

TIE_LOSS = 1e-14
"""Moves that lose no more than this share of an accuracy are ties: its rounding is about that large."""

_PASSES = 64


@dataclass(frozen=True, eq=False)
class Ties:
    picks: Picks
    spend: float
    shortfall: float


def take_ties(tiers: AnyTiers, found: PricedPicks, capacity: float) -> Ties:
    """Move items up to tiers they like as well at this dual price while money lasts, costliest first.

    At 0 a tie is equally accurate, and the more expensive one would only waste money.
    """
    if found.dual_price == 0:
        return Ties(found.picks, found.spend, 0.0)
    if isinstance(tiers, Tiers):
        return _take_shared(tiers, found, capacity)
    return _take_per_item(tiers, found, capacity)


def first_tied(tiers: AnyTiers, picks: Picks, dual_price: float) -> int | None:
    """An item that likes a more expensive tier as well as its pick."""
    if isinstance(tiers, ItemTiers):
        tied, _, _ = _costliest_tied(tiers, picks, dual_price, np.inf)
        return int(tied[0]) if tied.size else None
    for stop in range(len(tiers)):
        for start in range(stop):
            tied, _ = tied_moves(tiers, picks, dual_price, start, stop)
            if tied.size:
                return int(tied[0])
    return None


def _take_shared(tiers: Tiers, found: PricedPicks, capacity: float) -> Ties:
    picks, counts, costs = found.picks.copy(), tiers.counts(found.picks), tiers.costs.tolist()
    shortfall = 0.0
    edges = [(start, stop) for stop in range(len(tiers)) for start in range(stop)]
    for start, stop in sorted(edges, key=lambda edge: costs[edge[0]] - costs[edge[1]]):
        if spend(counts, costs) + costs[stop] - costs[start] > capacity:
            continue
        tied, loss = tied_moves(tiers, picks, found.dual_price, start, stop)
        extra = most_that_fit(counts, costs, start, stop, tied.size, capacity)
        picks[tied[:extra]] = stop
        counts[start] -= extra
        counts[stop] += extra
        shortfall += float(loss[:extra].sum())
    return Ties(picks, spend(counts, costs), shortfall)


def tied_moves(
    tiers: Tiers, picks: Picks, dual_price: float, start: int, stop: int
) -> tuple[NDArray[np.intp], FloatArray]:
    """Items that picked `start` and like `stop` as well, and what moving them would lose by rounding."""
    members = np.flatnonzero(picks == start)
    loss = move_losses(tiers, members, dual_price, start, stop)
    tied = loss <= TIE_LOSS * np.maximum(tiers.columns[stop][members], 0.0)
    return members[tied], np.maximum(loss[tied], 0.0)


def move_losses(
    tiers: Tiers, members: NDArray[np.intp], dual_price: float, start: int, stop: int
) -> FloatArray:
    """What items lose against the dual bound by moving from tier `start` to tier `stop`."""
    loss = tiers.columns[start][members]
    loss -= tiers.columns[stop][members]
    loss += dual_price * (tiers.costs[stop] - tiers.costs[start])
    return loss


def most_that_fit(
    counts: list[int], costs: list[float], start: int, stop: int, available: int, capacity: float
) -> int:
    """How many items may move from `start` to `stop` before the spend exceeds the capacity."""
    room = max(0.0, capacity - spend(counts, costs))
    fitting = min(available, math.floor(min(room / (costs[stop] - costs[start]), available)) + 1)
    while fitting > 0:
        moved = list(counts)
        moved[start] -= fitting
        moved[stop] += fitting
        if spend(moved, costs) <= capacity:
            break
        fitting -= 1
    return fitting


def _take_per_item(tiers: ItemTiers, found: PricedPicks, capacity: float) -> Ties:
    """In passes: of the moves that fit on their own the most expensive, as many as fit together."""
    picks, shortfall = found.picks.copy(), 0.0
    for _ in range(_PASSES):
        room = capacity - tiers.spend(picks)
        items, stops, more = _costliest_tied(tiers, picks, found.dual_price, room)
        if items.size == 0:
            break
        order = np.argsort(-more, kind="stable")
        taken = order[: int(np.searchsorted(np.cumsum(more[order]), room, side="right"))]
        moved = picks.copy()
        moved[items[taken]] = stops[taken]
        if taken.size == 0 or tiers.spend(moved) > capacity:  # by rounding
            break
        worth = [tiers.value(chosen) - found.dual_price * tiers.spend(chosen) for chosen in (picks, moved)]
        shortfall += max(worth[0] - worth[1], 0.0)
        picks = moved
    return Ties(picks, tiers.spend(picks), shortfall)


def _costliest_tied(
    tiers: ItemTiers, picks: Picks, dual_price: float, room: float
) -> tuple[NDArray[np.intp], Picks, FloatArray]:
    """Items with a tie that costs up to `room` more, the costliest such tier, and how much more it costs."""
    here, paid = tiers.picked(tiers.columns, picks), tiers.picked(tiers.costs, picks)
    stops = picks.copy()
    for tier in range(1, len(tiers)):
        more = tiers.costs[tier] - paid
        loss = here - tiers.columns[tier] + dual_price * more
        tied = (loss <= TIE_LOSS * np.maximum(tiers.columns[tier], 0.0)) & (more > 0) & (more <= room)
        np.copyto(stops, stops.dtype.type(tier), where=tied)
    items = np.flatnonzero(stops != picks)
    return items, stops[items], (tiers.picked(tiers.costs, stops) - paid)[items]
