"""Label names for simulated markets, with their topics, groups and look-alikes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalmct.errors import FrugalError, listed

ENTITY_TYPES = ("per", "loc", "org")
# How often each entity type occurs.
ENTITY_SHARES = (0.36, 0.38, 0.26)


@dataclass(frozen=True)
class Vocabulary:
    """The first `true_labels` names occur as truth, by falling popularity; the rest only as mistakes.

    `look_alike` holds, for each label that occurs as truth, two labels it is taken for.
    """

    names: NDArray[np.str_]
    true_labels: int
    topic: NDArray[np.int64]
    topics: int
    group: NDArray[np.int64]
    groups: int
    look_alike: NDArray[np.int64]


def make_vocabulary(labels: Any, topics: Any, rng: np.random.Generator) -> Vocabulary:
    """From a list of names (by falling popularity) or `{style: ..., count: ...}`."""
    if isinstance(labels, Mapping):
        style = labels["style"]
        if style not in STYLES:
            raise FrugalError(f"labels.style is '{style}'; it must be one of {listed(STYLES)}.")
        return STYLES[style](int(labels["count"]), int(topics), rng)
    return _named(list(labels), topics, rng)


def _named(names: Sequence[str], topics: Any, rng: np.random.Generator) -> Vocabulary:
    """Given names; a label that no topic lists is a topic of its own company: the everyday ones."""
    place = {name: number for number, name in enumerate(names)}
    topic = np.zeros(len(names), dtype=np.int64)
    for number, (title, members) in enumerate(topics.items(), start=1):
        for member in members:
            if member not in place:
                raise FrugalError(f"topics.{title} names '{member}', which is not among the labels.")
            topic[place[member]] = number
    count = len(topics) + 1
    return Vocabulary(
        names=np.array(names),
        true_labels=len(names),
        topic=topic,
        topics=count,
        group=topic,
        groups=count,
        look_alike=_neighbours_in_topic(topic, rng),
    )


def _neighbours_in_topic(topic: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Two labels of the same topic for each label (of any topic where it is alone)."""
    look_alike = np.empty((len(topic), 2), dtype=np.int64)
    for label in range(len(topic)):
        others = np.flatnonzero(topic == topic[label])
        others = others[others != label] if len(others) > 1 else np.arange(len(topic))
        look_alike[label] = rng.choice(others, size=2)
    return look_alike


def _characters(count: int, topics: int, rng: np.random.Generator) -> Vocabulary:
    """Ten digits and Chinese characters; a tenth more that are only ever misread into being."""
    extra = count // 10
    characters = [chr(0x4E00 + code) for code in rng.permutation(20_000)[: count + extra - 10].tolist()]
    # Digits are frequent, not the most frequent of all.
    names = characters[:10] + list("0123456789") + characters[10:]
    topic = rng.integers(0, topics, count + extra)
    # A misread character becomes one of similar popularity, or one that never occurs.
    near = np.abs(np.arange(count)[:, None] + rng.integers(-60, 61, (count, 2)))
    near = np.where(near >= count, 2 * (count - 1) - near, near)
    rare = rng.integers(count, count + extra, (count, 2)) if extra else near
    look_alike = np.where(rng.random((count, 2)) < 0.2, rare, near)
    return Vocabulary(np.array(names), count, topic, topics, topic, topics, look_alike)


def _entities(count: int, topics: int, rng: np.random.Generator, chinese: bool = False) -> Vocabulary:
    """Entities with a type; each can be taken for another type, or cut short. Topics share a sound."""
    topic = rng.integers(0, topics, count)
    taste = rng.dirichlet(np.array(ENTITY_SHARES) * 6, size=topics)
    kind = (rng.random((count, 1)) > np.cumsum(taste[topic], axis=1)[:, :2]).sum(axis=1)
    name = _chinese_name if chinese else _latin_name
    stems = _distinct([name(rng, int(t), int(k)) for t, k in zip(topic, kind, strict=True)])
    wrong_kind = (kind + rng.integers(1, 3, count)) % 3
    cut = [_cut_short(stem, chinese) for stem in stems]
    names = [f"{stem}_{ENTITY_TYPES[k]}" for stem, k in zip(stems, kind, strict=True)]
    place = {label: number for number, label in enumerate(names)}
    look_alike = np.empty((count, 2), dtype=np.int64)
    for number in range(count):
        wrong = f"{stems[number]}_{ENTITY_TYPES[wrong_kind[number]]}"
        short = f"{cut[number]}_{ENTITY_TYPES[kind[number]]}"
        look_alike[number] = [place.setdefault(text, len(place)) for text in (wrong, short)]
    extra = len(place) - count
    owner = np.zeros(extra, dtype=np.int64)
    for column in look_alike.T:
        late = column >= count
        owner[column[late] - count] = np.flatnonzero(late)
    group = np.array([ENTITY_TYPES.index(text.rsplit("_", 1)[1]) for text in place])
    return Vocabulary(
        names=np.array(list(place)),
        true_labels=count,
        topic=np.concatenate([topic, topic[owner]]),
        topics=topics,
        group=group,
        groups=len(ENTITY_TYPES),
        look_alike=look_alike,
    )


def _chinese_entities(count: int, topics: int, rng: np.random.Generator) -> Vocabulary:
    return _entities(count, topics, rng, chinese=True)


_ONSETS = ("b", "br", "ch", "d", "f", "g", "h", "j", "k", "kr", "l", "m", "n", "p", "r", "s", "sh", "t", "v")
_CORES = ("a", "e", "i", "o", "u", "ai", "ei", "ou", "an", "en", "in", "on", "ar", "er", "or")
_TITLES = {0: (), 1: ("Port", "New", "Lake"), 2: ("United", "Royal", "First")}
_TAILS = {0: (), 1: ("City", "Valley"), 2: ("Corp", "Union", "Council", "FC")}


def _latin_name(rng: np.random.Generator, topic: int, kind: int) -> str:
    # A topic uses a few of the sounds, as names of one country do: the text of a label betrays its topic.
    sounds = [(topic * 3 + step) % len(_ONSETS) for step in range(6)]
    words = [
        "".join(
            _ONSETS[sounds[rng.integers(6)]] + _CORES[rng.integers(len(_CORES))]
            for _ in range(rng.integers(2, 4))
        ).capitalize()
        for _ in range(2 if kind == 0 else rng.integers(1, 3))
    ]
    if kind and rng.random() < 0.4:
        words.insert(0, str(rng.choice(_TITLES[kind])))
    if kind and rng.random() < 0.4:
        words.append(str(rng.choice(_TAILS[kind])))
    return " ".join(words)


_CHINESE_TAILS = {0: ("",), 1: ("市", "省", "县", "区"), 2: ("公司", "大学", "委员会", "银行")}


def _chinese_name(rng: np.random.Generator, topic: int, kind: int) -> str:
    characters = [chr(0x4E00 + (topic * 97 + int(step)) % 20_000) for step in rng.integers(0, 160, 3)]
    length = 3 if kind == 0 else int(rng.integers(2, 4))
    return "".join(characters[:length]) + str(rng.choice(_CHINESE_TAILS[kind]))


def _cut_short(stem: str, chinese: bool) -> str:
    """What is left of a name when its first part is missed."""
    if chinese:
        return stem[1:] if len(stem) > 1 else stem + stem
    return stem.split(" ", 1)[1] if " " in stem else stem[: max(len(stem) - 2, 1)]


def _distinct(names: Sequence[str]) -> list[str]:
    """The same names, those that came before distinguished by a number."""
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return distinct


STYLES = {"characters": _characters, "entities": _entities, "chinese_entities": _chinese_entities}
