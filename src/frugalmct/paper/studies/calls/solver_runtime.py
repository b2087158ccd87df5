"""How long Algorithm 1, the exact method and general solvers take where every call has its own cost.

The costs are those expected when it is decided, one for each item and service.
"""

import pandas as pd

from frugalmct.paper.studies.calls.case import Case
from frugalmct.paper.studies.solver_runtime import solver_study
from frugalmct.select.methods import METHODS

NEEDS = ("market", "call_estimates")
SETTINGS = ("solver_study",)
PLUGINS = METHODS.modules()


def run(case: Case) -> pd.DataFrame:
    """Every solver on the estimates of the first test items, few to many."""
    study = case.settings["solver_study"]
    table = solver_study(case.own, case.plan, study["items"], study["time_limit"])
    return table.assign(dataset=case.dataset, data=case.market.data)
