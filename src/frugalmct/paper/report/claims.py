"""How the page shows the claims: what fails first, each with its place and its test in small print."""

from typing import Any

import pandas as pd

from frugalmct.paper.claims.claim import VERDICTS
from frugalmct.paper.columns import Column
from frugalmct.paper.report.beside import badge
from frugalmct.paper.report.html import Cell, Html, joined, plain_column, table, tag

CLAIMS = "claims"
"""The exhibit."""
NEEDED = {"claim", "place", "measured", "test", "verdict", "note"}
COLUMNS = {
    "verdict": Column("verdict", "by the test", "text"),
    "claim": Column("claim", "what the paper says, and where", "text"),
    "measured": Column("measured", "this run's numbers, and what is asked of them", "text"),
    "note": Column("note", "what else there is to know", "text"),
}


def counts_of(claims: pd.DataFrame) -> Html:
    """How many have each verdict, with a link to them all."""
    counts = claims["verdict"].value_counts()
    words = "; ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS if verdict in counts)
    return tag(
        "p", f"{len(claims)} claims: {words}. ", tag("a", "Each with its test", href=f"#{CLAIMS}"), "."
    )


def claims_table(claims: pd.DataFrame, title: str) -> Html:
    """Never folded: whoever opens the page should see what fails."""
    rows = [_row(record) for record in claims.astype(object).where(claims.notna(), "").to_dict("records")]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return table(frame, title, lambda name: COLUMNS.get(name, plain_column(name)), fold=False)


def _row(record: dict[str, Any]) -> dict[str, Cell]:
    verdict = str(record["verdict"])
    return {
        "verdict": badge(verdict.replace(" ", "-"), verdict),
        "claim": _with_small(record["claim"], record["place"]),
        "measured": _with_small(record["measured"], f"Test: {record['test']}"),
        "note": Cell(str(record["note"]), str(record["note"])),
    }


def _with_small(text: Any, small: Any) -> Cell:
    return Cell(joined([text, tag("small", small)], " "), str(text))
