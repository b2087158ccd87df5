"""Random selection problems with every awkward feature, and references that share no code with us."""

from fractions import Fraction
from itertools import product

import numpy as np

from frugalmct.select import Problem

COST_FAMILIES = {
    "whole": lambda rng, k: rng.integers(0, 16, k).astype(float),
    "real": lambda rng, k: rng.random(k) * 10,
    "irrational": lambda rng, k: np.sqrt(rng.integers(2, 40, k)),
    "repeated": lambda rng, k: rng.choice([0.0, 0.0, 1.0, 2.0, 2.0, 5.0], k),
    "all equal": lambda rng, k: np.full(k, rng.choice([0.0, 1.0, 0.1])),
    "cents": lambda rng, k: np.round(rng.random(k) * 3, 2),
    "paper": lambda rng, k: rng.choice([0.01, 6.0, 10.0, 15.0], k),
    "tiny": lambda rng, k: rng.choice([0.0, 3.75e-6, 1e-5, 1.5e-5], k),
}

NASTY_COSTS = {
    "mixed magnitudes": lambda rng, k: 10 ** rng.uniform(-7, 4, k),
    "prices of the paper and below": lambda rng, k: rng.choice([0.01, 6.0, 10.0, 15.0, 3.75e-6, 1 / 3], k),
    "rounding variants": lambda rng, k: rng.choice([0.3, 0.1 + 0.2, 0.7 - 0.4, 0.1 * 3, 0.6], k),
    "the whole range": lambda rng, k: 10 ** rng.uniform(-300, 290, k),
}

ACCURACY_FAMILIES = {
    "continuous": lambda rng, n, costs: rng.random((n, costs.size)),
    "quarters": lambda rng, n, costs: np.round(rng.random((n, costs.size)) * 4) / 4,
    "percent": lambda rng, n, costs: np.round(rng.random((n, costs.size)), 2),
    "costlier is better": lambda rng, n, costs: np.clip(
        0.8 * costs / max(costs.max(), 1e-300) + 0.05 * rng.random((n, costs.size)), 0, 1
    ),
    "all alike": lambda rng, n, costs: np.tile(rng.random(costs.size), (n, 1)),
    "all or nothing": lambda rng, n, costs: rng.integers(0, 2, (n, costs.size)).astype(float),
}

HARD_FOR_SOLVERS = {"all alike": 10, "all or nothing": 20, "costlier is better": 20}
"""Symmetry and correlation make general solvers take minutes: fewer items there."""

BUDGET_FAMILIES = {
    "base price": lambda rng, need, n: 0.0,
    "beyond need": lambda rng, need, n: 2 * need + 1e-9,
    "any": lambda rng, need, n: need * rng.random(),
    "scarce": lambda rng, need, n: need * rng.random() ** 3,
    "whole calls": lambda rng, need, n: need * rng.integers(0, n + 1) / n,
}


def random_problem(number: int, max_items: int = 60, max_services: int = 6, costs=COST_FAMILIES) -> Problem:
    """Instance `number` of an endless list; the same one every time."""
    rng = np.random.default_rng([20220601, number])
    services = int(rng.integers(1, max_services + 1))
    price = _pick(rng, costs)(rng, services)
    family = rng.choice(list(ACCURACY_FAMILIES))
    items = int(rng.integers(1, min(max_items, HARD_FOR_SOLVERS.get(family, max_items)) + 1))
    accuracy = ACCURACY_FAMILIES[family](rng, items, price)
    base = int(rng.integers(services))
    need = float(np.delete(price, base).max(initial=0.0))
    budget = float(price[base] + _pick(rng, BUDGET_FAMILIES)(rng, need, items))
    return Problem(accuracy, price, base, budget)


ITEM_COSTS = {
    "real": lambda rng, n, k: rng.gamma(2, 1, (n, k)),
    "long answers": lambda rng, n, k: rng.gamma(2, 1, (n, 1)) * rng.uniform(0.1, 3, k),
    "cents": lambda rng, n, k: np.round(3 * rng.random((n, k)), 2),
    "whole": lambda rng, n, k: rng.integers(0, 8, (n, k)).astype(float),
    "free or not": lambda rng, n, k: rng.choice([0.0, 1.0, np.pi], (n, k)),
    "one price list": lambda rng, n, k: np.tile(10 * rng.random(k), (n, 1)),
    "two price lists": lambda rng, n, k: (10 * rng.random((2, k)))[rng.integers(0, 2, n)],
}

NASTY_ITEM_COSTS = {
    "mixed magnitudes": lambda rng, n, k: 10 ** rng.uniform(-7, 4, (n, k)),
    "rounding variants": lambda rng, n, k: rng.choice([0.3, 0.1 + 0.2, 0.7 - 0.4, 0.1 * 3, 0.6], (n, k)),
    "the whole range": lambda rng, n, k: 10 ** rng.uniform(-300, 290, (n, k)),
}
"""Beyond the tolerances of general solvers."""


def random_item_problem(
    number: int, max_items: int = 40, max_services: int = 6, costs_of: dict = ITEM_COSTS
) -> Problem:
    """Instance `number` of an endless list with costs per item, and one, several or no base services."""
    rng = np.random.default_rng([20261116, number])
    services = int(rng.integers(1, max_services + 1))
    family = rng.choice(list(ACCURACY_FAMILIES))
    items = int(rng.integers(1, min(max_items, HARD_FOR_SOLVERS.get(family, max_items)) + 1))
    costs = _pick(rng, costs_of)(rng, items, services)
    accuracy = ACCURACY_FAMILIES[family](rng, items, costs.mean(axis=0))
    several = rng.choice(services, int(rng.integers(1, services + 1)), replace=False).tolist()
    base = (None, int(rng.integers(services)), several)[number % 3]
    free = Problem(accuracy, costs, base, 1e300)
    need = float(free.addon_costs.max(axis=1).mean()) - free.least_spend / items
    return Problem(accuracy, costs, base, free.least_cost + _pick(rng, BUDGET_FAMILIES)(rng, need, items))


def addon_table(problem: Problem) -> np.ndarray:
    """(N, K) what choosing each service adds, whatever the shape of the costs."""
    return np.broadcast_to(problem.addon_costs, problem.accuracy.shape)


def _pick(rng: np.random.Generator, families: dict):
    return families[rng.choice(list(families))]


def brute_force(problem: Problem) -> float:
    """The best mean accuracy, over all selections, in exact arithmetic of the policy's add-on budget."""
    allowed = Fraction(problem.allowance)
    costs = [Fraction(c) for c in problem.addon_costs]
    best = -1.0
    for choice in product(range(problem.services), repeat=problem.items):
        if sum(costs[k] for k in choice) <= allowed:
            best = max(best, float(problem.accuracy[range(problem.items), choice].mean()))
    return best


def pareto_reference(problem: Problem) -> float:
    """The best mean accuracy by listing every undominated (cost, accuracy), costs as exact fractions."""
    allowed = Fraction(problem.allowance)
    front: list[tuple[Fraction, float]] = [(Fraction(0), 0.0)]
    for row, addon in zip(problem.accuracy.tolist(), addon_table(problem).tolist(), strict=True):
        costs = [Fraction(cost) for cost in addon]
        states = sorted(
            ((cost + costs[k], value + a) for cost, value in front for k, a in enumerate(row)),
            key=lambda state: (state[0], -state[1]),
        )
        front, best = [], -1.0
        for cost, value in states:
            if cost <= allowed and value > best:
                front.append((cost, value))
                best = value
    return front[-1][1] / problem.items


def milp_reference(problem: Problem) -> float:
    """The best mean accuracy by scipy's integer programming."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    items, services = problem.accuracy.shape
    scale = float(problem.addon_costs.max()) or 1.0
    one_each = sparse.kron(sparse.eye(items), np.ones((1, services)))
    money = sparse.csr_matrix(addon_table(problem).ravel() / scale)
    result = milp(
        -problem.accuracy.ravel(),
        integrality=np.ones(items * services),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(one_each, 1, 1),
            LinearConstraint(money, -np.inf, problem.allowance / scale),
        ],
        options={"mip_rel_gap": 0},
    )
    choices = result.x.reshape(items, services).argmax(axis=1)
    return problem.mean_accuracy(choices)
