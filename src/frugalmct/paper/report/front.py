"""The first screen: the trade-off curve, and the few numbers that people open the page for."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.columns import ACCURACY, COST, USUAL_UNIT, in_units
from frugalmct.paper.curves import DatasetResults
from frugalmct.paper.intervals import Interval, interval
from frugalmct.paper.looks import name_of
from frugalmct.paper.names import ONLINE, ORACLE, PER_CALL, PLUS
from frugalmct.paper.printed import printed_of
from frugalmct.paper.report.html import Html, gap, image, plain_column, section, table, tag
from frugalmct.paper.report.run import Run
from frugalmct.paper.wording import counted, percent
from frugalmct.suspicions import FEWEST_TEST_ITEMS

NEEDED = {"dataset", "method", "budget", "repetition", "accuracy", "cost"}
ARMS = (PLUS, ONLINE)
POINTS = (-5, -2, 0, 1, 2, 3, 5)
"""Of accuracy, less or more than the best service has."""
# A number of items after "per", as in "USD per 10,000 items".
ITEMS = re.compile(r"\bper ([1-9][0-9]{0,2}(?:,?[0-9]{3})*)\b")


@dataclass(frozen=True)
class Answer:
    """What a method gives on one dataset, beside the best service alone."""

    method: str
    best: str
    best_accuracy: float
    best_cost: float
    cost: Interval
    saving: Interval
    gain: Interval
    point_more: Interval

    @classmethod
    def of(cls, results: DatasetResults, method: str) -> "Answer | None":
        """None where there is nothing to compare."""
        best = results.best
        if best is None or results.of(method).empty:
            return None
        return cls(
            method,
            best.name,
            best.accuracy,
            best.cost,
            interval(results.costs_at_best(method)).within(0),
            interval(results.savings(method)).within(most=1),
            interval(results.gains_at_best_cost(method)),
            interval(results.costs_at_best(method, more=0.01)).within(0),
        )


def front_titles(run: Run) -> list[tuple[str, str]]:
    """Identity and title of each front: own datasets one by one, then those of the paper together."""
    own = [(f"answer-{dataset}", f"{dataset}: accuracy and cost") for dataset in run.own]
    return [*own, ("answer", "The paper's datasets: accuracy and cost")] if run.papers else own


def fronts(run: Run) -> Iterator[Html]:
    rows = run.tables.get("tradeoff")
    if rows is None or not set(rows) >= NEEDED:
        rows = pd.DataFrame(columns=sorted(NEEDED), dtype=object)
    for (identity, title), dataset in zip(front_titles(run), [*run.own, None], strict=False):
        if dataset is None:
            content = [
                *_figure(run, "tradeoff"),
                *_paper([DatasetResults(rows, name) for name in run.papers]),
            ]
        else:
            content = list(_own(run, DatasetResults(rows, dataset)))
        yield section(identity, title, *content)


# ---- pieces


@dataclass(frozen=True)
class Card:
    """A number with its interval, or a text, or nothing; and what it is."""

    value: Interval | str | None
    shown: Callable[[Any], str]
    words: str

    def html(self) -> Html:
        if self.value is None:
            return tag("li", tag("span", self.words))
        if isinstance(self.value, str):
            return tag("li", tag("b", self.value), tag("span", self.words))
        mean, low, high = self.value
        bounds = [] if np.isnan(low) else [tag("i", f"{self.shown(low)} to {self.shown(high)}")]
        return tag("li", tag("b", self.shown(mean)), *bounds, tag("span", self.words))


def _cards(cards: Iterable[Card]) -> Html:
    return tag("ul", *(card.html() for card in cards), class_="cards")


def _percent(share: float) -> str:
    return percent(share, 0)


def _signed(share: float) -> str:
    return f"{100 * share:+.1f}"


def _plain(cost: float) -> str:
    return f"{cost:,.3g}" if abs(cost) < 1000 else f"{cost:,.0f}"


def _figure(run: Run, name: str) -> list[Html]:
    if name not in run.figures:
        return []
    whose = name.partition("/")[2]
    words = "Accuracy against cost" + (f", {whose}" if whose else "")
    caption = f"{words}.{_oracle(run, whose)}{run.stamp(whose)}"
    return [image(run.figures[name], f"Figure: {words}.", caption)]


def _oracle(run: Run, dataset: str) -> str:
    """Why plus may lie above it."""
    rows = run.tables["tradeoff"]
    methods = set(rows.loc[(rows["dataset"] == dataset) | (not dataset), "method"])
    if not {ORACLE, PLUS} <= methods:
        return ""
    return " The oracle is the paper's method with true accuracies known: no limit for FrugalMCT plus."


# ---- own data


def _own(run: Run, results: DatasetResults) -> Iterator[Html]:
    tested = run.test_items(results.dataset)
    answer = next((found for arm in (PER_CALL, *ARMS) if (found := Answer.of(results, arm))), None)
    whose = f" The numbers are those of {name_of(answer.method)}." if answer else ""
    yield tag("p", _how_sure(run, results, tested) + whose, class_="note")
    few = tested is not None and tested < FEWEST_TEST_ITEMS
    if answer is None:
        yield gap("The answer", "no single service or no FrugalMCT has results")
    elif few:
        yield gap(
            "The headline",
            f"it would rest on {tested} test items, and below {FEWEST_TEST_ITEMS} chance decides; record "
            "more items, or read the tables below with their intervals",
        )
    else:
        yield _cards(_own_cards(answer, run.settings.get("datasets", {}).get(results.dataset, {})))
    yield from _figure(run, f"tradeoff/{results.dataset}")
    if answer is not None and not few:
        yield from _budgets(run, results, answer)


def _how_sure(run: Run, results: DatasetResults, tested: int | None) -> str:
    services = listed(results.singles["service"]) or "no service"
    on = "" if tested is None else f" on {tested:,} items that nothing was learnt from"
    return (
        f"{services}. Measured{on}, in {len(results.repetitions)} random splits; intervals are 95 %, over "
        f"the splits. Costs are in {run.unit(results.dataset)}."
    )


def _own_cards(answer: Answer, block: Mapping[str, Any]) -> Iterator[Card]:
    best = f"{answer.best}'s accuracy of {percent(answer.best_accuracy)}"
    if np.isfinite(answer.saving.mean):
        saved = answer.cost.less_than(answer.best_cost)
        monthly = _monthly(saved, block)
        yield Card(
            answer.saving, _percent, f"saved at {best}; {answer.best} alone costs {_plain(answer.best_cost)}"
        )
        money = _money(block)
        yield Card(saved, _plain, f"{money}saved{_of_unit(block)}")
        if monthly is not None:
            yield Card(monthly, _plain, f"{money}saved a month, of {block['items_per_month']:,} items")
        yield Card(answer.cost, _plain, f"is the cost of {best}{_point_more(answer)}")
    else:
        yield Card(None, str, f"No budget that was tried reaches {best}")
    if np.isfinite(answer.gain.mean):
        yield Card(answer.gain, _signed, f"points of accuracy at {answer.best}'s cost")


def _budgets(run: Run, results: DatasetResults, answer: Answer) -> Iterator[Html]:
    """What accuracies around the best service's cost, of those that every repetition reaches."""
    rows = []
    for more in POINTS:
        costs = results.costs_at_best(answer.method, more=more / 100)
        if np.isfinite(costs).all():
            against = (
                f"{counted(abs(more), 'point')} {'more' if more > 0 else 'less'}"
                if more
                else f"as {answer.best}"
            )
            cost = interval(costs).within(0).columns("cost")
            rows.append({"accuracy": answer.best_accuracy + more / 100, "that is": against} | cost)
    if rows:
        units = {run.unit(results.dataset)}
        columns = {column.name: in_units(column, units) for column in (ACCURACY, COST)}
        yield table(
            pd.DataFrame(rows),
            "What budget for which accuracy",
            lambda name: columns.get(name) or plain_column(name),
            fold=False,
        )


def _items(block: Mapping[str, Any]) -> int | None:
    """How many items costs are of, as the unit says; None if it does not."""
    found = ITEMS.search(block.get("unit") or USUAL_UNIT)
    return int(found[1].replace(",", "")) if found else None


def _money(block: Mapping[str, Any]) -> str:
    """What costs are counted in, as the unit says; empty if it does not."""
    counted_in, of, _ = (block.get("unit") or USUAL_UNIT).partition(" per ")
    return f"{counted_in} " if of else ""


def _of_unit(block: Mapping[str, Any]) -> str:
    items = _items(block)
    return f" per {counted(items, 'item')}" if items else f" per item, in {block['unit']}"


def _monthly(saved: Interval, block: Mapping[str, Any]) -> Interval | None:
    """The same of all items of a month; None where their number, or that of the unit, is not known."""
    volume, items = block.get("items_per_month"), _items(block)
    return Interval(*(bound * volume / items for bound in saved)) if volume and items else None


def _point_more(answer: Answer) -> str:
    cost = answer.point_more.mean
    return f"; a point more costs {_plain(cost)}" if np.isfinite(cost) else ""


# ---- the paper's datasets


def _paper(results: Sequence[DatasetResults]) -> Iterator[Html]:
    """Both arms beside the paper."""
    for arm in reversed(ARMS):
        compared = [own for own in results if Answer.of(own, arm)]
        if compared:
            yield tag("h3", name_of(arm))
            yield _cards(_paper_cards(compared, arm))


def _paper_cards(compared: Sequence[DatasetResults], arm: str) -> Iterator[Card]:
    printed = [_printed_saving(own.dataset) for own in compared]
    beside = f" (paper: {_percent(float(np.mean(printed)))})" if np.isfinite(printed).all() else ""
    saving = over_datasets([own.by_repetition(own.savings(arm)) for own in compared]).within(most=1)
    if np.isfinite(saving.mean):
        yield Card(saving, _percent, f"mean saving at the best service's accuracy{beside}")
    answers = [answer for own in compared if (answer := Answer.of(own, arm))]
    cheaper = sum(answer.cost.mean < answer.best_cost for answer in answers)
    yield Card(
        f"{cheaper} of {len(answers)}",
        str,
        "datasets on which that accuracy costs less than the best service",
    )
    gain = over_datasets([own.by_repetition(own.gains_at_best_cost(arm)) for own in compared])
    yield Card(gain, _signed, "points of accuracy at the best service's cost, mean over datasets")


def over_datasets(values: Sequence[pd.Series]) -> Interval:
    """The mean over datasets, and its interval over repetitions: of the mean over datasets in each.

    values: one series per dataset, by repetition. A dataset without a value in some repetition counts there
    with its mean over the others: left out, it would move the mean by what sets it apart.
    """
    table = pd.concat(values, axis=1)
    means = table.mean()
    filled = table.fillna(means)
    return interval(filled.mean(axis=1))


def _printed_saving(dataset: str) -> float:
    return float(printed_of(dataset).get("paper", {}).get("saving_pct", np.nan)) / 100
