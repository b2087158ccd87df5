import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from frugalmct.errors import FrugalError
from frugalmct.paper.jobs.log import job_log, mistakes_since, say, sentence_only, warn


@pytest.fixture(autouse=True)
def logging_as_before():
    """A job's log takes over the whole process, which in a test goes on."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    raising = logging.raiseExceptions
    yield
    for handler in set(root.handlers) - set(before[0]):
        handler.close()
    root.handlers[:], root.level = before
    logging.captureWarnings(False)
    logging.raiseExceptions = raising


def test_a_mistake_is_a_sentence_on_the_console_and_a_traceback_in_the_log(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended, job_log(str(tmp_path / "job.log")):
        raise FrugalError("The price is -1; it must be at least 0.")
    assert ended.value.code == 1
    assert capsys.readouterr().err == "The price is -1; it must be at least 0.\n"
    assert "Traceback" in (tmp_path / "job.log").read_text(encoding="utf-8")


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no /dev/full, a disk that is full"
)
def test_where_no_log_can_be_written_the_console_has_the_sentence_alone():
    job = (
        "from frugalmct.errors import FrugalError; from frugalmct.paper.jobs.log import job_log\n"
        "with job_log('/dev/full'): raise FrugalError('x.npz: cannot be written.')"
    )
    ended = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "x.npz: cannot be written.\n")


def test_what_nobody_foresaw_keeps_its_traceback(tmp_path):
    with pytest.raises(ZeroDivisionError), job_log(str(tmp_path / "job.log")):
        _ = 1 / 0
    assert "ZeroDivisionError" in (tmp_path / "job.log").read_text(encoding="utf-8")


def test_the_log_has_what_was_said_and_warned_of_this_time_only(tmp_path):
    path = tmp_path / "job.log"
    path.write_text("an earlier attempt", encoding="utf-8")
    with job_log(str(path)) as log:
        log.info("%d items of 画像", 3)
        warnings.warn("look out", stacklevel=1)
    text = path.read_text(encoding="utf-8")
    assert "3 items of 画像" in text and "look out" in text
    assert "an earlier attempt" not in text


def test_sentence_only_lets_success_and_other_errors_through():
    with sentence_only():
        pass
    with pytest.raises(KeyError), sentence_only():
        raise KeyError("x")


def fail(path, error: BaseException) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pytest.raises((SystemExit, ZeroDivisionError)), job_log(str(path)):
        raise error


def test_mistakes_of_this_run_are_found_again_each_once(tmp_path):
    fail(tmp_path / "a" / "old.log", FrugalError("Long ago."))
    os.utime(tmp_path / "a" / "old.log", (1e9, 1e9))
    fail(tmp_path / "b" / "0.log", FrugalError("The score is 7.\nSo is the other."))
    fail(tmp_path / "b" / "1.log", FrugalError("The score is 7.\nSo is the other."))
    fail(tmp_path / "c.log", ZeroDivisionError("no mistake of the user's"))
    with job_log(str(tmp_path / "fine.log")) as log:
        log.info("all is well")
    assert mistakes_since(1e9 + 1, tmp_path) == ["The score is 7.\nSo is the other."]
    assert mistakes_since(0, tmp_path) == ["Long ago.", "The score is 7.\nSo is the other."]
    assert mistakes_since(0, tmp_path / "nowhere") == []


def test_a_log_that_cannot_be_written_is_a_sentence(tmp_path, monkeypatch, capsys):
    def closed(**options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(logging, "basicConfig", closed)
    with pytest.raises(SystemExit), job_log("results/logs/job.log"):
        raise AssertionError("never gets here")
    assert capsys.readouterr().err == (
        "results/logs/job.log: cannot be written (Read-only file system); "
        "choose a folder that you may write to.\n"
    )


def test_a_warning_is_on_the_console_and_in_the_log(tmp_path, capsys):
    with job_log(str(tmp_path / "job.log")) as log:
        warn(log, "mine", iter(["Too few."]))
    assert capsys.readouterr().err == "Warning: mine: Too few.\n"
    assert "WARNING mine: Too few." in (tmp_path / "job.log").read_text(encoding="utf-8")


def test_a_line_is_one_write(monkeypatch):
    """Jobs share the console: in two writes, one's end may come after another's line."""
    written = []
    monkeypatch.setattr("sys.stderr.write", written.append)
    say("PASCAL is done")
    assert written == ["PASCAL is done\n"]
