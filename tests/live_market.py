"""A made-up market in which asking a better service pays for some items, and a client that replays it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from frugalmct.market import LabelMarket
from frugalmct.sparse import label_matrix

LABELS = ["car", "bike", "猫", "a b", "é", "tree"]
SERVICES = ("cheap", "good", "best")
PRICES = {"cheap": 0.5, "good": 6.0, "best": 10.0}


def photos(items: int = 300, seed: int = 1, name: str = "photo", share_hard: float = 0.5) -> LabelMarket:
    """One to three true labels an item; on hard items the cheap service is unsure and often wrong."""
    rng = np.random.default_rng(seed)
    true = np.zeros((items, len(LABELS)), dtype=bool)
    for row in true:
        row[rng.choice(len(LABELS), rng.integers(1, 4), replace=False)] = True
    hard = rng.random(items) < share_hard

    def answers(right: float, right_if_hard: float) -> Any:
        chance = np.where(hard, right_if_hard, right)[:, None]
        good = rng.random(true.shape) < chance
        given = np.where(good, true, rng.random(true.shape) < 0.3)
        scores = np.clip(rng.normal(chance * np.ones(true.shape), 0.15), 0.01, 0.99).round(3)
        starts = np.concatenate([[0], np.cumsum(given.sum(axis=1))])
        return label_matrix(starts, np.nonzero(given)[1], scores[given], len(LABELS))

    return LabelMarket(
        name="photos",
        task="MIC",
        items=np.array([f"{name} {n}" for n in range(items)]),
        labels=np.array(LABELS),
        services=SERVICES,
        prices=np.array(list(PRICES.values())),
        truth=label_matrix(
            np.concatenate([[0], np.cumsum(true.sum(axis=1))]), np.nonzero(true)[1], None, len(LABELS)
        ),
        scores=(answers(0.92, 0.4), answers(0.95, 0.75), answers(0.97, 0.9)),
    )


def answer_of(market: LabelMarket, service: str, row: int) -> list[list]:
    """What a service answered, as a client gets it."""
    scores = market.scores[market.services.index(service)]
    cut = slice(scores.indptr[row], scores.indptr[row + 1])
    return [
        [str(market.labels[label]), float(score)]
        for label, score in zip(scores.indices[cut], scores.data[cut], strict=True)
    ]


class Recorded:
    """`ask` for a router: replays a market's answers and keeps what was asked."""

    def __init__(self, market: LabelMarket) -> None:
        self.market, self.calls = market, []
        self._row = {str(item): row for row, item in enumerate(market.items)}

    def __call__(self, service: str, item: dict) -> list[list]:
        self.calls.append((service, item["id"]))
        return answer_of(self.market, service, self._row[item["id"]])

    def items(self) -> Iterator[dict]:
        return ({"id": str(item)} for item in self.market.items)
