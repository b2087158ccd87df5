"""What a market was made with, kept in its file: whoever learns from it later agrees with whoever made it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from frugalmct.errors import FrugalError, listed
from frugalmct.metrics import METRICS
from frugalmct.values import Fields, shown

SILENCE = {"abstain": True, "reject": False}
LEARNING = ("labels_per_item", "metric", "features", "abstain")


@dataclass(frozen=True)
class MarketSettings:
    """None, or an empty text, where nothing was said.

    labels_per_item: the most labels an item can have; metric, features: as in `Learning`; abstain: whether in
    the paper's method a silent service has no say (`silence: abstain`); unit: what prices are in; period:
    when the answers were recorded.
    """

    labels_per_item: int | None = None
    metric: str | None = None
    features: str | None = None
    abstain: bool | None = None
    unit: str = ""
    period: str = ""

    def __post_init__(self) -> None:
        where, limit = "Market settings", self.labels_per_item
        if limit is not None and (type(limit) is not int or limit < 1):
            raise FrugalError(f"{where}: labels_per_item is {shown(limit)}; give a whole number, 1 or more.")
        if self.metric is not None and self.metric not in METRICS:
            raise FrugalError(f"{where}: metric is {shown(self.metric)}; known: {listed(METRICS)}.")

    @classmethod
    def of_block(cls, block: Mapping[str, Any]) -> "MarketSettings":
        """What a dataset's block of a config says, with the run's `silence` where that is given along."""
        features, silence = block.get("features"), block.get("silence")
        one_label = block["source"]["kind"] == "frugalml"
        return cls(
            labels_per_item=block.get("labels_per_item") or (1 if one_label else None),
            metric=block.get("metric"),
            features=None if features == "auto" else features,
            abstain=None if silence is None else SILENCE[silence],
            unit=block.get("unit") or "",
            period=block.get("period") or "",
        )

    def learning(self) -> dict[str, Any]:
        """Those that `Learning` knows, as far as something was said."""
        return {name: value for name in LEARNING if (value := getattr(self, name)) is not None}

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> "MarketSettings":
        fields = Fields("what it was made with", values)
        found: dict[str, Any] = {
            "labels_per_item": fields.optional_whole("labels_per_item", least=1),
            "metric": fields.optional_text("metric"),
            "features": fields.optional_text("features"),
            "abstain": fields.optional_flag("abstain"),
            "unit": fields.text("unit"),
            "period": fields.text("period"),
        }
        fields.done()
        return cls(**found)


NOTHING_SAID = MarketSettings()
