"""`frugalmct train`: a strategy from recorded answers."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frugalmct.cli.common import (
    command,
    named_prices,
    percent,
    print_json,
    print_table,
    progress,
    read_market,
)
from frugalmct.made import METHODS, PER_CALL, PLUS
from frugalmct.values import printable

if TYPE_CHECKING:
    from frugalmct.percall import PerCallPlan, PerCallStrategy
    from frugalmct.strategy import Strategy


def add(commands: Any) -> None:
    parser = command(
        commands,
        "train",
        "learn from recorded answers whom to ask within a budget",
        "Learn from recorded answers (.jsonl, .jsonl.gz or a market file .npz) and write a strategy.",
        "frugalmct train tickets.jsonl --prices Keyword=1 Fast=6 Deep=15 --budget 8 12 -o strategy.npz",
    )
    parser.add_argument(
        "data", metavar="DATA", help="recorded answers with the true labels, or their quality"
    )
    parser.add_argument("--prices", nargs="+", default=[], metavar="SERVICE=PRICE", help="of every service")
    parser.add_argument(
        "--budget",
        nargs="+",
        type=float,
        required=True,
        metavar="B",
        help="mean cost of an item, base included",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the strategy, a .npz")
    _add_learning_options(parser)
    parser.set_defaults(run=_run)


def _add_learning_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method",
        choices=(*METHODS, PER_CALL),
        help="paper: to the letter; per_call: one answer stands, costs per call (what suits the data)",
    )
    parser.add_argument(
        "--base",
        nargs="+",
        default=["auto"],
        metavar="SERVICE",
        help="one or several, asked for every item; none; auto (auto)",
    )
    parser.add_argument("--combiner", metavar="NAME", help="of plus: learned, weight_threshold")
    parser.add_argument("--labels-per-item", type=int, metavar="N", help="the most labels of an answer")
    parser.add_argument("--metric", metavar="NAME", help="accuracy, f1, precision, recall, ...")
    parser.add_argument(
        "--features",
        metavar="KIND",
        help="labels, embedding or given; with costs per call text, given, labels or auto",
    )
    parser.add_argument("--predictor", metavar="NAME", help="random_forest, extra_trees, flaml, mean, ...")
    parser.add_argument("--task", default="", help="MIC, STR or NER: NER has embeddings as features")
    parser.add_argument("--unit", default="", metavar="TEXT", help="what prices are in, kept for readers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cores to use")


def _run(arguments: argparse.Namespace) -> int:
    from frugalmct.cli.progress import steps_told
    from frugalmct.strategy import Strategy
    from frugalmct.suspicions import of_prices_and_budgets

    market = read_market(arguments.data, named_prices(arguments.prices), arguments.task)
    prices = market.price_list
    names = ("labels_per_item", "metric", "features", "predictor")
    given = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    # Costs that stand in the data are in a unit of their own.
    unit = arguments.unit or market.settings.unit or ("" if arguments.prices else "that of the data")
    for sentence in of_prices_and_budgets(prices, arguments.budget, unit):
        progress(f"warning: {sentence}")
    progress(f"learning from {len(market):,} items ...")
    with steps_told():
        strategy = Strategy.fit(
            market,
            arguments.budget,
            method=arguments.method,
            base=arguments.base[0] if len(arguments.base) == 1 else arguments.base,
            combiner=arguments.combiner,
            unit=arguments.unit,
            seed=arguments.seed,
            jobs=arguments.jobs,
            **given,
        )
    strategy.save(arguments.output)
    summary = _summary(strategy, arguments.output)
    if arguments.json:
        print_json(summary)
    else:
        _print(summary)
        if arguments.base == ["auto"] and strategy.made.method == PLUS:
            print(f"  {_beyond_one_service(summary['plans'])}")
    return 0


def _beyond_one_service(plans: list[dict[str, Any]]) -> str:
    """What small sets of services as base and mixtures of two plans are worth."""
    gains = [f"{100 * plan['gain']:.1f} at {plan['budget']:g}" for plan in plans if plan["gain"]]
    if not gains:
        return "No pair of services first and no mixture of two plans did better by more than noise."
    return (
        f"Points more than with one service first, by a pair of them or two plans mixed: {', '.join(gains)}."
    )


def _summary(strategy: "Strategy | PerCallStrategy", path: str) -> dict[str, Any]:
    import numpy as np

    from frugalmct.outlook import promised
    from frugalmct.percall import PerCallStrategy

    plans = []
    if isinstance(strategy, PerCallStrategy):
        return _described(strategy, path, [_per_call_row(strategy, plan) for plan in strategy.plans.values()])
    for budget, plan in strategy.plans.items():
        asked = strategy.selector(budget, len(strategy.training)).run(strategy.training.estimates)
        alone = [np.isin(np.arange(asked.shape[1]), base) for base in plan.bases]
        plans.append(
            {
                "budget": budget,
                "base": strategy.plan_names(plan),
                "dual_price": plan.dual_price,
                "gain": plan.gain,
                "accuracy": promised(strategy, plan),
                "cost": float((asked @ strategy.prices).mean()),
                "asks_no_more": float(np.any([(asked == who).all(axis=1) for who in alone], axis=0).mean()),
            }
        )
    return _described(strategy, path, plans)


def _per_call_row(strategy: "PerCallStrategy", plan: "PerCallPlan") -> dict[str, Any]:
    return {
        "budget": plan.budget,
        "base": strategy.names(plan.first),
        "dual_price": plan.dual_price,
        "accuracy": plan.accuracy,
        "cost": plan.cost,
        "asks_no_more": plan.asks_no_more,
    }


def _described(
    strategy: "Strategy | PerCallStrategy", path: str, plans: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "strategy": path,
        "bytes": Path(path).stat().st_size,
        "made": strategy.made.to_dict(),
        "prices": dict(zip(strategy.services, strategy.prices.tolist(), strict=True)),
        "plans": plans,
    }


def _print(summary: dict[str, Any]) -> None:
    made = summary["made"]
    print(
        f"{printable(summary['strategy'])}: learnt from {made['items']:,} items, {summary['bytes']:,} bytes\n"
    )
    header = ("budget", "base", "accuracy", "cost", "base alone")
    rows = [
        (f"{plan['budget']:g}", plan["base"], percent(plan["accuracy"]), f"{plan['cost']:.3f}",
         percent(plan["asks_no_more"]))
        for plan in summary["plans"]
    ]  # fmt: skip
    print_table(header, rows)
    print("  Accuracy on the training items, each estimated without itself; new items decide.")
