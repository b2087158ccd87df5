"""The reader of array files, on files made by numpy and by hand."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from frugalmct import arrays
from frugalmct.arrays import open_arrays, text_array
from frugalmct.errors import FrugalError


def saved(path: Path, **given: np.ndarray) -> Path:
    np.savez(path, **given)
    return path


def refused(path: Path, read) -> str:
    with pytest.raises(FrugalError) as caught, open_arrays(path, "test file", "make it again") as file:
        read(file)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ") and sentence.endswith("; make it again."), sentence
    return sentence


@pytest.mark.parametrize(
    "value",
    [
        np.arange(5.0),
        np.zeros(0),
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.zeros((0, 3)),
        np.arange(300_000.0),
        np.arange(20.0)[::3],
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_floats_come_back_as_numpy_saved_them(tmp_path, value, save):
    save(tmp_path / "x.npz", x=value)
    with open_arrays(tmp_path / "x.npz", "test file", "make it again") as file:
        found = file.floats("x", tuple(None for _ in value.shape))
    np.testing.assert_array_equal(found, value)
    assert found.dtype == value.dtype and found.flags.writeable


def test_wholes_of_every_type(tmp_path):
    for dtype in (np.int8, np.int32, np.int64, np.uint8, np.uint64):
        path = saved(tmp_path / "x.npz", x=np.array([1, 2, 100], dtype))
        with open_arrays(path, "test file", "make it again") as file:
            assert file.wholes("x", (3,), dtype=dtype).tolist() == [1, 2, 100]
        other = np.int16
        assert "where int16 was expected" in refused(path, lambda f, d=other: f.wholes("x", (3,), dtype=d))


TEXTS = ["", "a", "é", "猫の目", "𝒳" * 500, "x" * 500, "a b\n", "b"]


@pytest.mark.parametrize("texts", [[], ["a"], TEXTS, [f"{n}" for n in range(10_000)], [""] * 5000])
def test_texts_come_back(tmp_path, texts):
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    run = np.frombuffer(b"".join(encoded), np.uint8)
    path = saved(tmp_path / "x.npz", **{"x.text": run, "x.ends": ends})
    with open_arrays(path, "test file", "make it again") as file:
        found = file.text("x", unique=len(set(texts)) == len(texts))
    assert found.tolist() == texts
    assert found.dtype == (np.array(texts).dtype if texts and any(texts) else np.dtype("U1"))


@pytest.mark.parametrize(
    ("text", "ends", "words"),
    [
        (b"abc", [1, 2], "does not cut"),
        (b"abc", [2, 1, 3], "does not cut"),
        (b"abc", [1, 4], "x.ends holds values outside"),
        (b"abc", [-1, 3], "x.ends holds values outside"),
        (b"", [], None),
        (b"a", [], "does not cut"),
        (b"a\0b", [3], "the character NUL"),
        (b"\xff", [1], "not a test file, or a damaged one"),
        ("é".encode(), [1, 2], "not a test file, or a damaged one"),
        (b"x" * 501, [501], "more than 500 characters"),
        ("猫".encode() * 501, [1503], "more than 500 characters"),
        (b"x" * 2001, [2001], "more than 500 characters"),
        (b"aba", [1, 2, 3], "x holds 'a' twice"),
    ],
)
def test_texts_that_are_none(tmp_path, text, ends, words):
    run = np.frombuffer(text, np.uint8)
    path = saved(tmp_path / "x.npz", **{"x.text": run, "x.ends": np.array(ends, np.int64)})
    if words:
        assert words in refused(path, lambda file: file.text("x", unique=True))


def test_too_much_text_is_refused_by_its_padded_size(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "TEXT_BYTES", 4000)
    monkeypatch.setattr(arrays, "TEXT_RATIO", 1)
    names = [b"x" * 90] + [b"%d" % n for n in range(10, 99)]
    ends = np.cumsum([len(name) for name in names], dtype=np.int64)
    run = np.frombuffer(b"".join(names), np.uint8)
    path = saved(tmp_path / "x.npz", **{"x.text": run, "x.ends": ends})
    assert "too much text" in refused(path, lambda file: file.text("x"))
    with pytest.raises(FrugalError, match="too much; shorten the longest"):
        text_array("they", [name.decode() for name in names])


def test_what_nobody_asks_for_must_not_be_there(tmp_path):
    path = saved(tmp_path / "x.npz", x=np.zeros(2), y=np.zeros(2))
    assert "arrays that do not belong there: 'y'" in refused(path, lambda file: file.floats("x", (2,)))
    assert "the array 'z' is missing" in refused(path, lambda file: file.floats("z", (2,)))


def test_groups_read_what_is_asked_for(tmp_path):
    path = saved(
        tmp_path / "x.npz", **{"m1.a": np.zeros(2), "m1.b": np.ones(1, np.int32), "m10.a": np.ones(3)}
    )
    with open_arrays(path, "test file", "make it again") as file:
        one, ten = file.group("m1."), file.group("m10.")
        assert sorted(one) == ["a", "b"] and len(ten) == 1
        assert one["a"].tolist() == [0, 0] and one["b"].dtype == np.int32 and ten["a"].sum() == 3
        with pytest.raises(KeyError):
            one["c"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.1, 1.1])
def test_values_outside_the_range(tmp_path, value):
    path = saved(tmp_path / "x.npz", x=np.array([0.5, value]))
    words = "outside [0, 1]" if np.isfinite(value) else "not finite numbers"
    assert words in refused(path, lambda file: file.floats("x", (2,), least=0, most=1))


def zipped(path: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def npy(value: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, value)
    return out.getvalue()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b.replace(b"(3,)", b"(4,)"), "declares 4 values, which it does not have"),
        (lambda b: b.replace(b"(3,)", b"(2,)"), "declares 2 values, which it does not have"),
        (lambda b: b.replace(b"(3,), ", b"(9" + b"0" * 17 + b",)")[: len(b)], "is not an array"),
        (lambda b: b.replace(b"'<f8'", b"'|O8'"), "is not an array of numbers or text (|O8)"),
        (lambda b: b.replace(b"'<f8'", b"'<V8'"), "is not an array of numbers or text (<V8)"),
        (lambda b: b.replace(b"False", b"exit()"), "is not an array of numbers or text"),
        (lambda b: b.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x02"), "is not an array of numbers or text"),
        (lambda b: b[:20], "is not an array of numbers or text"),
        (lambda b: b"", "is not an array of numbers or text"),
        (lambda b: b + b"\0", "declares 3 values, which it does not have"),
    ],
)
def test_arrays_that_lie_about_themselves(tmp_path, change, words):
    path = zipped(tmp_path / "x.npz", ("x.npy", change(npy(np.arange(3.0)))))
    assert words in refused(path, lambda file: file.floats("x", (None,)))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(tmp_path, method):
    path = zipped(tmp_path / "x.npz", ("x.npy", npy(np.zeros(3))), method=method)
    assert "packed in another way" in refused(path, lambda file: file.floats("x", (3,)))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_and_what_is_no_array(tmp_path):
    content = npy(np.zeros(3))
    for names in (["x.npy", "x.npy"], ["x.npy", "x"], ["x.npy", "readme.txt"]):
        path = zipped(tmp_path / "x.npz", *((name, content) for name in names))
        assert "an array twice, or something else" in refused(path, lambda file: file.floats("x", (3,)))


def test_entries_that_share_their_bytes_are_refused(tmp_path):
    """A quine-like zip: many entries that all point to the same packed data."""
    zipped(tmp_path / "x.npz", *((f"{n}.npy", npy(np.zeros(3000))) for n in range(50)))
    content = bytearray((tmp_path / "x.npz").read_bytes())
    first, size = 0, content.index(b"PK\x03\x04", 10)
    directory = content[content.index(b"PK\x01\x02") : content.index(b"PK\x05\x06")]
    end = content[content.index(b"PK\x05\x06") :]
    bad = content[first:size] + directory + end
    place = len(content[first:size]) + len(directory) + 16
    bad[place : place + 4] = size.to_bytes(4, "little")
    (tmp_path / "x.npz").write_bytes(bad)
    assert "its arrays overlap" in refused(tmp_path / "x.npz", lambda file: file.floats("0", (3000,)))


def test_names_are_texts(tmp_path):
    good = np.array(["Google", "科大讯飞"])
    with open_arrays(saved(tmp_path / "x.npz", x=good), "test file", "make it again") as file:
        assert file.names("x", most=5) == ("Google", "科大讯飞")
    surrogate, beyond = good.copy(), good.copy()
    surrogate.view(np.uint32)[0], beyond.view(np.uint32)[0] = 0xD800, 0x110000
    for bad, words in [
        (np.array(["a", "a"]), "'a' is given twice"),
        (np.array(["a" * 501]), "501 characters long"),
        (np.array([1.0]), "where 1 to 5 texts were expected"),
        (np.array([["a"]]), "where 1 to 5 texts were expected"),
        (good[:0], "where 1 to 5 texts were expected"),
        (np.repeat(good, 3), "where 1 to 5 texts were expected"),
        (surrogate, "holds what is no text"),
        (beyond, "holds what is no text"),
    ]:
        assert words in refused(saved(tmp_path / "x.npz", x=bad), lambda file: file.names("x", most=5))
