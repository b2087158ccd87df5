"""`frugalmct explain`: one item, what was estimated, what is chosen and what would change it."""

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any

from frugalmct.cli.common import command, label_strategy, number, print_json, print_table
from frugalmct.errors import FrugalError
from frugalmct.values import printable

if TYPE_CHECKING:
    from frugalmct.strategy import Strategy


def add(commands: Any) -> None:
    parser = command(
        commands,
        "explain",
        "why one item is sent where it is sent",
        "The base's answer to one item, the accuracy estimated of each choice, the dual price, the choice\n"
        "and what would change it. The item is one JSON object with the base's answer in its predictions.\n"
        "Where the answer of the service chosen is there as well, the next choice is explained, too.",
        """frugalmct explain strategy.npz item.json --budget 8
  echo '{"id": "a1", "predictions": {"Keyword": [["billing", 0.4]]}}' | frugalmct explain strategy.npz -""",
    )
    parser.add_argument("strategy", metavar="STRATEGY", help="the file that train wrote")
    parser.add_argument("item", metavar="ITEM", help="a file with one JSON object, or - for standard input")
    parser.add_argument("--budget", type=float, metavar="B", help="by default the strategy's largest")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from frugalmct.cli.items import read_items

    strategy = label_strategy(arguments.strategy)
    budget = max(strategy.plans) if arguments.budget is None else arguments.budget
    item = next(read_items(arguments.item), None)
    if item is None:
        raise FrugalError(f"{arguments.item}: there is no item in it; give one JSON object.")
    found = explained(strategy, item, budget)
    if arguments.json:
        print_json(found)
    else:
        _print(found)
    sys.stdout.flush()
    return 0


def explained(strategy: "Strategy", item: dict[str, Any], budget: float) -> dict[str, Any]:
    """The choice once the base has answered; in `then` the next one, where its answer is there, too."""
    from frugalmct.cascade import joined
    from frugalmct.live.answers import Nonsense, checked_answer
    from frugalmct.live.single import SingleItems

    plan, single = strategy.plan_at(budget), SingleItems(strategy)
    given, answers = item.get("predictions") or {}, {}

    def take(service: int) -> None:
        name = strategy.services[service]
        try:
            answers[service] = checked_answer(given[name])
        except Nonsense as error:
            raise FrugalError(f"Item {item.get('id')}: {name}: {error}.") from None

    missing = [strategy.services[k] for k in plan.base if strategy.services[k] not in given]
    if missing:
        raise FrugalError(
            f"Item {item.get('id')}: the answer of the base {missing[0]} is missing in predictions."
        )
    for service in plan.base:
        take(service)
    steps, state = [], plan.base
    while state in strategy.models and len(state) < len(plan.base) + strategy.steps:
        row = single.estimate(state, answers, item.get("features"))
        steps.append(_step(strategy, state, row.tolist(), plan.dual_price))
        choice = strategy.services.index(steps[-1]["choice"])
        if choice in state or steps[-1]["choice"] not in given:
            break
        take(choice)
        state = joined(state, choice)
    said = [[label, score] for service in plan.base for label, score in answers[service].items()]
    first = {"id": item.get("id"), "budget": budget, "base": strategy.names(plan.base), "answer": said}
    return first | {"dual_price": plan.dual_price} | steps[0] | {"then": steps[1] if len(steps) > 1 else None}


def _step(
    strategy: "Strategy", state: tuple[int, ...], estimates: list[float], dual_price: float
) -> dict[str, Any]:
    from frugalmct.select.problem import addon_costs

    services, addon = strategy.services, addon_costs(strategy.prices, state).tolist()
    values = [accuracy - dual_price * cost for accuracy, cost in zip(estimates, addon, strict=True)]
    known = [k for k, accuracy in enumerate(estimates) if math.isfinite(accuracy)]
    choice = max(known, key=lambda k: (values[k], -addon[k], k in state, -k))
    return {
        "asked": [services[k] for k in state],
        "choices": [
            {"service": services[k], "accuracy": estimates[k], "cost": addon[k], "value": values[k]}
            for k in known
        ],
        "choice": services[choice],
        "changes": _changes(services, estimates, addon, choice),
    }


def _changes(
    services: tuple[str, ...], estimates: list[float], addon: list[float], choice: int
) -> dict[str, Any]:
    """The dual prices between which the choice stays, and who is chosen beyond them.

    Beyond one of them a service wins that costs less, below the other one that costs more.
    """
    below: tuple[float, str | None] = (0.0, None)
    above: tuple[float, str | None] = (math.inf, None)
    for other, name in enumerate(services):
        more = addon[other] - addon[choice]
        if other == choice or more == 0 or math.isinf(estimates[other]):
            continue
        equal = (estimates[other] - estimates[choice]) / more
        if more > 0 and equal > below[0]:
            below = (equal, name)
        if more < 0 and equal < above[0]:
            above = (equal, name)
    return {
        "dual_price_from": below[0],
        "below_it": below[1],
        "dual_price_to": None if math.isinf(above[0]) else above[0],
        "above_it": above[1],
    }


def _print(found: dict[str, Any]) -> None:
    said = ", ".join(f"{label} {score:g}" for label, score in found["answer"]) or "nothing"
    name = printable(str(found["id"]))
    print(
        f"Item {name} at budget {found['budget']:g}: {printable(found['base'])} answers {printable(said)}\n"
    )
    _print_step(found, "beside the base", found["dual_price"])
    if found["then"]:
        print(f"\nOnce {printable(found['choice'])} has answered, too:\n")
        _print_step(found["then"], "beside these", found["dual_price"])


def _print_step(step: dict[str, Any], beside: str, dual_price: float) -> None:
    header = (beside, "accuracy expected", "cost", "accuracy - dual price x cost")
    rows = [
        (
            row["service"] + (" (nobody)" if row["service"] in step["asked"] else ""),
            f"{row['accuracy']:.3f}",
            f"{row['cost']:g}",
            f"{row['value']:.3f}",
        )
        for row in step["choices"]
    ]
    print_table(header, rows)

    def who(service: str) -> str:
        return "nobody" if service in step["asked"] else printable(service)

    print(f"  Chosen: {who(step['choice'])}, at the dual price {dual_price:.4g}.")
    changes = step["changes"]
    if changes["below_it"]:
        below = number(changes["dual_price_from"], ".4g")
        print(f"  Below a dual price of {below} it would be {who(changes['below_it'])}.")
    if changes["above_it"]:
        above = number(changes["dual_price_to"], ".4g")
        print(f"  Above a dual price of {above} it would be {who(changes['above_it'])}.")
