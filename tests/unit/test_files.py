import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from frugalmct.files import replacing, write_text


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_file_appears_whole_and_leaves_nothing_beside_it(tmp_path):
    target = tmp_path / "new" / "folder" / "table.csv"
    with replacing(target) as temporary:
        temporary.write_text("a,b\n")
        assert not target.exists()
        assert temporary.parent == target.parent
        assert temporary.suffix == ".csv"
    assert target.read_text() == "a,b\n"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_failure_keeps_the_old_file_and_no_temporary_one(tmp_path, failure):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with pytest.raises(failure), replacing(target) as temporary:
        temporary.write_text("half of the n")
        raise failure
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_failure_without_an_old_file_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), replacing(tmp_path / "table.csv"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_follow_the_umask(tmp_path, umask, mask, expected):
    os.umask(mask)
    write_text(tmp_path / "table.csv", "x")
    assert stat.S_IMODE((tmp_path / "table.csv").stat().st_mode) == expected
    assert os.umask(mask) == mask


def test_bytes_are_on_disk_before_the_rename_and_the_rename_after_it(tmp_path, monkeypatch):
    """The order of what the system is asked for: the file's bytes, the new name, the folder's list."""
    asked, opened = [], {}
    real_open, real_fsync, real_replace = os.open, os.fsync, Path.replace

    def remember(path, *rest, **more):
        handle = real_open(path, *rest, **more)
        opened[handle] = Path(path)
        return handle

    def sync(handle):
        asked.append("folder" if opened[handle].is_dir() else f"{opened[handle].stat().st_size} bytes")
        real_fsync(handle)

    def rename(path, target):
        asked.append("rename")
        return real_replace(path, target)

    monkeypatch.setattr(os, "open", remember)
    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", rename)
    write_text(tmp_path / "table.csv", "12345")
    assert asked == ["5 bytes", "rename", "folder"]


def test_text_is_utf8_and_replaces_what_was_there(tmp_path):
    write_text(tmp_path / "table.csv", "a much longer text")
    write_text(str(tmp_path / "table.csv"), "猫\n")
    assert (tmp_path / "table.csv").read_bytes() == "猫\n".encode()
