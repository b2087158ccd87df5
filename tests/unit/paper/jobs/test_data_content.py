"""A data file is known by its content: its times may be anything."""

import os
import shutil
import time
from pathlib import Path

import pytest

from frugalmct.errors import FrugalError
from frugalmct.paper.jobs import data
from frugalmct.paper.jobs.data import data_digests

OLD, NEW = 1_000_000_000, 4_000_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A data file that nobody has changed for a while: its digest may be kept."""
    path = tmp_path / "own.jsonl"
    path.write_bytes(b"a" * 1000)
    return path


@pytest.fixture
def settled(monkeypatch):
    monkeypatch.setattr(data, "SETTLED", -1.0)


def digest(file: Path, kept: Path) -> str:
    (found,) = data_digests([str(file)], kept).values()
    return found


def replace_by_copy(file: Path, content: bytes, mtime: float) -> None:
    """As `cp -p other file` does: the same inode, other bytes, the other file's time."""
    other = file.with_name("other")
    other.write_bytes(content)
    os.utime(other, (mtime, mtime))
    shutil.copy2(other, file)


def replace_by_rename(file: Path, content: bytes, mtime: float) -> None:
    """As `rsync -a` does: another inode under the same name."""
    other = file.with_name("other")
    other.write_bytes(content)
    os.utime(other, (mtime, mtime))
    other.replace(file)


WAYS = (replace_by_copy, replace_by_rename)
TIMES = (OLD, NEW, "the same")


@pytest.mark.parametrize("replace", WAYS)
@pytest.mark.parametrize("mtime", TIMES)
def test_other_content_of_the_same_size_is_seen_whatever_its_time(file, settled, replace, mtime):
    kept = file.parent / "kept.json"
    before = digest(file, kept)
    replace(file, b"b" * 1000, file.stat().st_mtime if mtime == "the same" else mtime)
    after = digest(file, kept)
    assert after != before and after.startswith("1000 bytes, ")
    replace(file, b"a" * 1000, mtime if mtime != "the same" else OLD)
    assert digest(file, kept) == before, "and the old content is the old content"


@pytest.mark.parametrize("mtime", [OLD, NEW])
def test_another_time_alone_changes_nothing(file, tmp_path, mtime):
    before = digest(file, tmp_path / "kept.json")
    os.utime(file, (mtime, mtime))
    assert digest(file, tmp_path / "kept.json") == before


def test_a_file_that_did_not_change_is_not_read_again(file, settled, tmp_path, monkeypatch):
    before = digest(file, tmp_path / "kept.json")
    monkeypatch.setattr(data.hashlib, "file_digest", None)
    assert digest(file, tmp_path / "kept.json") == before


def test_what_may_still_be_changing_is_not_kept(file, tmp_path):
    digest(file, tmp_path / "kept.json")
    assert not (tmp_path / "kept.json").exists(), "within one tick of the clock a change would look like none"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"x": 3}', b"\xff", b"[" * 100_000])
def test_what_was_kept_may_be_damaged(file, settled, tmp_path, content):
    before = digest(file, tmp_path / "kept.json")
    (tmp_path / "kept.json").write_bytes(content)
    assert digest(file, tmp_path / "kept.json") == before


def test_a_file_that_is_gone_is_named(tmp_path):
    with pytest.raises(FrugalError, match=r"gone\.jsonl: cannot be read \(No such file"):
        data_digests([str(tmp_path / "gone.jsonl")], tmp_path / "kept.json")


def test_a_hundred_megabytes_take_less_than_a_few_seconds(tmp_path):
    large = tmp_path / "large"
    with large.open("wb") as handle:
        handle.truncate(100 * 2**20)
    start = time.process_time()
    digest(large, tmp_path / "kept.json")
    assert time.process_time() - start < 5
