"""How close a simulated market comes to the measured one."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.baselines.votes import majority_vote
from frugalmct.market import LabelMarket
from frugalmct.metrics import set_metric
from frugalmct.paper.columns import DATASET, SERVICE, Column
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.printed import printed_of
from frugalmct.paper.tables import stacked
from frugalmct.paper.wording import without_columns

TITLE = "How close the simulation comes"
SECTION = "data"
NEEDS = ("markets",)
COLUMNS = (
    DATASET, SERVICE,
    Column("quantity", "what is compared", "text"),
    Column("target", "as the paper or the released answers have it"),
    Column("simulated", "as the simulated market has it"),
    Column("difference", "simulated less target"),
    Column("tolerance", "the largest difference allowed; empty for what is not aimed at"),
    Column("within", "whether the difference is tolerated", "flag", head="within tolerance"),
)  # fmt: skip
CAPTION = """
How close each simulated market comes to what it stands for: sizes as in the paper, accuracies and their
correlations as measured on the released answers. within says whether the difference is tolerated.
"""
DIFFERS = "Not in the paper: its data are real. Sizes are met at scale 1 alone."


def applies(datasets: Mapping[str, str]) -> bool:
    """Some dataset of the paper is simulated: there is something to be faithful to."""
    return any(kind == "simulated" and printed_of(name) for name, kind in datasets.items())


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    tables = (fidelity_table(market, printed_of(market.name)) for market in inputs.markets())
    return stacked(table for table in tables if len(table))


# What the simulation is held to: the largest difference allowed, absolute unless said otherwise.
TOLERANCES = {
    "items": 0.0,
    "distinct_labels": 0.0,
    "label_occurrences": 0.02,  # relative
    "accuracy": 0.01,
    "accuracy_std": 0.06,
    "share_exactly_zero": 0.12,
    "share_exactly_one": 0.12,
    "accuracy_correlation": 0.15,
    "oracle_accuracy": 0.04,
}


def accuracy_statistics(
    accuracy: NDArray[np.float64], services: tuple[str, ...]
) -> dict[tuple[str, str], float]:
    """(quantity, service) -> value, from the per-item accuracy of each service alone."""
    measured: dict[tuple[str, str], float] = {}
    for k, service in enumerate(services):
        column = accuracy[:, k]
        measured["accuracy", service] = column.mean()
        measured["accuracy_std", service] = column.std()
        measured["share_exactly_zero", service] = np.mean(column == 0)
        measured["share_exactly_one", service] = np.mean(column == 1)
    correlation = np.corrcoef(accuracy.T)
    for a, b in combinations(range(len(services)), 2):
        measured["accuracy_correlation", pair_name(services[a], services[b])] = correlation[a, b]
    measured["oracle_accuracy", ""] = accuracy.max(axis=1).mean()
    return {key: float(value) for key, value in measured.items()}


def pair_name(first: str, second: str) -> str:
    return f"{first} & {second}"


def majority_accuracy(market: LabelMarket) -> float:
    """Mean accuracy of accepting what at least half of the services answer."""
    return float(set_metric(market.truth, majority_vote(market)).mean())


def targets(paper: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """(quantity, service) -> what the paper or the released answers say."""
    released = paper["release_measured"]
    services = list(paper["prices_usd_per_10k"])
    wanted: dict[tuple[str, str], float] = {
        (quantity, ""): paper[quantity] for quantity in ("items", "distinct_labels", "label_occurrences")
    }
    for service in services:
        wanted["accuracy", service] = paper["simulation_target_accuracy"][service]
        for quantity in ("accuracy_std", "share_exactly_zero", "share_exactly_one"):
            wanted[quantity, service] = released[quantity][service]
    for (a, first), (b, second) in combinations(enumerate(services), 2):
        wanted["accuracy_correlation", pair_name(first, second)] = released["accuracy_correlation"][a][b]
    wanted["oracle_accuracy", ""] = released["oracle_accuracy"]
    wanted["majority_vote_accuracy", ""] = (
        paper["paper"]["ensembles_accuracy_pct_and_cost"]["majority_vote"][0] / 100
    )
    return wanted


def measure(market: LabelMarket) -> dict[tuple[str, str], float]:
    """The same quantities of a market."""
    statistics = market.statistics()
    measured = {
        (name, ""): float(statistics[name]) for name in ("items", "distinct_labels", "label_occurrences")
    }
    measured |= accuracy_statistics(market.service_accuracy(), market.services)
    measured["majority_vote_accuracy", ""] = majority_accuracy(market)
    return measured


def fidelity_table(market: LabelMarket, paper: Mapping[str, Any]) -> pd.DataFrame:
    """Target, simulated, difference; `within` is empty for what is shown but not aimed at."""
    names = [column.name for column in COLUMNS]
    if market.data != "simulated" or "release_measured" not in paper:
        return pd.DataFrame(columns=names)
    measured = measure(market)
    rows = []
    for (quantity, service), target in targets(paper).items():
        difference = measured[quantity, service] - target
        tolerance = TOLERANCES.get(quantity)
        compared = abs(difference) / target if quantity == "label_occurrences" else abs(difference)
        within = None if tolerance is None else bool(compared <= tolerance + 1e-12)
        rows.append(
            (
                market.name,
                service,
                quantity,
                target,
                measured[quantity, service],
                difference,
                tolerance,
                within,
            )
        )
    return pd.DataFrame(rows, columns=names)


def reading(table: pd.DataFrame) -> list[str]:
    table = table.dropna(subset=["within"])
    met = table["within"].astype(str) == "True"
    missed = table.loc[~met, "quantity"].value_counts()
    counts = ", ".join(f"{quantity} {count} times" for quantity, count in missed.items())
    return [
        f"{met.sum()} of {len(table)} targets are met.",
        f"Missed: {counts}." if counts else "None is missed.",
    ]


shown = without_columns("data")
