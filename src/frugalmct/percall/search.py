"""Who is asked first: nobody, one service or several, chosen by trying it on training items.

The search is bounded. Nobody, and each of the `SERVICES` cheapest services that a budget pays for, are tried;
then, up to `LONGEST` services, those sets that were best at some budget, `WIDTH` at most, are tried with each
further service. A trial is a small forest on a few thousand items, judged by what its out-of-bag
estimates reach at each budget.
"""

from collections.abc import Callable, Sequence

from frugalmct.percall.model import First

SERVICES, WIDTH, LONGEST = 12, 3, 3

Trial = Callable[[First], dict[float, float]]
"""What a set reaches at each budget; budgets that it does not fit are left out."""


def best_firsts(trial: Trial, prices: Sequence[float], budgets: Sequence[float]) -> dict[float, First]:
    """The best set for each budget."""
    payable = [k for k in range(len(prices)) if prices[k] <= max(budgets)]
    cheapest = sorted(sorted(payable, key=lambda k: prices[k])[:SERVICES])
    reached: dict[First, dict[float, float]] = {}
    level: list[First] = [(), *((k,) for k in cheapest)]
    for size in range(1, LONGEST + 1):
        reached |= {first: trial(first) for first in level}
        grown = [first for first in level if len(first) == size]
        seeds = _best_somewhere(reached, grown, budgets)
        level = sorted(
            {tuple(sorted((*first, k))) for first in seeds for k in cheapest if k not in first}
            - reached.keys()
        )
    return {budget: _best(reached, list(reached), budget) for budget in budgets}


def _best(reached: dict[First, dict[float, float]], firsts: Sequence[First], budget: float) -> First:
    """Of equals the smaller set."""
    return max(firsts, key=lambda first: (reached[first].get(budget, -1.0), -len(first)))


def _best_somewhere(
    reached: dict[First, dict[float, float]], firsts: Sequence[First], budgets: Sequence[float]
) -> list[First]:
    """The sets that are best at some budget, those of most budgets first, and no more than a few."""
    wins = [_best(reached, firsts, budget) for budget in budgets if any(budget in reached[f] for f in firsts)]
    return sorted(set(wins), key=lambda first: (-wins.count(first), first))[:WIDTH]
