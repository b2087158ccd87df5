"""Worked examples: a few test items, from the base's answer to the combined one and the truth.

Each shows something else: where the base is enough, where an add-on pays, where the strategy fails. Of the
items that show it, one with two to four true labels is taken if there is one, then the clearest, then the
first: the choice is a function of the results alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.paper.studies.case import Case
from frugalmct.select import chosen
from frugalmct.select.problem import addon_costs
from frugalmct.sparse import set_sizes

NEEDS = ("market", "split", "combination", "plans", "estimates")
SETTINGS = ("budget", "block", "prices")
COLUMNS = [
    "dataset", "budget", "example", "item", "base", "base_answer", "estimates", "net_values", "decision",
    "addon_answer", "combined_answer", "truth", "base_accuracy", "result_accuracy", "cost", "data",
]  # fmt: skip

NOTHING = "(nothing)"
NOT_ASKED = "(not asked)"
READABLE = (2, 4)

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]


class Kind(NamedTuple):
    """What an example shows, the items that show it, and how clearly each does."""

    example: str
    shows: Mask
    clarity: Numbers


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What each test item got, and what else it could have got."""

    choices: NDArray[np.int64]
    base: int
    cheapest_addon: int
    alone: Numbers
    """(items, services) accuracy of each service's own answer."""
    combined: Numbers
    """(items, services) accuracy of the base combined with each."""

    @classmethod
    def of(cls, case: Case) -> "Outcomes":
        base = case.plan.base
        addons = np.where(np.arange(len(case.market.prices)) == base, np.inf, case.market.prices)
        return cls(
            case.choices,
            base,
            int(addons.argmin()),
            case.test.service_accuracy(case.metric),
            case.own.test.truth,
        )

    @property
    def reached(self) -> Numbers:
        return chosen(self.combined, self.choices)

    @property
    def addon_alone(self) -> Numbers:
        return chosen(self.alone, self.choices)

    def kinds(self) -> list[Kind]:
        called, cheap = self.choices != self.base, self.choices == self.cheapest_addon
        base_alone, kept = self.alone[:, self.base], self.combined[:, self.base]
        gain, best_alone = self.reached - base_alone, np.maximum(base_alone, self.addon_alone)
        missed = self.combined.max(axis=1) - self.reached
        return [
            Kind("The base alone is enough", ~called & (self.reached == 1), base_alone),
            Kind("The cheapest add-on corrects the base", cheap & (gain > 0), gain),
            Kind(
                "A more expensive add-on is worth its price",
                called & ~cheap & (gain > 0),
                self.reached - self.combined[:, self.cheapest_addon],
            ),
            Kind(
                "Together better than either alone",
                called & (self.reached > best_alone),
                self.reached - best_alone,
            ),
            Kind("Failure: the add-on makes it worse", called & (self.reached < kept), kept - self.reached),
            Kind("Failure: an add-on would have helped", ~called & (missed > 0), missed),
        ]


def run(case: Case) -> pd.DataFrame:
    """One row per example, in words and numbers that can be checked by hand."""
    kinds = Outcomes.of(case).kinds()
    picked = pick_items(kinds, set_sizes(case.test.truth))
    return pd.DataFrame([_row(case, example, item) for example, item in picked], columns=COLUMNS)


def pick_items(kinds: list[Kind], true_labels: NDArray[np.int64]) -> Iterator[tuple[str, int]]:
    """An item for each kind that any shows; none is shown twice."""
    readable = (true_labels >= READABLE[0]) & (true_labels <= READABLE[1])
    free = np.ones(len(true_labels), dtype=bool)
    for kind in kinds:
        items = np.flatnonzero(kind.shows & free)
        if items.size:
            order = np.lexsort((-kind.clarity[items].round(12), ~readable[items]))
            item = int(items[order[0]])
            free[item] = False
            yield kind.example, item


def _row(case: Case, example: str, item: int) -> dict[str, Any]:
    test, base, choice = case.test, case.plan.base, int(case.choices[item])
    called = choice != base
    estimates = case.own.test.estimated[item]
    addon = addon_costs(test.prices, base)
    return {
        "dataset": test.name,
        "budget": case.budget,
        "example": example,
        "item": test.items[item],
        "base": test.services[base],
        "base_answer": answer_text(test.scores[base], item, test.labels),
        "estimates": service_text(test.services, estimates),
        "net_values": service_text(test.services, estimates - case.dual_price * addon),
        "decision": f"call {test.services[choice]}" if called else f"{test.services[base]} alone",
        "addon_answer": answer_text(test.scores[choice], item, test.labels) if called else NOT_ASKED,
        "combined_answer": answer_text(case.answers, item, test.labels),
        "truth": label_text(test.truth, item, test.labels),
        "base_accuracy": test.service_accuracy(case.metric)[item, base],
        "result_accuracy": case.own.test.truth[item, choice],
        "cost": test.prices[base] + addon[choice],
        "data": case.market.data,
    }


def answer_text(answers: csr_matrix, item: int, labels: NDArray[np.str_]) -> str:
    """`dog 0.98, car 0.40`: highest score first, of equal ones in the order of the vocabulary."""
    entries = slice(answers.indptr[item], answers.indptr[item + 1])
    scores = answers.data[entries]
    order = np.argsort(-scores, kind="stable")
    given = zip(labels[answers.indices[entries]][order], scores[order], strict=True)
    return ", ".join(f"{label} {score:.2f}" for label, score in given) or NOTHING


def label_text(sets: csr_matrix, item: int, labels: NDArray[np.str_]) -> str:
    return ", ".join(labels[sets.indices[sets.indptr[item] : sets.indptr[item + 1]]]) or NOTHING


def service_text(services: tuple[str, ...], values: Numbers) -> str:
    return ", ".join(f"{service} {value:.3f}" for service, value in zip(services, values, strict=True))
