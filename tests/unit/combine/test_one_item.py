"""One item's answers combined from plain numbers are those of a matrix of one row, to the last digit."""

import numpy as np
import pytest

from frugalmct.combine.boosting import MANY_ROWS, BoostedTrees
from frugalmct.combine.learned import LearnedCombiner
from frugalmct.sparse import label_matrix
from frugalmct.states import PaperCombiner

LABELS = 9
SCORES = (0.0, 0.25, 0.5, 0.5, 1.0)


def random_answer(rng: np.random.Generator, labels: int, most: int = 6) -> dict[int, float]:
    """Some without labels, many equal scores, in no order."""
    chosen = rng.permutation(labels)[: rng.integers(0, most + 1)].tolist()
    return {
        label: float(rng.choice(SCORES)) if rng.random() < 0.5 else float(rng.random()) for label in chosen
    }


def rows_of(answers: list[dict[int, float]], labels: int) -> object:
    starts = np.cumsum([0, *map(len, answers)])
    places = [label for answer in answers for label in answer]
    return label_matrix(starts, places, [score for answer in answers for score in answer.values()], labels)


def learned(rng: np.random.Generator, services: int, metric: str, labels_per_item: int | None):
    items = 150
    truth = [dict.fromkeys(random_answer(rng, LABELS, 3), 1.0) for _ in range(items)]
    answers = [
        [{**random_answer(rng, LABELS, 3), **{label: float(rng.random()) for label in own}} for own in truth]
        for _ in range(services)
    ]
    return LearnedCombiner.fit(
        rows_of(truth, LABELS),
        [rows_of(own, LABELS) for own in answers],
        metric,
        labels_per_item=labels_per_item,
    )


def same(combiner: LearnedCombiner | PaperCombiner, answers: list[dict[int, float]]) -> bool:
    """The labels from LABELS on were never learnt from."""
    expected = combiner.apply([rows_of([answer], LABELS + 3) for answer in answers])
    found = combiner.apply_one(answers)
    return list(found.items()) == list(zip(expected.indices.tolist(), expected.data.tolist(), strict=True))


@pytest.mark.parametrize(
    ("services", "metric", "labels_per_item"),
    [(1, "accuracy", None), (2, "accuracy", 1), (2, "f1", None), (3, "recall", 2), (9, "f1", 3)],
)
def test_the_learned_combiner(services: int, metric: str, labels_per_item: int | None) -> None:
    rng = np.random.default_rng(services)
    combiner = learned(rng, services, metric, labels_per_item)
    restored = LearnedCombiner.from_arrays(*combiner.to_arrays())
    for _ in range(60):
        answers = [random_answer(rng, LABELS + 3) for _ in range(services)]
        assert same(combiner, answers) and same(restored, answers)
    assert combiner.apply_one([{}] * services) == {}


@pytest.mark.parametrize("seed", range(40))
def test_the_papers_combiner(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight, threshold = float(rng.integers(0, 11)) / 10, float(rng.integers(0, 11)) / 10
    limit = None if rng.random() < 0.4 else int(rng.integers(1, 4))
    combiner = PaperCombiner(weight, threshold, limit, abstain=bool(rng.random() < 0.5))
    for _ in range(10):
        assert same(combiner, [random_answer(rng, LABELS + 3) for _ in range(rng.integers(1, 3))])


def test_few_rows_are_judged_as_many_are() -> None:
    rng = np.random.default_rng(3)
    table = rng.choice([-1.0, 0.0, 0.5, 1.0], (MANY_ROWS, 7)).astype(np.float32) + np.float32(0.1)
    trees = BoostedTrees.fit(table[:500], table[:500, 0] + table[:500, 3] > rng.random(500))
    many = trees.probabilities(table)
    assert len(trees.leaves) and len(set(many.tolist())) > 3
    assert np.array_equal(trees.probabilities(table[:300]), many[:300])
    assert all(trees.probabilities(table[row : row + 1])[0] == many[row] for row in range(50))
