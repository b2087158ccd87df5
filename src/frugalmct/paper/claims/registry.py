"""All claims of the paper, from the abstract to the appendix, by what they are about."""

import pandas as pd

from frugalmct.paper.claims import accuracy, data, ensembles, learning, savings, speed, theory
from frugalmct.paper.claims.claim import VERDICTS, Claim
from frugalmct.paper.claims.results import Results

MODULES = (savings, accuracy, speed, data, ensembles, learning, theory)
CLAIMS: tuple[Claim, ...] = tuple(claim for module in MODULES for claim in module.CLAIMS)


def claims_table(results: Results) -> pd.DataFrame:
    """One row per claim, what fails first, each verdict's claims in the order above."""
    rows = [claim.row(results) for claim in CLAIMS]
    table = pd.DataFrame(rows)
    order = table["verdict"].map({verdict: place for place, verdict in enumerate(VERDICTS)})
    return table.iloc[order.argsort(kind="stable")].reset_index(drop=True)
