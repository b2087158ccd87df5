"""Who is asked first: nobody, one service or several, chosen by trying it on training items.

The search is bounded. Nobody, and each of the `SERVICES` cheapest services that a budget pays for and whose
answers tell something, are tried; then, up to `LONGEST` services and while it pays at some budget, the
`WIDTH` sets that were best at most budgets are tried with each further service. A trial is a small forest on
a few thousand items, judged by what its out-of-bag estimates reach at each budget.
"""

from collections.abc import Callable, Sequence

from frugalmct.percall.model import First

SERVICES, WIDTH, LONGEST = 12, 2, 3

Trial = Callable[[First], dict[float, float]]
"""What a set reaches at each budget; budgets that it does not fit are left out."""


def best_firsts(trial: Trial, candidates: Sequence[int], budgets: Sequence[float]) -> dict[float, First]:
    """The best set for each budget; candidates: services that may be asked first."""
    reached: dict[First, dict[float, float]] = {(): trial(())}
    grown: list[First] = [(k,) for k in candidates]
    for size in range(1, LONGEST + 1):
        before = list(reached)
        reached |= {first: trial(first) for first in grown}
        # One alone rarely pays where two that agree, or do not, tell much: two are always tried.
        if not grown or size == LONGEST or (size > 1 and not _any_better(reached, grown, before, budgets)):
            break
        seeds = _best_somewhere(reached, grown, budgets)
        grown = sorted({tuple(sorted((*first, k))) for first in seeds for k in candidates if k not in first})
    return {budget: _best(reached, list(reached), budget) for budget in budgets}


def _any_better(
    reached: dict[First, dict[float, float]],
    new: Sequence[First],
    old: Sequence[First],
    budgets: Sequence[float],
) -> bool:
    """Whether at some budget one of the new sets is better than all of the old."""
    return any(_best(reached, [*old, *new], budget) in new for budget in budgets)


def _best(reached: dict[First, dict[float, float]], firsts: Sequence[First], budget: float) -> First:
    """Of equals the smaller set."""
    return max(firsts, key=lambda first: (reached[first].get(budget, -1.0), -len(first)))


def _best_somewhere(
    reached: dict[First, dict[float, float]], firsts: Sequence[First], budgets: Sequence[float]
) -> list[First]:
    """The few sets that are best at most budgets; of equals those that reach more over all budgets."""
    wins = [_best(reached, firsts, budget) for budget in budgets]

    def rank(first: First) -> tuple[int, float]:
        return -wins.count(first), -sum(reached[first].get(budget, 0.0) for budget in budgets)

    return sorted(firsts, key=rank)[:WIDTH]
