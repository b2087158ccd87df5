"""A trained strategy: which service to ask beside the base, for each item, within a budget.

    strategy = Strategy.fit(training_market, budgets=[6], base="auto")
    strategy.evaluate(test_market, budget=6)
    strategy.save("strategy.npz")

The file is plain arrays and a JSON header: loading one never executes anything.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.accuracy_model import AccuracyModel, Estimates, Learning, buffered_price
from frugalmct.errors import FrugalError, listed
from frugalmct.files import arrays_in, replacing, write_text
from frugalmct.market import Market, split
from frugalmct.select.dual import Frontier, frontier
from frugalmct.select.online import OnlineSelector
from frugalmct.sparse import sorted_labels

FORMAT = "frugalmct-strategy-1"
DELTA = 0.01
# The paper's candidates: δ = α log N / N.
ALPHAS = range(-10, 11)


@dataclass(frozen=True)
class Plan:
    """What to do at one budget: the base always asked, and the price that weighs accuracy against cost."""

    budget: float
    base: int
    delta: float
    price: float = math.nan


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a strategy's choices turned out to be worth; cost is the mean an item, base included."""

    choices: NDArray[np.int64]
    accuracy: float
    cost: float


def route(
    estimates: Estimates, prices: NDArray[np.float64], base: int, budget: float, price: float
) -> NDArray[np.int64]:
    """Algorithm 1 over the items in their order."""
    return OnlineSelector(prices, base, budget, len(estimates), price).choose_all(estimates)


def mean_cost(choices: NDArray[np.int64], prices: NDArray[np.float64], base: int) -> float:
    """The base for every item, and the chosen service beside it."""
    addon = np.where(np.arange(len(prices)) == base, 0.0, prices)
    return float(prices[base] + np.bincount(choices, minlength=len(prices)) @ addon / len(choices))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A base that may be chosen: of every training item the out-of-sample estimates, and their truth."""

    base: int
    prices: NDArray[np.float64]
    estimates: Estimates
    accuracy: Estimates

    @classmethod
    def of(cls, model: AccuracyModel) -> "Candidate":
        """A model that was just fitted."""
        return cls(model.base, model.prices, model.predictor.training_estimates, model.training_accuracy)


def make_plans(
    candidates: Sequence[Candidate],
    held_out: NDArray[np.int64],
    budgets: Sequence[float],
    delta: float | str = DELTA,
) -> list[Plan]:
    """Base and δ for every budget, without prices yet, by the accuracy reached on the held-out rows.

    Prices come from the other rows. No forest is grown for it: estimates of training items are out of sample.
    """
    deltas = _deltas_to_try(delta, len(candidates[0].estimates))
    if len(candidates) == 1 and len(deltas) == 1:
        return [Plan(float(budget), candidates[0].base, deltas[0]) for budget in budgets]
    trials = [_Trial.of(candidate, held_out) for candidate in candidates]
    return [_best_plan(trials, budget, deltas) for budget in budgets]


@dataclass(frozen=True, eq=False)
class _Trial:
    """Prices from a part of the training items, to be tried on the rest."""

    base: int
    prices: NDArray[np.float64]
    frontier: Frontier
    estimates: Estimates
    accuracy: Estimates

    @classmethod
    def of(cls, candidate: Candidate, held_out: NDArray[np.int64]) -> "_Trial":
        kept = np.delete(candidate.estimates, held_out, axis=0)
        return cls(
            base=candidate.base,
            prices=candidate.prices,
            frontier=frontier(kept, candidate.prices, candidate.base),
            estimates=candidate.estimates[held_out],
            accuracy=candidate.accuracy[held_out],
        )

    def score(self, budget: float, delta: float) -> float:
        """Accuracy reached on the held-out items."""
        price = buffered_price(self.frontier, budget, delta)
        choices = route(self.estimates, self.prices, self.base, budget, price)
        return float(self.accuracy[np.arange(len(choices)), choices].mean())


def _best_plan(trials: Sequence[_Trial], budget: float, deltas: Sequence[float]) -> Plan:
    """First the base, at the ordinary δ; then δ for that base: as the paper does, one after the other."""
    usual = min(deltas, key=lambda delta: abs(delta - DELTA))
    affordable = [trial for trial in trials if trial.prices[trial.base] <= budget]
    best = max(affordable, key=lambda trial: trial.score(budget, usual))
    delta = max(deltas, key=lambda delta: (best.score(budget, delta), -abs(delta - DELTA)))
    return Plan(float(budget), best.base, delta)


def bases_to_try(market: Market, base: str) -> list[int]:
    """The service of that name, or every one for `auto`."""
    return list(range(len(market.services))) if base == "auto" else [market.service_index(base)]


def _deltas_to_try(delta: float | str, items: int) -> list[float]:
    if delta == "auto":
        # Never above 1: for a handful of items log N / N is large.
        return [min(alpha * math.log(items) / items, 1.0) for alpha in ALPHAS]
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not -10 <= delta <= 1:
        raise FrugalError(
            f"delta is {delta!r}; it must be `auto` or a number from -10 to 1, such as {DELTA}."
        )
    return [float(delta)]


def save_plans(plans: Sequence[Plan], path: str | Path) -> None:
    """JSON; prices stay behind, since they follow from the estimates at hand."""
    rows = [{"budget": plan.budget, "base": plan.base, "delta": plan.delta} for plan in plans]
    write_text(path, json.dumps(rows, indent=1) + "\n")


def load_plans(path: str | Path) -> list[Plan]:
    return [Plan(**row) for row in json.loads(Path(path).read_text(encoding="utf-8"))]


def _check_budget(market: Market, budget: float, bases: Sequence[int]) -> None:
    cheapest = min(float(market.prices[base]) for base in bases)
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not cheapest <= budget < math.inf:
        raise FrugalError(
            f"Market {market.name}: the budget {budget!r} does not pay for the base service, which every "
            f"item is sent to; give a number of at least {cheapest:g}."
        )


class Strategy:
    """A fitted whole: for each budget a plan, and for each base a plan uses its accuracy model."""

    def __init__(
        self,
        services: tuple[str, ...],
        prices: NDArray[np.float64],
        labels: NDArray[np.str_],
        metric: str,
        plans: Sequence[Plan],
        models: Mapping[int, AccuracyModel],
    ) -> None:
        self.services = services
        self.prices = prices
        self.labels = labels
        self.metric = metric
        self.plans = {plan.budget: plan for plan in plans}
        self.models = dict(models)

    @classmethod
    def fit(
        cls,
        market: Market,
        budgets: Sequence[float],
        *,
        base: str = "auto",
        delta: float | str = DELTA,
        learning: Learning | None = None,
    ) -> "Strategy":
        """Learns from a market with truth. `base`: a service's name, or `auto` to choose it per budget."""
        learning = learning or Learning()
        if not len(budgets):
            raise FrugalError("Strategy.fit: no budgets were given; give at least one.")
        bases = bases_to_try(market, base)
        for budget in budgets:
            _check_budget(market, budget, bases)
        _deltas_to_try(delta, len(market))  # a mistake is said before the work
        fitted = {b: AccuracyModel.fit(market, b, learning) for b in bases}
        held_out = split(len(market), train_share=0.8, seed=learning.seed, dataset=market.name).test
        plans = make_plans(list(map(Candidate.of, fitted.values())), held_out, budgets, delta)
        models = {b: fitted[b] for b in sorted({plan.base for plan in plans})}
        priced = [replace(plan, price=models[plan.base].price(plan.budget, plan.delta)) for plan in plans]
        return cls(market.services, market.prices, market.labels, learning.metric, priced, models)

    def plan(self, budget: float) -> Plan:
        if float(budget) not in self.plans:
            raise FrugalError(
                f"This strategy was not trained for budget {budget:g}; it knows {listed(self.plans)}. "
                "Train it with that budget."
            )
        return self.plans[float(budget)]

    def selector(self, budget: float, items: int) -> OnlineSelector:
        """For live traffic: call `choose` with each item's row of `estimate`."""
        plan = self.plan(budget)
        return OnlineSelector(self.prices, plan.base, plan.budget, items, plan.price)

    def estimate(self, market: Market, budget: float) -> Estimates:
        """(items, services) estimated accuracies, from the answers of the budget's base alone."""
        return self.models[self.plan(budget).base].estimate(self._aligned(market))

    def decide(self, market: Market, budget: float) -> NDArray[np.int64]:
        """The service to ask for each item, in order; the base's own number where none is needed."""
        return self.selector(budget, len(market)).choose_all(self.estimate(market, budget))

    def answer(self, market: Market, choices: NDArray[np.int64], budget: float) -> csr_matrix:
        """The combined label sets of the choices, over `answer_labels(market)`."""
        aligned = self._aligned(market)
        model = self.models[self.plan(budget).base]
        combined = [model.combiners.apply(aligned, k) for k in range(len(self.services))]
        return _rows_of(combined, choices)

    def answer_labels(self, market: Market) -> NDArray[np.str_]:
        """The names of the columns of `answer`: the labels learnt from, then those new in this market."""
        return self._aligned(market).labels

    def evaluate(self, market: Market, budget: float) -> Evaluation:
        """Decides without the truth, then looks what the choices were worth."""
        choices = self.decide(market, budget)
        plan = self.plan(budget)
        accuracy = self.models[plan.base].accuracy(self._aligned(market), self.metric)
        return Evaluation(
            choices=choices,
            accuracy=float(accuracy[np.arange(len(choices)), choices].mean()),
            cost=mean_cost(choices, self.prices, plan.base),
        )

    def _aligned(self, market: Market) -> Market:
        """The market with this strategy's services and labels first; labels it never saw come after them."""
        if market.services != self.services:
            market = market.with_services(self.services)
        if np.array_equal(market.labels, self.labels):
            return market
        place = {label: number for number, label in enumerate(self.labels.tolist())}
        columns = np.array([place.setdefault(label, len(place)) for label in market.labels.tolist()])
        return replace(
            market,
            labels=np.array(list(place)),
            truth=_moved(market.truth, columns, len(place)),
            scores=tuple(_moved(scores, columns, len(place)) for scores in market.scores),
        )

    def save(self, path: str | Path) -> None:
        """One `.npz` of plain arrays."""
        described, arrays = {}, {}
        for base, model in self.models.items():
            described[str(base)], parts = model.to_arrays(f"model{base}.")
            arrays |= parts
        header = {
            "format": FORMAT,
            "services": list(self.services),
            "labels": self.labels.tolist(),
            "metric": self.metric,
            "plans": [asdict(plan) for plan in self.plans.values()],
            "models": described,
        }
        text = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), dtype=np.uint8)
        with replacing(path) as temporary, temporary.open("wb") as handle:
            np.savez_compressed(handle, header=text, prices=self.prices, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Strategy":
        """Reads what `save` wrote; a file of another kind, or a damaged one, is named as such."""
        with arrays_in(
            path, f"strategy file of format {FORMAT}", "train and save the strategy again"
        ) as arrays:
            return _unpack(arrays)


def _unpack(arrays: Mapping[str, np.ndarray]) -> Strategy:
    header: dict[str, Any] = json.loads(arrays["header"].tobytes().decode())
    if header.get("format") != FORMAT:
        raise FrugalError(f"its format is {header.get('format')}, this version reads {FORMAT}")
    prices = arrays["prices"]
    models = {}
    for base, described in header["models"].items():
        prefix = f"model{base}."
        own = {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}
        models[int(base)] = AccuracyModel.from_arrays(described, own, prices)
    return Strategy(
        services=tuple(header["services"]),
        prices=prices,
        labels=np.array(header["labels"]),
        metric=header["metric"],
        plans=[Plan(**plan) for plan in header["plans"]],
        models=models,
    )


def _moved(matrix: csr_matrix, columns: NDArray[np.int64], width: int) -> csr_matrix:
    shape = (matrix.shape[0], width)
    return sorted_labels(csr_matrix((matrix.data, columns[matrix.indices], matrix.indptr), shape=shape))


def _rows_of(options: Sequence[csr_matrix], choices: NDArray[np.int64]) -> csr_matrix:
    """Row n of the matrix that item n chose."""
    sizes = np.zeros(len(choices), dtype=np.int64)
    for k, matrix in enumerate(options):
        sizes[choices == k] = np.diff(matrix.indptr)[choices == k]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    labels, scores = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
    for k, matrix in enumerate(options):
        chosen = matrix[choices == k]
        places = np.repeat(choices == k, sizes)
        labels[places], scores[places] = chosen.indices, chosen.data
    return csr_matrix((scores, labels, starts), shape=(len(choices), options[0].shape[1]))
