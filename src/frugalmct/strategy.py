"""A trained strategy: which service to ask beside the base, for each item, within a budget.

    strategy = Strategy.fit(training_market, budgets=[6], base="auto")
    strategy.evaluate(test_market, budget=6)
    strategy.with_prices({"Google": 20})        # no refitting
    strategy.save("strategy.npz")

The file is plain arrays and a JSON header: loading one never executes anything. It carries what the strategy
was made with (`strategy.made`), its prices, and the training estimates that plans are priced from.
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.arrays import ArrayFile, open_arrays, text_array
from frugalmct.checks import MAX_MONEY
from frugalmct.errors import FrugalError, listed
from frugalmct.files import replacing
from frugalmct.market import Evidence, Market
from frugalmct.metrics import METRICS
from frugalmct.model import AccuracyModel, Learning
from frugalmct.plans import (
    AUTO,
    DELTA,
    Plan,
    bases_to_try,
    check_budget,
    deltas_to_try,
    make_plans,
    plan_near,
)
from frugalmct.select import OnlineSelector
from frugalmct.splits import split
from frugalmct.training import ItemIds, Made, Training, learning_for, with_prices
from frugalmct.values import MAX_SERVICES

FORMAT = "frugalmct-strategy-3"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a strategy's choices turned out to be worth; cost is the mean per item, base included."""

    choices: NDArray[np.int64]
    accuracy: float
    cost: float


class Strategy:
    """A fitted whole: for each budget a plan, and for each base a plan uses its accuracy model.

    made: what it was made with; training: for each of those bases, what is kept of its training; ids: hashes
    of the training items' ids.
    """

    def __init__(
        self,
        services: tuple[str, ...],
        prices: NDArray[np.float64],
        labels: NDArray[np.str_],
        metric: str,
        plans: Sequence[Plan],
        models: Mapping[int, AccuracyModel],
        *,
        made: Made,
        training: Mapping[int, Training],
        ids: ItemIds,
    ) -> None:
        self.services = services
        self.prices = prices
        self.labels = labels
        self.metric = metric
        self.plans = {plan.budget: plan for plan in plans}
        self.models = dict(models)
        self.made = made
        self.training = dict(training)
        self.ids = ids

    @classmethod
    def fit(
        cls,
        market: Market,
        budgets: Sequence[float] | float,
        *,
        base: str = AUTO,
        delta: float | str = DELTA,
        learning: Learning | None = None,
        unit: str = "",
        **settings: Any,
    ) -> "Strategy":
        """Learns from a market with truth.

        budgets: one number or several. base: a service's name, or `auto` to choose it per budget. settings:
        those of `Learning` by name, such as metric, labels_per_item or features; they change `learning` where
        both are given, and what is not given is as the market says (`market.settings`). Where all truth and
        answers have at most one label, labels_per_item is 1 unless it was given. unit: what prices are per.
        """
        learning = learning_for(market, learning, settings)
        budgets = _budget_list(budgets)
        bases = bases_to_try(market, base)
        for budget in budgets:
            check_budget(f"Market {market.name}", market.prices, budget, bases)
        deltas_to_try(delta, len(market))  # a mistake is said before the work
        fitted = {b: AccuracyModel.fit(market, b, learning) for b in bases}
        held_out = split(len(market), train_share=0.8, seed=learning.seed, dataset=market.name).test
        training = {b: model.training for b, model in fitted.items()}
        plans = make_plans(list(training.values()), held_out, budgets, delta)
        models = {b: fitted[b] for b in sorted({plan.base for plan in plans})}
        return cls(
            market.services,
            market.prices,
            market.evidence(bases[0]).labels,
            learning.metric,
            [plan.priced(training[plan.base]) for plan in plans],
            models,
            made=Made.of(market, learning, unit),
            training={b: Training.of(training[b], market.evidence(b)) for b in models},
            ids=ItemIds.of(market.items),
        )

    def with_prices(self, prices: Mapping[str, float], budgets: Sequence[float] | None = None) -> "Strategy":
        """This strategy at new prices, without refitting: plans anew from the estimates kept of training.

        prices: by service; one that is not named keeps its price. budgets: other budgets, too. The base of a
        plan is chosen anew among the bases that this strategy has models of.
        """
        new = self._new_prices(prices)
        training = with_prices(self.training, new)
        plans = []
        for budget in _budget_list(list(self.plans) if budgets is None else budgets):
            check_budget("Strategy.with_prices", new, budget, list(training))
            near = min(self.plans.values(), key=lambda plan: abs(plan.budget - budget))
            candidates = [own.estimates for own in training.values() if new[own.estimates.base] <= budget]
            (plan,) = make_plans(candidates, self._held_out(len(candidates[0])), [budget], near.delta)
            plans.append(plan.priced(training[plan.base].estimates))
        used = sorted({plan.base for plan in plans})
        return Strategy(
            self.services,
            new,
            self.labels,
            self.metric,
            plans,
            {base: replace(self.models[base], prices=new, training=None) for base in used},
            made=self.made,
            training={base: training[base] for base in used},
            ids=self.ids,
        )

    def _new_prices(self, prices: Mapping[str, float]) -> NDArray[np.float64]:
        if unknown := [name for name in prices if name not in self.services]:
            raise FrugalError(
                f"Strategy.with_prices: there is no service {listed(map(repr, unknown))}; "
                f"its services: {listed(self.services)}."
            )
        new = np.array(self.prices, dtype=np.float64)
        for name, price in prices.items():
            if isinstance(price, bool) or not isinstance(price, Real) or not 0 <= price <= MAX_MONEY:
                raise FrugalError(
                    f"Strategy.with_prices: the price of {name} is {price!r}; give a number, 0 or more."
                )
            new[self.services.index(name)] = price
        return new

    def _held_out(self, rows: int) -> NDArray[np.int64]:
        return split(rows, train_share=0.8, seed=self.made.seed, dataset=self.made.market).test

    def plan_at(self, budget: float) -> Plan:
        """The plan of any budget: that trained for it, or base and δ of the nearest one, priced for this."""
        if float(budget) in self.plans:
            return self.plans[float(budget)]
        check_budget("Strategy.plan_at", self.prices, budget, list(self.models))
        plan = plan_near(list(self.plans.values()), self.prices, budget)
        return plan.priced(self.training[plan.base].estimates)

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
        return OnlineSelector(self.prices, plan.base, plan.budget, items, plan.dual_price)

    def estimate(self, items: Market | Evidence, budget: float) -> NDArray[np.float64]:
        """(items, services) estimated accuracies, from the answers of the budget's base alone.

        Live items come as `Evidence`, the base's answers: neither truth nor other answers are needed.
        """
        base = self.plan(budget).base
        if isinstance(items, Market):
            self._check_prices(items)
            items = items.evidence(items.service_index(self.services[base]))
        return self.models[base].estimate(items.over(self.labels))

    def decide(self, items: Market | Evidence, budget: float) -> NDArray[np.int64]:
        """The service to ask for each item, in order; the base's own number where none is needed."""
        return self.selector(budget, len(items)).choose_all(self.estimate(items, budget))

    def answer(self, market: Market, choices: NDArray[np.int64], budget: float) -> csr_matrix:
        """The combined label sets of the choices, over `answer_labels(market)`."""
        return self._aligned(market).combined(self.models[self.plan(budget).base].combiners, choices)

    def answer_labels(self, market: Market) -> NDArray[np.str_]:
        """The names of the columns of `answer`: the labels learnt from, then those new in this market."""
        return self._aligned(market).evidence(0).labels

    def evaluate(self, market: Market, budget: float) -> Evaluation:
        """Decides without the truth, then looks what the choices were worth.

        Items that the strategy was trained on flatter it: they are warned of.
        """
        self._check_prices(market)
        self._warn_of_training_items(market)
        model = self.models[self.plan(budget).base]
        estimates = model.estimates(self._aligned(market), self.metric)
        choices = self.selector(budget, len(market)).choose_all(estimates.estimated)
        return Evaluation(choices, float(estimates.reached(choices).mean()), estimates.cost(choices))

    def _check_prices(self, market: Market) -> None:
        theirs = [float(market.prices[market.service_index(service)]) for service in self.services]
        if not np.allclose(theirs, self.prices, rtol=1e-9, atol=0):
            raise FrugalError(
                f"Market {market.name} has the prices {_named(self.services, theirs)}, but the strategy was "
                f"made for {_named(self.services, self.prices)}; give the market those prices, or take "
                "strategy.with_prices({...}) for the new ones."
            )

    def _warn_of_training_items(self, market: Market) -> None:
        if share := self.ids.known(market.items):
            warnings.warn(
                f"{100 * share:.0f} % of the items of market {market.name} have ids of items that this "
                "strategy was trained on; what it reaches on those is better than what new items will show.",
                stacklevel=3,
            )

    def _aligned(self, market: Market) -> Market:
        """The market with this strategy's services and labels first; labels it never saw come after them."""
        own = market if market.services == self.services else market.with_services(self.services)
        return own.over(self.labels)

    def save(self, path: str | Path) -> None:
        """One `.npz` of plain arrays."""
        described, arrays = {}, {}
        for base, model in self.models.items():
            described[str(base)], parts = model.to_arrays(f"model{base}.")
            arrays |= parts | self.training[base].to_arrays(f"training{base}.")
        header = {
            "format": FORMAT,
            "services": list(self.services),
            "labels": self.labels.tolist(),
            "metric": self.metric,
            "made": self.made.to_dict(),
            "plans": [asdict(plan) for plan in self.plans.values()],
            "models": described,
        }
        text = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), dtype=np.uint8)
        with replacing(path) as temporary, temporary.open("wb") as handle:
            arrays |= {"prices": np.asarray(self.prices, np.float64)} | self.ids.to_arrays()
            np.savez_compressed(handle, header=text, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Strategy":
        """Reads what `save` wrote; a file of another kind, or a damaged one, is named as such."""
        with open_arrays(
            path, f"strategy file of format {FORMAT}", "train and save the strategy again"
        ) as file:
            return _unpack(file)


def _unpack(file: ArrayFile) -> Strategy:
    header = file.header(FORMAT)
    services = tuple(header.names("services", most=MAX_SERVICES))
    prices = file.prices(len(services))
    plans = [Plan.from_dict(row, priced=True) for row in header.rows("plans")]
    models = {
        base: AccuracyModel.from_arrays(described, file.group(f"model{base}."), prices)
        for base, described in header.numbered("models", most=len(services))
    }
    labels = text_array("its labels", header.names("labels"))
    strategy = Strategy(
        services,
        prices,
        labels,
        header.text("metric"),
        plans,
        models,
        made=Made.from_dict(header.take("made")),
        training={b: Training.read(file, f"training{b}.", b, prices) for b in models},
        ids=ItemIds.read(file),
    )
    header.done()
    _check_parts(strategy, len(plans))
    return strategy


def _check_parts(strategy: Strategy, plans: int) -> None:
    """That the parts of a file belong together."""
    checks = {
        f"its metric must be one of {listed(METRICS)}": strategy.metric in METRICS,
        "it has two plans for one budget": len(strategy.plans) == plans,
        "a plan has a base without a model": all(p.base in strategy.models for p in strategy.plans.values()),
        "a plan's budget does not pay for its base": all(
            strategy.prices[plan.base] <= plan.budget for plan in strategy.plans.values()
        ),
        "a model is not that of its base": all(
            model.base == base and model.labels == len(strategy.labels)
            for base, model in strategy.models.items()
        ),
        "what is kept of training is of other labels": all(
            len(own.given) == len(strategy.labels) for own in strategy.training.values()
        ),
    }
    for sentence, holds in checks.items():
        if not holds:
            raise FrugalError(sentence)


def _budget_list(budgets: Sequence[float] | float) -> list[float]:
    """One budget is a list of one."""
    given = [budgets] if isinstance(budgets, Real | str) else list(budgets)
    if not given:
        raise FrugalError("Strategy.fit: no budgets were given; give at least one.")
    return given


def _named(services: Sequence[str], prices: Sequence[float]) -> str:
    return listed(f"{service} {price:g}" for service, price in zip(services, prices, strict=True))
