"""After a killed run only what this program left half-written is removed."""

import subprocess
import sys
from pathlib import Path

import pytest

from frugalmct.files import replacing
from frugalmct.paper.jobs.locks import recover_from_kill

# Files that a user, an editor or another program may have in a folder of results.
OTHERS = (
    ".my.settings.json",
    ".gitkeep",
    ".report.html.swp",
    ".notes.backup01.csv",
    ".a.b_c_d_e_.npz",
    ".frugalmct-unfinished-",
    ".frugalmct-unfinished-notes.txt",
    "frugalmct-unfinished-x7_abcde.npz",
)

KILLED = """
import os, signal, sys
from frugalmct.files import replacing
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("name", OTHERS)
def test_what_others_made_stays(tmp_path, name):
    other = tmp_path / "results" / "tables" / name
    other.parent.mkdir(parents=True)
    other.write_text("mine", encoding="utf-8")
    recover_from_kill(tmp_path / "state", tmp_path / "results")
    assert other.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["COCO.npz", "table.csv", "python", f"{'x' * 240}.json"])
def test_what_a_killed_process_left_is_removed(tmp_path, name):
    folder = tmp_path / "results" / "markets"
    subprocess.run([sys.executable, "-c", KILLED, str(folder / name)], check=False)
    (left,) = folder.iterdir()
    assert left.read_text(encoding="utf-8") == "half"
    recover_from_kill(tmp_path / "state", tmp_path / "results")
    assert list(folder.iterdir()) == []


def test_files_in_the_making_keep_their_ending(tmp_path: Path):
    with replacing(tmp_path / "a.npz") as temporary:
        assert temporary.suffix == ".npz" and temporary.name.startswith(".frugalmct-unfinished-")
