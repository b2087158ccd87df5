"""How close a simulated market comes to the measured one."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frugalmct.baselines.frugalml import FrugalML
from frugalmct.baselines.quality import quality_scores
from frugalmct.baselines.votes import WeightedMajorityVote, majority_vote
from frugalmct.combine import combine, search
from frugalmct.market import LabelMarket
from frugalmct.metrics import set_metric
from frugalmct.paper.columns import DATASET, SERVICE, Column
from frugalmct.paper.exhibit import Inputs
from frugalmct.paper.printed import printed_of
from frugalmct.paper.tables import stacked
from frugalmct.paper.wording import without_columns
from frugalmct.select import chosen
from frugalmct.splits import split

TITLE = "How close the simulation comes"
SECTION = "data"
NEEDS = ("markets", "predictor_quality")
COLUMNS = (
    DATASET, SERVICE,
    Column("quantity", "what is compared", "text"),
    Column("target", "as the paper or the released answers have it"),
    Column("simulated", "as the simulated market has it"),
    Column("difference", "simulated less target"),
    Column("tolerance", "the largest difference allowed"),
    Column("within", "whether the difference is tolerated", "flag", head="within tolerance"),
)  # fmt: skip
CAPTION = """
How close each simulated market comes to what it stands for: sizes as in the paper; what single services
reach, and how they correlate, as measured on the released answers, with accuracies rescaled to the paper's
best service; votes, FrugalML at its best and the predictor as the paper prints them; the best pair of
services beside the highest accuracy that the paper prints for FrugalMCT; and that a service gains nothing
by a threshold of its own. within says whether the difference is tolerated. Every row was fitted; what a
budget buys was not.
"""
DIFFERS = "Not in the paper: its data are real. Sizes are met at scale 1 alone."


def applies(datasets: Mapping[str, str]) -> bool:
    """Some dataset of the paper is simulated: there is something to be faithful to."""
    return any(kind == "simulated" and printed_of(name) for name, kind in datasets.items())


def build(inputs: Inputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    quality = inputs.table("predictor_quality")
    return stacked(
        table for market in inputs.label_markets() for table in _tables(market, quality) if len(table)
    )


def _tables(market: LabelMarket, quality: pd.DataFrame) -> Iterator[pd.DataFrame]:
    paper = printed_of(market.name)
    if market.data == "simulated" and "release_measured" in paper:
        yield fidelity_table(market.name, targets(paper), measure(market))
        free = market.services[int(np.argmin(market.prices))]
        yield fidelity_table(
            market.name, predictor_targets(paper), predictor_measured(market.name, free, quality)
        )


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
    "majority_vote_accuracy": 0.02,
    "weighted_majority_vote_accuracy": 0.02,
    "best_pair_accuracy": 0.02,
    "frugalml_accuracy": 0.02,
    "threshold_gain": 0.01,
    "predictor_rmse": 0.06,
    "predictor_correlation": 0.15,
}
# Of the paper's table of ensembles: what stands for each.
ENSEMBLES = {
    "majority_vote_accuracy": "majority_vote",
    "weighted_majority_vote_accuracy": "weighted_majority_vote",
    "frugalml_accuracy": "frugalml",
    "best_pair_accuracy": "frugalmct",
}
ENOUGH = 10_000
"""Items that weights and thresholds are learnt from; more would not move two numbers."""


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
    correlation = np.atleast_2d(np.corrcoef(accuracy.T))
    for a, b in combinations(range(len(services)), 2):
        measured["accuracy_correlation", pair_name(services[a], services[b])] = correlation[a, b]
    measured["oracle_accuracy", ""] = accuracy.max(axis=1).mean()
    return {key: float(value) for key, value in measured.items()}


def pair_name(first: str, second: str) -> str:
    return f"{first} & {second}"


def targets(paper: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """(quantity, service) -> what the paper or the released answers say of a market."""
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
    ensembles = paper["paper"]["ensembles_accuracy_pct_and_cost"]
    wanted |= {(quantity, ""): ensembles[method][0] / 100 for quantity, method in ENSEMBLES.items()}
    return wanted | {("threshold_gain", service): 0.0 for service in services}


def predictor_targets(paper: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    printed = paper["paper"]["predictor"]
    return {
        ("predictor_rmse", ""): printed["rmse_random_forest"],
        ("predictor_correlation", ""): printed["pcc_random_forest"],
    }


def measure(market: LabelMarket) -> dict[tuple[str, str], float]:
    """The same quantities of a market; what is learnt, is learnt on one half and measured on the other."""
    statistics = market.statistics()
    measured = {
        (name, ""): float(statistics[name]) for name in ("items", "distinct_labels", "label_occurrences")
    }
    measured |= accuracy_statistics(market.service_accuracy(), market.services)
    measured["majority_vote_accuracy", ""] = majority_accuracy(market)
    parts = split(len(market), dataset=market.name)
    train, test = market.subset(parts.whole_train), market.subset(parts.test)
    measured["weighted_majority_vote_accuracy", ""] = weighted_majority_accuracy(train, test)
    measured["frugalml_accuracy", ""] = frugalml_accuracy(train, test)
    few = train.subset(np.arange(min(len(train), ENOUGH)))
    measured["best_pair_accuracy", ""] = best_pair_accuracy(few, test)
    gains = threshold_gains(few, test)
    return measured | {("threshold_gain", service): gain for service, gain in gains.items()}


def majority_accuracy(market: LabelMarket) -> float:
    """Mean accuracy of accepting what at least half of the services answer."""
    return float(set_metric(market.truth, majority_vote(market)).mean())


def weighted_majority_accuracy(train: LabelMarket, test: LabelMarket) -> float:
    vote = WeightedMajorityVote().fit(train)
    return float(set_metric(test.truth, vote.answer(test)).mean())


def frugalml_accuracy(train: LabelMarket, test: LabelMarket) -> float:
    """FrugalML's highest accuracy, whatever it costs."""
    fitted = FrugalML().fit(quality_scores(train), train.service_accuracy(), train.prices)
    (choice,) = fitted.expected(quality_scores(test), float(fitted.hull.cost[-1]))
    return float(chosen(test.service_accuracy(), choice.addon).mean())


def best_pair_accuracy(train: LabelMarket, test: LabelMarket) -> float:
    """Of all pairs of services the highest accuracy under the paper's combiner; a silent service rejects."""
    pairs = combinations(range(len(train.services)), 2)
    return max(_combined_accuracy(train, test, base, addon) for base, addon in pairs)


def threshold_gains(train: LabelMarket, test: LabelMarket) -> dict[str, float]:
    """Service -> what it gains by leaving out labels below a threshold of its own."""
    alone = test.service_accuracy().mean(axis=0)
    return {
        service: _combined_accuracy(train, test, k, k) - float(alone[k])
        for k, service in enumerate(train.services)
    }


def _combined_accuracy(train: LabelMarket, test: LabelMarket, base: int, addon: int) -> float:
    found = search(train.truth, train.scores[base], train.scores[addon])
    return float(set_metric(test.truth, combine(test.scores[base], test.scores[addon], *found)).mean())


def predictor_measured(dataset: str, free: str, quality: pd.DataFrame) -> dict[tuple[str, str], float]:
    """The forest on the free service's answers, mean over repetitions; empty where it was not grown."""
    own = quality[
        (quality["dataset"] == dataset)
        & (quality["predictor"] == "random_forest")
        & (quality["base"] == free)
    ]
    if own.empty:
        return {}
    return {
        ("predictor_rmse", ""): float(own["rmse"].mean()),
        ("predictor_correlation", ""): float(own["pcc"].mean()),
    }


def fidelity_table(
    dataset: str, wanted: Mapping[tuple[str, str], float], measured: Mapping[tuple[str, str], float]
) -> pd.DataFrame:
    """Target, simulated, difference, and whether it is tolerated, of everything measured."""
    rows = []
    for (quantity, service), target in wanted.items():
        if (quantity, service) not in measured:
            continue
        simulated, tolerance = measured[quantity, service], TOLERANCES[quantity]
        difference = simulated - target
        compared = abs(difference) / target if quantity == "label_occurrences" else abs(difference)
        within = bool(compared <= tolerance + 1e-12)
        rows.append((dataset, service, quantity, target, simulated, difference, tolerance, within))
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def reading(table: pd.DataFrame) -> list[str]:
    met = table["within"].astype(str) == "True"
    missed = table.loc[~met, "quantity"].value_counts()
    counts = ", ".join(f"{quantity} {count} times" for quantity, count in missed.items())
    return [
        f"{met.sum()} of {len(table)} targets are met.",
        f"Missed: {counts}." if counts else "None is missed.",
    ]


shown = without_columns("data")
