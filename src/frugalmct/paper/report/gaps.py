"""Everything that could not be had in a run, and why, in sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.printed import printed, printed_of, shows_labels
from frugalmct.paper.studies.registry import CALL_STUDIES, STUDIES
from frugalmct.paper.studies.scope import ALL, LIGHT

NOT_MADE = "it was not made in this run"

Tables = Mapping[str, pd.DataFrame]


def gap_lines(
    tables: Tables, missing: Mapping[str, str], datasets: list[str], settings: Mapping[str, Any]
) -> list[str]:
    lines = [
        *(f"Table {name}: {reason}." for name, reason in missing.items()),
        *_stand_ins(datasets, settings),
        *_not_asked(datasets, settings),
        *_of_labels_only(datasets, settings),
        *(line for name, content in tables.items() for line in _of_table(name, content)),
    ]
    return list(dict.fromkeys(lines))


def missing_because(name: str, tables: Tables, datasets: list[str]) -> str:
    """Why an item of the report has no table or picture, though none failed."""
    statistics = tables.get("dataset_statistics", pd.DataFrame())
    simulated = "data" in statistics and (statistics["data"] == "simulated").any()
    if name == "simulation_fidelity" and datasets and not simulated:
        return "no dataset of this run is simulated"
    if name == "label_distribution" and datasets and not any(map(shows_labels, datasets)):
        shown = listed(name for name in printed() if shows_labels(name))
        return f"the paper shows the labels of {shown}, which is not among the datasets run"
    return NOT_MADE


def _stand_ins(datasets: list[str], settings: Mapping[str, Any]) -> Iterator[str]:
    """The studies that the paper makes on datasets that were not run."""
    if not any(map(printed_of, datasets)):
        return
    wanted = settings.get("case_study", {}).get("dataset")
    if wanted and wanted not in datasets:
        yield (
            f"Case study, runtimes, labels, examples and solvers: {wanted} is not among the datasets run; "
            "others stand in for it, and the paper's numbers cannot be compared."
        )
    lacking = [name for name in settings.get("training_size", {}) if name not in datasets]
    if lacking:
        yield f"Accuracy and training size: {listed(lacking)} are not shown: they are not run."


def _of_labels_only(datasets: list[str], settings: Mapping[str, Any]) -> Iterator[str]:
    """What does not apply where calls have costs of their own."""
    blocks = settings.get("datasets", {})
    calls = [name for name in datasets if blocks.get(name, {}).get("per_call")]
    left = [exhibit.title for exhibit in all_exhibits() if calls and not exhibit.shows(calls, calls)]
    if left:
        yield (
            f"{listed(calls)}: one answer stands, and every call has its own cost; what is of label sets and "
            f"one price per service does not apply: {'; '.join(left)}."
        )


def _not_asked(datasets: list[str], settings: Mapping[str, Any]) -> Iterator[str]:
    """The studies that are made of a dataset of one's own only when it asks for them."""
    for name in datasets:
        block = settings.get("datasets", {}).get(name, {})
        asked = block.get("studies")
        if asked is None or printed_of(name) or ALL in asked:
            continue
        offered = CALL_STUDIES if block.get("per_call") else STUDIES
        left = [study for study in offered if study not in (*asked, *LIGHT)]
        if left:
            yield f"{name}: not asked for, and not made: {listed(left)}; add `studies: [{ALL}]` to its block."


def _of_table(name: str, content: pd.DataFrame) -> Iterator[str]:
    """Rows that say why they lack something."""
    reasons = content["reason"] if "reason" in content else pd.Series(index=content.index, dtype=object)
    if "status" in content:
        status = content["status"].astype(str)
        reasons = reasons.where(reasons.notna(), status.where(status.str.startswith(("failed", "skipped"))))
    keys = [key for key in ("dataset", "datasets", "method", "solver", "target") if key in content]
    keys += ["service"] if name == "service_prices" else []
    for place, reason in reasons.dropna().items():
        row = content.loc[place]
        yield f"Table {name}, {', '.join(str(row[key]) for key in keys)}: {reason}."
