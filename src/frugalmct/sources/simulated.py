"""Simulated markets: one generative model, one block of parameters a dataset.

*World* (drawn once a dataset, independent of the run's seed). Labels have long-tailed popularity and
belong to topics. Every service has its own skill for each label and each group of labels (topics; for
entities their type), and is blind to a few. Every label has labels it is taken for.

*Items* (drawn from the run's seed). An item has a topic, a number of labels, and a hidden difficulty that all
services share. Its candidates are its true labels and some phantoms: labels it might be mistaken for.

*Answers.* A service's trouble with an item is `h = difficulty * d + noise * own`. It answers a true label
when `recall + skill - h + visibility * v + logistic > 0`, and a phantom when
`mistakes + bias + trouble_mistakes * h + shared_mistakes * v + logistic > 0`: `v` belongs to the candidate
and is shared by the services, which is why they tend to see, and to miss, the same things, and how far they
make up the same ones. The score is `sigmoid(level + separation * [true] - candour * h + spread * normal)`:
informative, not calibrated.

Only labels and their presence decide how accurate a service is alone; scores decide how much its answer
betrays, and with whom it combines well. `tools/fit_simulated.py` fits both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from frugalmct.errors import FrugalError
from frugalmct.market import LabelMarket
from frugalmct.seeds import generator
from frugalmct.sources.vocabulary import Vocabulary, make_vocabulary

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ServiceModel:
    """One service: what it sees, what it makes up, and how it scores."""

    recall: float
    mistakes: float
    difficulty: float
    noise: float
    level: float
    separation: float
    candour: float
    spread: float
    decimals: int = 4


@dataclass(frozen=True)
class MarketModel:
    """The parameters of one simulated dataset; the schema `simulated` explains each."""

    items: int
    label_occurrences: int
    labels: Any
    popularity: float
    head: float
    topics: Any
    topic_share: float
    size_shape: float
    phantoms: float
    confusion: float
    visibility: float
    label_skill: float
    group_skill: float
    ease: float
    blind: float
    trouble_mistakes: float
    services: Mapping[str, ServiceModel]
    shared_mistakes: float = 0.0
    world: int = 0

    @classmethod
    def from_config(cls, source: Mapping[str, Any]) -> "MarketModel":
        fields = {key: value for key, value in source.items() if key not in ("kind", "services")}
        services = {name: ServiceModel(**values) for name, values in source["services"].items()}
        return cls(**fields, services=services)


@dataclass(frozen=True)
class World:
    """What stays the same whichever items are drawn."""

    vocabulary: Vocabulary
    popularity: Floats
    by_topic: Ints
    cumulative: Floats
    topic_starts: Ints
    topic_weights: Floats
    ease: Floats
    own_skill: Floats
    group_skill: Floats
    own_bias: Floats
    sight: Floats

    @property
    def true_labels(self) -> int:
        """Labels that occur as truth come first in the vocabulary; the rest exist only as mistakes."""
        return self.vocabulary.true_labels

    def skill(self, model: "MarketModel", k: int) -> Floats:
        """How much easier each label is for service k than its average label."""
        group = self.group_skill[k, self.vocabulary.group]
        spread = model.ease * self.ease + model.label_skill * self.own_skill[k] + model.group_skill * group
        return spread + self._blindness(model, k)

    def bias(self, model: "MarketModel", k: int) -> Floats:
        """How readily service k makes each label up; it never answers what it is blind to."""
        return model.label_skill * self.own_bias[k] + self._blindness(model, k)

    def _blindness(self, model: "MarketModel", k: int) -> Floats:
        return np.where(self.sight[k] < model.blind, -5.0, 0.0)


@dataclass(frozen=True)
class Candidates:
    """Every label that could be answered for an item, true ones and phantoms, with the shared luck."""

    items: int
    item: Ints
    label: Ints
    is_true: NDArray[np.bool_]
    visibility: Floats
    difficulty: Floats
    own: Floats


def load(name: str, block: Mapping[str, Any], *, seed: int = 0, scale: float = 1.0) -> LabelMarket:
    """The simulated market of a config block."""
    model = MarketModel.from_config(block["source"])
    services = tuple(model.services)
    if set(services) != set(block["prices"]):
        raise FrugalError(
            f"datasets.{name}: prices are given for {sorted(block['prices'])}, but the simulation has "
            f"{sorted(services)}; name the same services in both."
        )
    world = make_world(name, model)
    candidates = draw_candidates(name, model, world, seed, scale)
    scores = tuple(_answer(name, model, world, candidates, k, seed) for k in range(len(services)))
    is_true = candidates.is_true
    truth_counts = np.bincount(candidates.item[is_true], minlength=candidates.items)
    truth = _csr(truth_counts, candidates.label[is_true], np.ones(is_true.sum()), len(world.vocabulary.names))
    return LabelMarket(
        name=name,
        task=block["task"],
        items=np.array([f"{name.lower()}-{number:06d}" for number in range(candidates.items)]),
        labels=world.vocabulary.names,
        services=services,
        prices=np.array([float(block["prices"][service]) for service in services]),
        truth=truth,
        scores=scores,
        data="simulated",
    )


def make_world(name: str, model: MarketModel) -> World:
    """Vocabulary, popularity, topics, and every service's skills."""
    rng = generator("world", name, model.world)
    vocabulary = make_vocabulary(model.labels, model.topics, rng)
    count, names, services = vocabulary.true_labels, len(vocabulary.names), len(model.services)
    popularity = np.arange(1, count + 1, dtype=np.float64) ** -model.popularity
    popularity[0] *= model.head
    topic_of = vocabulary.topic
    by_topic = np.argsort(topic_of[:count], kind="stable")
    topic_starts = np.searchsorted(topic_of[:count][by_topic], np.arange(vocabulary.topics + 1))
    weights = np.add.reduceat(np.append(popularity[by_topic], 0.0), topic_starts[:-1])
    return World(
        vocabulary=vocabulary,
        popularity=popularity,
        by_topic=by_topic,
        cumulative=np.concatenate([[0.0], np.cumsum(popularity[by_topic])]),
        topic_starts=topic_starts,
        topic_weights=weights / weights.sum(),
        ease=rng.standard_normal(names),
        own_skill=rng.standard_normal((services, names)),
        group_skill=rng.standard_normal((services, vocabulary.groups)),
        own_bias=rng.standard_normal((services, names)),
        sight=rng.random((services, names)),
    )


def draw_candidates(name: str, model: MarketModel, world: World, seed: int, scale: float = 1.0) -> Candidates:
    """Items with their true labels and phantoms, ordered by item and label."""
    rng = generator(seed, name, "items")
    count = max(round(model.items * scale), 3)
    occurrences = round(model.label_occurrences * count / model.items)
    sizes = _set_sizes(rng, count, occurrences, model.size_shape, limit=max(world.true_labels // 3, 1))
    topic = rng.choice(len(world.topic_weights), size=count, p=world.topic_weights)
    item, label = _draw_true_labels(rng, world, topic, sizes, model.topic_share)
    label = _use_every_label(rng, label, world.true_labels)
    phantom_item, phantom_label = _draw_phantoms(rng, model, world, topic, item, label, sizes)
    keys = np.concatenate([item, phantom_item]) * np.int64(len(world.vocabulary.names)) + np.concatenate(
        [label, phantom_label]
    )
    # A phantom that is in truth there, or stands twice, is dropped: np.unique keeps the first, the true one.
    unique, first = np.unique(keys, return_index=True)
    return Candidates(
        items=count,
        item=unique // len(world.vocabulary.names),
        label=unique % len(world.vocabulary.names),
        is_true=first < len(item),
        visibility=rng.standard_normal(len(unique)),
        difficulty=rng.standard_normal(count),
        own=rng.standard_normal((len(model.services), count)),
    )


def _set_sizes(rng: np.random.Generator, count: int, total: int, shape: float, limit: int) -> Ints:
    """At least one label an item, over-dispersed (small shape: more so), summing to `total` exactly."""
    mean = max(total / count - 1, 1e-9)
    sizes = 1 + np.minimum(rng.poisson(rng.gamma(shape, mean / shape, count)), limit - 1)
    while (excess := int(sizes.sum()) - total) != 0:
        open_to_change = np.flatnonzero(sizes > 1 if excess > 0 else sizes < limit)
        if not len(open_to_change):
            break
        # Larger sets give and take more, so that the shape of the distribution stays.
        weights = sizes[open_to_change] / sizes[open_to_change].sum()
        step = min(abs(excess), max(len(open_to_change) // 4, 1))
        changed = rng.choice(open_to_change, size=step, replace=False, p=weights)
        sizes[changed] -= np.sign(excess)
    return sizes


def _draw_labels(rng: np.random.Generator, world: World, topic: Ints, topic_share: float) -> Ints:
    """A label for each entry: of the item's topic with probability `topic_share`, else of any."""
    low = world.cumulative[world.topic_starts[topic]]
    high = world.cumulative[world.topic_starts[topic + 1]]
    anywhere = rng.random(len(topic)) >= topic_share
    low = np.where(anywhere, 0.0, low)
    high = np.where(anywhere, world.cumulative[-1], high)
    drawn = low + rng.random(len(topic)) * (high - low)
    position = np.searchsorted(world.cumulative, drawn, side="right") - 1
    return world.by_topic[np.minimum(position, len(world.by_topic) - 1)]


def _draw_true_labels(
    rng: np.random.Generator, world: World, topic: Ints, sizes: Ints, topic_share: float
) -> tuple[Ints, Ints]:
    """Distinct labels for every item, by drawing again what is still missing.

    Popular labels come up again and again in large sets, so each round draws more than it needs and
    leans further out of the topic.
    """
    labels = np.int64(world.true_labels)
    keys = np.empty(0, dtype=np.int64)
    missing = sizes.copy()
    surplus, share = 1.0, topic_share
    while missing.any():
        item = np.repeat(np.arange(len(sizes)), np.ceil(missing * surplus).astype(np.int64))
        drawn = item * labels + _draw_labels(rng, world, topic[item], share)
        fresh = _first_new(drawn, keys, missing, labels)
        # Two sorted runs: a stable sort merges them in linear time.
        keys = np.sort(np.concatenate([keys, fresh]), kind="stable")
        missing -= np.bincount(fresh // labels, minlength=len(sizes))
        surplus, share = surplus * 1.6, share * 0.8
    return keys // labels, keys % labels


def _first_new(drawn: Ints, known: Ints, missing: Ints, labels: np.int64) -> Ints:
    """Of what was drawn, sorted: the first draws of each item that are new, up to what it misses."""
    unique, first = np.unique(drawn, return_index=True)
    place = np.minimum(np.searchsorted(known, unique), max(len(known) - 1, 0))
    new = known[place] != unique if len(known) else np.ones(len(unique), dtype=bool)
    unique, first = unique[new], first[new]
    # Draws are grouped by item, so ordering by draw keeps the groups and ranks within them by time.
    by_time = np.argsort(first)
    item = unique[by_time] // labels
    rank = np.arange(len(item)) - np.searchsorted(item, item)
    return np.sort(unique[by_time][rank < missing[item]])


def _use_every_label(rng: np.random.Generator, label: Ints, labels: int) -> Ints:
    """Gives labels that nobody drew the place of labels that occur twice or more, while there are such."""
    counts = np.bincount(label, minlength=labels)
    unused = iter(np.flatnonzero(counts == 0).tolist())
    label = label.copy()
    for place in rng.permutation(len(label)).tolist():
        if counts[label[place]] > 1:
            new = next(unused, None)
            if new is None:
                break
            counts[label[place]] -= 1
            label[place] = new
    return label


def _draw_phantoms(
    rng: np.random.Generator,
    model: MarketModel,
    world: World,
    topic: Ints,
    item: Ints,
    label: Ints,
    sizes: Ints,
) -> tuple[Ints, Ints]:
    """Labels an item might be mistaken for: what its own labels are taken for, or its topic's others."""
    confused = rng.random(len(item)) < min(model.phantoms * model.confusion, 1.0)
    look_alike = world.vocabulary.look_alike[label[confused], rng.integers(0, 2, int(confused.sum()))]
    strays = rng.poisson(model.phantoms * (1 - model.confusion) * sizes)
    stray_item = np.repeat(np.arange(len(sizes)), strays)
    stray_label = _draw_labels(rng, world, topic[stray_item], model.topic_share)
    return np.concatenate([item[confused], stray_item]), np.concatenate([look_alike, stray_label])


def answered(
    model: MarketModel,
    world: World,
    candidates: Candidates,
    k: int,
    service: ServiceModel,
    logistic: Floats,
) -> tuple[NDArray[np.bool_], Floats]:
    """Which candidates service k answers, and its trouble with each candidate's item."""
    by_item = service.difficulty * candidates.difficulty + service.noise * candidates.own[k]
    trouble = by_item[candidates.item]
    evidence = np.where(
        candidates.is_true,
        service.recall + world.skill(model, k)[candidates.label] - trouble,
        service.mistakes + world.bias(model, k)[candidates.label] + model.trouble_mistakes * trouble,
    )
    shared = np.where(candidates.is_true, model.visibility, model.shared_mistakes)
    return evidence + shared * candidates.visibility + logistic > 0, trouble


def _answer(
    name: str, model: MarketModel, world: World, candidates: Candidates, k: int, seed: int
) -> csr_matrix:
    """Service k's answers as items x labels."""
    service = list(model.services.values())[k]
    rng = generator(seed, name, "answers", k)
    logistic = rng.logistic(size=len(candidates.item))
    given, trouble = answered(model, world, candidates, k, service, logistic)
    level = service.level + service.separation * candidates.is_true - service.candour * trouble
    raw = level + service.spread * rng.standard_normal(len(level))
    scores = np.round(1 / (1 + np.exp(-raw[given])), service.decimals)
    counts = np.bincount(candidates.item[given], minlength=candidates.items)
    return _csr(counts, candidates.label[given], scores, len(world.vocabulary.names))


def _csr(counts: Ints, labels: Ints, scores: Floats, width: int) -> csr_matrix:
    starts = np.concatenate([[0], np.cumsum(counts)])
    matrix = csr_matrix((scores, labels.astype(np.int32), starts), shape=(len(counts), width))
    matrix.has_sorted_indices = True
    return matrix
