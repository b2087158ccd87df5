import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import SOURCE_DIR

from frugalmct.errors import FrugalError
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


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "free some space, or write to another disk"),
        (errno.EDQUOT, "free some space, or write to another disk"),
        (errno.EROFS, "choose a folder that you may write to"),
        (errno.EACCES, "choose a folder that you may write to"),
    ],
)
def test_a_disk_that_cannot_be_written_to_is_a_sentence(tmp_path, number, remedy):
    target = tmp_path / "table.csv"
    with pytest.raises(FrugalError) as told, replacing(target):
        raise OSError(number, os.strerror(number))
    assert str(told.value) == f"{target}: cannot be written ({os.strerror(number)}); {remedy}."
    assert list(tmp_path.iterdir()) == []


def test_other_trouble_of_the_system_stays_what_it_is(tmp_path):
    with pytest.raises(OSError, match="odd") as told, replacing(tmp_path / "table.csv"):
        raise OSError(errno.EIO, "odd")
    assert not isinstance(told.value, FrugalError)


def test_a_command_on_a_full_disk_says_so_in_one_line(tmp_path):
    """A limit on the size of files stands in for the end of a disk."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "import numpy as np; from frugalmct.files import replacing\n"
        "with replacing('table.npz') as path, path.open('wb') as handle: np.savez(handle, a=np.arange(99))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SOURCE_DIR)},
        capture_output=True,
        text=True,
    )
    last = done.stderr.splitlines()[-1]
    assert last.endswith(
        "table.npz: cannot be written (File too large); free some space, or write to another disk."
    )
    assert list(tmp_path.iterdir()) == []
