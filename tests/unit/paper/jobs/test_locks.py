import subprocess
import sys
from pathlib import Path

import pytest

from frugalmct.paper.jobs.locks import recover_from_kill

HOLD = """
import sys
from pathlib import Path
from frugalmct.paper.jobs.locks import recover_from_kill
recover_from_kill(Path(sys.argv[1]), Path(sys.argv[2]))
print("alive", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """What a killed run leaves: locks, a half-written file, and a finished one."""
    state, results = tmp_path / ".snakemake", tmp_path / "results"
    for file in (
        state / "locks" / "0.input.lock",
        state / "locks" / "0.output.lock",
        results / "markets" / ".frugalmct-unfinished-x7_abcde.npz",
        results / "markets" / "COCO.npz",
        results / ".gitkeep",
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x", encoding="utf-8")
    return state, results


def left(folders: tuple[Path, Path]) -> set[str]:
    return {file.name for folder in folders for file in folder.rglob("*") if file.is_file()} - {"alive"}


def test_traces_of_a_killed_run_are_cleared(folders):
    recover_from_kill(*folders)
    assert left(folders) == {"COCO.npz", ".gitkeep"}


def test_nothing_is_touched_while_another_run_lives_and_all_once_it_was_killed(folders):
    everything = left(folders)
    (folders[0] / "locks").rename(folders[0] / "kept")
    command = [sys.executable, "-c", HOLD, *map(str, folders)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "alive\n"
        (folders[0] / "kept").rename(folders[0] / "locks")
        (folders[1] / "markets" / ".frugalmct-unfinished-x7_abcde.npz").write_text("x", encoding="utf-8")
        for _ in range(2):
            subprocess.run([*command], input="", text=True, check=True, capture_output=True)
            assert left(folders) == everything
        other.kill()
    subprocess.run(command, input="", text=True, check=True, capture_output=True)
    assert left(folders) == {"COCO.npz", ".gitkeep"}


def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    recover_from_kill(tmp_path / "file", tmp_path / "results")
    recover_from_kill(tmp_path / "none" / "deep", tmp_path / "results")
