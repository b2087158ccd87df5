"""Input that is large and wrong ends with a sentence, in time linear in its size and in bounded memory."""

import gzip
import json
import zipfile
import zlib
from pathlib import Path

import pytest
from children import evaluated
from helpers import item
from released import write_frugalmct, write_frugalml

from frugalmct.errors import FrugalError
from frugalmct.sources import load_market

MIB_ALLOWED = 1024
# Each takes a second or two; what is quadratic takes minutes.
SECONDS = 20


def read(path: Path) -> dict:
    expression = f"__import__('frugalmct.sources.jsonl', fromlist=['x']).read_jsonl({str(path)!r})"
    return evaluated(expression, timeout=90)


def within_limits(found: dict) -> str:
    assert found["seconds"] < SECONDS and found["peak_mib"] < MIB_ALLOWED, found
    return found["said"]


MORE_PIECES = (b"[],", b'"",', b'{"a":1},', b"[[[[[[]]]]]],", b"1e5,")


def keys(count: int) -> str:
    """An object whose last key comes a second time."""
    return ", ".join(f'"key {n}": []' for n in [*range(count), count - 1])


def test_a_key_twice_in_a_large_object(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{{{keys(200_000)}}}\n", encoding="utf-8")
    assert "the key 'key 199999' is given twice" in within_limits(read(path))


def test_very_many_services_in_every_line(tmp_path):
    path = tmp_path / "mine.jsonl"
    services = {f"service {n}": [] for n in range(20_000)}
    first = json.dumps(item(id="0", predictions=services))
    path.write_text("\n".join([first, *[json.dumps(item(id=str(n), predictions={})) for n in range(1, 300)]]))
    assert "predictions name 20,000 services; at most 1,000" in within_limits(read(path))


def test_a_thousand_services_that_are_missing_in_every_line(tmp_path):
    path = tmp_path / "mine.jsonl"
    services = {f"service {n} {'x' * 300}": [] for n in range(1000)}
    lines = [json.dumps(item(id=str(n), predictions=services if n == 0 else {})) for n in range(200)]
    path.write_text("\n".join(lines), encoding="utf-8")
    sentence = within_limits(read(path))
    assert "has 100,000 problems" in sentence and sentence.endswith("more; reading ended there")


@pytest.mark.parametrize("filler", [b" ", b"[", b'"', b"9", b'{"a":', b"\\"])
def test_a_line_of_100_megabytes(tmp_path, filler):
    path = tmp_path / "mine.jsonl"
    path.write_bytes(filler * (100_000_000 // len(filler)) + b"\n")
    assert "the line is longer than 16,777,216 bytes" in within_limits(read(path))


@pytest.mark.parametrize(
    "piece", [b"{},", *(pytest.param(piece, marks=pytest.mark.slow) for piece in MORE_PIECES)]
)
def test_the_longest_line_that_is_parsed(tmp_path, piece):
    """Many small values take the most memory for their length."""
    path = tmp_path / "mine.jsonl"
    line = b"[" + piece * ((16 * 2**20 - 10) // len(piece))
    path.write_bytes(line[:-1] + b"]\n")
    assert "a list of" in within_limits(read(path))


@pytest.mark.parametrize("piece", [b" ", b"{}\n", pytest.param(b"\n", marks=pytest.mark.slow)])
def test_a_gzip_bomb(tmp_path, piece):
    block = piece * (2**20 // len(piece))
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(head + again * (4 * 10**9 // len(block)))
    assert path.stat().st_size < 20 * 2**20
    words = "reading ended there" if piece == b"{}\n" else "unpack to more than 100 times their size"
    assert words in within_limits(read(path))


def test_well_packed_answers_are_no_bomb(tmp_path):
    line = json.dumps(item(id="%d", predictions={"Google": [["car", 0.5]] * 30, "Microsoft": []}))
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(line.replace("%d", str(n)) for n in range(20_000)).encode()))
    assert path.stat().st_size * 30 < 20_000 * len(line)
    assert "Market" in read(path)["said"]


def test_one_long_id_among_very_many(tmp_path):
    path = tmp_path / "mine.jsonl"
    with path.open("w", encoding="utf-8") as handle:
        for n in range(300_000):
            ident = "x" * 500 if n == 7 else str(n)
            handle.write(f'{{"id": "{ident}", "truth": [], "predictions": {{"a": []}}}}\n')
    assert "the ids are 300,000 texts of up to 500 characters" in within_limits(read(path))


# --- the authors' releases


TRUE = {"a": ["car"], "b": ["dog"], "c": ["person"]}


def release(folder: Path, **files: bytes) -> dict:
    write_frugalmct(folder, TRUE, {0: {name: [(labels[0], 0.5)] for name, labels in TRUE.items()}})
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content)
    return {"task": "MIC", "source": {"kind": "frugalmct", "path": str(folder)}, "prices": {"Google": 15.0}}


def load_in_child(block: dict) -> dict:
    expression = f"__import__('frugalmct.sources', fromlist=['x']).load_market('PASCAL', {block!r})"
    return evaluated(expression, timeout=90)


def said(block: dict) -> str:
    with pytest.raises(FrugalError) as caught:
        load_market("PASCAL", block)
    sentence = str(caught.value)
    assert "\n" not in sentence and sentence.endswith(".") and len(sentence) < 600
    return sentence


def test_a_release_with_an_item_twice_among_very_many(tmp_path):
    block = release(tmp_path / "x", Model0_PredictedLabel__txt=f"{{{keys(200_000)}}}".encode())
    assert "the key 'key 199999' is given twice" in within_limits(load_in_child(block))


def test_a_table_of_services_that_is_very_long(tmp_path):
    rows = "".join(f"{n},Service {n},1,2\n" for n in [*range(60_000), 59_999])
    block = release(tmp_path / "x", meta__csv=f"Index,Name,Cost,Labels\n{rows}".encode())
    assert "the index 59999 is given twice" in within_limits(load_in_child(block))


def test_a_zip_that_swells(tmp_path):
    block = release(tmp_path / "x")
    plain = tmp_path / "x" / "Model0_PredictedLabel.txt"
    plain.unlink()
    with zipfile.ZipFile(plain.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("Model0_PredictedLabel.txt", bytes(300 * 2**20))
    found = load_in_child(block)
    assert "is longer than 268,435,456 bytes; get the file anew" in within_limits(found)


def test_an_encrypted_or_strange_zip(tmp_path):
    block = release(tmp_path / "x")
    plain = tmp_path / "x" / "Model0_PredictedLabel.txt"
    with zipfile.ZipFile(plain.with_suffix(".zip"), "w") as archive:
        archive.writestr("Model0_PredictedLabel.txt", plain.read_bytes())
    plain.unlink()
    good = plain.with_suffix(".zip").read_bytes()
    for place, value in ((6, 1), (8, 99)):  # the flag of encryption, the method of packing
        bad = bytearray(good)
        bad[place] = value
        directory = bad.index(b"PK\x01\x02")
        bad[directory + place + 2] = value
        plain.with_suffix(".zip").write_bytes(bad)
        assert "is not a readable zip" in said(block)


def test_answers_as_plain_texts(tmp_path):
    content = json.dumps({name: ["car"] for name in TRUE}).encode()
    sentence = said(release(tmp_path / "x", Model0_PredictedLabel__txt=content))
    assert "item 'a': the answer 'car' has no score; it must be an object with transcription" in sentence


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"I,S\n0," + b"x" * 200_000, "is not a table (field larger than field limit"),
        (b'I,S\n0,"' + b"x" * 200_000, "is not a table (field larger than field limit"),
        (b"I,S\n" + b"9" * 5000 + b",Google\n", "does not begin with an index and a service"),
        (b"I,S\n" + b"9" * 300 + b",Google\n", "does not begin with an index and a service"),
        (b"I,S\n-1,Google\n", "does not begin with an index and a service"),
    ],
)
def test_a_table_of_services_with_a_huge_field(tmp_path, content, words):
    assert words in said(release(tmp_path / "x", meta__csv=content))


def test_a_class_of_very_many_digits(tmp_path):
    folder = write_frugalml(tmp_path / "RAFDB")
    (folder / "Model2_PredictedLabel.txt").write_text("0\n" + "9" * 5000 + "\n1\n", encoding="utf-8")
    block = {
        "task": "FER",
        "source": {"kind": "frugalml", "path": str(folder)},
        "prices": {"Microsoft": 10.0},
    }
    assert "line 2: the label is '999" in said(block)
