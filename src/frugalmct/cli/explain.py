"""`frugalmct explain`: one item, what was estimated, what is chosen and what would change it."""

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any

from frugalmct.cli.common import command, number, print_json, print_table
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
        "and what would change it. The item is one JSON object with the base's answer among its predictions.",
        """frugalmct explain strategy.npz item.json --budget 8
  echo '{"id": "a1", "predictions": {"Keyword": [["billing", 0.4]]}}' | frugalmct explain strategy.npz -""",
    )
    parser.add_argument("strategy", metavar="STRATEGY", help="the file that train wrote")
    parser.add_argument("item", metavar="ITEM", help="a file with one JSON object, or - for standard input")
    parser.add_argument("--budget", type=float, metavar="B", help="by default the strategy's largest")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from frugalmct.cli.items import read_items
    from frugalmct.strategy import Strategy

    strategy = Strategy.load(arguments.strategy)
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
    from frugalmct.live.answers import Nonsense, checked_answer
    from frugalmct.live.single import SingleItems
    from frugalmct.select.problem import addon_costs

    plan = strategy.plan_at(budget)
    base = strategy.services[plan.base]
    if base not in (item.get("predictions") or {}):
        raise FrugalError(f"Item {item.get('id')}: the answer of the base {base} is missing in predictions.")
    try:
        answer = checked_answer(item["predictions"][base])
    except Nonsense as error:
        raise FrugalError(f"Item {item.get('id')}: {base}: {error}.") from None
    row = SingleItems(strategy.models[plan.base], strategy.labels).estimate(answer, item.get("features"))
    addon = addon_costs(strategy.prices, plan.base).tolist()
    estimates = row.tolist()
    values = [accuracy - plan.dual_price * cost for accuracy, cost in zip(estimates, addon, strict=True)]
    choice = max(range(len(values)), key=lambda k: (values[k], -addon[k], k == plan.base))
    return {
        "id": item.get("id"),
        "budget": budget,
        "base": base,
        "answer": [[label, score] for label, score in answer.items()],
        "dual_price": plan.dual_price,
        "choices": [
            {"service": name, "accuracy": accuracy, "cost": cost, "value": value}
            for name, accuracy, cost, value in zip(strategy.services, estimates, addon, values, strict=True)
        ],
        "choice": strategy.services[choice],
        "changes": _changes(strategy.services, estimates, addon, choice),
    }


def _changes(
    services: tuple[str, ...], estimates: list[float], addon: list[float], choice: int
) -> dict[str, Any]:
    """The dual prices between which the choice stays, and who is chosen beyond them.

    Beyond one of them a service wins that costs less, below the other one that costs more.
    """
    below, above = (0.0, None), (math.inf, None)
    for other, name in enumerate(services):
        more = addon[other] - addon[choice]
        if other == choice or more == 0:
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
    print(f"Item {name} at budget {found['budget']:g}: {found['base']} answers {printable(said)}\n")
    header = ("beside the base", "accuracy expected", "cost", "accuracy - dual price x cost")
    rows = [
        (
            row["service"] + (" (nobody)" if row["service"] == found["base"] else ""),
            f"{row['accuracy']:.3f}",
            f"{row['cost']:g}",
            f"{row['value']:.3f}",
        )
        for row in found["choices"]
    ]
    print_table(header, rows)
    nobody = found["choice"] == found["base"]
    print(
        f"  Chosen: {'nobody' if nobody else found['choice']}, at the dual price {found['dual_price']:.4g}."
    )
    changes = found["changes"]
    if changes["below_it"]:
        print(f"  Below a dual price of {changes['dual_price_from']:.4g} it would be {changes['below_it']}.")
    if changes["above_it"]:
        other = "nobody" if changes["above_it"] == found["base"] else changes["above_it"]
        print(f"  Above a dual price of {number(changes['dual_price_to'], '.4g')} it would be {other}.")
