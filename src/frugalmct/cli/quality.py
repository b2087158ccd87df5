"""What `frugalmct check` says of a file of qualities."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from frugalmct.cli.common import percent, print_table
from frugalmct.values import printable

if TYPE_CHECKING:
    from frugalmct.market import Market, QualityMarket


def what_is_known(market: "Market") -> dict[str, Any]:
    """What a file of either kind may bring beside its answers."""
    extras = market.extras
    numbers = extras.answer_numbers or ()
    return {
        "features": 0 if market.given is None else market.given.shape[1],
        "text": extras.text is not None,
        "costs": "per call" if extras.costs is not None else "none in the file",
        "answer_features": {
            service: own.shape[1]
            for service, own in zip(market.services, numbers, strict=False)
            if own is not None
        },
    }


def known_rows(known: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for people; what is not there is left out."""
    rows = [("features per item", f"{known['features']:,}"), ("text", "yes" if known["text"] else "no")]
    rows.append(("costs", known["costs"]))
    if known["answer_features"]:
        rows.append(("answer features", ", ".join(f"{k} {n}" for k, n in known["answer_features"].items())))
    return rows


def quality_summary(market: "QualityMarket") -> dict[str, Any]:
    means, best = market.quality.mean(axis=0), market.quality.max(axis=1)
    services = [
        {
            "service": service,
            "quality": float(means[k]),
            "cost": float(market.prices[k]) if market.extras.costs is not None else None,
            "best_alone": float((market.quality[:, k] == best).mean()),
        }
        for k, service in enumerate(market.services)
    ]
    known = what_is_known(market)
    return {
        "kind": "quality",
        "items": len(market),
        "oracle": float(best.mean()),
        **known,
        "services": services,
    }


def print_quality_summary(summary: dict[str, Any]) -> None:
    print(f"{printable(summary['file'])}: no problems found; a quality for every answer, no labels\n")
    facts = [("items", f"{summary['items']:,}"), *known_rows(summary)]
    print_table([], [*facts, ("best answer of all", percent(summary["oracle"]))])
    header = ("service", "mean quality", "mean cost", "as good as any")
    rows = [
        (
            printable(own["service"]),
            percent(own["quality"]),
            "-" if own["cost"] is None else f"{own['cost']:.4g}",
            percent(own["best_alone"]),
        )
        for own in summary["services"]
    ]
    print_table(header, rows)


def quality_warnings(market: "QualityMarket") -> Iterator[str]:
    """What is allowed but rarely meant."""
    import numpy as np

    from frugalmct.sources.reading import SMALLEST_MARKET

    if len(market) < SMALLEST_MARKET:
        yield f"{len(market)} items are too few to train and test on; {SMALLEST_MARKET} are the least."
    if market.extras.text is None and market.given is None and market.extras.answer_numbers is None:
        yield (
            "Nothing is known of an item before its answer is judged: no text, features or answer_features. "
            "All items look alike, and are sent alike."
        )
    if len(market) > 1:
        for service, column in zip(market.services, market.quality.T, strict=True):
            if np.ptp(column) == 0:
                yield f"{service} has the quality {column[0]:g} on every item."
    yield from _leaking_numbers(market)


def _leaking_numbers(market: "QualityMarket") -> Iterator[str]:
    """Numbers that are the outcome itself, or say exactly as much."""
    import numpy as np

    numbers = market.extras.answer_numbers or [None] * len(market.services)
    names = [f"{service}'s answer feature" for service in market.services]
    tables = [("feature", market.given), *zip(names, numbers, strict=True)]
    quality = market.quality - market.quality.mean(axis=0)
    for what, table in tables:
        if table is None or len(market) < 10:
            continue
        centred = table - table.mean(axis=0)
        scale = np.sqrt((centred**2).sum(axis=0)[:, None] * (quality**2).sum(axis=0)[None])
        same = np.abs(centred.T @ quality) >= (1 - 1e-9) * np.where(scale > 0, scale, np.inf)
        for number, service in np.argwhere(same)[:5]:
            yield (
                f"{what} {number + 1} tells the quality of {market.services[service]} exactly: if it is only "
                "known afterwards, it is a leak; leave it out."
            )
