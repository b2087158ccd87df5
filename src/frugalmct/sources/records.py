"""Items of a data file, one by one: which keys an item has, and the market that they make together."""

from array import array
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.arrays import text_array
from frugalmct.errors import listed
from frugalmct.market import Extras, LabelMarket, QualityMarket, text_column
from frugalmct.sources.columns import AnswerFeatures, Answers, Costs, ServiceNumbers, Texts, feature_fault
from frugalmct.sources.faults import Faults
from frugalmct.sources.reading import sorted_vocabulary
from frugalmct.sources.services import Services
from frugalmct.values import shown, text_fault

OPTIONAL = ("text", "costs", "answer_features", "features")


class Records:
    """Checks items one by one and collects them.

    After a problem the collected arrays are of no use; reading goes on to find the other problems.
    """

    def __init__(self, priced: tuple[str, ...]) -> None:
        self.faults = Faults()
        self.services = Services(priced, self.faults)
        self.ids: dict[str, int] = {}
        self.answers = Answers(self.services, self.faults)
        self.quality = ServiceNumbers(
            "quality", "it must be a number in [0, 1], or null.", self.services, self.faults
        )
        self.costs = Costs("cost", "it must be a number, 0 or more.", self.services, self.faults)
        self.texts = Texts(self.faults)
        self.answer_features = AnswerFeatures(self.services, self.faults)
        self.features = array("d")
        self.feature_count: int | None = None
        self.features_line = 0
        self._first: tuple[int, set[str]] | None = None
        self._required: dict[str, Callable[[Any], None]] = {}
        self._optional = {
            "text": self.texts.read,
            "costs": self.costs.read,
            "answer_features": self.answer_features.read,
        }

    @property
    def has_quality(self) -> bool:
        return "quality" in self._required

    def read(self, record: Any) -> None:
        """One line's value."""
        required = self._required or self._keys_of({})
        if type(record) is not dict:
            self.faults.add(
                f"{shown(record)} is not an item; an item is one JSON object with {listed(required)}."
            )
            return
        if self._first is None:
            self._first = (self.faults.line, {key for key in self._optional if key in record})
            required = self._required = self._keys_of(record)
        for key in record:
            if key not in required and key not in OPTIONAL:
                self.faults.add(f"unknown key {shown(key)}; {self._rule()}")
        for key, check in required.items():
            if key in record:
                check(record[key])
            else:
                self.faults.add(f"the key '{key}' is missing; an item has {listed(required)}.")
        for key, check in self._optional.items():
            self._read_optional(key, check, record, *self._first)
        self._read_features(record)

    def _keys_of(self, record: Mapping[str, Any]) -> dict[str, Callable[[Any], None]]:
        if "quality" in record and "predictions" not in record:
            return {"id": self._read_id, "quality": self.quality.read}
        return {
            "id": self._read_id,
            "truth": self.answers.read_truth,
            "predictions": self.answers.read_predictions,
        }

    def _rule(self) -> str:
        return (
            f"an item of this file has {listed(self._required)}, and may have {listed(OPTIONAL)} (a file has "
            "truth and predictions, or quality)."
        )

    def _read_id(self, value: Any) -> None:
        if fault := text_fault(value):
            self.faults.add(f"the id {fault}")
        elif value in self.ids:
            self.faults.add(f"the id {shown(value)} was given on line {self.ids[value]}; make ids unique.")
        else:
            self.ids[value] = self.faults.line

    def _read_optional(
        self, key: str, check: Callable[[Any], None], record: Mapping[str, Any], line: int, given: set[str]
    ) -> None:
        """line: the first, which has the keys `given`."""
        if (key in record) != (key in given):
            here, there = ("given", "not") if key in record else ("missing", "given")
            self.faults.add(
                f"the key '{key}' is {here}, but on line {line} it is {there}; give it on every "
                "line, or on none."
            )
        if key in record:
            check(record[key])

    def _read_features(self, record: Mapping[str, Any]) -> None:
        values = record.get("features", [])
        if "features" in record and (fault := feature_fault(values)):
            self.faults.add(f"the feature{fault}" if fault.startswith("s are") else f"feature{fault}")
            return
        if self.feature_count is None:
            self.feature_count, self.features_line = len(values), self.faults.line
        if len(values) != self.feature_count:
            self.faults.add(
                f"there are {len(values)} features, but line {self.features_line} has {self.feature_count}; "
                "give equally many on every line, or none at all."
            )
        self.features.extend(values)

    def market(self, name: str, task: str, prices: Mapping[str, float]) -> LabelMarket | QualityMarket:
        items, extras = len(self.ids), self._extras()
        shared: dict[str, Any] = {
            "name": name,
            "task": task,
            "items": text_array("the ids", list(self.ids)),
            "services": self.services.names,
            "prices": self._prices(prices, extras.costs),
            "features": np.asarray(self.features).reshape(items, -1) if self.features else None,
            "extras": extras,
        }
        if self.has_quality:
            return QualityMarket(quality=self.quality.table(items), **shared)
        labels, column = sorted_vocabulary(self.answers.codes)
        return LabelMarket(
            labels=labels,
            truth=self.answers.truth.matrix(column),
            scores=tuple(sets.matrix(column) for sets in self.answers.answers),
            **shared,
        )

    def _extras(self) -> Extras:
        items = len(self.ids)
        return Extras(
            costs=self.costs.table(items) if self.costs.values else None,
            text=text_column(self.texts.values) if self.texts.values else None,
            answer_numbers=self.answer_features.tables(items) if self.answer_features.values else None,
        )

    def _prices(self, prices: Mapping[str, float], costs: NDArray[np.float64] | None) -> NDArray[np.float64]:
        if costs is not None:
            return costs.mean(axis=0)
        return np.array([prices.get(service, 0.0) for service in self.services.names], dtype=np.float64)
