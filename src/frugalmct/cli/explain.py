"""`frugalmct explain`: one item, what was estimated, what is chosen and what would change it."""

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any

from frugalmct.cli.common import command, number, print_json, print_table
from frugalmct.errors import FrugalError
from frugalmct.values import printable

if TYPE_CHECKING:
    from frugalmct.live.calls import Call
    from frugalmct.percall import PerCallStrategy
    from frugalmct.strategy import Strategy


def add(commands: Any) -> None:
    parser = command(
        commands,
        "explain",
        "why one item is sent where it is sent",
        "The base's answer to one item, the accuracy estimated of each choice, the dual price, the choice\n"
        "and what would change it. The item is one JSON object with the base's answer in its predictions.\n"
        "Where the answer of the service chosen is there as well, the next choice is explained, too. With\n"
        "costs per call the item is as in the data: text, features, and of whoever is asked first\n"
        "predictions, costs and answer_features.",
        """frugalmct explain strategy.npz item.json --budget 8
  echo '{"id": "a1", "predictions": {"Keyword": [["billing", 0.4]]}}' | frugalmct explain strategy.npz -""",
    )
    parser.add_argument("strategy", metavar="STRATEGY", help="the file that train wrote")
    parser.add_argument("item", metavar="ITEM", help="a file with one JSON object, or - for standard input")
    parser.add_argument("--budget", type=float, metavar="B", help="by default the strategy's largest")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from frugalmct.cli.items import read_items
    from frugalmct.percall import PerCallStrategy
    from frugalmct.strategy import Strategy

    strategy = Strategy.load(arguments.strategy)
    budget = max(strategy.plans) if arguments.budget is None else arguments.budget
    item = next(read_items(arguments.item), None)
    if item is None:
        raise FrugalError(f"{arguments.item}: there is no item in it; give one JSON object.")
    if isinstance(strategy, PerCallStrategy):
        found = explained_call(strategy, item, budget)
    else:
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
    from frugalmct.select.problem import addon_costs

    plan, single = strategy.plan_at(budget), SingleItems(strategy)
    if plan.other is not None and plan.follows_other(strategy.made.seed, str(item.get("id"))):
        plan = plan.other  # as a router draws
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
        addon = addon_costs(strategy.prices, state).tolist()
        steps.append(_step(strategy.services, state, row.tolist(), addon, plan.dual_price))
        choice = strategy.services.index(steps[-1]["choice"])
        if choice in state or steps[-1]["choice"] not in given:
            break
        take(choice)
        state = joined(state, choice)
    said = [[label, score] for service in plan.base for label, score in answers[service].items()]
    first = {"id": item.get("id"), "budget": budget, "base": strategy.names(plan.base), "answer": said}
    return first | {"dual_price": plan.dual_price} | steps[0] | {"then": steps[1] if len(steps) > 1 else None}


def explained_call(strategy: "PerCallStrategy", item: dict[str, Any], budget: float) -> dict[str, Any]:
    """The choice once those asked first have answered; nothing is asked after it."""
    from frugalmct.live.answers import checked_answer
    from frugalmct.live.calls import known_of
    from frugalmct.percall.spending import most_worth

    plan = strategy.plan_at(budget)
    model, first = strategy.models[plan.first], list(plan.first)
    calls = _first_calls(strategy, item, plan.first)
    known = known_of(model, item, calls)
    accuracy, costs = model.estimate(known, strategy.items.table(known))
    choice = int(most_worth(accuracy, costs, first, plan.dual_price)[0])
    costs[0, first] = 0.0
    labelled = [own.service for own in model.answers.services if own.labels is not None]
    given = [list(pair) for k in labelled for pair in checked_answer(calls[k].answer).items()]
    said = given if labelled else None  # what they answered is not labels
    top = {"id": item.get("id"), "budget": budget, "base": strategy.names(plan.first), "answer": said}
    step = _step(
        strategy.services, plan.first, accuracy[0].tolist(), costs[0].tolist(), plan.dual_price, choice
    )
    return top | {"dual_price": plan.dual_price} | step | {"then": None}


def _first_calls(
    strategy: "PerCallStrategy", item: dict[str, Any], first: tuple[int, ...]
) -> "dict[int, Call]":
    """What the item says of those asked first; what was learnt from must be there."""
    from frugalmct.live.calls import Call, recorded_call

    calls, columns = {}, strategy.models[first].answers.services
    for own in columns:
        name = strategy.services[own.service]
        try:
            call = recorded_call(item, name) or Call(None)
        except LookupError as error:
            raise FrugalError(f"Item {item.get('id')}: {error}; there is nothing to explain.") from None
        learnt_from = {
            "predictions": (own.labels is not None, call.answer),
            "answer_features": (own.numbers > 0, call.features),
            "costs": (own.cost is not None, call.cost),
        }
        for key, (needed, value) in learnt_from.items():
            if needed and value is None:
                raise FrugalError(
                    f"Item {item.get('id')}: {name} is asked first, and the item's {key} do not name it; "
                    f"give {key} with {name}'s."
                )
        calls[own.service] = call
    return calls


def _step(
    services: tuple[str, ...],
    state: tuple[int, ...],
    estimates: list[float],
    addon: list[float],
    dual_price: float,
    choice: int | None = None,
) -> dict[str, Any]:
    """One choice; addon: what asking each service costs once those of the state have been asked."""
    values = [accuracy - dual_price * cost for accuracy, cost in zip(estimates, addon, strict=True)]
    known = [k for k, accuracy in enumerate(estimates) if math.isfinite(accuracy)]
    if choice is None:
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
    name, base = printable(str(found["id"])), printable(found["base"])
    said = ", ".join(f"{label} {score:g}" for label, score in found["answer"] or ()) or "nothing"
    head = f"{base} answers {printable(said)}"
    if found["answer"] is None:
        head = f"{base if found['asked'] else 'nobody'} is asked first"
    print(f"Item {name} at budget {found['budget']:g}: {head}\n")
    _print_step(found, "beside the base" if found["asked"] else "service", found["dual_price"])
    if found["then"]:
        print(f"\nOnce {printable(found['choice'])} has answered, too:\n")
        _print_step(found["then"], "beside these", found["dual_price"])


def _print_step(step: dict[str, Any], beside: str, dual_price: float) -> None:
    header = (beside, "accuracy expected", "cost", "accuracy - dual price x cost")
    rows = [
        (
            row["service"] + (" (nobody)" if row["service"] in step["asked"] else ""),
            f"{row['accuracy']:.3f}",
            f"{row['cost']:.4g}",
            f"{row['value']:.3f}",
        )
        for row in step["choices"]
    ]
    print_table(header, rows)

    def who(service: str) -> str:
        if service not in step["asked"]:
            return printable(service)
        # Where several were asked, and one's answer stands, it is said whose.
        alone = sum(row["service"] in step["asked"] for row in step["choices"]) == 1
        return "nobody" if alone else f"nobody, and {printable(service)}'s answer stands"

    print(f"  Chosen: {who(step['choice'])}, at the dual price {dual_price:.4g}.")
    changes = step["changes"]
    if changes["below_it"]:
        below = number(changes["dual_price_from"], ".4g")
        print(f"  Below a dual price of {below} it would be {who(changes['below_it'])}.")
    if changes["above_it"]:
        above = number(changes["dual_price_to"], ".4g")
        print(f"  Above a dual price of {above} it would be {who(changes['above_it'])}.")
