"""Training items to combiners, of every base that may be chosen."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from frugalmct.combine import Combiners
from frugalmct.errors import FrugalError
from frugalmct.files import write_text
from frugalmct.market import Market
from frugalmct.model import Learning
from frugalmct.paper.stages.plans import bases_to_try
from frugalmct.splits import Split
from frugalmct.values import REMAKE, json_in, numbered


@dataclass(frozen=True)
class Combination:
    """Base -> its combiners."""

    combiners: Mapping[int, Combiners]

    @classmethod
    def fit(cls, market: Market, parts: Split, base: str, learning: Learning) -> "Combination":
        """Searched for on all training items, for the base of that name or for each when it is `auto`."""
        train = market.subset(parts.whole_train)
        found: dict[int, Combiners] = {}
        for tried in bases_to_try(market, base):
            found[tried] = learning.combiners(train, tried, found)
        return cls(found)

    def save(self, path: str | Path) -> None:
        combiners = {str(base): found.to_dict() for base, found in self.combiners.items()}
        write_text(path, json.dumps(combiners, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "Combination":
        with json_in(path, "combiners file", REMAKE) as values:
            found = {base: Combiners.from_dict(value) for base, value in numbered("it", values)}
            if not found or any(base != combiners.base for base, combiners in found.items()):
                raise FrugalError("it does not hold the combiners of the bases that it names")
            return cls(found)
