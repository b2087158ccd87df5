"""The columns of a data file in the making: each reads its own key of every item, checks it and keeps it."""

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.checks import MAX_MONEY, MIN_MONEY
from frugalmct.sources.faults import Faults
from frugalmct.sources.reading import LabelSets
from frugalmct.sources.services import Services
from frugalmct.values import shown, text_fault

# Forests work in single precision; a larger number would turn into infinity there.
MAX_FEATURE = float(np.finfo(np.float32).max)
MAX_ANSWER_FEATURES = 1_000


def feature_fault(values: Any, most: int | None = None) -> str | None:
    """Why a value is no list of numbers, if so: the end of a sentence that begins with what it is."""
    if type(values) is not list or not values or (most is not None and len(values) > most):
        return f"s are {shown(values)}; they must be a list of finite numbers."
    for number, value in enumerate(values, 1):
        if type(value) not in (float, int) or not -MAX_FEATURE <= value <= MAX_FEATURE:
            return f" {number} is {shown(value)}; it must be a number from -3.4e38 to 3.4e38."
    return None


class Answers:
    """`truth` and `predictions`: label sets over one vocabulary in the making."""

    def __init__(self, services: Services, faults: Faults) -> None:
        self.services, self.faults = services, faults
        self.codes: dict[str, int] = {}
        self.truth = LabelSets()
        self.answers: list[LabelSets] = []

    def _code(self, label: Any, where: str, number: int) -> int | None:
        """The label's number; a label seen before was checked then."""
        code = self.codes.get(label) if type(label) is str else None
        if code is None:
            if fault := text_fault(label):
                self.faults.add(f"{where}, entry {number}: the label {fault}")
                return None
            code = self.codes[label] = len(self.codes)
        return code

    def read_truth(self, value: Any) -> None:
        if type(value) is not list:
            self.faults.add(f"the truth is {shown(value)}; it must be a list of labels.")
            return
        codes = [self._code(label, "truth", number) for number, label in enumerate(value, 1)]
        self.truth.append({code: 1.0 for code in codes if code is not None})

    def read_predictions(self, value: Any) -> None:
        if type(value) is not dict:
            self.faults.add(
                f"predictions are {shown(value)}; they must be an object with a list for each service."
            )
            return
        if not self.services.known_from("predictions", value):
            return
        if not self.answers:
            self.answers = [LabelSets() for _ in self.services.names]
        self.services.compare("answer", value)
        for service, sets in zip(self.services.names, self.answers, strict=True):
            if service in value:
                self._read_answer(value[service], service, sets)

    def _read_answer(self, answer: Any, service: str, sets: LabelSets) -> None:
        if answer is None:  # the service failed
            answer = []
        if type(answer) is not list:
            self.faults.add(
                f"the answer of {service} is {shown(answer)}; it must be a list of [label, score] pairs."
            )
            return
        best: dict[int, float] = {}
        for number, pair in enumerate(answer, 1):
            if type(pair) is not list or len(pair) != 2:
                self.faults.add(
                    f"{service}, entry {number}: {shown(pair)} is not a pair; give [label, score]."
                )
                continue
            label, score = pair
            code = self._code(label, service, number)
            # By type, since True and False are integers to Python; NaN fails the comparison.
            if type(score) not in (float, int) or not 0 <= score <= 1:
                self.faults.add(
                    f"{service}, entry {number}: the score is {shown(score)}; it must be a number in [0, 1]."
                )
            elif code is not None and score >= best.get(code, 0):
                best[code] = score
        sets.append(best)


class ServiceNumbers:
    """A number for every service: `quality`, or `costs`."""

    def __init__(self, noun: str, rule: str, services: Services, faults: Faults) -> None:
        self.noun, self.rule, self.services, self.faults = noun, rule, services, faults
        self.values = array("d")

    def read(self, value: Any) -> None:
        if type(value) is not dict:
            self.faults.add(
                f"the {self.noun} is {shown(value)}; it must be an object with a number for each service."
            )
            return
        if not self.services.known_from(f"the {self.noun} must", value):
            return
        self.services.compare(self.noun, value)
        for service in self.services.names:
            number = value.get(service, 0.0)
            if self._wrong(number):
                self.faults.add(f"the {self.noun} of {service} is {shown(number)}; {self.rule}")
                number = 0.0
            self.values.append(number or 0.0)

    def _wrong(self, number: Any) -> bool:
        return number is not None and (type(number) not in (float, int) or not 0 <= number <= 1)

    def table(self, items: int) -> NDArray[np.float64]:
        return np.array(self.values, dtype=np.float64).reshape(items, -1)


class Costs(ServiceNumbers):
    """What each call cost: no limit but that of money, and never missing."""

    def _wrong(self, number: Any) -> bool:
        return type(number) not in (float, int) or not (number == 0 or MIN_MONEY <= number <= MAX_MONEY)


class Texts:
    """`text`: of any length."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.values: list[str] = []

    def read(self, value: Any) -> None:
        fault = None
        if type(value) is not str:
            fault = f"the text is {shown(value)}; it must be a text."
        elif not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                fault = f"the text is {shown(value)}; half a surrogate pair is not a character."
        if fault:
            self.faults.add(fault)
        else:
            self.values.append(value)


class AnswerFeatures:
    """`answer_features`: for some services equally many numbers on every line."""

    def __init__(self, services: Services, faults: Faults) -> None:
        self.services, self.faults = services, faults
        self.counts: dict[str, int] = {}
        self.values: dict[str, array[float]] = {}
        self._line = 0

    def read(self, value: Any) -> None:
        if type(value) is not dict or not value:
            self.faults.add(
                f"the answer_features are {shown(value)}; they must be an object with a list of numbers for "
                "each service that has some."
            )
            return
        self.services.refuse_unknown(value)
        if not self._line:
            self._line = self.faults.line
        for service in [*self.counts, *(name for name in value if name not in self.counts)]:
            self._read_service(service, value)

    def _read_service(self, service: str, value: Mapping[str, Any]) -> None:
        numbers = value.get(service, [])
        if numbers is None and service in self.counts:  # the service failed
            numbers = [0.0] * self.counts[service]
        if service in value and (fault := feature_fault(numbers, MAX_ANSWER_FEATURES)):
            self.faults.add(f"answer_features of {shown(service)}: feature{fault}")
            return
        if self._line == self.faults.line:
            self.counts.setdefault(service, len(numbers))
        if len(numbers) != self.counts.get(service, 0):
            self.faults.add(
                f"there are {len(numbers)} answer_features of {shown(service)}, but line {self._line} has "
                f"{self.counts.get(service, 0)}; give equally many on every line."
            )
        self.values.setdefault(service, array("d")).extend(numbers)

    def tables(self, items: int) -> tuple[NDArray[np.float64] | None, ...]:
        return tuple(
            np.array(self.values[name], dtype=np.float64).reshape(items, -1) if name in self.values else None
            for name in self.services.names
        )
