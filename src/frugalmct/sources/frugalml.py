"""The authors' release of FrugalML: one label an item, one line an item in every file.

    Model2_ImageName.txt        train_00389.jpg,
    Model2_TrueLabel.txt        3
    Model2_PredictedLabel.txt   3
    Model2_Confidence.txt       9.98e-01

The n-th line of a service's files is about the n-th of its names; services are brought together by name.
Truth and answers become sets of one label, the number as text.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from frugalmct.errors import FrugalError
from frugalmct.market import Market
from frugalmct.sources.reading import thinned
from frugalmct.sources.recorded import Answer, market_of, read_names, same_items, score_of, services_of
from frugalmct.sources.release import file_of, read_text
from frugalmct.values import shown

# No class has a longer number, and Python converts only a few thousand digits.
MAX_DIGITS = 18


def load(name: str, block: Mapping[str, Any], *, seed: int = 0, scale: float = 1.0) -> Market:
    """The market of a config block `{task, prices, source: {kind: frugalml, path: <dataset's folder>}}`."""
    folder, services = services_of(name, block)
    first = next(iter(services.values()))
    items = read_names(folder, first)

    def tables() -> Iterator[Iterator[Answer]]:
        truth = _labels(file_of(folder, first, "TrueLabel"), len(items))
        yield ({label: 1.0} for label in truth)
        for index in services.values():
            names = read_names(folder, index)
            same_items(file_of(folder, index, "ImageName"), names, items)
            labels = _labels(file_of(folder, index, "PredictedLabel"), len(names))
            scores = _scores(file_of(folder, index, "Confidence"), len(names))
            yield ({labels[names[item]]: scores[names[item]]} for item in items)

    return thinned(market_of(name, block, list(items), tables()), seed, scale)


def _lines(path: Path, count: int) -> list[str]:
    lines = read_text(path).split()
    if len(lines) != count:
        raise FrugalError(f"{path}: has {len(lines):,} lines for {count:,} named items; get the file anew.")
    return lines


def _labels(path: Path, count: int) -> list[str]:
    labels = _lines(path, count)
    for number, label in enumerate(labels, 1):
        if not label.isdecimal() or len(label) > MAX_DIGITS:
            raise FrugalError(
                f"{path}, line {number}: the label is {shown(label)}; it must be the number of a class, "
                "from 0 on."
            )
    return [str(int(label)) for label in labels]


def _scores(path: Path, count: int) -> list[float]:
    return [
        score_of(_number(text), f"{path}, line {number}")
        for number, text in enumerate(_lines(path, count), 1)
    ]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
