"""Long tables small enough to work out by hand what follows from them."""

import pandas as pd

from frugalmct.paper.names import IDEAL, ONLINE, SINGLE
from frugalmct.paper.stages.select import COLUMNS

T_OF_ONE_DEGREE = 12.706204736  # of two repetitions
SERVICES = {"free": (0.4, 0.0), "fair": (0.5, 4.0), "dear": (0.7, 10.0)}


def row(method, budget, accuracy, cost=None, *, dataset="own", repetition=0, status="ok"):
    cost = budget if cost is None else cost
    return {
        "dataset": dataset, "method": method, "budget": budget, "repetition": repetition,
        "accuracy": accuracy, "cost": cost, "status": status,
    }  # fmt: skip


def long_table(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


def singles(repetition=0, dataset="own", shift=0.0, services=SERVICES):
    return [
        row(SINGLE + name, price, accuracy + shift, repetition=repetition, dataset=dataset)
        for name, (accuracy, price) in services.items()
    ]


def online(*points, repetition=0, dataset="own", method=ONLINE):
    return [
        row(method, budget, accuracy, repetition=repetition, dataset=dataset) for budget, accuracy in points
    ]


def only_row(table):
    assert len(table) == 1
    return table.iloc[0]


def whole_sweep(repetition=0):
    """Budgets 0, 5 and 10; each method a constant step below the one that knows more."""
    methods = {IDEAL: 0.9, "oracle": 0.8, "frugalmct_offline": 0.72, ONLINE: 0.7, "dap": 0.6}
    methods |= {"random_mix": 0.5, "frugalml": 0.55, "frugalmct_plus": 0.75}
    rows = singles(repetition)
    for method, top in methods.items():
        rows += online((0, top - 0.2), (5, top), (10, top), repetition=repetition, method=method)
    return rows
