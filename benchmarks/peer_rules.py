"""Two published rules as their papers describe them, to be held against ours on the same estimates.

FrugalML's training (Chen, Zaharia, Zou, NeurIPS 2020): for every base the best policy at each of M + 1 evenly
spaced budgets up to twice the highest price, a straight line between neighbours, and the best mixture of two
points at the user's budget. Here with one superclass and one quality score, as FrugalMCT's paper adapts it.

PORT's routing (Wu and Silwal, NeurIPS 2025): the budget is split into one for each model. The first 2.5 % of
the queries are routed at random; the linear program of those queries, with as large a share of each model's
budget, gives one dual variable per model. Every further query goes to the model of highest estimated quality
less dual variable times estimated cost, and is lost if that model's money does not pay for it.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, identity, kron, vstack

from frugalmct.hull import mixture_at, rising_hull
from frugalmct.seeds import generator

Table = NDArray[np.float64]

FIRST_SHARE = 0.025


# ---- FrugalML


def grid_points(quality: Table, accuracy: Table, costs: Table, steps: int) -> tuple[Table, Table]:
    """Budgets and accuracies of the best policy of every base at every step of the grid, and of every base
    alone at its price: a coarse grid would otherwise have nothing for small budgets."""
    found = list(zip(costs.tolist(), accuracy.mean(axis=0).tolist(), strict=True))
    for budget in np.linspace(0, 2 * costs.max(), steps + 1):
        for base in np.flatnonzero(costs <= budget).tolist():
            found.append((budget, _best_policy(quality[:, base], accuracy, costs, base, budget)))
    budgets, reached = np.array(found).T
    return budgets, reached


def _best_policy(quality: Table, accuracy: Table, costs: Table, base: int, budget: float) -> float:
    """Over add-ons: those items go to it whose quality is below the highest threshold that can be paid."""
    best = float(accuracy[:, base].mean())
    for addon in range(len(costs)):
        if addon == base:
            continue
        share = min((budget - costs[base]) / costs[addon], 1.0)
        payable = math.floor(share * len(quality) * (1 + 1e-12))
        if payable == len(quality):
            asked = np.ones(len(quality), dtype=bool)
        else:
            asked = quality < np.partition(quality, payable)[payable]
        best = max(best, float(np.where(asked, accuracy[:, addon], accuracy[:, base]).mean()))
    return best


def grid_accuracy(points: tuple[Table, Table], budget: float) -> float:
    """Of the best mixture of two points of the grid."""
    budgets, reached = points
    hull = rising_hull(budgets, reached)
    low, high, share = mixture_at(budgets[hull], budget)
    return float((1 - share) * reached[hull[low]] + share * reached[hull[high]])


# ---- PORT


def split_by_efficiency(quality: Table, costs: Table) -> Table:
    """(services,) shares of the budget: in proportion to mean quality per mean cost."""
    efficiency = quality.mean(axis=0) / costs.mean(axis=0)
    return efficiency / efficiency.sum()


def split_by_first(quality: Table, costs: Table, budget: float) -> Table:
    """What the best selection of the first queries spends on each, were there one budget for all."""
    first = _first(len(quality))
    chosen = _selection(quality[:first], costs[:first], [budget * first])[0]
    spent = (chosen * costs[:first]).sum(axis=0)
    return spent / spent.sum()


def dual_variables(quality: Table, costs: Table, caps: Table) -> Table:
    """(services,) of the budgets in: highest total quality, each query to one model, each model within its
    cap."""
    return _selection(quality, costs, caps)[1]


def _selection(quality: Table, costs: Table, caps: "Table | list[float]") -> tuple[Table, Table]:
    """Shares of queries by models, and the dual variable of each cap; one cap is that of all models."""
    queries, models = quality.shape
    each_query = kron(identity(queries), np.ones((1, models)), format="csr")
    if len(caps) == 1:
        money = csr_matrix(costs.reshape(1, -1))
    else:
        money = hstack([csr_matrix(np.diag(row)) for row in costs], format="csr")
    limits = np.append(np.ones(queries), caps)
    found = linprog(-quality.ravel(), A_ub=vstack([each_query, money]), b_ub=limits, method="highs")
    return found.x.reshape(quality.shape), -found.ineqlin.marginals[queries:]


def _first(queries: int) -> int:
    return max(math.ceil(FIRST_SHARE * queries), 1)


def port(
    estimates: tuple[Table, Table],
    truth: tuple[Table, Table],
    budget: float,
    split: Table,
    seed: int,
    fall_back: bool = False,
) -> tuple[float, float, float]:
    """Mean quality, a lost query counting 0, mean cost, and the share of queries lost.

    estimates, truth: quality and costs, (queries, models) each; budget: mean money for a query; split:
    (models,) shares of all the money; fall_back, which PORT does not have: a query is lost only if no model
    can pay for it, and else goes to the next best one.
    """
    (quality, costs), (true_quality, true_costs) = estimates, truth
    queries, models = quality.shape
    first, caps = _first(queries), split * budget * queries
    duals = dual_variables(quality[:first], costs[:first], caps * first / queries)
    order = (duals * costs - quality).argsort(axis=1)
    order[:first] = generator(seed, "port").permuted(np.tile(np.arange(models), (first, 1)), axis=1)
    left, reached, lost = caps.copy(), 0.0, 0
    for query, models_in_turn in enumerate(order if fall_back else order[:, :1]):
        cost = true_costs[query, models_in_turn]
        payable = np.flatnonzero(cost <= left[models_in_turn])
        if not len(payable):
            lost += 1
            continue
        model = models_in_turn[payable[0]]
        left[model] -= cost[payable[0]]
        reached += true_quality[query, model]
    return reached / queries, float((caps - left).sum()) / queries, lost / queries
