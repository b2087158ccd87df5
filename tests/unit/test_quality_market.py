"""Quality markets, what any market may hold beside its answers, and the files of both kinds."""

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import SOURCE_DIR, item, small_market

from frugalmct.errors import FrugalError
from frugalmct.market import Extras, LabelMarket, Market, QualityMarket, text_column
from frugalmct.sources.jsonl import DataProblems, read_jsonl


def quality_item(**changes):
    """One valid item of the second kind; a change to `...` leaves the key out."""
    record = {
        "id": "q1",
        "text": "Wie viele?",
        "quality": {"big": 1.0, "mini": 0.25},
        "costs": {"big": 2.5, "mini": 0.5},
    }
    return {key: value for key, value in (record | changes).items() if value is not ...}


def written(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.jsonl"


def problems(path):
    with pytest.raises(DataProblems) as caught:
        read_jsonl(path)
    return [(problem.line, problem.text) for problem in caught.value.problems]


def small_quality(**changes) -> QualityMarket:
    parts = {
        "name": "small",
        "task": "",
        "items": np.array(["a", "é", "猫"]),
        "services": ("big", "mini"),
        "prices": np.array([2.0, 0.5]),
        "quality": np.array([[1.0, 0.0], [0.5, 0.25], [0.0, 1.0]]),
        "features": np.array([[1.0], [2.0], [3.0]]),
        "extras": Extras(
            np.array([[1.0, 0.25], [2.0, 0.5], [3.0, 0.75]]),
            text_column(["one", "", "three 猫 " * 400]),
            (None, np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])),
        ),
    }
    return QualityMarket(**(parts | changes))


def test_file_of_qualities_becomes_a_market(path):
    second = quality_item(id="q2", text="", quality={"mini": None, "big": 0}, costs={"mini": 1, "big": 0})
    market = read_jsonl(written(path, quality_item(), second))
    assert isinstance(market, QualityMarket) and market.kind == "quality"
    assert market.services == ("big", "mini")
    assert market.quality.tolist() == [[1.0, 0.25], [0.0, 0.0]]  # null counts as nothing
    assert market.costs.tolist() == [[2.5, 0.5], [0.0, 1.0]]
    assert market.prices.tolist() == [1.25, 0.75]  # the mean cost
    assert market.known().text.tolist() == ["Wie viele?", ""]
    assert market.service_accuracy() is market.quality


def test_prices_give_the_services_and_their_order_and_costs_win(path):
    market = read_jsonl(written(path, quality_item()), {"mini": 7, "big": 9})
    assert market.services == ("mini", "big")
    assert market.costs.tolist() == [[0.5, 2.5]]
    without = read_jsonl(written(path, quality_item(costs=...)), {"mini": 7, "big": 9})
    assert without.costs.tolist() == [7.0, 9.0]


def test_labels_may_have_the_same_beside_them(path):
    record = item(
        text="a picture",
        costs={"Google": 1.5, "Microsoft": 0},
        answer_features={"Google": [3, 4]},
        predictions={"Google": None, "Microsoft": [["car", 1]]},
    )
    later = item(id="a2", text="b", costs={"Google": 2, "Microsoft": 1}, answer_features={"Google": None})
    market = read_jsonl(written(path, record, later))
    assert isinstance(market, LabelMarket)
    assert market.scores[0][0].nnz == 0  # null counts as an empty answer
    assert market.extras.answer_numbers[0].tolist() == [[3.0, 4.0], [0.0, 0.0]]
    assert market.extras.answer_numbers[1] is None
    assert market.costs.tolist() == [[1.5, 0.0], [2.0, 1.0]]


BAD = {
    "other kind": (item(id="x"), "the key 'quality' is missing"),
    "quality is a list": (quality_item(id="x", quality=[1, 0]), "the quality is a list of 2"),
    "quality above 1": (quality_item(id="x", quality={"big": 1.5, "mini": 0}), "the quality of big is 1.5"),
    "quality is true": (quality_item(id="x", quality={"big": True, "mini": 0}), "the quality of big is true"),
    "quality missing": (quality_item(id="x", quality={"big": 1}), "the quality of 'mini' is missing"),
    "unknown service": (
        quality_item(id="x", quality={"big": 1, "mini": 0, "tiny": 0}),
        "unknown service 'tiny'",
    ),
    "cost below 0": (quality_item(id="x", costs={"big": -1, "mini": 0}), "the cost of big is -1"),
    "cost is null": (quality_item(id="x", costs={"big": None, "mini": 0}), "the cost of big is null"),
    "cost is huge": (quality_item(id="x", costs={"big": 10**400, "mini": 0}), "the cost of big is 1000"),
    "no costs": (quality_item(id="x", costs=...), "the key 'costs' is missing, but on line 1 it is given"),
    "text is a list": (quality_item(id="x", text=["a"]), "the text is a list of 1"),
    "text with half a pair": (quality_item(id="x", text="\ud800"), r"the text is '\ud800'"),
    "late answer features": (
        quality_item(id="x", answer_features={"big": [1]}),
        "the key 'answer_features' is given, but on line 1 it is not",
    ),
}


@pytest.mark.parametrize(("line", "beginning"), BAD.values(), ids=BAD)
def test_bad_line_is_told(path, line, beginning):
    found = problems(written(path, quality_item(), line, quality_item(id="last")))
    assert {number for number, _ in found} == {2}
    assert any(text.startswith(beginning) for _, text in found), found
    assert all("; " in text and text.endswith(".") for _, text in found), found


@pytest.mark.parametrize(
    ("value", "beginning"),
    [
        ({"mini": [1]}, "there are 1 answer_features of 'mini', but line 1 has 2"),
        ({"mini": [1, "x"]}, "answer_features of 'mini': feature 2 is 'x'"),
        ({"mini": [1, 2], "big": [1]}, "there are 1 answer_features of 'big', but line 1 has 0"),
        ({"mini": [1, 2], "tiny": [1]}, "unknown service 'tiny'"),
        ([1], "the answer_features are a list of 1"),
    ],
)
def test_bad_answer_features(path, value, beginning):
    first = quality_item(answer_features={"mini": [1, 2]})
    found = problems(written(path, first, quality_item(id="x", answer_features=value)))
    assert any(text.startswith(beginning) for _, text in found), found


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"quality": np.ones((3, 3))}, "quality is (3, 3)"),
        ({"quality": np.full((3, 2), 1.5)}, "qualities outside [0, 1]"),
        ({"features": np.ones((2, 1))}, "features are (2, 1)"),
        ({"extras": Extras(costs=np.ones((2, 2)))}, "costs are (2, 2)"),
        ({"extras": Extras(costs=np.full((3, 2), -1.0))}, "every price must be 0 or a number"),
        ({"extras": Extras(text=text_column(["a"]))}, "there are 1 texts for 3 items"),
        ({"extras": Extras(answer_numbers=(None,))}, "answer features must be one table"),
    ],
)
def test_impossible_market_is_refused(changes, sentence):
    with pytest.raises(FrugalError) as caught:
        small_quality(**changes)
    assert sentence in str(caught.value)


def same(one: Market, other: Market) -> bool:
    mine, theirs = one.to_arrays() | one.extras.to_arrays(), other.to_arrays() | other.extras.to_arrays()
    return mine.keys() == theirs.keys() and all(np.array_equal(mine[k], theirs[k]) for k in mine)


@pytest.mark.parametrize("compress", [False, True])
def test_round_trip_is_exact(tmp_path, compress):
    labels = replace(small_market(), extras=Extras(text=text_column(["a", "b" * 5000, "", "猫"])))
    for market in (small_quality(), small_quality(features=None, extras=Extras()), labels):
        market.save(tmp_path / "market.npz", compress=compress)
        again = Market.load(tmp_path / "market.npz")
        assert type(again) is type(market) and same(again, market)


def test_subset_and_services_take_all_along():
    part = small_quality().subset([2, 0]).with_services(["mini"])
    assert part.quality.tolist() == [[1.0], [0.0]]
    assert part.costs.tolist() == [[0.75], [0.25]]
    assert part.known((0,)).answers[0].numbers.tolist() == [[0.5, 0.6], [0.1, 0.2]]
    assert part.known().text[1] == "one"
    assert len(small_quality().subset([])) == 0


def test_known_holds_nothing_of_a_service_that_was_not_asked():
    market = small_quality()
    assert market.known().answers == {}
    assert market.known((1,)).answers.keys() == {1}
    answered = market.known((0,)).answers[0]
    assert answered.scores is None and answered.numbers is None
    assert answered.cost.tolist() == [1.0, 2.0, 3.0]


MEASURE = """
import sys, time
from pathlib import Path
from frugalmct.sources.jsonl import read_jsonl
market = read_jsonl(sys.argv[1])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(len(market), market.quality.shape[1], time.process_time(), peak.split()[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from Linux's /proc")
def test_200_000_items_of_10_services_in_a_minute_and_1_gib(path):
    rng = random.Random(1)
    words = [f"word{n}" for n in range(1000)]
    with path.open("w") as handle:
        for number in range(200_000):
            text = " ".join(rng.choices(words, k=40))
            quality = {f"model-{k}": round(rng.random(), 2) for k in range(10)}
            costs = {f"model-{k}": round(rng.random(), 5) for k in range(10)}
            record = {"id": f"prompt-{number:08}", "text": text, "quality": quality, "costs": costs}
            handle.write(json.dumps(record) + "\n")
    environment = os.environ | {"PYTHONPATH": str(SOURCE_DIR)}
    command = [sys.executable, "-c", MEASURE, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    items, services, seconds, peak_kib = map(float, done.stdout.split())
    print(f"{seconds:.1f} CPU seconds, peak {peak_kib / 1024:.0f} MiB")
    assert (items, services) == (200_000, 10)
    assert seconds < 60
    assert peak_kib < 2**20
