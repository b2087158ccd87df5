import gzip
import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers import SOURCE_DIR, assert_same_market, item, write_lines

from frugalmct.errors import FrugalError
from frugalmct.market import Market
from frugalmct.sources import load_market
from frugalmct.sources.jsonl import MAX_FEATURE, MAX_LINE_BYTES, MAX_TEXT, DataProblems, read_jsonl

# --- good files


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.jsonl"


def _answers(market: Market, service: str) -> list[dict[str, float]]:
    """Label -> score of every item."""
    matrix = market.scores[market.service_index(service)]
    bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    return [
        dict(zip(market.labels[matrix.indices[a:b]].tolist(), matrix.data[a:b].tolist(), strict=True))
        for a, b in bounds
    ]


def _truth(market: Market) -> list[list[str]]:
    return [market.labels[row.indices].tolist() for row in market.truth]


def test_file_becomes_a_market(path):
    second = item(
        id="画像", truth=[], predictions={"Microsoft": [["猫", 0], ["bike", 1]], "Google": [["car", 0.25]]}
    )
    market = read_jsonl(write_lines(path, item(), second))
    assert market.name == "mine"
    assert market.items.tolist() == ["a1", "画像"]
    assert market.labels.tolist() == ["bike", "car", "person", "猫"]
    assert market.services == ("Google", "Microsoft")
    assert market.prices.tolist() == [0, 0]
    assert _truth(market) == [["bike", "car"], []]
    assert market.truth.data.tolist() == [1, 1]
    assert _answers(market, "Google") == [{"car": 0.98, "person": 0.5}, {"car": 0.25}]
    assert _answers(market, "Microsoft") == [{}, {"bike": 1.0, "猫": 0.0}]
    assert market.features is None
    assert market.data == "recorded"


def test_repeated_labels_count_once_with_the_highest_score(path):
    predictions = {
        "Google": [["car", 0.2], ["bike", 0.4], ["car", 0.9], ["car", 0.5]],
        "Microsoft": [["car", 0]] * 2,
    }
    market = read_jsonl(write_lines(path, item(truth=["car", "bike", "car"], predictions=predictions)))
    assert _truth(market) == [["bike", "car"]]
    assert _answers(market, "Google") == [{"bike": 0.4, "car": 0.9}]
    assert _answers(market, "Microsoft") == [{"car": 0.0}]


def test_vocabulary_does_not_depend_on_the_order_of_lines(path, tmp_path):
    records = [item(id=str(n), truth=[f"label {7 * n % 10}"]) for n in range(10)]
    forward = read_jsonl(write_lines(path, *records))
    backward = read_jsonl(write_lines(tmp_path / "backward", *records[::-1]), name="mine")
    assert_same_market(backward.subset(np.arange(10)[::-1]), forward)


def test_features(path):
    market = read_jsonl(write_lines(path, item(features=[1, 0.5]), item(id="b", features=[-2, 1e-3])))
    assert market.features.tolist() == [[1, 0.5], [-2, 1e-3]]
    assert market.features.dtype == np.float64


def test_prices_give_the_services_and_their_order(path):
    market = read_jsonl(write_lines(path, item()), {"Microsoft": 10, "Google": 15})
    assert market.services == ("Microsoft", "Google")
    assert market.prices.tolist() == [10, 15]
    assert _answers(market, "Google") == [{"car": 0.98, "person": 0.5}]


@pytest.mark.parametrize("name", ["mine.jsonl.gz", "mine.jsonl", "mine"])
@pytest.mark.parametrize("members", [1, 2])
def test_gzip_is_told_by_content(tmp_path, name, members):
    lines = [json.dumps(item(id=str(n))).encode() + b"\n" for n in range(6)]
    cut = len(lines) // members
    (tmp_path / name).write_bytes(
        b"".join(gzip.compress(b"".join(lines[start : start + cut])) for start in range(0, 6, cut))
    )
    assert read_jsonl(tmp_path / name).items.tolist() == list("012345")


def test_plain_text_under_a_gzip_name(tmp_path):
    assert len(read_jsonl(write_lines(tmp_path / "mine.jsonl.gz", item()))) == 1


def test_blank_lines_byte_order_mark_and_line_ends(path):
    first, second = (json.dumps(item(id=name)).encode() for name in "ab")
    path.write_bytes(b"\xef\xbb\xbf" + first + b"\r\n\r\n  \t\n" + second)
    assert read_jsonl(path).items.tolist() == ["a", "b"]
    path.write_bytes(b"\xef\xbb\xbf\n" + first)
    assert read_jsonl(path).items.tolist() == ["a"]


def test_blank_lines_count_as_lines(path):
    assert _problems(write_lines(path, "", item(), "", "{")) == [(4, "not valid JSON")]


def test_nothing_is_known_of_any_item(path):
    market = read_jsonl(write_lines(path, item(truth=[], predictions={"Google": []})))
    assert market.statistics()["label_occurrences"] == 0
    assert market.service_accuracy().tolist() == [[1.0]]


def test_market_read_can_be_saved_and_loaded(path, tmp_path):
    market = read_jsonl(write_lines(path, item(features=[1.5]), item(id="猫", features=[2])), task="MIC")
    market.save(tmp_path / "market.npz")
    assert_same_market(Market.load(tmp_path / "market.npz"), market)


@pytest.mark.parametrize("length", [1, MAX_TEXT])
def test_text_up_to_the_limit(path, length):
    market = read_jsonl(write_lines(path, item(id="x" * length, truth=["猫" * length])))
    assert (market.items[0], "猫" * length in market.labels) == ("x" * length, True)


def test_random_market_is_read_as_written(path):
    rng = random.Random(3)
    labels = ["a", "é", "猫", "🚲", "with blank", '"quoted"', "\\", "\u2028", "line\nbreak"]

    def answer() -> list:
        return [[label, rng.choice([0, 1, rng.random()])] for label in rng.sample(labels, rng.randint(0, 5))]

    records = [
        item(
            id=f"item {n}",
            truth=rng.sample(labels, rng.randint(0, 4)),
            predictions={service: answer() for service in rng.sample(["G", "M", "E"], 3)},
        )
        for n in range(60)
    ]
    plain = [json.dumps(record, ensure_ascii=rng.random() < 0.5) for record in records]
    market = read_jsonl(write_lines(path, *plain))
    assert _truth(market) == [sorted(record["truth"]) for record in records]
    for service in ("G", "M", "E"):
        assert _answers(market, service) == [dict(record["predictions"][service]) for record in records]


# --- the config's block


def _block(path) -> dict:
    return {
        "task": "MIC",
        "prices": {"Google": 15, "Microsoft": 10},
        "source": {"kind": "jsonl", "path": str(path)},
    }


def _hundred_items(path):
    return write_lines(path, *(item(id=f"{n:03}", truth=[f"label {n}"]) for n in range(100)))


def test_block_names_task_and_prices(path, monkeypatch):
    write_lines(path, item())
    monkeypatch.chdir(path.parent)
    market = load_market("Mine", _block("mine.jsonl"))
    assert (market.name, market.task, market.prices.tolist()) == ("Mine", "MIC", [15, 10])


def test_scale_keeps_a_seeded_share_in_file_order(path):
    block = _block(_hundred_items(path))
    quarter = load_market("Mine", block, seed=1, scale=0.25)
    assert len(quarter) == 25
    assert quarter.items.tolist() == sorted(quarter.items)
    assert _truth(quarter) == [[f"label {int(name)}"] for name in quarter.items]
    assert_same_market(load_market("Mine", block, seed=1, scale=0.25), quarter)
    assert set(quarter.items) < set(load_market("Mine", block, seed=1, scale=0.5).items)
    for other in [
        load_market("Mine", block, seed=2, scale=0.25),
        load_market("Other", block, seed=1, scale=0.25),
    ]:
        assert other.items.tolist() != quarter.items.tolist()


@pytest.mark.parametrize(
    ("items", "scale", "kept"), [(100, 0.001, 3), (2, 0.5, 2), (100, 0.999, 100), (100, 1, 100)]
)
def test_scale_keeps_at_least_three(path, items, scale, kept):
    write_lines(path, *(item(id=str(n)) for n in range(items)))
    assert len(load_market("Mine", _block(path), scale=scale)) == kept


def test_service_without_a_price_and_price_without_a_service(path):
    predictions = {"Google": [], "Gogle": []}
    with pytest.raises(DataProblems) as caught:
        load_market("Mine", _block(write_lines(path, item(predictions=predictions))))
    rule = "the services are those with a price: Google, Microsoft."
    assert [str(problem) for problem in caught.value.problems] == [
        f"line 1: unknown service 'Gogle'; {rule}",
        f"line 1: the answer of 'Microsoft' is missing; {rule}",
    ]


# --- bad files


def _problems(path, prices=None) -> list[tuple[int, str]]:
    """Line and beginning of every problem, cut at its first bracket or semicolon."""
    with pytest.raises(DataProblems) as caught:
        read_jsonl(path, prices)
    assert caught.value.total == len(caught.value.problems)
    return [
        (problem.line, problem.text.split(" at column")[0].split(";")[0]) for problem in caught.value.problems
    ]


def test_missing_file_directory_and_empty_file(tmp_path):
    with pytest.raises(FrugalError, match="no such file; give the path"):
        read_jsonl(tmp_path / "none.jsonl")
    with pytest.raises(FrugalError, match="is a directory; give the path"):
        read_jsonl(tmp_path)
    with pytest.raises(FrugalError, match="cannot be read: Not a directory"):
        read_jsonl(write_lines(tmp_path / "file") / "below.jsonl")
    with pytest.raises(FrugalError, match="is not a path"):
        read_jsonl("a\0b")
    for content in (b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"")):
        (tmp_path / "empty.jsonl").write_bytes(content)
        with pytest.raises(FrugalError, match="the file has no items"):
            read_jsonl(tmp_path / "empty.jsonl")


BAD_LINES = {
    "text after the object": ('{"id": "x"} {}', "not valid JSON"),
    "cut short": ('{"id": "x", "tru', "not valid JSON"),
    "single quotes": ("{'id': 'x'}", "not valid JSON"),
    "control character in text": ('{"id": "x\x01"}', "not valid JSON"),
    "byte order mark inside": ("\ufeff{}", "not valid JSON"),
    "not UTF-8": (b'{"id": "caf\xe9"}', "byte 0xe9"),
    "UTF-16": ('{"id": "x"}'.encode("utf-16"), "byte 0xff"),
    "NaN": ('{"id": NaN}', "NaN is not a JSON number"),
    "Infinity": ('{"id": -Infinity}', "-Infinity is not a JSON number"),
    "endless integer": ('{"id": ' + "9" * 5000 + "}", "a number has too many digits"),
    "deep lists": ("[" * 100_000, "the JSON is nested too deeply"),
    "deep objects": ('{"a":' * 100_000, "the JSON is nested too deeply"),
    "key given twice": ('{"id": "x", "id": "y"}', "the key 'id' is given twice in one object"),
    "service given twice": (
        '{"id": "x", "truth": [], "predictions": {"Google": [], "Google": [], "Microsoft": []}}',
        "the key 'Google' is given twice in one object",
    ),
    "endless line": (b" " * MAX_LINE_BYTES + b"{}", "the line is longer than 16,777,216 bytes"),
    "list": ([1, 2], "a list of 2 is not an item"),
    "text": ('"x"', "'x' is not an item"),
    "number": ("3", "3 is not an item"),
    "null": ("null", "null is not an item"),
    "missing key": (item(id="x", truth=...), "the key 'truth' is missing"),
    "unknown key": (item(id="x", trouth=[]), "unknown key 'trouth'"),
    "id is a number": (item(id=17), "the id is 17"),
    "id is empty": (item(id=""), "the id is empty"),
    "id is true": (item(id=True), "the id is true"),
    "id is too long": (item(id="x" * (MAX_TEXT + 1)), "the id is 501 characters long"),
    "id with NUL": (item(id="x\0"), r"the id is 'x\x00'"),
    "id with half a surrogate pair": (item(id="\ud800"), r"the id is '\ud800'"),
    "id given before": (item(id="first"), "the id 'first' was given on line 1"),
    "truth is a text": (item(id="x", truth="car"), "the truth is 'car'"),
    "truth is null": (item(id="x", truth=None), "the truth is null"),
    "true label is a number": (item(id="x", truth=["car", 3]), "truth, entry 2: the label is 3"),
    "true label is a list": (item(id="x", truth=[["car"]]), "truth, entry 1: the label is a list of 1"),
    "true label is empty": (item(id="x", truth=[""]), "truth, entry 1: the label is empty"),
    "true label with NUL": (item(id="x", truth=["a\0b"]), r"truth, entry 1: the label is 'a\x00b'"),
    "predictions is a list": (item(id="x", predictions=[]), "predictions are a list of 0"),
    "no services": (item(id="x", predictions={"Google": []}), "the answer of 'Microsoft' is missing"),
    "unknown service": (
        item(id="x", predictions={"Google": [], "Microsoft": [], "Bing": []}),
        "unknown service 'Bing'",
    ),
}

BAD_ANSWERS = {
    "answer is an object": ({"car": 0.5}, "the answer of Google is an object"),
    "answer is a text": ("car", "the answer of Google is 'car'"),
    "pair is a text": (["ab"], "Google, entry 1: 'ab' is not a pair"),
    "pair of three": ([["car", 0.5, 1]], "Google, entry 1: a list of 3 is not a pair"),
    "pair of none": ([["car", 0.5], []], "Google, entry 2: a list of 0 is not a pair"),
    "pair turned round": ([[0.5, "car"]], "Google, entry 1: the label is 0.5"),
    "label is null": ([[None, 0.5]], "Google, entry 1: the label is null"),
    "label is an object": ([[{}, 0.5]], "Google, entry 1: the label is an object"),
    "label with half a surrogate pair": ([["\udfff", 0.5]], r"Google, entry 1: the label is '\udfff'"),
    "score is true": ([["car", True]], "Google, entry 1: the score is true"),
    "score is a text": ([["car", "0.5"]], "Google, entry 1: the score is '0.5'"),
    "score is null": ([["car", None]], "Google, entry 1: the score is null"),
    "score is a list": ([["car", [0.5]]], "Google, entry 1: the score is a list of 1"),
    "score above 1": ([["car", 1.0000001]], "Google, entry 1: the score is 1.0000001"),
    "score below 0": ([["car", -1]], "Google, entry 1: the score is -1"),
    "score in percent": ([["car", 0.5], ["bike", 98]], "Google, entry 2: the score is 98"),
    "score is huge": ([["car", 10**400]], "Google, entry 1: the score is 1000"),
}
BAD_LINES |= {
    name: (item(id="x", predictions={"Google": answer, "Microsoft": []}), sentence)
    for name, (answer, sentence) in BAD_ANSWERS.items()
}


@pytest.mark.parametrize(("line", "sentence"), BAD_LINES.values(), ids=BAD_LINES)
def test_bad_line_is_told(path, line, sentence):
    first = item(id="first")
    ((number, beginning), *more) = _problems(write_lines(path, first, line, item(id="last")))
    assert number == 2
    assert beginning.startswith(sentence)
    # A mistake in one answer is one problem; only turned pairs are wrong on both sides.
    assert len(more) == (line == item(id="x", predictions={"Google": [[0.5, "car"]], "Microsoft": []}))


def test_score_that_overflows(path):
    line = json.dumps(item(id="x", predictions={"Google": [["car", 7]], "Microsoft": []})).replace(
        "7", "1e999"
    )
    assert _problems(write_lines(path, line)) == [(1, "Google, entry 1: the score is inf")]


@pytest.mark.parametrize("name", ["", "a\0", "\ud800", "x" * 501])
def test_service_with_an_impossible_name(path, name):
    ((line, text),) = _problems(write_lines(path, item(predictions={name: []})))
    assert (line, text.startswith("the name of a service is")) == (1, True)


def test_first_item_without_services(path):
    assert _problems(write_lines(path, item(predictions={}))) == [(1, "predictions name no service")]


def test_services_come_from_the_first_item_that_has_them(path):
    lines = [item(id="1", predictions=3), item(id="2"), item(id="3", predictions={"Google": []})]
    with pytest.raises(DataProblems) as caught:
        read_jsonl(write_lines(path, *lines))
    assert [problem.line for problem in caught.value.problems] == [1, 3]
    assert "those of line 2: Google, Microsoft." in caught.value.problems[1].text


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        (..., "there are 0 features, but line 1 has 2"),
        ([1], "there are 1 features, but line 1 has 2"),
        ([1, 2, 3], "there are 3 features, but line 1 has 2"),
        ([], "the features are a list of 0"),
        (None, "the features are null"),
        ({"x": 1}, "the features are an object"),
        ([1, "2"], "feature 2 is '2'"),
        ([True, 2], "feature 1 is true"),
        ([1, None], "feature 2 is null"),
        ([1, [2]], "feature 2 is a list of 1"),
        ([1, 10**400], "feature 2 is 1000"),
        ([1, 2 * MAX_FEATURE], "feature 2 is 6.8"),
    ],
)
def test_bad_features(path, features, sentence):
    lines = item(id="1", features=[0.5, MAX_FEATURE]), item(id="2", features=features)
    ((line, text),) = _problems(write_lines(path, *lines))
    assert line == 2
    assert text.startswith(sentence)


def test_features_that_start_late(path):
    lines = item(id="1"), item(id="2", features=[1])
    assert _problems(write_lines(path, *lines)) == [(2, "there are 1 features, but line 1 has 0")]


def test_truncated_gzip(path):
    packed = gzip.compress(b"".join(json.dumps(item(id=str(n))).encode() + b"\n" for n in range(3000)))
    path.write_bytes(packed[:-1000])
    with pytest.raises(DataProblems) as caught:
        read_jsonl(path)
    assert "the gzip data end early here" in caught.value.problems[-1].text
    assert caught.value.problems[-1].line > 1


def test_damaged_gzip(path):
    packed = bytearray(gzip.compress(json.dumps(item()).encode() * 10))
    for position in range(2, len(packed)):
        bad = packed.copy()
        bad[position] ^= 0xFF
        path.write_bytes(bad)
        with pytest.raises(FrugalError):
            read_jsonl(path)


def test_every_problem_of_a_line_is_told(path):
    line = {
        "id": 3,
        "truth": [1, ""],
        "predictions": {"Google": [["car", 2], 3]},
        "extra": 0,
        "features": [None],
    }
    assert len(_problems(write_lines(path, line), {"Google": 15, "Microsoft": 10})) == 8


def test_twenty_problems_are_listed_and_all_are_counted(path):
    with pytest.raises(DataProblems) as caught:
        read_jsonl(write_lines(path, item(), *["{"] * 1023))
    found = caught.value
    assert [problem.line for problem in found.problems] == list(range(2, 22))
    assert found.total == 1023
    assert str(found).startswith(f"{path} has 1,023 problems:\n  line 2: not valid JSON at column 2")
    assert str(found).endswith("\n  and 1,003 more")


def test_one_problem_is_one_sentence(path):
    with pytest.raises(FrugalError) as caught:
        read_jsonl(write_lines(path, item(), "{"))
    assert str(caught.value).startswith(f"{path}, line 2: not valid JSON at column 2 (")
    assert "\n" not in str(caught.value)


def test_problems_travel_between_processes(path):
    with pytest.raises(DataProblems) as caught:
        read_jsonl(write_lines(path, "{"))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# --- size

MEASURE = """
import sys, time
from pathlib import Path
from frugalmct.sources.jsonl import read_jsonl
start = time.perf_counter()
market = read_jsonl(sys.argv[1])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(len(market), market.scores[0].nnz, time.perf_counter() - start, peak.split()[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from Linux's /proc")
def test_200_000_items_of_4_services_in_a_minute_and_2_gib(path):
    rng = random.Random(1)
    pairs = [f'["label {rng.randrange(500)}", {rng.random():.6f}]' for _ in range(10_000)]

    def answer() -> str:
        start = rng.randrange(len(pairs) - 7)
        return f"[{', '.join(pairs[start : start + rng.randint(3, 7)])}]"

    with path.open("w") as handle:
        for number in range(200_000):
            answers = ", ".join(f'"{service}": {answer()}' for service in ("SSD", "Pixel", "Azure", "Google"))
            handle.write(
                f'{{"id": "image-{number:08}", "truth": ["label 1"], "predictions": {{{answers}}}}}\n'
            )
    command = [sys.executable, "-c", MEASURE, str(path)]
    environment = os.environ | {"PYTHONPATH": str(SOURCE_DIR)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    items, entries, seconds, peak_kib = map(float, done.stdout.split())
    print(f"{seconds:.1f} s, peak {peak_kib / 1024:.0f} MiB")
    assert items == 200_000
    assert entries > 900_000
    assert seconds < 60
    assert peak_kib < 2 * 2**20
