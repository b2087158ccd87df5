"""What both releases' loaders share: items by name, one label set each for truth and for every service."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from frugalmct.arrays import text_array
from frugalmct.errors import FrugalError
from frugalmct.market import LabelMarket
from frugalmct.sources.reading import LabelSets, sorted_vocabulary
from frugalmct.sources.release import file_of, find_services, missing_answers, read_text, refuse_missing
from frugalmct.values import shown, text_fault

# Scores are stored in single precision: the last bit may carry a certain 1 past it.
ROUNDING = 1e-6

Answer = dict[str, float]


def services_of(name: str, block: Mapping[str, Any]) -> tuple[Path, dict[str, int]]:
    """The folder of a config block, and the index of each of its services; all have their answers."""
    source = block["source"]
    folder = Path(source["path"])
    if missing := missing_answers(source["kind"], folder, block["prices"], block["task"]):
        refuse_missing({f"{name}'s {service}": paths for service, paths in missing.items()})
    return folder, find_services(folder, block["prices"], block["task"])


def read_names(folder: Path, index: int) -> dict[str, int]:
    """Item -> its position in the files of a service. A line is `name.jpg,`: the item is `name`."""
    path = file_of(folder, index, "ImageName")
    names: dict[str, int] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        name = line.strip().removesuffix(",").strip()
        if not name:
            continue
        item = name.rpartition(".")[0] or name
        if fault := text_fault(item):
            raise FrugalError(f"{path}, line {number}: the name of the item {fault}")
        if item in names:
            raise FrugalError(
                f"{path}, line {number}: the item {shown(item)} was named before; keep it once."
            )
        names[item] = len(names)
    if not names:
        raise FrugalError(f"{path}: names no item; it must have one a line.")
    return names


def same_items(path: Path, items: Iterable[str], names: Mapping[str, int]) -> None:
    """That a file is about the items named, each once."""
    given = set(items)
    if given == names.keys():
        return
    lacking = next((item for item in names if item not in given), None)
    why = f"{shown(lacking)} is missing" if lacking else f"{shown(min(given - names.keys()))} is not named"
    raise FrugalError(
        f"{path}: has {len(given):,} items where {len(names):,} are named ({why}); get the file anew."
    )


def score_of(value: Any, where: str) -> float:
    """A score in [0, 1]; by type, since True and False are integers to Python."""
    if type(value) not in (float, int) or not -ROUNDING <= value <= 1 + ROUNDING:
        raise FrugalError(f"{where}: the score is {shown(value)}; it must be a number in [0, 1].")
    return min(max(float(value), 0.0), 1.0)


def market_of(
    name: str, block: Mapping[str, Any], items: Sequence[str], answers: Iterable[Iterable[Answer]]
) -> LabelMarket:
    """The market of the truth and then every service's answers, each given item by item."""
    codes: dict[str, int] = {}
    tables = []
    for sets in answers:
        table = LabelSets()
        for answer in sets:
            table.append({codes.setdefault(label, len(codes)): score for label, score in answer.items()})
        tables.append(table)
    labels, column = sorted_vocabulary(codes)
    truth, *scores = (table.matrix(column) for table in tables)
    return LabelMarket(
        name=name,
        task=block["task"],
        items=text_array(f"{name}: the items", items),
        labels=labels,
        services=tuple(block["prices"]),
        prices=np.array(list(block["prices"].values()), dtype=np.float64),
        truth=truth,
        scores=tuple(scores),
        data="release",
    )
