"""Any config is either valid or answered by one sentence; nothing else escapes."""

import copy
import datetime
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import ROOT, item, write_lines

from frugalmct.errors import FrugalError
from frugalmct.paper.config import validate
from frugalmct.paper.config.sources import with_parameters

MUTANTS = 1000
ODD_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 3, 10**30, 10**400, 0.0, -0.0, 0.5, 1e308, 5e-324,
    math.nan, math.inf, -math.inf, "", " ", "auto", "x", "1e-3", "NaN", "../..", "a\nb", "\0", "\ud800",
    "ü" * 5000, "${HOME}", "{dataset}", [], [[]], [None], ["x"] * 3, [1, 1], {}, {"": 1}, {"a": {}}, {1: 2},
    {None: None}, {(1, 2): 3},
    b"bytes", datetime.date(2022, 1, 1), {1, 2}, object(), (1, 2),
]  # fmt: skip


@pytest.fixture
def valid(tmp_path: Path) -> dict[str, Any]:
    """Every key given, the parameters of simulation too; one dataset of each kind."""
    config = with_parameters(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))
    name, block = next(iter(config["datasets"].items()))
    path = write_lines(tmp_path / "mine.jsonl", item())
    own = {
        "task": "MIC",
        "source": {"kind": "jsonl", "path": str(path)},
        "prices": {"Google": 15, "Microsoft": 10},
        "base": "Microsoft",
        "budgets": [10, 12.5, 30],
        "features": "auto",
        "metric": "f1",
    }
    config |= {"only": [name, "mine"], "datasets": {name: block, "mine": own}}
    validate(config)
    return config


def places(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """Every place of nested blocks and lists, the whole included."""
    yield path
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in entries:
        yield from places(entry, (*path, key))


def mutant(config: dict[str, Any], rng: random.Random) -> Any:
    """One to three random changes: a place removed, replaced, renamed, doubled, or swapped with another."""
    config = copy.deepcopy(config)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        path = rng.choice(list(places(config)))
        if not path:
            return rng.choice(ODD_VALUES) if rng.random() < 0.1 else config
        holder = config
        for part in path[:-1]:
            holder = holder[part]
        last = path[-1]
        change = rng.choice(["remove", "replace", "replace", "replace", "rename", "wrap", "swap", "nest"])
        if change == "remove":
            del holder[last]
        elif change == "replace":
            holder[last] = copy.deepcopy(rng.choice(ODD_VALUES[:-5] if rng.random() < 0.9 else ODD_VALUES))
        elif change == "rename" and isinstance(holder, dict):
            odd = rng.choice(
                [str(last).upper(), f"{last}x", f" {last}", "", "a/b", 7, None, False, "\n", "\udfff"]
            )
            holder[odd] = holder.pop(last)
        elif change == "wrap":
            holder[last] = [holder[last]]
        elif change == "swap":
            other = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            holder[last], holder[other] = holder[other], holder[last]
        elif change == "nest":
            holder[last] = {last: holder[last]}
    return config


def test_every_config_is_valid_or_answered_by_one_sentence(valid):
    rng = random.Random(20220101)
    answered = 0
    for number in range(MUTANTS):
        candidate = mutant(valid, rng)
        try:
            validate(candidate)
        except FrugalError as error:
            answered += 1
            sentence = str(error)
            assert sentence.startswith("config: ") and sentence.endswith("."), sentence
            assert "\n" not in sentence and len(sentence) < 700, sentence
            sentence.encode()  # it can be printed
        except Exception as error:
            raise AssertionError(f"mutant {number} escaped with {error!r}: {candidate!r:.500}") from error
    assert answered >= 300


def test_each_odd_value_at_each_place(valid):
    """Systematic beside random: nothing escapes wherever an odd value stands."""
    whole = {"config": valid}
    for path in list(places(whole))[1:]:
        if len(path) > 5:
            continue
        holder: Any = whole
        for part in path[:-1]:
            holder = holder[part]
        before = holder[path[-1]]
        for value in ODD_VALUES:
            holder[path[-1]] = value
            try:
                validate(whole["config"])
            except FrugalError as error:
                assert "\n" not in str(error)
        holder[path[-1]] = before
