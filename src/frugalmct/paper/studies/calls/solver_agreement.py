"""The offline problem of every budget by several solvers, where every call has its own cost."""

import pandas as pd

from frugalmct.paper.studies.calls.case import Case
from frugalmct.paper.studies.solver_agreement import CHECKED_SOLVERS, agreement
from frugalmct.select.methods import METHODS

NEEDS = ("call_estimates",)
SETTINGS = ("time_limit",)
PLUGINS = METHODS.modules(*CHECKED_SOLVERS)


def run(case: Case) -> pd.DataFrame:
    """One row per budget and solver."""
    offline = [(plan.budget, case.calls.by_first[plan.first].test) for plan in case.calls.plans]
    rows = agreement(offline, CHECKED_SOLVERS, case.settings["time_limit"])
    return rows.assign(dataset=case.dataset, repetition=case.repetition)
