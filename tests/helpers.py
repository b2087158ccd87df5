"""What several tests share."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from scipy.sparse import csr_matrix

import frugalmct
from frugalmct.baselines.frugalml import item_costs
from frugalmct.market import LabelMarket, Market
from frugalmct.paper.config import validate
from frugalmct.select import chosen
from frugalmct.sparse import label_matrix

SOURCE_DIR = Path(frugalmct.__file__).parent.parent
ROOT = Path(__file__).parents[1]
# The blocks of config.yaml, complete, as jobs get them.
BLOCKS = validate(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))["datasets"]


def run_command(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    """`frugalmct` with these arguments: its code, and what it said on either stream."""
    from frugalmct.cli import main

    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def small_market(**changes: Any) -> LabelMarket:
    """Four items, one without truth; a stored zero score, an empty answer, text beyond ASCII."""
    parts = {
        "name": "small",
        "task": "MIC",
        "items": np.array(["a1", "a2", "画像", "é"]),
        "labels": np.array(["bike", "car", "person", "猫"]),
        "services": ("Google", "科大讯飞"),
        "prices": np.array([15.0, 0.01]),
        "truth": label_matrix([0, 2, 3, 3, 4], [1, 2, 0, 3], None, 4),
        "scores": (
            label_matrix([0, 2, 3, 3, 4], [1, 2, 3, 3], [0.0, 0.5, 1.0, 0.1], 4),
            label_matrix([0, 1, 1, 2, 4], [1, 0, 3, 1], [0.25, 0.75, 1 / 3, 0.2], 4),
        ),
    }
    return LabelMarket(**(parts | changes))


RANDOM_LABELS = 7


def random_market(seed: int, items: int = 30, services: int = 4) -> Market:
    """Some empty answers and truths; scores with ties, and some that are 0."""
    rng = np.random.default_rng(seed)
    truth = rng.random((items, RANDOM_LABELS)) < 0.3
    answers, scores = [], []
    for _ in range(services):
        given = (rng.random(truth.shape) < np.where(truth, 0.7, 0.15)) & (rng.random((items, 1)) < 0.9)
        answers.append(given)
        scores.append(rng.integers(0, 6, truth.shape) / 5)
    return LabelMarket(
        name="random",
        task="MIC",
        items=np.array([f"i{i}" for i in range(items)]),
        labels=np.array([f"l{i}" for i in range(RANDOM_LABELS)]),
        services=tuple(f"s{k}" for k in range(services)),
        prices=np.arange(1.0, services + 1),
        truth=_label_sets(truth, np.ones(truth.shape)),
        scores=tuple(_label_sets(given, score) for given, score in zip(answers, scores, strict=True)),
    )


def _label_sets(given: np.ndarray, score: np.ndarray) -> csr_matrix:
    rows, labels = np.nonzero(given)
    starts = np.searchsorted(rows, np.arange(len(given) + 1))
    return label_matrix(starts, labels, score[rows, labels], RANDOM_LABELS)


def turned_round(market: LabelMarket) -> LabelMarket:
    """The same market with labels and services in the opposite order."""
    order = np.argsort(market.labels)[::-1]
    place = np.argsort(order)

    def moved(matrix: Any) -> Any:
        return type(matrix)((matrix.data, place[matrix.indices], matrix.indptr), shape=matrix.shape)

    return replace(
        market,
        labels=market.labels[order],
        truth=moved(market.truth),
        scores=tuple(moved(scores) for scores in market.scores),
    ).with_services(market.services[::-1])


class Means(NamedTuple):
    accuracy: float
    cost: float


def expected_means(parts: list[Any], accuracy: np.ndarray, costs: Any) -> Means:
    """What FrugalML's weighted choices are worth in expectation, with no draw."""
    return Means(
        float(sum(part.probability * chosen(accuracy, part.addon).mean() for part in parts)),
        float(sum(part.probability * item_costs(part.base, part.addon, costs).mean() for part in parts)),
    )


def item(**changes: Any) -> dict[str, Any]:
    """One valid item of the JSON Lines format; a change to `...` leaves the key out."""
    record = {
        "id": "a1",
        "truth": ["car", "bike"],
        "predictions": {"Google": [["car", 0.98], ["person", 0.5]], "Microsoft": []},
    }
    return {key: value for key, value in (record | changes).items() if value is not ...}


def write_lines(path: Path, *lines: Any) -> Path:
    """A file of these lines: objects as JSON, text and bytes as they are."""
    encoded = [
        line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()
        for line in lines
    ]
    path.write_bytes(b"\n".join(encoded) + b"\n")
    return path


def assert_same_market(left: Market, right: Market) -> None:
    for plain in ("name", "task", "services", "data"):
        assert getattr(left, plain) == getattr(right, plain)
    for array in ("items", "labels", "prices"):
        np.testing.assert_array_equal(getattr(left, array), getattr(right, array))
    if left.features is None or right.features is None:
        assert left.features is right.features
    else:
        np.testing.assert_array_equal(left.features, right.features)
    for ours, theirs in zip((left.truth, *left.scores), (right.truth, *right.scores), strict=True):
        assert ours.shape == theirs.shape
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))
