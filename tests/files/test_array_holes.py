"""Files that once crashed the process, took gigabytes, or passed although they said the impossible."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from array_damage import npy, packed, swollen, unpacked, with_zeros
from array_originals import KINDS, make_originals
from children import load

from frugalmct.errors import FrugalError
from frugalmct.sparse import label_matrix

MIB_ALLOWED = 1024
ARRAYS = ("prices", "features", "service0.scores", "truth.labels", "truth.starts")
TYPES = ("c16", "M8[s]", "U8", "?", "f2", "u2")


@pytest.fixture(scope="module")
def originals() -> dict:
    return make_originals()


@pytest.fixture
def good(originals, tmp_path):
    """The members of a good file of a kind, as bytes by name."""

    def of(kind: str) -> dict[str, bytes]:
        KINDS[kind].save(originals[kind], tmp_path / "good.npz")
        return unpacked((tmp_path / "good.npz").read_bytes())

    return of


def written(folder: Path, members: dict[str, bytes] | bytes) -> Path:
    path = folder / "bad.npz"
    path.write_bytes(members if isinstance(members, bytes) else packed(members))
    return path


def array(content: bytes) -> np.ndarray:
    return np.lib.format.read_array(io.BytesIO(content))


def header(members: dict[str, bytes]) -> dict:
    return json.loads(array(members["header.npy"]).tobytes())


def with_header(members: dict[str, bytes], value: dict) -> dict[str, bytes]:
    return members | {"header.npy": npy(np.frombuffer(json.dumps(value).encode(), np.uint8))}


def refused(kind: str, path: Path) -> str:
    with pytest.raises(FrugalError) as caught:
        KINDS[kind].load(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ") and sentence.endswith(".") and "\n" not in sentence
    return sentence


# --- crashes


@pytest.mark.parametrize("value", [2**63 + 3, 2**64 - 1, 2**62, 50_000_000, 0])
def test_unsigned_starts_with_one_bad_entry(good, tmp_path, value):
    members = good("market")
    starts = array(members["truth.starts.npy"]).astype(np.uint64)
    starts[3] = value
    path = written(tmp_path, members | {"truth.starts.npy": npy(starts)})
    found = load("market", path, "found.service_accuracy()")
    assert "truth.starts holds uint64 where int64 was expected" in found["said"]
    signed = starts.astype(np.int64)
    path = written(tmp_path, members | {"truth.starts.npy": npy(signed)})
    words = "ends before it starts" if value == 0 else "truth.starts holds values outside"
    assert words in refused("market", path)


def test_nan_among_float_labels(good, tmp_path):
    members = good("market")
    labels = array(members["service0.labels.npy"]).astype(np.float64)
    labels[0], labels[1] = np.nan, 1e9
    path = written(tmp_path, members | {"service0.labels.npy": npy(labels)})
    found = load("market", path, "make_originals()['strategy'].decide(found, 6.5)")
    assert "service0.labels holds float64 where int32 was expected" in found["said"]


# --- memory


def test_a_small_file_that_holds_two_gigabytes(good, tmp_path):
    content = swollen(good("market"), "features.npy", 2 * 10**9)
    assert len(content) < 2.5 * 2**20
    found = load("market", written(tmp_path, content))
    assert "unpack to 2,0" in found["said"] and found["peak_mib"] < MIB_ALLOWED


def test_one_long_label_among_many(good, tmp_path):
    count, long = 200_000, 20_000
    names = [b"%d" % n for n in range(count - 1)] + [b"x" * long]
    ends = np.cumsum([len(name) for name in names], dtype=np.int64)
    text = np.frombuffer(b"".join(names), np.uint8)
    path = written(tmp_path, good("market") | {"labels.text.npy": npy(text), "labels.ends.npy": npy(ends)})
    assert path.stat().st_size < 2**20
    found = load("market", path)
    assert "labels holds a text of more than 500 characters" in found["said"]
    assert found["peak_mib"] < MIB_ALLOWED


def test_the_most_text_that_is_allowed_stays_within_the_limit(good, tmp_path):
    names = [b"%d" % n for n in range(199_999)] + [b"x" * 500]
    ends = np.cumsum([len(name) for name in names], dtype=np.int64)
    text = np.frombuffer(b"".join(names), np.uint8)
    labels = {"labels.text.npy": npy(text), "labels.ends.npy": npy(ends)}
    found = load("market", written(tmp_path, good("market") | labels), "len(found.labels)")
    assert found["said"] == "200000" and found["peak_mib"] < MIB_ALLOWED


@pytest.mark.parametrize("name", ["truth.labels", "items.ends", "service0.scores"])
def test_as_many_zeros_as_a_small_file_may_hold(good, tmp_path, name):
    """Just below the limit of what may be unpacked: whatever is built from it fits into 1 GiB as well."""
    content = swollen(good("market"), f"{name}.npy", 60 * 2**20)
    assert load("market", written(tmp_path, content))["peak_mib"] < MIB_ALLOWED


def test_a_strategy_that_declares_400_million_columns(good, tmp_path):
    members = good("strategy")
    value = header(members)
    for state in value["states"]:
        if state["model"]:
            state["model"]["predictor"]["columns"] = 400_000_005
    found = load("strategy", written(tmp_path, with_header(members, value)), "_use_strategy(found)")
    assert "wants 400000005 columns, which its features do not give" in found["said"]
    wide = io.BytesIO()
    description = {"descr": "<f4", "fortran_order": False, "shape": (1, 400_000_000)}
    np.lib.format.write_array_header_1_0(wide, description)
    content = with_zeros(
        {name: content for name, content in members.items() if name != "state0.model.values.npy"},
        "state0.model.values.npy",
        wide.getvalue(),
        1_600_000_000,
    )
    found = load("strategy", written(tmp_path, content))
    assert "unpack to 1,6" in found["said"] and found["peak_mib"] < MIB_ALLOWED


def test_a_strategy_that_keeps_very_many_training_items(good, tmp_path):
    """Of many states with few numbers each, all services' numbers are made: they must fit, too."""
    members = good("strategy")
    rows = {"training.accuracy.npy": npy(np.zeros((20_001, 4), np.float32))}
    found = load("strategy", written(tmp_path, members | rows))
    assert "training.accuracy must have 1 to 20000 rows" in found["said"]
    assert found["peak_mib"] < MIB_ALLOWED


def test_a_strategy_of_very_many_trees_or_columns(good, tmp_path):
    members = good("strategy")
    value = header(members)
    value["states"][0]["model"]["predictor"]["details"]["trees"] = 2_000_000
    many = {"state0.model.roots.npy": npy(np.zeros(2_000_000, np.int32))}
    path = written(tmp_path, with_header(members, value) | many)
    found = load("strategy", path, "_use_strategy(found)")
    assert "more than 20,000 trees" in found["said"] and found["peak_mib"] < MIB_ALLOWED
    wide = {"state0.model.columns.npy": npy(np.zeros(5_000_000, np.int32))}
    found = load("strategy", written(tmp_path, members | wide), "_use_strategy(found)")
    assert "columns are not in rising order" in found["said"] and found["peak_mib"] < MIB_ALLOWED


def test_a_zip_with_a_million_entries_or_a_huge_header(good, tmp_path):
    members = {f"{n}.npy": b"" for n in range(100_000)}
    found = load("market", written(tmp_path, members))
    assert "list of arrays is longer" in found["said"] and found["peak_mib"] < 400
    start = io.BytesIO()
    description = {"descr": "|u1", "fortran_order": False, "shape": (50 * 2**20,)}
    np.lib.format.write_array_header_1_0(start, description)
    rest = {name: content for name, content in good("market").items() if name != "header.npy"}
    content = with_zeros(rest, "header.npy", start.getvalue(), 50 * 2**20)
    found = load("market", written(tmp_path, content))
    assert "its header is longer than" in found["said"] and found["peak_mib"] < 400


# --- what passed


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_of_another_type(good, tmp_path, name, dtype):
    members = good("market")
    found = array(members[f"{name}.npy"]).astype(dtype)
    sentence = refused("market", written(tmp_path, members | {f"{name}.npy": npy(found)}))
    assert name in sentence and "; make it again with `snakemake --force " in sentence


@pytest.mark.parametrize(
    ("part", "rows", "words"),
    [
        ("train", [-1, 3, 4], "train holds values outside [0,"),
        ("train", [4, 3, 5], "not in rising order"),
        ("train", [3, 3, 5], "not in rising order"),
        ("test", "train", "its parts overlap"),
        ("validation", "test", "its parts overlap"),
    ],
)
def test_splits_with_impossible_parts(good, tmp_path, part, rows, words):
    members = good("split")
    bad = members[f"{rows}.npy"] if isinstance(rows, str) else npy(np.array(rows))
    assert words in refused("split", written(tmp_path, members | {f"{part}.npy": bad}))


def test_labels_given_twice(good, tmp_path):
    text, ends = np.frombuffer(b"abcdd", np.uint8), np.arange(1, 6)
    members = good("market") | {"labels.text.npy": npy(text), "labels.ends.npy": npy(ends)}
    assert "labels holds 'd' twice" in refused("market", written(tmp_path, members))


STRATEGIES = {
    "no states": (
        lambda h: h.update(states=[]),
        "states is a list of 0; it must be a list with at least one",
    ),
    "no word on when it was recorded": (lambda h: h["made"].pop("period"), "has no 'period'"),
    "no plans": (lambda h: h.update(plans=[]), "plans is a list of 0; it must be a list with at least one"),
    "a plan that is none": (lambda h: h.update(plans=[6.5]), "a plan is 6.5 where an object was expected"),
    "a plan without base": (lambda h: h["plans"][0].pop("base"), "a plan has no 'base'"),
    "a plan with more": (lambda h: h["plans"][0].update(x=1), "a plan has unknown fields: 'x'"),
    "a plan of a text": (
        lambda h: h["plans"][0].update(dual_price="1"),
        "a plan: dual_price is '1'; it must be a number",
    ),
    "a base that is a number": (
        lambda h: h["plans"][0].update(base=2),
        "it must be a list of service numbers",
    ),
    "a plan of another base": (
        lambda h: h["plans"][0].update(base=[2]),
        "a plan's base is a state without a model",
    ),
    "two plans of one budget": (lambda h: h["plans"].append(h["plans"][0]), "two plans for one budget"),
    "a state twice": (lambda h: h["states"][1].update(state=[0]), "it has the state [0] twice"),
    "a state out of range": (
        lambda h: h["states"][0].update(state=[3]),
        "not a sorted tuple of some of the 3",
    ),
    "a state nobody comes to": (
        lambda h: h["states"][1].update(state=[1, 2]),
        "a state that it can come to is missing",
    ),
    "no stopping": (
        lambda h: h["states"][0]["model"].update(outputs=[1, 2]),
        "the model of state [0] does not fit its outputs",
    ),
    "weights as text": (
        lambda h: h["states"][0]["combiner"].update(weight="1"),
        "a combiner: weight is '1'; it must be a number",
    ),
    "weights beyond 1": (lambda h: h["states"][0]["combiner"].update(weight=2), "weight is 2"),
    "a combiner by another name": (
        lambda h: h["states"][0]["combiner"].update(combiner="pickle"),
        "the combiner of 1 services is 'pickle'",
    ),
    "more steps": (lambda h: h.update(steps=9), "steps is 9"),
    "a method of its own": (
        lambda h: h["made"].update(method="magic"),
        "its method must be one of paper, plus",
    ),
    "a metric of its own": (lambda h: h.update(metric="luck"), "its metric must be one of accuracy"),
    "spaCy from a path": (
        lambda h: h["features"].update(kind="spacy:/tmp/model"),
        "Unknown features 'spacy:/tmp/model'",
    ),
    "spaCy by any name": (
        lambda h: h["features"].update(kind="spacy:os"),
        "Unknown features 'spacy:os'",
    ),
    "labels that are numbers": (lambda h: h.update(labels=[1, 2, 3, 4, 5]), "labels: one is 1; it must be"),
    "a label twice": (lambda h: h.update(labels=["a", "b", "c", "a", "d"]), "labels: 'a' is given twice"),
    "fewer labels": (lambda h: h["labels"].pop(), "which its features do not give"),
}


@pytest.mark.parametrize("fault", STRATEGIES)
def test_strategies_whose_parts_do_not_belong_together(good, tmp_path, fault):
    change, words = STRATEGIES[fault]
    members = good("paper strategy")
    value = header(members)
    change(value)
    assert words in refused("paper strategy", written(tmp_path, with_header(members, value)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c["rule"].pop("missed"), "its rule has no 'missed'"),
        (lambda c: c["rule"].update(metric="luck"), "its rule is for the metric 'luck'"),
        (lambda c: c["rule"].update(threshold=-1), "its rule: threshold is -1"),
        (lambda c: c.update(more=1), "its header has unknown fields: 'more'"),
    ],
)
def test_learned_combiners_that_leave_out_or_add_a_field(good, tmp_path, change, words):
    members = good("strategy")
    value = header(members)
    combiners = [state["combiner"] for state in value["states"]]
    change(next(combiner for combiner in combiners if combiner["combiner"] == "learned"))
    assert words in refused("strategy", written(tmp_path, with_header(members, value)))


def test_a_strategy_that_names_a_spacy_model_loads_without_spacy(good, tmp_path):
    members = good("strategy")
    value = header(members)
    value["features"]["kind"] = "spacy:en_core_web_md"
    path = written(tmp_path, with_header(members, value))
    found = load("strategy", path, "[name for name in __import__('sys').modules if 'spacy' in name]")
    assert found["said"] == "[]"


def test_headers_that_are_nested_or_say_things_twice(good, tmp_path):
    members = good("market")
    for text, words in [
        (b'{"format": "frugalmct-market-1", "format": "x"}', "the key 'format' is given twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' * 50 + b"1" + b"}" * 50, "nested too deeply"),
        (b'{"format": NaN}', "NaN is not a JSON number"),
        (b'{"format": ' + b"9" * 5000 + b"}", "is not JSON"),
        (b"\xff", "is not JSON"),
    ]:
        path = written(tmp_path, members | {"header.npy": npy(np.frombuffer(text, np.uint8))})
        assert words in refused("market", path)


def test_what_can_be_saved_can_be_loaded(originals, tmp_path):
    """Single precision, whole numbers as prices, and the longest name that is allowed."""
    market = originals["market"]
    scores = market.scores[0].astype(np.float32)
    fields = {"items": market.items.astype("U600"), "features": market.features.astype(np.float32)}
    fields |= {"prices": np.array([1, 2, 3]), "scores": (scores, *market.scores[1:])}
    other = replace(market, **fields)
    other.save(tmp_path / "market.npz")
    loaded = type(market).load(tmp_path / "market.npz")
    np.testing.assert_array_equal(loaded.features, other.features)
    np.testing.assert_array_equal(loaded.items, market.items)
    labels = np.array([*market.labels[:-1], "x" * 501])
    with pytest.raises(FrugalError, match="labels hold a text of more than 500 characters"):
        replace(market, labels=labels).save(tmp_path / "market.npz")


def test_fortran_order_is_read_as_it_was_written(originals, tmp_path):
    market = originals["market"]
    turned = replace(market, features=np.asfortranarray(market.features))
    turned.save(tmp_path / "market.npz")
    np.testing.assert_array_equal(type(market).load(tmp_path / "market.npz").features, market.features)


def test_sets_are_read_as_label_matrix_makes_them(originals, tmp_path):
    market = originals["market"]
    market.save(tmp_path / "market.npz")
    truth = type(market).load(tmp_path / "market.npz").truth
    again = label_matrix(truth.indptr, truth.indices, None, truth.shape[1])
    assert (truth != again).nnz == 0 and truth.indices.dtype == again.indices.dtype


# --- the worst that the limits leave: small files that are valid, or nearly, and large once unpacked


def dense_market(good_members: dict[str, bytes], side: int) -> dict[str, bytes]:
    """As many items as labels, every label true of every item, in falling order: all must be sorted anew."""
    names = [b"%d" % n for n in range(side)]
    text, ends = b"".join(names), np.cumsum([len(name) for name in names], dtype=np.int64)
    codes = np.tile(np.arange(side, dtype=np.int32)[::-1], side)
    made = {"truth.starts": np.arange(side + 1) * side, "truth.labels": codes}
    for what in ("items", "labels"):
        made |= {f"{what}.text": np.frombuffer(text, np.uint8), f"{what}.ends": ends}
    for k in range(3):
        made |= {f"service{k}.starts": np.zeros(side + 1, np.int64), f"service{k}.labels": codes[:0]}
        made |= {f"service{k}.scores": np.zeros(0)}
    members = good_members | {f"{name}.npy": npy(value) for name, value in made.items()}
    return {name: value for name, value in members.items() if name != "features.npy"}


def test_the_largest_market_in_a_small_file(good, tmp_path):
    path = written(tmp_path, dense_market(good("market"), 4200))
    assert path.stat().st_size < 2 * 2**20
    found = load("market", path, "found.truth.nnz")
    assert found["said"] == str(4200**2) and found["peak_mib"] < MIB_ALLOWED


def test_very_many_items_in_a_small_file(good, tmp_path):
    count = 1_500_000
    made = {"items.text": np.full(count, 97, np.uint8), "items.ends": np.arange(1, count + 1)}
    for name in ("truth", "service0", "service1", "service2"):
        made |= {f"{name}.starts": np.zeros(count + 1, np.int64), f"{name}.labels": np.zeros(0, np.int32)}
        made |= {f"{name}.scores": np.zeros(0)} if name != "truth" else {}
    members = good("market") | {f"{name}.npy": npy(value) for name, value in made.items()}
    del members["features.npy"]
    path = written(tmp_path, members)
    assert path.stat().st_size < 4 * 2**20
    found = load("market", path, "len(found)")
    assert found["said"] == str(count) and found["peak_mib"] < MIB_ALLOWED


PIECES = ["{}", "[]", '{"a":1}', "[[[[0]]]]", "1.5"]


@pytest.mark.parametrize("piece", ["%d", *(pytest.param(piece, marks=pytest.mark.slow) for piece in PIECES)])
def test_the_longest_header(good, tmp_path, piece):
    """16 MiB of JSON in the place of a strategy's labels."""
    start, end = b'{"format": "frugalmct-strategy-5", "services": ["a"], "labels": [', b"0]}"
    room = 16 * 2**20 - 200
    if piece == "%d":
        body = b"".join(b'"%d",' % (10**6 + n) for n in range(room // 10))
    else:
        body = f"{piece},".encode() * (room // (len(piece) + 1))
    members = good("strategy") | {"header.npy": npy(np.frombuffer(start + body + end, np.uint8))}
    found = load("strategy", written(tmp_path, members))
    assert "prices has shape (3,) where 1" in found["said"] and found["peak_mib"] < MIB_ALLOWED
