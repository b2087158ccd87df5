"""A run's numbers as the tests of claims ask for them: tables, and differences paired by repetition."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from frugalmct.paper.curves import DatasetResults
from frugalmct.paper.intervals import Interval, paired_difference
from frugalmct.paper.looks import name_of
from frugalmct.paper.names import ONLINE, PLUS
from frugalmct.paper.printed import best_service, printed

SAME_ACCURACY = 0.01
"""How near the best service's accuracy must be to the paper's for the data to be the paper's."""


class Untestable(Exception):
    """Why a claim cannot be tested on this run's data."""


@dataclass(frozen=True, eq=False)
class Results:
    """tables: of exhibits, by name; data: dataset -> where its answers come from; dropped: dataset ->
    services left out; test_share: the part of the items that is tested on."""

    tables: Mapping[str, pd.DataFrame]
    data: Mapping[str, str]
    dropped: Mapping[str, Iterable[str]]
    test_share: float

    def table(self, name: str) -> pd.DataFrame:
        found = self.tables.get(name)
        if found is None or found.empty:
            raise Untestable(f"the table {name} was not made in this run, or has no rows")
        return found

    @property
    def datasets(self) -> list[str]:
        return list(self.data)

    @property
    def simulated(self) -> bool:
        return "simulated" in self.data.values()

    def of_paper(self) -> list[str]:
        """The datasets of this run that the paper has too."""
        return [name for name in self.datasets if printed().get(name, {}).get("paper")]

    def has_papers_data(self, dataset: str) -> bool:
        """Whether its answers are the released ones, whole, and as accurate as the paper prints."""
        if self.data.get(dataset) != "release" or self.dropped.get(dataset) or "tradeoff" not in self.tables:
            return False
        results = self.by_dataset.get(dataset)
        told = list(best_service(dataset).values())
        if results is None or results.best is None or not told:
            return False
        return abs(results.best.accuracy - told[0]) <= SAME_ACCURACY

    @cached_property
    def by_dataset(self) -> dict[str, DatasetResults]:
        tradeoff = self.table("tradeoff")
        return {name: DatasetResults(tradeoff, name) for name in self.datasets}

    @cached_property
    def arms(self) -> list[str]:
        """The paper's method, and ours if it was run."""
        return [method for method in (ONLINE, PLUS) if (self.table("tradeoff")["method"] == method).any()]

    # ---- paired by repetition

    def difference(self, a: ArrayLike, b: ArrayLike | float = 0.0) -> Interval:
        """Mean of a - b and its corrected interval; `b` may be one number."""
        a = np.asarray(a, dtype=np.float64)
        return paired_difference(a, np.broadcast_to(b, a.shape), self.test_share)

    def savings(self, method: str) -> dict[str, Interval]:
        """Dataset -> share of the best service's cost that is saved; without datasets that never reach it."""
        return self._beside_best("savings", method)

    def gains(self, method: str) -> dict[str, Interval]:
        """Dataset -> accuracy at the best service's cost, less that service's."""
        return self._beside_best("gains_at_best_cost", method)

    def _beside_best(self, what: str, method: str) -> dict[str, Interval]:
        if (what, method) not in self._known:
            found = {
                name: self.difference(getattr(results, what)(method))
                for name, results in self.by_dataset.items()
                if results.best is not None
            }
            known = {name: value for name, value in found.items() if np.isfinite(value.mean)}
            self._known[what, method] = known
        return self._known[what, method]

    @cached_property
    def _known(self) -> dict[tuple[str, str], dict[str, Interval]]:
        """What was asked for already: many claims ask for the same."""
        return {}

    def leads(self, method: str, other: str) -> dict[str, "Lead"]:
        """Dataset -> by how much one method is ahead of another at the same budgets."""
        leads = {name: self._lead(name, method, other) for name in self.datasets}
        found = {name: lead for name, lead in leads.items() if lead is not None}
        if not found:
            raise Untestable(f"{name_of(method)} or {name_of(other)} has no result in this run")
        return found

    def _lead(self, dataset: str, method: str, other: str) -> "Lead | None":
        one, two = (self.accuracies(dataset, name) for name in (method, other))
        difference = (one - two).dropna(axis=1, how="all")
        if difference.empty:
            return None
        return Lead(self.difference(difference.mean(axis=1)), difference.mean(axis=0))

    def accuracies(self, dataset: str, method: str) -> pd.DataFrame:
        """One row per repetition, one column per budget."""
        key = dataset, method
        if key not in self._by_method.index:
            return pd.DataFrame(index=pd.Index([], name="repetition"), columns=pd.Index([], name="budget"))
        return self._by_method.loc[key].dropna(axis=1, how="all")

    @cached_property
    def _by_method(self) -> pd.DataFrame:
        """Every accuracy: one row per dataset, method and repetition."""
        keys = ["dataset", "method", "repetition"]
        return self.table("tradeoff").pivot_table(index=keys, columns="budget", values="accuracy")

    def at_its_best(self, dataset: str, method: str) -> "Best | None":
        """The budget with the highest mean accuracy, the cheapest of equals, and what is reached there."""
        accuracy = self.accuracies(dataset, method)
        if accuracy.empty:
            return None
        budget = accuracy.mean(axis=0).round(9).idxmax()
        rows = self.by_dataset[dataset].of(method)
        return Best(accuracy[budget], float(rows.loc[rows["budget"] == budget, "cost"].mean()))


@dataclass(frozen=True, eq=False)
class Lead:
    """mean: over budgets, with its interval over repetitions; at: mean over repetitions at each budget."""

    mean: Interval
    at: pd.Series


@dataclass(frozen=True, eq=False)
class Best:
    """accuracy: one number per repetition."""

    accuracy: pd.Series
    cost: float


# ---- comparisons and words


def above(found: Interval, value: float) -> bool:
    """Whether the whole interval is above a number; one repetition has none, and so is above nothing."""
    return bool(found.low > value)


def below(found: Interval, value: float) -> bool:
    return bool(found.high < value)


TOO_FEW = "intervals lie on both sides, or are missing: too few repetitions to tell"


def enough_above(found: Mapping[str, Interval], value: float, least: int) -> bool | None:
    """Whether at least so many are above a number; None if they may be: by their means, but not their
    intervals, or for want of an interval."""
    clear = sum(above(own, value) for own in found.values())
    if clear >= least:
        return True
    perhaps = sum(own.mean > value or np.isnan(own.low) for own in found.values())
    return None if perhaps >= least else False


def undecided(holds: bool | None, note: str = "") -> str:
    """A note, with the reason why the test cannot tell if it cannot."""
    return note if holds is not None else "; ".join(pieces([note, TOO_FEW]))


def in_percent(found: Interval, digits: int = 0) -> str:
    """`63 % (60 to 66)`."""
    text = f"{100 * found.mean:.{digits}f} %"
    if np.isnan(found.low):
        return text
    return f"{text} ({100 * found.low:.{digits}f} to {100 * found.high:.{digits}f})"


def in_points(found: Interval) -> str:
    """`+1.2 points (0.9 to 1.5)`."""
    text = f"{100 * found.mean:+.1f} points"
    if np.isnan(found.low):
        return text
    return f"{text} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"


def distance(ours: float, paper: float, *, share: bool = True) -> str:
    """How far a number is from the paper's, and nothing about which is better."""
    apart = round(ours - paper, 9)
    size = f"{100 * abs(apart):.1f} points" if share else f"{abs(apart):.2f}"
    if not apart:
        return "as the paper"
    return f"{size} {'above' if apart > 0 else 'below'} the paper"


def for_arms(results: Results, words: Callable[[str], str]) -> str:
    """The same of the paper's method, and of ours after it."""
    texts = [words(method) for method in results.arms]
    if not texts:
        raise Untestable("FrugalMCT has no result in this run")
    return "; plus: ".join(texts)


def highest(found: Mapping[str, Interval]) -> str:
    """The dataset with the highest mean."""
    return max(found, key=lambda name: found[name].mean)


def mean_over_datasets(results: Results, values: Mapping[str, Iterable[float]]) -> Interval:
    """The mean over datasets in every repetition, then over repetitions, of those that all datasets have."""
    rows = [list(own) for own in values.values()]
    table = np.array([own[: min(map(len, rows))] for own in rows], dtype=np.float64)
    return results.difference(np.nanmean(table, axis=0))


def pieces(found: Iterable[str]) -> Iterator[str]:
    return (text for text in found if text)
