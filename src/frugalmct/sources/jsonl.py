"""Recorded answers as JSON Lines: one item a line, as plain text or gzip, read as a stream.

    {"id": "a1", "truth": ["car"], "predictions": {"Google": [["car", 0.98]], "Microsoft": []}}

- `id`: a non-empty text, unique in the file. A number is refused rather than converted: 1 and "1" would
  be one item to us and two to whoever wrote them.
- `truth`: the true labels, each a non-empty text; a repeated one counts once.
- `predictions`: for every service the list of its [label, score] pairs, scores in [0, 1]; a repeated label
  counts once, with its highest score.
- `features`: optional; equally many finite numbers on every line, or on no line.

Blank lines are skipped, and so is a byte order mark. Whether a file is gzip is decided by its content, so its
name does not matter.
"""

import gzip
import json
import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from frugalmct.arrays import text_array
from frugalmct.errors import FrugalError, listed
from frugalmct.market import LabelMarket
from frugalmct.sources.lines import MAX_LINE_BYTES, Swollen, lines, opened
from frugalmct.sources.reading import LabelSets, sorted_vocabulary, thinned
from frugalmct.values import DECODER, MAX_SERVICES, Malformed, shown, text_fault
from frugalmct.values import MAX_TEXT as MAX_TEXT

MAX_PROBLEMS = 20
MAX_NAMED = 20
# Reading ends after the line that reaches so many: a file of another format is wrong in every line.
MAX_COUNTED = 100_000
# Forests work in single precision; a larger number would turn into infinity there.
MAX_FEATURE = float(np.finfo(np.float32).max)


class Problem(NamedTuple):
    """One thing wrong with a data file."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


class DataProblems(FrugalError):
    """Everything wrong with a data file: the first problems in full, and how many there are in all."""

    def __init__(self, path: str | Path, problems: Sequence[Problem], total: int) -> None:
        super().__init__(path, problems, total)
        self.path = path
        self.problems = tuple(problems)
        self.total = total

    def __str__(self) -> str:
        if self.total == 1:
            return f"{self.path}, {self.problems[0]}"
        unlisted = self.total - len(self.problems)
        end = "; reading ended there" if self.total >= MAX_COUNTED else ""
        rest = [f"and {unlisted:,} more{end}"] if unlisted else []
        return "\n  ".join([f"{self.path} has {self.total:,} problems:", *map(str, self.problems), *rest])


def load(name: str, block: Mapping[str, Any], *, seed: int = 0, scale: float = 1.0) -> LabelMarket:
    """The market of a config block `{task, prices, source: {kind: jsonl, path}}`.

    The path is relative to the working directory.
    """
    market = read_jsonl(block["source"]["path"], block["prices"], name=name, task=block["task"])
    return thinned(market, seed, scale)


def read_jsonl(
    path: str | Path, prices: Mapping[str, float] | None = None, *, name: str = "", task: str = ""
) -> LabelMarket:
    """The market in a file; a file with anything wrong raises `DataProblems`.

    `prices` says which services there must be and in which order. Without it the services are those of the
    first item, at price 0. The label vocabulary is sorted by code point.
    """
    reader = _Reader(tuple(prices or ()))
    with opened(path) as handle:
        _read_items(handle, reader)
    if reader.problem_count:
        raise DataProblems(path, reader.problems, reader.problem_count)
    if not reader.ids:
        raise FrugalError(f"{path}: the file has no items; give one JSON object a line.")
    try:
        return reader.market(name or _plain_name(path), task, prices or {})
    except FrugalError as error:
        raise FrugalError(f"{path}: {error}") from None


def _plain_name(path: str | Path) -> str:
    return Path(path).name.removesuffix(".gz").removesuffix(".jsonl")


def _read_items(handle: BinaryIO, reader: "_Reader") -> None:
    """Feeds every line to the reader; damage of the gzip data is one more problem of the file."""
    try:
        for line in lines(handle):
            reader.line += 1
            if line:
                reader.read(line)
            if reader.problem_count >= MAX_COUNTED:
                break
    except Swollen as error:
        reader.add_problem(str(error), after=1)
    except EOFError:
        reader.add_problem("the gzip data end early here; the file was cut short, so make it again.", after=1)
    except (gzip.BadGzipFile, zlib.error) as error:
        reader.add_problem(f"the gzip data are damaged here ({error}); make the file again.", after=1)


def _parse(line: bytes) -> Any:
    if len(line) >= MAX_LINE_BYTES:
        raise Malformed(f"the line is longer than {MAX_LINE_BYTES:,} bytes; give one item a line.")
    try:
        return DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        byte, column = line[error.start], error.start + 1
        raise Malformed(
            f"byte 0x{byte:02x} at column {column} is not UTF-8; save the file as UTF-8, plain or gzip."
        ) from None
    except json.JSONDecodeError as error:
        raise Malformed(
            f"not valid JSON at column {error.pos + 1} ({error.msg}); each line must be one JSON object."
        ) from None
    except RecursionError:
        raise Malformed("the JSON is nested too deeply; an item has four levels at most.") from None
    except ValueError:
        # What is left is Python's limit on the digits of an integer.
        raise Malformed("a number has too many digits; give a finite number.") from None


class _Reader:
    """Checks items one by one and collects them.

    After a problem the collected arrays are of no use; reading goes on to find the other problems.
    """

    def __init__(self, priced: tuple[str, ...]) -> None:
        self.line = 0
        self.problems: list[Problem] = []
        self.problem_count = 0
        self.priced = priced
        self.services = priced
        self.services_line = 0
        self.ids: dict[str, int] = {}
        self.label_codes: dict[str, int] = {}
        self.truth = LabelSets()
        self.answers = [LabelSets() for _ in priced]
        self.features = array("d")
        self.feature_count: int | None = None
        self.features_line = 0
        self.checks: dict[str, Callable[[Any], None]] = {
            "id": self._read_id,
            "truth": self._read_truth,
            "predictions": self._read_predictions,
        }

    def add_problem(self, text: str, *, after: int = 0) -> None:
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(self.line + after, text))

    def read(self, line: bytes) -> None:
        try:
            record = _parse(line)
        except Malformed as error:
            self.add_problem(str(error))
            return
        if type(record) is not dict:
            self.add_problem(
                f"{shown(record)} is not an item; an item is one JSON object with {listed(self.checks)}."
            )
            return
        for key in record:
            if key not in self.checks and key != "features":
                self.add_problem(
                    f"unknown key {shown(key)}; an item has {listed(self.checks)}, and may have features."
                )
        for key, check in self.checks.items():
            if key in record:
                check(record[key])
            else:
                self.add_problem(f"the key '{key}' is missing; an item has {listed(self.checks)}.")
        self._read_features(record)

    def _read_id(self, value: Any) -> None:
        if fault := text_fault(value):
            self.add_problem(f"the id {fault}")
        elif value in self.ids:
            self.add_problem(f"the id {shown(value)} was given on line {self.ids[value]}; make ids unique.")
        else:
            self.ids[value] = self.line

    def _label_code(self, label: Any, where: str, number: int) -> int | None:
        """The label's number; a label seen before was checked then."""
        code = self.label_codes.get(label) if type(label) is str else None
        if code is None:
            if fault := text_fault(label):
                self.add_problem(f"{where}, entry {number}: the label {fault}")
                return None
            code = self.label_codes[label] = len(self.label_codes)
        return code

    def _read_truth(self, value: Any) -> None:
        if type(value) is not list:
            self.add_problem(f"the truth is {shown(value)}; it must be a list of labels.")
            return
        codes = [self._label_code(label, "truth", number) for number, label in enumerate(value, 1)]
        self.truth.append({code: 1.0 for code in codes if code is not None})

    def _read_predictions(self, value: Any) -> None:
        if type(value) is not dict:
            self.add_problem(
                f"predictions are {shown(value)}; they must be an object with a list for each service."
            )
            return
        if not self.services and not self._adopt_services(tuple(value)):
            return
        if value.keys() != set(self.services):
            self._compare_services(value)
        for service, sets in zip(self.services, self.answers, strict=True):
            if service in value:
                self._read_answer(value[service], service, sets)

    def _adopt_services(self, services: tuple[str, ...]) -> bool:
        """Takes the services of the first item as those of the file."""
        if not services:
            self.add_problem("predictions name no service; name at least one.")
            return False
        if len(services) > MAX_SERVICES:
            self.add_problem(
                f"predictions name {len(services):,} services; at most {MAX_SERVICES:,} are allowed."
            )
            return False
        faults = [fault for service in services if (fault := text_fault(service))]
        for fault in faults:
            self.add_problem(f"the name of a service {fault}")
        if faults:
            return False
        self.services, self.services_line = services, self.line
        self.answers = [LabelSets() for _ in services]
        return True

    def _compare_services(self, predictions: Mapping[str, Any]) -> None:
        origin = "those with a price" if self.priced else f"those of line {self.services_line}"
        more = len(self.services) - MAX_NAMED
        named = listed(self.services[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        rule = f"the services are {origin}: {named}."
        known = set(self.services)
        for service in predictions:
            if service not in known:
                self.add_problem(f"unknown service {shown(service)}; {rule}")
        for service in self.services:
            if service not in predictions:
                self.add_problem(f"the answer of {shown(service)} is missing; {rule}")

    def _read_answer(self, answer: Any, service: str, sets: LabelSets) -> None:
        if type(answer) is not list:
            self.add_problem(
                f"the answer of {service} is {shown(answer)}; it must be a list of [label, score] pairs."
            )
            return
        best: dict[int, float] = {}
        for number, pair in enumerate(answer, 1):
            if type(pair) is not list or len(pair) != 2:
                self.add_problem(
                    f"{service}, entry {number}: {shown(pair)} is not a pair; give [label, score]."
                )
                continue
            label, score = pair
            code = self._label_code(label, service, number)
            # By type, since True and False are integers to Python; NaN fails the comparison.
            if type(score) not in (float, int) or not 0 <= score <= 1:
                self.add_problem(
                    f"{service}, entry {number}: the score is {shown(score)}; it must be a number in [0, 1]."
                )
            elif code is not None and score >= best.get(code, 0):
                best[code] = score
        sets.append(best)

    def _read_features(self, record: Mapping[str, Any]) -> None:
        values = record.get("features", [])
        if "features" in record and not self._are_features(values):
            return
        if self.feature_count is None:
            self.feature_count, self.features_line = len(values), self.line
        if len(values) != self.feature_count:
            self.add_problem(
                f"there are {len(values)} features, but line {self.features_line} has {self.feature_count}; "
                "give equally many on every line, or none at all."
            )
        self.features.extend(values)

    def _are_features(self, values: Any) -> bool:
        if type(values) is not list or not values:
            self.add_problem(f"the features are {shown(values)}; they must be a list of finite numbers.")
            return False
        for number, value in enumerate(values, 1):
            if type(value) not in (float, int) or not -MAX_FEATURE <= value <= MAX_FEATURE:
                self.add_problem(
                    f"feature {number} is {shown(value)}; it must be a number from -3.4e38 to 3.4e38."
                )
                return False
        return True

    def market(self, name: str, task: str, prices: Mapping[str, float]) -> LabelMarket:
        labels, column = sorted_vocabulary(self.label_codes)
        features = np.asarray(self.features).reshape(len(self.ids), -1) if self.features else None
        return LabelMarket(
            name=name,
            task=task,
            items=text_array("the ids", list(self.ids)),
            labels=labels,
            services=self.services,
            prices=np.array([prices.get(service, 0.0) for service in self.services], dtype=np.float64),
            truth=self.truth.matrix(column),
            scores=tuple(sets.matrix(column) for sets in self.answers),
            features=features,
        )
