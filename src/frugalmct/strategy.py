"""A trained strategy: whom to ask for each item, within a budget.

    strategy = Strategy.fit(training_market, budgets=[6])                     # FrugalMCT plus
    strategy = Strategy.fit(training_market, budgets=[6], method="paper")     # the paper's method
    strategy.evaluate(test_market, budget=6)
    strategy.with_prices({"Google": 20})        # no refitting
    strategy.save("strategy.npz")

By either method it is made of *states*, the services asked so far: each has a combiner of their answers and,
where one may ask on, a model of what that is worth. The methods differ in how these are learnt, and in how
many services may be asked beside the base: up to two, or one. The file is plain arrays and a JSON header:
loading one never executes anything. It carries what the strategy was made with (`strategy.made`), its prices,
and the training estimates that plans are priced from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from frugalmct.arrays import open_arrays
from frugalmct.cascade import CascadeSelector, State, best_choices, joined
from frugalmct.errors import FrugalError, listed
from frugalmct.fitting import WHERE, Wanted, fit_parts, label_market
from frugalmct.made import PAPER, PER_CALL, PLUS
from frugalmct.market import Evidence, LabelMarket, Market
from frugalmct.metrics import set_metric
from frugalmct.mixing import CascadePlan, MixedSelector, bases_of, selector_of
from frugalmct.model import Learning
from frugalmct.parts import FORMAT, Parts, read_parts, used_states, write_parts
from frugalmct.percall import PerCallStrategy, is_per_call
from frugalmct.planning import Planner
from frugalmct.plans import (
    AUTO,
    DELTA,
    budget_list,
    check_budget,
    check_prices,
    new_prices,
    one_budget,
    trained_plan,
)
from frugalmct.sparse import take_rows
from frugalmct.states import Combiner
from frugalmct.training import folds, held_out

Answers = Market | Evidence | Mapping[str, Evidence]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a strategy's choices turned out to be worth.

    asked: (items, services) who was asked; cost: the mean per item, base included.
    """

    asked: NDArray[np.bool_]
    accuracy: float
    cost: float


class Strategy:
    """A fitted whole: a plan for each budget, and all that plans need (`parts`).

    services, prices: (services,) names, and what a call costs; labels: (labels,) names, as they were learnt;
    plans: by budget; bases: who is asked for every item, in any of them; made: what it was made with.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.services, self.prices, self.labels = parts.services, parts.prices, parts.labels
        self.metric, self.features = parts.metric, parts.features
        self.plans: dict[float, CascadePlan] = dict(parts.plans)
        self.bases: list[State] = parts.bases
        self.combiners, self.models = dict(parts.combiners), dict(parts.models)
        self.training, self.made, self.ids = parts.training, parts.made, parts.ids
        self.steps = parts.training.steps

    @classmethod
    def fit(
        cls,
        market: Market,
        budgets: Sequence[float] | float,
        *,
        method: str | None = None,
        base: str | Sequence[str] | None = AUTO,
        delta: float | str = DELTA,
        combiner: str | None = None,
        steps: int | None = None,
        learning: Learning | None = None,
        unit: str = "",
        **settings: Any,
    ) -> "Strategy | PerCallStrategy":
        """Learns from a market with truth.

        budgets: one number or several. method: `plus`, `paper` for the paper's to the letter, or `per_call`
        (`PerCallStrategy`); by default the one that suits the market (`suitable_method`). base: a service's
        name, several names (all are asked for every item), or `auto` to choose per budget; with per_call also
        `none`. Of plus and paper: delta, the share of add-on money kept back when the dual price is set, or
        `auto`; combiner, `learned` (where it is better on new items) or `weight_threshold`, the paper's
        everywhere, which allows one step; steps, how many services plus may ask beside the base, 1 to 3.
        settings: those of `Learning` by name, such as metric, labels_per_item, features or predictor; they
        change `learning` where both are given, and what is not given is as the market says
        (`market.settings`). Where no truth and no answer has two labels, labels_per_item is 1 unless it was
        given. unit: what prices are per, a text that is kept.
        """
        method = suitable_method(market, base) if method is None else method
        wanted = Wanted(budgets, method, base, delta, combiner, steps, learning, unit, settings)
        if method == PER_CALL:
            return per_call_strategy(market, wanted)
        return cls(fit_parts(market, wanted))

    def with_prices(self, prices: Mapping[str, float], budgets: Sequence[float] | None = None) -> "Strategy":
        """This strategy at new prices, without refitting: plans anew from the estimates kept of training.

        prices: by service; one that is not named keeps its price. budgets: other budgets, too. The base of a
        plan is chosen anew among the bases that this strategy has models of, and δ among those of its plans.
        """
        new = new_prices(self.services, self.prices, prices)
        training = replace(self.training, prices=new)
        wanted = budget_list(list(self.plans) if budgets is None else budgets)
        for budget in wanted:
            check_budget("Strategy.with_prices", new, budget, self.bases)
        seed, market = self.made.seed, self.made.market
        deltas = list(dict.fromkeys(plan.delta for plan in self.plans.values()))
        if self.made.method == PAPER:
            planner = Planner(training, held_out(len(training), seed, market), deltas)
            return self._with_plans([planner.single(budget, self.bases) for budget in wanted], new)
        planner = Planner(training, folds(len(training), seed), deltas)
        return self._with_plans(planner.plans(wanted, self.bases), new)

    def _with_plans(self, plans: Sequence[CascadePlan], prices: NDArray[np.float64]) -> "Strategy":
        """The same with other plans, and without what none of them needs."""
        bases = bases_of(plans)
        deciding, states = used_states(bases, self.models, self.steps)
        training = replace(self.training, prices=prices).of_states(deciding, states, bases)
        parts = replace(
            self.parts,
            prices=prices,
            plans={plan.budget: plan for plan in plans},
            combiners={state: self.combiners[state] for state in states},
            models={state: self.models[state] for state in deciding},
            training=training,
        )
        return Strategy(parts)

    def plan_at(self, budget: float) -> CascadePlan:
        """The plan of any budget: that trained for it, or base and δ of the nearest one, priced for this."""
        if one_budget(budget) in self.plans:
            return self.plans[float(budget)]
        near = self.plan_near(budget)
        if near.other is not None and near.rest is not None and near.rest < budget <= near.other.budget:
            return replace(near, budget=float(budget), gain=0.0)
        dual_price = self.training.cascade(near.base).dual_price(budget, near.delta)
        return CascadePlan(float(budget), near.base, near.delta, dual_price)

    def plan_near(self, budget: float) -> CascadePlan:
        """The plan of the nearest budget, of those whose base this one pays for."""
        check_budget("Strategy.plan_at", self.prices, budget, self.bases)
        payable = [p for p in self.plans.values() if self.training.base_cost(p.base) <= budget]
        return min(payable, key=lambda plan: abs(plan.budget - budget))

    def plan(self, budget: float) -> CascadePlan:
        """What to do at a budget that the strategy was trained for, and at no other."""
        return trained_plan(self.plans, budget)

    def selector(self, budget: float, items: int) -> CascadeSelector | MixedSelector:
        """Decides item by item: `begin`, then `ask` with the item's row of `estimate` at each state.

        budget: one that it was trained for, the mean cost of an item; items: how many the money is for.
        """
        return selector_of(self.prices, self.plan(budget), items, self.steps, self.made.seed)

    def estimate(self, answers: Answers, budget: float, beside: Sequence[str] = ()) -> NDArray[np.float64]:
        """(items, services) estimated accuracies of asking each service beside; of stopping, for those of the
        budget's base and those named in `beside`, whose answers are looked at, and no others.

        answers: a market, an `Evidence` of each service by name, or that of the base where it is alone. Truth
        is never looked at. budget: one that it was trained for; beside: names of services, asked after the
        base.
        """
        state = tuple(sorted({*self.plan(budget).base, *(self._number(name) for name in beside)}))
        if state not in self.models:
            raise FrugalError(f"This strategy asks nobody after {self.names(state)}: it stops there.")
        if isinstance(answers, Market):
            check_prices(self.services, self.prices, answers)
            answers = {name: answers.evidence(answers.service_index(name)) for name in self._named(state)}
        elif isinstance(answers, Evidence):
            answers = {self.services[state[0]]: answers}
        missing = [name for name in self._named(state) if name not in answers]
        if missing:
            raise FrugalError(f"The answers of {listed(missing)} are missing; give an Evidence for each.")
        return self._estimated(state, [answers[name].over(self.labels) for name in self._named(state)])

    def _estimated(self, state: State, answers: Sequence[Evidence]) -> NDArray[np.float64]:
        return self.models[state].estimate(self.features.table(answers))

    def decide(self, market: Market, budget: float) -> NDArray[np.bool_]:
        """(items, services) of true and false: who is asked for each item, base included.

        market: its items are decided in order, and truth is never looked at. Of a service that is not asked
        for an item, no answer is either. budget: one that it was trained for.
        """
        return self._decided(self.aligned(market), budget)[0]

    def _decided(self, market: LabelMarket, budget: float) -> tuple[NDArray[np.bool_], float]:
        """Who is asked, and the mean cost of an item."""
        selector = self.selector(budget, len(market))
        if not isinstance(selector, MixedSelector):
            return selector.run(self._estimates(market, self.plan(budget))), selector.spent / len(market)
        tables: dict[State, NDArray[np.float64]] = {}
        for rows, plan, _ in selector.parts:
            for state, table in self._estimates(market, plan, rows).items():
                tables[state] = tables.get(state, 0.0) + table
        return selector.run(tables), selector.spent / len(market)

    def _estimates(
        self, market: LabelMarket, plan: CascadePlan, rows: NDArray[np.int64] | None = None
    ) -> dict[State, NDArray[np.float64]]:
        """At each state the estimates of those items, of all or of some, that the plan may bring there; 0 for
        all others."""
        tables: dict[State, NDArray[np.float64]] = {}
        coming = {plan.base: np.arange(len(market)) if rows is None else rows}
        for step in range(self.steps):
            following: dict[State, list[NDArray[np.int64]]] = {}
            for state, rows in coming.items():
                tables[state] = np.zeros((len(market), len(self.services)))
                found = self._estimated(state, [_rows_of(market.evidence(k), rows) for k in state])
                tables[state][rows] = found
                chosen = best_choices(found, self.prices, state, plan.dual_price)
                for service in np.unique(chosen[chosen >= 0]).tolist():
                    following.setdefault(joined(state, service), []).append(rows[chosen == service])
            if step + 1 < self.steps:
                coming = {
                    state: np.sort(np.concatenate(parts))
                    for state, parts in following.items()
                    if state in self.models
                }
        return tables

    def answer(self, market: Market, asked: NDArray[np.bool_]) -> csr_matrix:
        """(items, labels) CSR: the combined answer of who was asked, over `answer_labels(market)`.

        asked: (items, services) of true and false, as `decide` returns it.
        """
        market = self.aligned(market)
        if asked.shape != (len(market), len(self.services)):
            raise FrugalError(
                f"Strategy.answer: asked is {asked.shape}; give what `decide` returns for this market."
            )
        found, rows = [market.truth[:0]], []
        for who in np.unique(asked, axis=0):
            rows.append(np.flatnonzero(np.all(asked == who, axis=1)))
            state = tuple(np.flatnonzero(who).tolist())
            found.append(self.combiner(state).apply([take_rows(market.scores[k], rows[-1]) for k in state]))
        order = np.argsort(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)
        return take_rows(vstack(found, format="csr"), order)

    def answer_labels(self, market: Market) -> NDArray[np.str_]:
        """The names of the columns of `answer`: the labels learnt from, then those new in this market."""
        return self.aligned(market).labels

    def evaluate(self, market: Market, budget: float) -> Evaluation:
        """Decides without the truth, then looks what the answers were worth.

        market: items with truth; budget: one that it was trained for, the mean cost of an item. Items that
        the strategy was trained on flatter it: they are warned of.
        """
        own = self.aligned(market)
        self.ids.warn(market)
        asked, cost = self._decided(own, budget)
        reached = set_metric(own.truth, self.answer(own, asked), self.metric)
        return Evaluation(asked, float(reached.mean()), cost)

    def aligned(self, market: Market) -> LabelMarket:
        """The market with this strategy's services and labels first; labels it never saw come after them."""
        check_prices(self.services, self.prices, market)
        own = market if market.services == self.services else market.with_services(self.services)
        return label_market("Strategy", own, "give one of labels, as it was trained on").over(self.labels)

    def combiner(self, state: State) -> Combiner:
        """Of the answers of some services together, by number in rising order."""
        if state not in self.combiners:
            raise FrugalError(
                f"This strategy never asks {self.names(state)} together, and cannot combine their answers; "
                "give what `decide` returns."
            )
        return self.combiners[state]

    def _number(self, name: str) -> int:
        if name not in self.services:
            raise FrugalError(f"This strategy has no service '{name}'; it knows {listed(self.services)}.")
        return self.services.index(name)

    def _named(self, state: State) -> list[str]:
        return [self.services[service] for service in state]

    def names(self, state: State) -> str:
        """The services of a state, for people."""
        return " + ".join(self._named(state)) if state else "nobody"

    def plan_names(self, plan: CascadePlan) -> str:
        """Whom a plan asks first, for people; of two that are mixed with their shares of the items."""
        if plan.other is None or plan.other.base == plan.base:
            return self.names(plan.base)
        share = plan.share
        return f"{self.names(plan.base)} {1 - share:.0%}, {self.names(plan.other.base)} {share:.0%}"

    def save(self, path: str | Path) -> None:
        """One `.npz` of plain arrays and a JSON header, whole or not at all."""
        write_parts(self.parts, path)

    @classmethod
    def load(cls, path: str | Path) -> "Strategy | PerCallStrategy":
        """Reads what `save` wrote, by any method; another file, or a damaged one, is named as such."""
        with open_arrays(
            path, f"strategy file of format {FORMAT}", "train and save the strategy again"
        ) as file:
            if file.format() == PerCallStrategy.FORMAT:
                return PerCallStrategy.read(file)
            return cls(read_parts(file))


def suitable_method(market: Market, base: str | Sequence[str] | None) -> str:
    """per_call where answers have a quality instead of labels, where calls have costs of their own, and where
    nobody is asked first; else plus."""
    return PER_CALL if is_per_call(market, base) else PLUS


def per_call_strategy(market: Market, wanted: Wanted) -> PerCallStrategy:
    if (wanted.delta, wanted.combiner, wanted.steps) != (DELTA, None, None):
        raise FrugalError(f"{WHERE}: delta, combiner and steps are not settings of method '{PER_CALL}'.")
    return PerCallStrategy.fit(
        market,
        wanted.budgets,
        base=wanted.base,
        learning=wanted.learning,
        unit=wanted.unit,
        **wanted.settings,
    )


def _rows_of(evidence: Evidence, rows: NDArray[np.int64]) -> Evidence:
    given = None if evidence.given is None else evidence.given[rows]
    return Evidence(take_rows(evidence.scores, rows), evidence.labels, given)
