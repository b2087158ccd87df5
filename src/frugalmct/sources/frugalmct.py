"""The authors' release of FrugalMCT: several labels an item, one JSON object a file.

    Model2_PredictedLabel.txt   {"2010_004459": [{"transcription": "car", "confidence": 0.99}], ...}
    Model2_TrueLabel.txt        {"2010_004459": [{"transcription": "car"}], ...}
    Model2_ImageName.txt        2010_004459.jpg,
    labelmap.json               {"person": 0, "bird": 1, ...}

The items and their order are those of the names. What counts as a label goes by the task, as in the paper:

- MIC: the labels of the map; others that a service answers are dropped. `night` is no label of MIR.
- STR: single characters, those of the map, Chinese ones and digits.
- NER: an entity with its type, `brussels_loc`, of the three types that all datasets have.

A label repeated in one answer counts once, with its highest score.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from frugalmct.errors import FrugalError
from frugalmct.market import Market
from frugalmct.sources.reading import thinned
from frugalmct.sources.recorded import Answer, market_of, read_names, same_items, score_of, services_of
from frugalmct.sources.release import MAX_FILE_BYTES, decoded, file_of, read_text
from frugalmct.values import DECODER, Malformed, shown, text_fault

LABEL_MAP = "labelmap.json"
# The paper: it is not in the label set of any service.
REMOVED_LABELS = {"mlserviceperformance_MIR": {"night"}}
ENTITY = re.compile(r".+_(per|loc|org)", re.DOTALL)
# Ideographs of the basic plane, its compatibility block, and the planes that hold nothing else.
CHARACTER = re.compile(r"[0-9\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")

# A text of the release -> the labels in it; of the truth, a text without a place in the label set is a fault.
LabelsOf = Callable[[str], Iterable[str]]


def load(name: str, block: Mapping[str, Any], *, seed: int = 0, scale: float = 1.0) -> Market:
    """The market of a config block `{task, prices, source: {kind: frugalmct, path: <dataset's folder>}}`."""
    folder, services = services_of(name, block)
    first = next(iter(services.values()))
    names = read_names(folder, first)
    label_map = _label_map(folder) if block["task"] in ("MIC", "STR") else set()
    labels_of = _labels_of(block["task"], label_map)

    def tables() -> Iterator[Iterator[Answer]]:
        """One file is held at a time."""
        removed = REMOVED_LABELS.get(folder.name, set())
        known = label_map | removed if block["task"] == "MIC" else None
        yield _true_sets(file_of(folder, first, "TrueLabel"), names, labels_of, known)
        for index in services.values():
            yield _answers(file_of(folder, index, "PredictedLabel"), names, labels_of)

    return thinned(market_of(name, block, list(names), tables()), seed, scale)


def _label_map(folder: Path) -> set[str]:
    path = folder / LABEL_MAP
    labels = _parsed(read_text(path), path)
    for label in labels:
        if fault := text_fault(label):
            raise FrugalError(f"{path}: a label {fault}")
    return set(labels) - REMOVED_LABELS.get(folder.name, set())


def _labels_of(task: str, label_map: set[str]) -> LabelsOf:
    if task == "STR":
        return lambda text: {sign for sign in text if sign in label_map or CHARACTER.match(sign)}
    if task == "NER":
        return lambda text: [text] if ENTITY.fullmatch(text) else []
    if task == "MIC":
        return lambda text: [text] if text in label_map else []
    return lambda text: [text]


def _true_sets(
    path: Path, names: Mapping[str, int], labels_of: LabelsOf, known: set[str] | None
) -> Iterator[Answer]:
    for item, entries in _entries(path, names):
        truth: Answer = {}
        for entry in entries:
            text = _text(entry, path, item)
            if known is not None and text not in known:
                raise FrugalError(
                    f"{path}, item {shown(item)}: the true label {shown(text)} is not in {LABEL_MAP}; "
                    "add it there."
                )
            truth |= dict.fromkeys(labels_of(text), 1.0)
        yield truth


def _answers(path: Path, names: Mapping[str, int], labels_of: LabelsOf) -> Iterator[Answer]:
    for item, entries in _entries(path, names):
        answer: Answer = {}
        for entry in entries:
            labels = labels_of(_text(entry, path, item))
            if not isinstance(entry, dict):
                raise FrugalError(
                    f"{path}, item {shown(item)}: the answer {shown(entry)} has no score; it must be "
                    "an object with transcription and confidence."
                )
            score = score_of(entry.get("confidence"), f"{path}, item {shown(item)}")
            for label in labels:
                answer[label] = max(score, answer.get(label, 0.0))
        yield answer


def _text(entry: Any, path: Path, item: str) -> str:
    text: Any = entry.get("transcription") if isinstance(entry, dict) else entry
    if fault := text_fault(text):
        raise FrugalError(f"{path}, item {shown(item)}: a label {fault}")
    return text


def _entries(path: Path, names: Mapping[str, int]) -> Iterator[tuple[str, list[Any]]]:
    """What a file has of every item, in the order of the names."""
    content = _parsed(_content(path), path)
    same_items(path, content, names)
    for item in names:
        entries = content[item]
        if not isinstance(entries, list):
            raise FrugalError(
                f"{path}, item {shown(item)}: has {shown(entries)}; it must have a list of labels."
            )
        yield item, entries


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        content = DECODER.decode(text)
    except Malformed as error:
        raise FrugalError(f"{path}: {error}") from None
    except json.JSONDecodeError as error:
        raise FrugalError(
            f"{path}, line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}); "
            "get the file anew."
        ) from None
    except RecursionError:
        raise FrugalError(f"{path}: the JSON is nested too deeply; get the file anew.") from None
    except ValueError:
        # What is left is Python's limit on the digits of an integer.
        raise FrugalError(f"{path}: a number has too many digits; get the file anew.") from None
    if not isinstance(content, dict):
        raise FrugalError(f"{path}: holds {shown(content)}; it must be one object, item by item.")
    return content


def _content(path: Path) -> str:
    """The text of a file, or of the one file in a zip."""
    if path.suffix != ".zip":
        return read_text(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = [name for name in archive.namelist() if Path(name).name == f"{path.stem}.txt"]
            members = [name for name in members if not name.startswith("__MACOSX")]
            if len(members) != 1:
                raise FrugalError(f"{path}: must hold {path.stem}.txt once; it holds {len(members)} of it.")
            with archive.open(members[0]) as member:
                return decoded(member.read(MAX_FILE_BYTES + 1), path)
    # An encrypted zip, or one packed in a way that Python does not know, is a RuntimeError.
    except (zipfile.BadZipFile, OSError, EOFError, zlib.error, RuntimeError) as error:
        raise FrugalError(f"{path}: is not a readable zip ({error}); get the file anew.") from None
