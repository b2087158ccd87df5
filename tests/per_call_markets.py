"""Small markets whose calls have costs of their own."""

import numpy as np
from numpy.random import default_rng

from frugalmct.market import Extras, LabelMarket, QualityMarket, text_column
from frugalmct.sparse import label_matrix

FAST = {"trees": 20, "leaf": 5}


def prompts(items: int, seed: int = 0, *, telling: bool = True) -> QualityMarket:
    """Sums, which only the expensive service can do, and chat, which both can; costs grow with the text."""
    rng = default_rng(seed)
    sums = rng.random(items) < 0.5
    words = {True: ["add", "divide", "17", "fraction"], False: ["hello", "poem", "friend", "story"]}
    said = sums if telling else rng.random(items) < 0.5
    lengths = rng.integers(3, 30, items)
    texts = [" ".join(rng.choice(words[bool(kind)], size)) for kind, size in zip(said, lengths, strict=True)]
    quality = np.column_stack([(~sums) * 1.0, np.ones(items)])
    quality = np.where(rng.random(quality.shape) < 0.05, 1 - quality, quality)
    costs = np.column_stack([lengths * 0.01, lengths * 0.1]) * rng.uniform(0.9, 1.1, (items, 2))
    return QualityMarket(
        name="prompts",
        task="",
        items=np.array([f"{seed} {n}" for n in range(items)]),
        services=("mini", "big"),
        prices=costs.mean(axis=0),
        quality=quality,
        extras=Extras(costs, text_column(texts)),
    )


def voters(items: int, seed: int = 0, *, telling: bool = True) -> LabelMarket:
    """Two cheap services that are right together or differ, and an expensive one that is mostly right."""
    rng = default_rng(seed)
    truth = rng.integers(0, 50, items)
    easy = rng.random(items) < 0.6
    answers = [np.where(easy, truth, (truth + shift) % 50) for shift in (1, 2)]
    answers.append(np.where(rng.random(items) < 0.97, truth, (truth + 3) % 50))
    rows = np.arange(items + 1)
    costs = rng.uniform(0.9, 1.1, (items, 3)) * [0.1, 0.1, 4.0]
    return LabelMarket(
        name="voters",
        task="",
        items=np.array([f"{seed} {n}" for n in range(items)]),
        labels=np.array([str(n) for n in range(50)]),
        services=("one", "two", "expert"),
        prices=costs.mean(axis=0),
        truth=label_matrix(rows, truth, None, 50),
        scores=tuple(label_matrix(rows, answer, None, 50) for answer in answers),
        extras=Extras(costs),
    )
