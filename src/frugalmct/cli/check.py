"""`frugalmct check`: what is in a file of recorded answers, or what is wrong with it."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from frugalmct.cli.common import USER_MISTAKE, named_prices, print_table
from frugalmct.cli.quality import (
    known_rows,
    print_quality_summary,
    quality_summary,
    quality_warnings,
    what_is_known,
)
from frugalmct.errors import listed
from frugalmct.values import printable

if TYPE_CHECKING:
    from frugalmct.market import LabelMarket, QualityMarket
    from frugalmct.sources.jsonl import DataProblems

FEWEST_FOR_A_LEAK = 20


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "check",
        help="check a file of recorded answers (.jsonl or .jsonl.gz) and sum it up",
        description="Check a file of recorded answers: print what is in it, or what is wrong with it. "
        f"Exits 0 when the file can be used and {USER_MISTAKE} when it cannot.",
        epilog="example: frugalmct check tickets.jsonl --prices Keyword=1 Fast=6 Deep=15 --budget 8 12",
    )
    parser.add_argument("file", metavar="FILE", help="JSON Lines, one item per line, plain or gzip")
    parser.add_argument("--prices", nargs="+", default=[], metavar="SERVICE=PRICE", help="to check as well")
    parser.add_argument("--budget", nargs="+", type=float, default=[], metavar="B", help="to check as well")
    parser.add_argument(
        "--unit", default="", metavar="TEXT", help="what prices are in (USD per 10,000 items)"
    )
    parser.add_argument("--labels-per-item", type=int, metavar="N", help="the most labels of an answer")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from frugalmct.market import QualityMarket
    from frugalmct.sources.jsonl import DataProblems, read_jsonl

    prices = named_prices(arguments.prices)
    try:
        market = read_jsonl(arguments.file, prices or None)
    except DataProblems as problems:
        _print_problems(problems, as_json=arguments.json)
        return USER_MISTAKE
    own = _of_quality(market) if isinstance(market, QualityMarket) else _of_labels(market)
    own["warnings"] += _suspicions(market, prices, arguments)
    summary = {"file": arguments.file, "ok": True, **own}
    if arguments.json:
        print(json.dumps(summary, indent=2))
        return 0
    if summary["kind"] == "quality":
        print_quality_summary(summary)
    else:
        _print_summary(summary)
    print(f"  warnings: {len(summary['warnings']) or 'none'}")
    for warning in summary["warnings"]:
        print(f"  - {printable(warning)}")
    return 0


def _of_labels(market: "LabelMarket") -> dict[str, Any]:
    return {"kind": "labels", **_summary(market), "warnings": list(_warnings(market))}


def _of_quality(market: "QualityMarket") -> dict[str, Any]:
    return {**quality_summary(market), "warnings": list(quality_warnings(market))}


def _print_problems(found: "DataProblems", *, as_json: bool) -> None:
    count = f"{found.total:,} problem{'s' if found.total > 1 else ''}"
    unlisted = found.total - len(found.problems)
    if as_json:
        problems = [problem._asdict() for problem in found.problems]
        report = {"file": found.path, "ok": False, "problem_count": found.total, "problems": problems}
        print(json.dumps(report, indent=2))
    else:
        print(f"{printable(str(found.path))}: {count} found\n")
        width = len(str(found.problems[-1].line))
        for problem in found.problems:
            print(f"  line {problem.line:>{width}}: {printable(problem.text)}")
        if unlisted:
            print(f"\n  and {unlisted:,} more")
    sys.stdout.flush()
    print(f"frugalmct: {printable(str(found.path))} cannot be used: {count}.", file=sys.stderr)


def _summary(market: "LabelMarket") -> dict[str, Any]:
    import numpy as np

    from frugalmct.sparse import set_sizes

    statistics = market.statistics()
    services = [
        {
            "service": service,
            "accuracy": statistics["service_accuracy"][service],
            "share_empty": float(np.mean(set_sizes(scores) == 0)),
            "labels_per_item": scores.nnz / len(market),
            "mean_score": float(scores.data.mean()) if scores.nnz else None,
        }
        for service, scores in zip(market.services, market.scores, strict=True)
    ]
    return {
        "items": len(market),
        "distinct_labels": statistics["distinct_labels"],
        "labels_only_predicted": len(market.labels) - statistics["distinct_labels"],
        "label_occurrences": statistics["label_occurrences"],
        "labels_per_item": statistics["labels_per_item"],
        "largest_label_set": statistics["largest_label_set"],
        **what_is_known(market),
        "services": services,
    }


def _print_summary(summary: dict[str, Any]) -> None:
    print(f"{printable(summary['file'])}: no problems found; answers are labels\n")
    facts = [
        ("items", f"{summary['items']:,}"),
        ("distinct labels", f"{summary['distinct_labels']:,}"),
        ("only predicted labels", f"{summary['labels_only_predicted']:,}"),
        ("label occurrences", f"{summary['label_occurrences']:,}"),
        ("labels per item", f"{summary['labels_per_item']:.2f}"),
        ("largest label set", f"{summary['largest_label_set']:,}"),
        *known_rows(summary),
    ]
    print_table([], facts)
    header = ("service", "accuracy alone", "empty answers", "labels per item", "mean score")
    print_table(header, [_service_row(service) for service in summary["services"]])


def _service_row(service: dict[str, Any]) -> tuple[str, ...]:
    mean_score = service["mean_score"]
    return (
        printable(service["service"]),
        f"{100 * service['accuracy']:.1f} %",
        f"{100 * service['share_empty']:.1f} %",
        f"{service['labels_per_item']:.2f}",
        "-" if mean_score is None else f"{mean_score:.3f}",
    )


def _warnings(market: "LabelMarket") -> Iterator[str]:
    """What is allowed but rarely meant."""
    yield from _warn_of_items(market)
    yield from _warn_of_labels(market)
    for service in market.services:
        yield from _warn_of_service(market, service)
    yield from _warn_of_twins(market)
    yield from _warn_of_leak(market)


def _warn_of_leak(market: "LabelMarket") -> Iterator[str]:
    """A quality dressed up as the score of the true label: every answer then tells how good it is.

    Of few items it may be so by chance.
    """
    from frugalmct.sparse import overlap_sizes

    if len(market) < FEWEST_FOR_A_LEAK:
        return
    given = sum(scores.nnz for scores in market.scores)
    true = sum(int(overlap_sizes(market.truth, scores).sum()) for scores in market.scores)
    plain = all((scores.data == 1).all() for scores in market.scores)
    if given and given == true and not (plain and market.service_accuracy().min() == 1):
        yield (
            "No service ever gives a label that is not true. If the scores, or empty answers, say how good "
            "an answer was, the outcome leaks into what is learnt from, and no accuracy can be believed; "
            "give `quality` instead of `truth` and `predictions`."
        )


def _suspicions(
    market: "LabelMarket | QualityMarket", prices: dict[str, float], arguments: argparse.Namespace
) -> Iterator[str]:
    """What the console of a run and the report would say as well."""
    from frugalmct.market import LabelMarket
    from frugalmct.sources.reading import SMALLEST_MARKET
    from frugalmct.suspicions import few_test_items, of_prices_and_budgets, one_label

    if len(market) >= SMALLEST_MARKET:
        yield from (f"Half of the items are tested on. {few}" for few in few_test_items(len(market) // 2))
    if isinstance(market, LabelMarket):
        yield from one_label(*market.true_label_counts(), arguments.labels_per_item)
    unit = arguments.unit
    if market.extras.costs is not None:
        # They count, whatever else is given, and are in a unit of their own.
        prices, unit = market.price_list, unit or market.settings.unit or "that of the data"
    yield from of_prices_and_budgets(prices, arguments.budget, unit)


def _warn_of_items(market: "LabelMarket") -> Iterator[str]:
    import numpy as np

    from frugalmct.sources.reading import SMALLEST_MARKET
    from frugalmct.sparse import set_sizes

    if len(market) < SMALLEST_MARKET:
        yield f"{len(market)} items are too few to train and test on; {SMALLEST_MARKET} are the least."
    without_truth = np.flatnonzero(set_sizes(market.truth) == 0)
    if len(without_truth):
        share = 100 * len(without_truth) / len(market)
        first = str(market.items[without_truth[0]])
        yield (
            f"Items without a true label: {len(without_truth):,} ({share:.1f} %), the first is {first!r}; "
            "on them only an empty answer is right."
        )


def _warn_of_labels(market: "LabelMarket") -> Iterator[str]:
    import numpy as np

    is_true, is_predicted = np.zeros((2, len(market.labels)), dtype=bool)
    is_true[market.truth.indices] = True
    for scores in market.scores:
        is_predicted[scores.indices] = True
    never_true = int(np.count_nonzero(is_predicted & ~is_true))
    if never_true > np.count_nonzero(is_predicted) / 2:
        yield (
            f"{never_true:,} of the {np.count_nonzero(is_predicted):,} predicted labels are never true; "
            "do the services and the truth name labels alike?"
        )
    spellings: dict[str, str] = {}
    variants = []
    for label in map(str, market.labels):
        other = spellings.setdefault(label.strip().casefold(), label)
        if other != label:
            variants.append((other, label))
    if variants:
        other, label = variants[0]
        yield (
            f"Labels that differ from another only in case or blanks: {len(variants):,}, such as {other!r} "
            f"and {label!r}; they count as different labels."
        )


def _warn_of_service(market: "LabelMarket", service: str) -> Iterator[str]:
    import numpy as np

    from frugalmct.sparse import overlap_sizes

    scores = market.scores[market.service_index(service)]
    if not scores.nnz:
        yield f"{service} never answers: its list is empty on every item."
        return
    if not overlap_sizes(market.truth, scores).any():
        yield f"{service} is never right: no label it gives is among the true labels of its item."
    values, counts = np.unique(scores.data, return_counts=True)
    commonest, share = values[counts.argmax()], counts.max() / scores.nnz
    if scores.nnz > 1 and len(values) == 1:
        yield f"{service} gives every label the score {commonest:g}: its scores say nothing."
    elif scores.nnz >= 10 * len(values) and len(values) <= 5:
        shown = listed(f"{value:g}" for value in values)
        yield f"{service} has only {len(values)} distinct scores ({shown}): many tie."
    elif scores.nnz >= 10 and share > 0.5:
        yield f"{service} gives {100 * share:.1f} % of its labels the score {commonest:g}: these tie."


def _warn_of_twins(market: "LabelMarket") -> Iterator[str]:
    import numpy as np

    answers = list(zip(market.services, market.scores, strict=True))
    for k, (service, scores) in enumerate(answers):
        for other, other_scores in answers[k + 1 :]:
            same = scores.nnz and all(
                np.array_equal(getattr(scores, part), getattr(other_scores, part))
                for part in ("indptr", "indices", "data")
            )
            if same:
                yield f"{service} and {other} give the same answers throughout: one of them is of no use."
