import gzip
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers import SOURCE_DIR, item, write_lines

from frugalmct import __version__
from frugalmct.cli import main

# Unbuffered output would hide what happens to it when Python exits.
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SOURCE_DIR), "PYTHONUNBUFFERED": ""}


def _run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "frugalmct.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, **options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.jsonl"


def _check(capsys: pytest.CaptureFixture, *arguments: str | Path) -> tuple[int, str, str]:
    """Like `_run`, without the price of a process."""
    code = main(["check", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def _good(path: Path) -> Path:
    microsoft = {"Microsoft": [["猫", 0.4], ["dog", 0.3]]}
    return write_lines(
        path,
        item(),
        item(id="a2", truth=["car"], predictions={"Google": [["car", 0.75]], **microsoft}),
        item(id="a3", truth=["car"], predictions={"Google": [["猫", 0.25], ["car", 0.5]], **microsoft}),
        item(id="a4", truth=["猫"], predictions={"Google": [["猫", 0.1]], **microsoft}),
    )


# --- through a process, as users see it


def test_good_file(path):
    done = _run("check", _good(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        f"{path}: no problems found; answers are labels\n"
        "\n"
        "  items                                 4\n"
        "  distinct labels                       3\n"
        "  only predicted labels                 2\n"
        "  label occurrences                     5\n"
        "  labels per item                    1.25\n"
        "  largest label set                     2\n"
        "  features per item                     0\n"
        "  text                                 no\n"
        "  costs                  none in the file\n"
        "\n"
        "  service    accuracy alone  empty answers  labels per item  mean score\n"
        "  Google             70.8 %          0.0 %             1.50       0.513\n"
        "  Microsoft          12.5 %         25.0 %             1.50       0.350\n"
        "\n"
        "  warnings: 1\n"
        "  - Half of the items are tested on. With 2 test items chance decides, and no headline is given "
        "below 50; record more items.\n"
    )


def test_bad_file(path):
    done = _run("check", write_lines(path, item(), "", item(), "[]"))
    assert done.returncode == 2
    assert done.stdout.splitlines() == [
        f"{path}: 2 problems found",
        "",
        "  line 3: the id 'a1' was given on line 1; make ids unique.",
        "  line 4: a list of 0 is not an item; an item is one JSON object with id, truth, predictions.",
    ]
    assert done.stderr == f"frugalmct: {path} cannot be used: 2 problems.\n"


@pytest.mark.parametrize("module", ["frugalmct", "frugalmct.cli"])
def test_module_and_version(module):
    command = [sys.executable, "-m", module, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert (done.returncode, done.stdout) == (0, f"frugalmct {__version__}\n")


def test_terminal_without_the_characters(path):
    lines = [item(id=str(n), predictions={"猫": [["car", 0.1 * n]]}) for n in range(4)]
    command = [sys.executable, "-m", "frugalmct", "check", str(write_lines(path, *lines))]
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u732b" in done.stdout


@pytest.mark.parametrize("arguments", [("check", "good.jsonl"), ("check", "bad.jsonl"), ("--help",)])
def test_reader_that_leaves(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    _good(Path("good.jsonl"))
    write_lines(Path("bad.jsonl"), "{")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "frugalmct.cli", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_interrupt(path):
    os.mkfifo(path)
    command = [sys.executable, "-m", "frugalmct.cli", "check", str(path)]
    # Where the tests run in the background the signal may be ignored, and so would it be in the process.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=ENVIRONMENT, preexec_fn=heed)
    with path.open("wb"):  # returns once the other side has opened it, too
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    assert (process.returncode, stderr) == (130, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to write to")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_is_a_sentence(path, options):
    command = [sys.executable, "-m", "frugalmct.cli", "check", write_lines(path, *_hundred()), *options]
    with Path("/dev/full").open("w") as full:
        outcome = subprocess.run(command, env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert outcome.returncode == 2
    assert outcome.stderr == (
        "frugalmct: the output: cannot be written (No space left on device); free some space, or write to "
        "another disk.\n"
    )


def test_help_answers_without_heavy_imports():
    code = "import sys, frugalmct.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT).returncode == 0


# --- mistakes in use


@pytest.mark.parametrize("arguments", [[], ["chek"], ["check"], ["check", "a", "b"], ["check", "--wat", "a"]])
def test_wrong_use_exits_2(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: frugalmct" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["none.jsonl", ".", "empty.jsonl"])
def test_file_that_can_not_be_read_is_one_sentence(capsys, tmp_path, name):
    (tmp_path / "empty.jsonl").touch()
    code, out, err = _check(capsys, tmp_path / name)
    assert (code, out) == (2, "")
    assert err.startswith(f"frugalmct: {tmp_path / name}".removesuffix("/."))
    assert err.count("\n") == 1


# --- what is said


def test_gzip(capsys, path):
    packed = path.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(_good(path).read_bytes()))
    code, out, _ = _check(capsys, packed)
    assert code == 0
    assert "no problems found" in out


def test_more_problems_than_are_listed(capsys, path):
    code, out, err = _check(capsys, write_lines(path, *["{"] * 1234))
    lines = out.splitlines()
    assert code == 2
    assert lines[0] == f"{path}: 1,234 problems found"
    assert [line[:10] for line in lines[2:22]] == [f"  line {number:>2}:" for number in range(1, 21)]
    assert lines[22:] == ["", "  and 1,214 more"]
    assert err == f"frugalmct: {path} cannot be used: 1,234 problems.\n"


def test_one_problem_is_not_many(capsys, path):
    _, out, err = _check(capsys, write_lines(path, "{"))
    assert out.startswith(f"{path}: 1 problem found\n")
    assert err.endswith("1 problem.\n")


def test_json_of_a_good_file(capsys, path):
    code, out, _ = _check(capsys, "--json", _good(path))
    report = json.loads(out)
    assert code == 0
    assert report["ok"] is True
    assert report["items"] == 4
    assert report["label_occurrences"] == 5
    assert report["services"][1] == {
        "service": "Microsoft",
        "accuracy": 0.125,
        "share_empty": 0.25,
        "labels_per_item": 1.5,
        "mean_score": pytest.approx(0.35),
    }
    assert report["warnings"] == _few(4)


def test_json_of_a_bad_file(capsys, path):
    code, out, _ = _check(capsys, write_lines(path, item(), *["null"] * 30), "--json")
    report = json.loads(out)
    assert code == 2
    assert (report["ok"], report["problem_count"], len(report["problems"])) == (False, 30, 20)
    assert report["problems"][0]["line"] == 2


# --- warnings


def _warnings(capsys: pytest.CaptureFixture, path: Path, *records: dict, labels: int | None = 1) -> list[str]:
    options = [] if labels is None else ["--labels-per-item", labels]
    code, out, _ = _check(capsys, "--json", write_lines(path, *records), *options)
    assert code == 0
    return json.loads(out)["warnings"]


def _few(items: int) -> list[str]:
    """What is said of so many items, where it is more than that they are too few for anything."""
    tested = "1 test item" if items // 2 == 1 else f"{items // 2} test items"
    sentence = f"With {tested} chance decides, and no headline is given below 50"
    return [f"Half of the items are tested on. {sentence}; record more items."] if 3 <= items < 100 else []


def _records(google: list[list], truth: list[list[str]] | None = None, **others: list[list]) -> list[dict]:
    """Items from lists of answers; the truth is 'car' unless told."""
    truth = truth or [["car"]] * len(google)
    return [
        item(
            id=f"item {n}",
            truth=truth[n],
            predictions={"Google": answer, **{service: answers[n] for service, answers in others.items()}},
        )
        for n, answer in enumerate(google)
    ]


def _scored(*scores: float) -> list[list]:
    return [[["car", score]] for score in scores]


@pytest.mark.parametrize(
    ("records", "warning"),
    [
        (_records(_scored(0.1, 0.2)), "2 items are too few to train and test on; 3 are the least."),
        (
            _records(_scored(0.1, 0.2, 0.3, 0.4), [["car"], [], [], ["car"]]),
            "Items without a true label: 2 (50.0 %), the first is 'item 1'; "
            "on them only an empty answer is right.",
        ),
        (
            _records([[["auto", 0.1], ["car", 0.1]], [["bus", 0.2]], [["van", 0.3]]]),
            "3 of the 4 predicted labels are never true; do the services and the truth name labels alike?",
        ),
        (
            _records(_scored(0.1, 0.2, 0.3), [["car"], ["Car", "van"], ["car "]]),
            "Labels that differ from another only in case or blanks: 2, such as 'Car' and 'car'; "
            "they count as different labels.",
        ),
        (_records([[], [], []]), "Google never answers: its list is empty on every item."),
        (
            _records([[["van", 0.1]], [["van", 0.2]], []], [["car"], ["car"], ["van"]]),
            "Google is never right: no label it gives is among the true labels of its item.",
        ),
        (
            _records(_scored(0.5, 0.5, 0.5)),
            "Google gives every label the score 0.5: its scores say nothing.",
        ),
        (
            _records(_scored(*[0, 1] * 10), [["car"]] * 19 + [["van"]]),
            "Google has only 2 distinct scores (0, 1): many tie.",
        ),
        (
            _records(_scored(*[1] * 15, *[n / 10 for n in range(10)]), [["car"]] * 24 + [["van"]]),
            "Google gives 60.0 % of its labels the score 1: these tie.",
        ),
        (
            _records(_scored(0.1, 0.2, 0.3), Twin=_scored(0.1, 0.2, 0.3)),
            "Google and Twin give the same answers throughout: one of them is of no use.",
        ),
    ],
)
def test_warning(capsys, path, records, warning):
    assert _warnings(capsys, path, *records) == [warning, *_few(len(records))]


def _hundred(truth: list[list[str]] | None = None) -> list[dict]:
    """Nothing is the matter with them, but that all have one label unless told."""
    scores = [n / 200 for n in range(100)]
    truth = truth or [["van"], *[["car"]] * 99]
    other = [score + 0.1 for score in scores]
    return _records(_scored(*scores), truth, Other=_scored(*other), Terse=[[]] * 99 + [[["car", 1]]])


def test_nothing_to_warn_of(capsys, path):
    assert _warnings(capsys, path, *_hundred()) == []
    assert _warnings(capsys, path, *_hundred()[:99]) == [
        *["Terse never answers: its list is empty on every item."], *_few(99)
    ]  # fmt: skip


def test_one_label_an_item_without_being_told(capsys, path):
    (warning,) = _warnings(capsys, path, *_hundred(), labels=None)
    assert warning.startswith("Every item has exactly one true label") and "labels_per_item: 1" in warning
    for truth in ([["car", "van"]], [[]]):
        kinds = _hundred([["car"]] * 99 + truth)
        assert not any("exactly one" in line for line in _warnings(capsys, path, *kinds, labels=None))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--prices", "Google=0", "Other=0", "Terse=0"], "All prices are 0"),
        (["--prices", "Google=15", "Other=10,Terse=1", "--budget", "5000"], "it looks like a total"),
        (["--prices", "Google=15", "Other=10,Terse=1", "--budget", "8", "40"], "budgets, 40 cannot be spent"),
        (
            ["--prices", "Google=15", "Other=10,Terse=0", "--budget", "0.001"],
            "it looks like that of one call",
        ),
        (["--prices", "Google=0.0015", "Other=0.001,Terse=0"], "looks like the price of one call"),
        (["--prices", "Google=0.0015", "Other=0.001,Terse=0", "--unit", "USD per call"], None),
        (["--prices", "Google=15", "Other=10,Terse=1", "--budget", "8", "12"], None),
    ],
)
def test_prices_and_budgets_are_checked_with_the_data(capsys, path, options, words):
    file = write_lines(path, *_hundred())
    code, out, _ = _check(capsys, "--json", file, "--labels-per-item", "1", *options)
    warnings = json.loads(out)["warnings"]
    assert code == 0 and len(warnings) == (words is not None) and all(words in line for line in warnings)


def test_a_price_that_is_missing_is_a_mistake(capsys, path):
    code, out, err = _check(capsys, write_lines(path, *_hundred()), "--prices", "Google=15")
    assert code == 2 and "Other" in out and "cannot be used" in err


def test_warnings_are_listed_in_the_text(capsys, path):
    _, out, _ = _check(capsys, write_lines(path, *_records([[], []])), "--labels-per-item", "1")
    assert "  warnings: 2\n  - 2 items are too few" in out


def test_no_label_at_all(capsys, path):
    code, out, _ = _check(capsys, write_lines(path, *_records([[]] * 3, [[]] * 3)))
    assert code == 0
    assert ["Google", "100.0", "%", "100.0", "%", "0.00", "-"] in [line.split() for line in out.splitlines()]
