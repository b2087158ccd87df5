"""Malformed lines by the thousand: each is read, or answered by clear sentences with its line number."""

import gzip
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from helpers import item, write_lines

from frugalmct.errors import FrugalError
from frugalmct.sources.jsonl import DataProblems, read_jsonl

FIRST = item(id="first", features=[1, 2.5])
VALID = item(id="second", features=[-1, 0])

WEIRD_VALUES = [
    *(None, True, False, 0, 1, -1, 0.5, -0.0, 1.5, 1e308, 5e-324, 10**30, 2**53 + 1, 10**400),
    *("", " ", "car", "\0", "a\0b", "\ud800", "\udfff\ud800", "猫" * 501, "NaN", "1", "\u202e", "{}", "\x7f"),
    *([], [[]], [[[]]], ["car"], ["car", 0.5], [["car", 0.5]], [["car", 0.5]] * 3, [1, 2], [None], [{}]),
    *({}, {"": []}, {"Google": []}, {"Google": None, "Microsoft": 1}, {"id": "x"}, {"\ud800": []}),
]
WEIRD_NUMBERS = [
    *("NaN", "Infinity", "-Infinity", "nan", "inf", "1e999", "-1e999", "1e-999", "01", "+1", ".5", "1."),
    *("0x10", "1_000", "1e", "1e+", "-", "-0", "0.0", "1E0", "--1", "1,5", "١"),
    *("9" * 4300, "9" * 4301, "0." + "3" * 9000, "1e" + "9" * 400),
]
WEIRD_TEXT = [
    *("\\ud800", "\\udc00\\ud800", "\\u0000", "\\u", "\\x41", "\\", '\\"', "\t", "\x00", "\x1f"),
    *("\u2028", "\x85", "\ufeff", "𝒳", "e\u0301", "\u202e", "a" * 499, "a" * 500),
    *("/* */", "//", "#", "'", "%s{}"),
]
WEIRD_LINES = [
    *("[", "]", "{", "}", "{}", "[]", "{}{}", "{},", '""', "null", "true", "tru", "0", "-", ",", ":", "\\"),
    *("id,truth,predictions", "id: a1", "<item/>", "undefined", "{id: 1}", '{"id": "x",}', "[1,]"),
    *("[" * 100_000, "[" * 990 + "]" * 990, '{"a":' * 5_000 + "1" + "}" * 5_000, "\x00", "\x0c", "\x1c"),
    *(b"\xff\xfe", b"\xef\xbb\xbf{}", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1f\x8b\x08"),
]


def _truncations(text: bytes, rng: random.Random) -> Iterator[bytes]:
    for length in range(len(text)):
        yield text[:length]
    for start in range(1, len(text), 7):
        yield text[start:]


def _flips(text: bytes, rng: random.Random) -> Iterator[bytes]:
    for _ in range(600):
        changed = bytearray(text)
        for _ in range(rng.choice([1, 1, 2, 8])):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        yield bytes(changed)


def _splices(text: bytes, rng: random.Random) -> Iterator[bytes]:
    """Pieces left out, doubled or moved."""
    for _ in range(400):
        a, b, c = sorted(rng.randrange(len(text) + 1) for _ in range(3))
        head, left, right, tail = text[:a], text[a:b], text[b:c], text[c:]
        yield rng.choice([head + tail, head + left + left + tail, head + right + left + tail])


def _places(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """The paths of all values within a value."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _places(value[key], (*path, key))


def _changed(text: bytes, path: tuple, change: Callable[[Any, Any], None]) -> bytes:
    """The valid line after a change of what is at the path; the change gets the parent and the last key."""
    holder = {"": json.loads(text)}
    *parents, last = ("", *path)
    parent: Any = holder
    for key in parents:
        parent = parent[key]
    change(parent, last)
    return json.dumps(holder.get("")).encode()


def _type_swaps(text: bytes, rng: random.Random) -> Iterator[bytes]:
    for path in _places(json.loads(text)):
        for value in WEIRD_VALUES:
            yield _changed(text, path, lambda parent, key, value=value: parent.__setitem__(key, value))


def _structure(text: bytes, rng: random.Random) -> Iterator[bytes]:
    """Values left out, wrapped, repeated; keys renamed and added."""
    for path in list(_places(json.loads(text)))[1:]:
        yield _changed(text, path, lambda parent, key: parent.__delitem__(key))
        yield _changed(text, path, lambda parent, key: parent.__setitem__(key, [parent[key]]))
        yield _changed(text, path, lambda parent, key: parent.__setitem__(key, {"x": parent[key]}))
        if isinstance(path[-1], str):
            for name in ("", "Google ", "google", "ID", "猫", "\ud800", "\0", "x" * 600):
                yield _changed(
                    text, path, lambda parent, key, name=name: parent.__setitem__(name, parent.pop(key))
                )
                yield _changed(
                    text, path, lambda parent, key, name=name: parent.__setitem__(name, parent[key])
                )
        else:
            yield _changed(text, path, lambda parent, key: parent.append(parent[key]))


def _replaced_tokens(text: bytes, rng: random.Random) -> Iterator[bytes]:
    """Raw JSON that `json.dumps` would not write: in place of a number, and inside a text."""
    for old in (b"0.98", b"0.5", b"-1"):
        yield from (text.replace(old, number.encode()) for number in WEIRD_NUMBERS)
    for old in (b"second", b"car", b"Google", b"id"):
        yield from (text.replace(old, weird.encode(), 1) for weird in WEIRD_TEXT)


def _nesting(text: bytes, rng: random.Random) -> Iterator[bytes]:
    for depth in (1, 2, 50, 900, 980, 995, 1_000, 20_000):
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
            nested = opening * depth + b"1" + closing * depth
            yield nested
            for old in (b'"second"', b'["car", "bike"]', b"0.98", b"[-1, 0]"):
                yield text.replace(old, nested)


def _whole_lines(text: bytes, rng: random.Random) -> Iterator[bytes]:
    yield from (line if isinstance(line, bytes) else line.encode() for line in WEIRD_LINES)
    yield text + text
    yield text.decode().encode("utf-16")
    yield text.decode().encode("utf-32-be")
    yield gzip.compress(text)


OF_BYTES = [_truncations, _flips, _splices, _replaced_tokens, _nesting, _whole_lines]
OF_VALUES = [_type_swaps, _structure]


def _assert_clear(error: FrugalError, lines: set[int]) -> None:
    """Sentences of a bearable length, each with a line number."""
    assert isinstance(error, DataProblems), error
    assert 1 <= len(error.problems) <= error.total
    for problem in error.problems:
        sentence = str(problem)
        assert problem.line in lines, sentence
        assert sentence.startswith(f"line {problem.line}: "), sentence
        assert sentence.endswith("."), sentence
        assert "; " in sentence, sentence
        assert sentence.isprintable(), sentence
        assert len(sentence) < 300, sentence


def _is_read(path: Path, *lines: Any, allowed: set[int]) -> bool:
    """Whether the file is valid; if not, that its problems are said well."""
    write_lines(path, *lines)
    try:
        market = read_jsonl(path)
    except DataProblems as error:
        _assert_clear(error, allowed)
        return False
    assert len(set(market.items)) == len(market)
    if market.kind == "labels":
        assert market.labels.tolist() == sorted(set(market.labels.tolist()))
    assert np.isfinite(market.service_accuracy()).all()
    market.save(path.with_suffix(".npz"))
    return True


@pytest.mark.parametrize("mutate", OF_BYTES)
def test_mutated_line_is_read_or_told(tmp_path, mutate):
    outcomes = []
    for line in mutate(json.dumps(VALID).encode(), random.Random(mutate.__name__)):
        # A line break that got into the line makes two of one.
        allowed = {2 + extra for extra in range(line.count(b"\n") + 1)}
        outcomes.append(_is_read(tmp_path / "mine.jsonl", FIRST, line, allowed=allowed))
    assert len(outcomes) >= 30
    assert outcomes.count(False) > len(outcomes) / 2


TEXT = {"type": "string", "maxLength": 500, "pattern": "^[^\\u0000\\ud800-\\udfff]+$"}
NUMBER = {"type": "number", "minimum": -3.4e38, "maximum": 3.4e38}
PAIR = {"type": "array", "prefixItems": [TEXT, {"type": "number", "minimum": 0, "maximum": 1}]}
ANSWER = {"type": ["array", "null"], "items": PAIR | {"minItems": 2, "maxItems": 2}}
EXACTLY = {"type": "object", "additionalProperties": False}
PREDICTIONS = EXACTLY | {
    "properties": {"Google": ANSWER, "Microsoft": ANSWER},
    "required": ["Google", "Microsoft"],
}
SECOND_ITEM = EXACTLY | {
    "properties": {
        "id": TEXT | {"not": {"const": "first"}},
        "truth": {"type": "array", "items": TEXT},
        "predictions": PREDICTIONS,
        "features": {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2},
    },
    "required": ["id", "truth", "predictions", "features"],
}


@pytest.mark.parametrize("mutate", OF_VALUES)
def test_what_is_read_is_what_the_schema_of_the_format_allows(tmp_path, mutate):
    schema = jsonschema.Draft202012Validator(SECOND_ITEM)
    outcomes = set()
    for line in mutate(json.dumps(VALID).encode(), random.Random(mutate.__name__)):
        expected = schema.is_valid(json.loads(line))
        assert _is_read(tmp_path / "mine.jsonl", FIRST, line, allowed={2}) == expected, line[:300]
        outcomes.add(expected)
    assert outcomes == {True, False}


QUALITY = {
    "id": "second",
    "text": "How many?",
    "quality": {"Google": 0.98, "Microsoft": None},
    "costs": {"Google": 0.5, "Microsoft": 0},
    "answer_features": {"Google": [-1, 2]},
}
SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
MONEY = {"anyOf": [{"const": 0}, {"minimum": 1e-300, "maximum": 1e300}], "type": "number"}


def _for_both(each: dict[str, Any]) -> dict[str, Any]:
    return EXACTLY | {
        "properties": {"Google": each, "Microsoft": each},
        "required": ["Google", "Microsoft"],
    }


PAIR_OF_NUMBERS = {"type": ["array", "null"], "items": NUMBER, "minItems": 2, "maxItems": 2}
SECOND_QUALITY = EXACTLY | {
    "properties": {
        "id": TEXT | {"not": {"const": "first"}},
        "text": {"type": "string", "pattern": "^[^\\ud800-\\udfff]*$"},
        "quality": _for_both(SHARE),
        "costs": _for_both(MONEY),
        "answer_features": EXACTLY | {"properties": {"Google": PAIR_OF_NUMBERS}, "required": ["Google"]},
    },
    "required": ["id", "text", "quality", "costs", "answer_features"],
}


@pytest.mark.parametrize("mutate", OF_VALUES)
def test_what_is_read_of_qualities_is_what_the_schema_allows(tmp_path, mutate):
    schema = jsonschema.Draft202012Validator(SECOND_QUALITY)
    first, outcomes = QUALITY | {"id": "first"}, set()
    for line in mutate(json.dumps(QUALITY).encode(), random.Random(mutate.__name__)):
        expected = schema.is_valid(json.loads(line))
        assert _is_read(tmp_path / "mine.jsonl", first, line, allowed={2}) == expected, line[:300]
        outcomes.add(expected)
    # Of such an item nothing can be left out, wrapped or repeated.
    assert outcomes == ({False} if mutate is _structure else {True, False})


@pytest.mark.parametrize("mutate", [*OF_VALUES, _nesting])
def test_mutated_first_line_is_read_or_told(tmp_path, mutate):
    """The first line decides on services and features, so what follows may be told to differ from it."""
    for line in mutate(json.dumps(VALID).encode(), random.Random(mutate.__name__)):
        _is_read(tmp_path / "mine.jsonl", line, FIRST, allowed={1, 2})


def test_the_line_that_is_mutated_is_valid(tmp_path):
    assert _is_read(tmp_path / "mine.jsonl", FIRST, VALID, allowed=set())


def test_random_bytes(tmp_path):
    rng = random.Random(9)
    for _ in range(300):
        content = rng.randbytes(rng.randrange(1, 200))
        (tmp_path / "noise.jsonl").write_bytes(content)
        with pytest.raises(FrugalError):
            read_jsonl(tmp_path / "noise.jsonl")


def test_damaged_gzip(tmp_path):
    lines = b"\n".join(json.dumps(item(id=str(n))).encode() for n in range(50))
    packed, rng, refused = gzip.compress(lines), random.Random(11), 0
    for _ in range(300):
        bad = bytearray(packed)
        bad[rng.randrange(2, len(bad))] ^= rng.randrange(1, 256)
        (tmp_path / "bad.gz").write_bytes(bad[: rng.randrange(3, len(bad))] if rng.random() < 0.3 else bad)
        try:
            assert len(read_jsonl(tmp_path / "bad.gz")) == 50
        except FrugalError as error:
            _assert_clear(error, set(range(1, 60)))
            refused += 1
    assert refused > 150
