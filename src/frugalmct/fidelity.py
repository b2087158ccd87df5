"""How close a simulated market comes to the measured one."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.baselines.votes import majority_vote
from frugalmct.market import Market
from frugalmct.metrics import set_metric

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

COLUMNS = ["dataset", "service", "quantity", "target", "simulated", "difference", "tolerance", "within"]


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


def majority_accuracy(market: Market) -> float:
    """Mean accuracy of accepting what at least half of the services answer."""
    return float(set_metric(market.truth, majority_vote(market)).mean())


def targets(figures: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """(quantity, service) -> what the paper or the released answers say."""
    released = figures["release_measured"]
    services = list(figures["prices_usd_per_10k"])
    wanted: dict[tuple[str, str], float] = {
        (quantity, ""): figures[quantity] for quantity in ("items", "distinct_labels", "label_occurrences")
    }
    for service in services:
        wanted["accuracy", service] = figures["simulation_target_accuracy"][service]
        for quantity in ("accuracy_std", "share_exactly_zero", "share_exactly_one"):
            wanted[quantity, service] = released[quantity][service]
    for (a, first), (b, second) in combinations(enumerate(services), 2):
        wanted["accuracy_correlation", pair_name(first, second)] = released["accuracy_correlation"][a][b]
    wanted["oracle_accuracy", ""] = released["oracle_accuracy"]
    wanted["majority_vote_accuracy", ""] = (
        figures["paper"]["ensembles_accuracy_pct_and_cost"]["majority_vote"][0] / 100
    )
    return wanted


def measure(market: Market) -> dict[tuple[str, str], float]:
    """The same quantities of a market."""
    statistics = market.statistics()
    measured = {
        (name, ""): float(statistics[name]) for name in ("items", "distinct_labels", "label_occurrences")
    }
    measured |= accuracy_statistics(market.service_accuracy(), market.services)
    measured["majority_vote_accuracy", ""] = majority_accuracy(market)
    return measured


def fidelity_table(market: Market, figures: Mapping[str, Any]) -> pd.DataFrame:
    """Target, simulated, difference; `within` is empty for what is shown but not aimed at."""
    if not market.simulated or "release_measured" not in figures:
        return pd.DataFrame(columns=COLUMNS)
    measured = measure(market)
    rows = []
    for (quantity, service), target in targets(figures).items():
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
    return pd.DataFrame(rows, columns=COLUMNS)
