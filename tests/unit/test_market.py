import os
import pickle
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers import assert_same_market, small_market
from hypothesis import given
from hypothesis import strategies as st

from frugalmct.errors import FrugalError
from frugalmct.market import Market
from frugalmct.market.interface import FORMAT
from frugalmct.sparse import label_matrix
from frugalmct.splits import Split, split

# --- what a market may be


def test_length_is_the_number_of_items():
    assert len(small_market()) == 4


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"services": (), "scores": (), "prices": np.array([])}, "no services"),
        ({"services": ("Google", "Google")}, "names a service twice: Google, Google"),
        ({"prices": np.array([1.0])}, "2 services, 2 answers and 1 prices"),
        ({"prices": np.array([1.0, np.nan])}, "finite number >= 0"),
        ({"prices": np.array([1.0, -0.5])}, "finite number >= 0"),
        ({"prices": np.array([1.0, np.inf])}, "finite number >= 0"),
        ({"labels": np.array(["bike"])}, "truth is 4 x 4, but there are 4 items and 1 labels"),
        ({"items": np.array(["a", "b"])}, "truth is 4 x 4, but there are 2 items and 4 labels"),
        ({"features": np.zeros((3, 2))}, "one row per item"),
        ({"features": np.zeros(4)}, "one row per item"),
    ],
)
def test_impossible_market_is_refused(changes, sentence):
    with pytest.raises(FrugalError, match="Market small") as caught:
        small_market(**changes)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("score", [-0.01, 1.01, np.nan])
def test_score_out_of_range_names_the_service(score):
    bad = label_matrix([0, 1, 1, 1, 1], [0], [score], 4)
    with pytest.raises(FrugalError, match="科大讯飞 has scores outside"):
        small_market(scores=(small_market().scores[0], bad))


def test_label_twice_in_one_item_is_refused():
    twice = label_matrix([0, 2, 2, 2, 2], [1, 1], [0.5, 0.6], 4)
    with pytest.raises(FrugalError, match="Google has a label twice in one item"):
        small_market(scores=(twice, small_market().scores[1]))


def test_labels_of_an_item_are_sorted_whatever_order_they_come_in():
    unsorted = label_matrix([0, 2, 2, 2, 2], [0, 1], [0.5, 0.6], 4)
    unsorted.indices[:2], unsorted.data[:2] = [3, 1], [0.3, 0.1]
    unsorted.has_sorted_indices = False
    scores = small_market(scores=(unsorted, small_market().scores[1])).scores[0]
    assert scores.indices.tolist() == [1, 3]
    assert scores.data.tolist() == [0.1, 0.3]


def test_unknown_service_is_answered_with_the_known_ones():
    assert small_market().service_index("科大讯飞") == 1
    with pytest.raises(FrugalError, match="no service 'Bing'; its services: Google, 科大讯飞"):
        small_market().service_index("Bing")


# --- numbers, worked out by hand


def test_service_accuracy_by_hand():
    # a1: {car, person} | 画像 has no truth and no Google answer | é: {猫}
    expected = [[1, 1 / 2], [0, 0], [1, 0], [1, 1 / 2]]
    np.testing.assert_allclose(small_market().service_accuracy(), expected)


def test_service_accuracy_of_another_metric_is_not_mixed_up():
    market = small_market()
    before = market.service_accuracy().copy()
    np.testing.assert_allclose(market.service_accuracy("subset"), [[1, 0], [0, 0], [1, 0], [1, 0]])
    np.testing.assert_array_equal(market.service_accuracy(), before)


def test_statistics_by_hand():
    assert small_market().statistics() == {
        "items": 4,
        "label_occurrences": 4,
        "distinct_labels": 4,
        "labels_per_item": 1.0,
        "largest_label_set": 2,
        "service_accuracy": {"Google": 0.75, "科大讯飞": 0.25},
    }


def test_distinct_labels_are_those_in_the_truth():
    assert small_market().subset([1, 2]).statistics()["distinct_labels"] == 1


# --- parts of a market


def test_subset_keeps_order_stored_zeros_and_features():
    market = small_market(features=np.arange(8.0).reshape(4, 2))
    part = market.subset([3, 0])
    assert part.items.tolist() == ["é", "a1"]
    assert part.features.tolist() == [[6, 7], [0, 1]]
    assert part.scores[0].indices.tolist() == [3, 1, 2]
    assert part.scores[0].data.tolist() == [0.1, 0.0, 0.5]
    np.testing.assert_array_equal(part.service_accuracy(), market.service_accuracy()[[3, 0]])


def test_subset_takes_a_mask_and_nothing():
    assert small_market().subset(np.array([False, True, False, True])).items.tolist() == ["a2", "é"]
    assert len(small_market().subset([])) == 0


def test_subset_does_not_change_the_market():
    market = small_market()
    market.subset([3, 2, 1])
    assert_same_market(market, small_market())


def test_with_services_reorders_and_drops():
    market = small_market()
    turned = market.with_services(["科大讯飞", "Google"])
    assert turned.services == ("科大讯飞", "Google")
    assert turned.prices.tolist() == [0.01, 15.0]
    np.testing.assert_array_equal(turned.service_accuracy(), market.service_accuracy()[:, ::-1])
    assert market.with_services(["Google"]).services == ("Google",)
    with pytest.raises(FrugalError, match="no service 'Bing'"):
        market.with_services(["Bing"])
    with pytest.raises(FrugalError, match="no services"):
        market.with_services([])


# --- files


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("features", [None, np.array([[0.1], [1e-300], [-2.0], [3.0]])])
def test_round_trip_is_exact(tmp_path, compress, features):
    market = small_market(features=features, data="simulated" if features is None else "release")
    market.save(tmp_path / "deep" / "market.npz", compress=compress)
    assert_same_market(Market.load(tmp_path / "deep" / "market.npz"), market)


def test_stored_zero_survives_the_round_trip_as_a_member(tmp_path):
    small_market().save(tmp_path / "market.npz")
    assert Market.load(tmp_path / "market.npz").scores[0].nnz == 4


def test_market_without_items_or_labels_round_trips(tmp_path):
    small_market().subset([]).save(tmp_path / "market.npz")
    assert len(Market.load(tmp_path / "market.npz")) == 0


@pytest.mark.parametrize("compress", [False, True])
def test_same_market_gives_same_bytes(tmp_path, compress):
    for name in ("one", "two"):
        small_market().save(tmp_path / name, compress=compress)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_compressed_is_smaller(tmp_path):
    market = small_market().subset(np.zeros(2000, dtype=int))
    market.save(tmp_path / "plain")
    market.save(tmp_path / "compressed", compress=True)
    assert (tmp_path / "compressed").stat().st_size < (tmp_path / "plain").stat().st_size / 2


def _members(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return dict(arrays)


def _changed_file(tmp_path: Path, **changes: np.ndarray) -> Path:
    small_market().save(tmp_path / "good.npz")
    np.savez(tmp_path / "changed.npz", **(_members(tmp_path / "good.npz") | changes))
    return tmp_path / "changed.npz"


def _text(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"header": _text('{"format": "frugalmct-market-9"}')}, "its format is frugalmct-market-9"),
        ({"header": _text("[]")}, "not a market file"),
        ({"header": _text("{")}, "not a market file"),
        ({"header": _text(f'{{"format": "{FORMAT}"}}')}, "not a market file"),
        ({"truth.labels": np.array([1, 2, 0, 4], dtype=np.int32)}, "outside the vocabulary of 4"),
        ({"truth.labels": np.array([1, 2, 0, -1], dtype=np.int32)}, "outside the vocabulary of 4"),
        ({"truth.labels": np.array([1, 1, 0, 3], dtype=np.int32)}, "twice in one item"),
        ({"truth.starts": np.array([0, 2, 1, 3, 4])}, "ends before it starts"),
        ({"truth.starts": np.array([0, 2, 4])}, "truth.starts has shape (3,) where 5 was expected"),
        ({"service0.scores": np.array([0.0, 0.5, 1.0, 1.5])}, "outside [0, 1]"),
        ({"service0.scores": np.array([0.5])}, "not a market file"),
        ({"items.ends": np.array([2, 4])}, "items.ends does not cut items.text into texts"),
        ({"labels.text": np.full(15, 0xFF, dtype=np.uint8)}, "not a market file"),
    ],
)
def test_file_with_wrong_content_is_refused(tmp_path, changes, sentence):
    path = _changed_file(tmp_path, **changes)
    with pytest.raises(FrugalError) as caught:
        Market.load(path)
    assert str(path) in str(caught.value)
    assert sentence in str(caught.value)


def test_missing_file_says_how_to_make_it(tmp_path):
    with pytest.raises(
        FrugalError, match=r"no such market file.*; make it again with `snakemake --force .*`\.$"
    ):
        Market.load(tmp_path / "none.npz")


def test_foreign_files_are_refused(tmp_path):
    np.savez(tmp_path / "foreign.npz", weights=np.zeros(3))
    np.save(tmp_path / "foreign.npy", np.zeros(3))
    (tmp_path / "text.npz").write_text("not a market")
    (tmp_path / "empty.npz").write_bytes(b"")
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("header.npy", "not an array")
    for path in [*tmp_path.iterdir(), tmp_path]:
        with pytest.raises(FrugalError, match="not a market file"):
            Market.load(path)


class _Trap:
    """Unpickling it leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


def test_pickle_is_refused_and_never_run(tmp_path):
    trace = tmp_path / "trace"
    bait = np.array([_Trap(trace)], dtype=object)
    plain_pickle = tmp_path / "plain.npz"
    plain_pickle.write_bytes(pickle.dumps(_Trap(trace)))
    for path in [_changed_file(tmp_path, header=bait), plain_pickle]:
        with pytest.raises(FrugalError, match="not a market file"):
            Market.load(path)
    for member in ("items.text", "truth.labels", "service0.scores", "prices", "features"):
        with pytest.raises(FrugalError, match="not a market file"):
            Market.load(_changed_file(tmp_path, **{member: bait}))
    assert not trace.exists()


@pytest.mark.parametrize("compress", [False, True])
def test_damaged_file_is_refused_or_unharmed(tmp_path, compress):
    market = small_market()
    market.save(tmp_path / "good.npz", compress=compress)
    good = (tmp_path / "good.npz").read_bytes()
    rng = random.Random(5)
    refused = 0
    for trial in range(400):
        bad = bytearray(good)
        bad[rng.randrange(len(bad))] ^= rng.randrange(1, 256)
        (tmp_path / "bad.npz").write_bytes(bad[: rng.randrange(len(bad))] if trial % 4 == 0 else bad)
        try:
            loaded = Market.load(tmp_path / "bad.npz")
        except FrugalError as error:
            assert "bad.npz" in str(error)
            refused += 1
        else:
            assert_same_market(loaded, market)
    assert refused > 200


# --- splits


@given(
    items=st.integers(3, 400),
    train_share=st.floats(0.01, 0.99),
    validation_share=st.floats(0.01, 0.99),
    seed=st.integers(0, 5),
)
def test_split_is_a_partition_with_no_empty_part(items, train_share, validation_share, seed):
    parts = split(items, train_share=train_share, validation_share=validation_share, seed=seed)
    whole = np.concatenate([parts.train, parts.validation, parts.test])
    assert sorted(whole.tolist()) == list(range(items))
    for part in (parts.train, parts.validation, parts.test):
        assert len(part) >= 1
        assert np.all(np.diff(part) > 0)
    training = len(parts.train) + len(parts.validation)
    assert training == np.clip(round(items * train_share), 2, items - 1)
    assert len(parts.validation) == np.clip(round(training * validation_share), 1, training - 1)
    np.testing.assert_array_equal(parts.whole_train, np.setdiff1d(np.arange(items), parts.test))


def test_split_sizes_of_the_default():
    parts = split(1000)
    assert (len(parts.train), len(parts.validation), len(parts.test)) == (400, 100, 500)


def test_split_is_random_and_depends_on_its_three_keys():
    base = split(200, seed=1, dataset="PASCAL", repetition=0)
    again = split(200, seed=1, dataset="PASCAL", repetition=0)
    np.testing.assert_array_equal(base.test, again.test)
    np.testing.assert_array_equal(base.train, again.train)
    for change in ({"seed": 2}, {"dataset": "MIR"}, {"repetition": 1}):
        other = split(200, **({"seed": 1, "dataset": "PASCAL", "repetition": 0} | change))
        assert not np.array_equal(base.test, other.test)
    assert not np.array_equal(base.test, np.arange(100, 200))


def test_test_part_does_not_depend_on_the_validation_share():
    np.testing.assert_array_equal(
        split(100, validation_share=0.1).test, split(100, validation_share=0.5).test
    )


@pytest.mark.parametrize("name", ["train_share", "validation_share"])
@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), float("inf")])
def test_split_refuses_an_impossible_share(name, share):
    with pytest.raises(FrugalError, match=f"split: {name} is"):
        split(100, **{name: share})


@pytest.mark.parametrize("items", [0, 1, 2])
def test_split_refuses_too_few_items(items):
    with pytest.raises(FrugalError, match=f"{items} items cannot be divided"):
        split(items)


def test_split_round_trip_and_bytes(tmp_path):
    parts = split(50, seed=3)
    parts.save(tmp_path / "one.npz")
    parts.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    loaded = Split.load(tmp_path / "one.npz")
    for part in ("train", "validation", "test"):
        np.testing.assert_array_equal(getattr(loaded, part), getattr(parts, part))


def test_split_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(FrugalError, match="no such split file"):
        Split.load(tmp_path / "none.npz")
    small_market().save(tmp_path / "market.npz")
    with pytest.raises(FrugalError, match="not a split file"):
        Split.load(tmp_path / "market.npz")
