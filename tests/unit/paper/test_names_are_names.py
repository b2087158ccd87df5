"""Names stay the text that they are: in tables, in the report, and on the console."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frugalmct.cli import main
from frugalmct.errors import FrugalError
from frugalmct.paper.columns import Column
from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.jobs.log import sentence_only
from frugalmct.paper.report.html import cell, table
from frugalmct.paper.tables import read_as_text, read_table, write_table
from frugalmct.splits import split
from frugalmct.values import printable

# What a program may take for a number, a truth value, nothing, or a formula.
NAMES = (
    "000026", "26", "1e5", "0x10", "1_000", "True", "False", "true", "yes", "NA", "NaN", "null", "None",
    "inf", "-inf", "2021-05-01", "1/2", " padded ", "'tis", "''", "-5", "+5", "-", "=", "=1+1",
    "=cmd|' /C calc'!A0",
    "+44 20", "-x", "@SUM(A1)", "\ttab", "\rreturn", "'=1", "''=1", "'-5", 'a"b', "a,b", "a\nb", "a\r\nb",
    "猫", "#x",
)  # fmt: skip
RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def written(names, folder: Path) -> Path:
    frame = pd.DataFrame({"label": list(names), "value": np.linspace(-1, 1, len(names))})
    write_table(frame, folder / "table.csv")
    return folder / "table.csv"


@pytest.mark.parametrize("name", NAMES)
def test_a_name_comes_back_as_it_was_written(tmp_path, name):
    path = written([name, name], tmp_path)
    for back in (read_table(path, ["label"]), read_as_text(path)):
        assert list(back["label"]) == [name, name]
    assert list(read_table(path)["value"]) == [-1, 1]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_no_cell_is_run_by_a_spreadsheet(tmp_path, name):
    with written([name], tmp_path).open(newline="", encoding="utf-8") as handle:
        (_, (label, value)) = csv.reader(handle)
    assert is_number(label) or not label.startswith(RUN_BY_SPREADSHEETS)
    assert float(value) == -1 and value == "-1", "numbers stay numbers"


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), min_size=1
    )
)
def test_any_text_comes_back(tmp_path_factory, names):
    path = written(names, tmp_path_factory.mktemp("any"))
    assert list(read_as_text(path)["label"]) == names
    assert list(read_table(path, ["label"])["label"]) == names


def test_ordinary_tables_have_the_bytes_they_always_had(tmp_path):
    frame = pd.DataFrame({"dataset": ["COCO", 'a "b", c'], "cost": [0.1 + 0.2, -3], "proven": [True, False]})
    write_table(frame, tmp_path / "t.csv")
    expected = frame.to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()
    assert (tmp_path / "t.csv").read_bytes() == expected


@pytest.mark.parametrize(
    "damage", [b"", b"a,b\n1,2\n3", b"a,b\n1,2\n3\n", b'a,b\n1,"2\n', b"a,b\n1,\xff\n", b"a,b\n1,\x00\n"]
)
def test_a_damaged_table_is_named_with_its_remedy(tmp_path, damage):
    (tmp_path / "t.csv").write_bytes(damage)
    for read in (read_table, read_as_text):
        with pytest.raises(
            FrugalError, match=r"t\.csv: .*; make it again with `snakemake --force .*t\.csv`\.$"
        ):
            read(tmp_path / "t.csv")


@pytest.mark.parametrize("name", NAMES)
def test_the_report_shows_names_of_a_text_column_as_they_are(name):
    for value in (name, pd.Series([name], dtype="str")[0]):
        assert cell(value, Column("label", "a label", "text")).shown == name


@pytest.mark.parametrize("value", [True, np.True_, "True"])
def test_flags_are_yes_and_no(value):
    assert cell(value, Column("proven", "", "flag")).shown == "yes"


def test_columns_that_hold_names_are_text_in_every_exhibit():
    names = {
        "dataset",
        "datasets",
        "method",
        "service",
        "best_service",
        "base",
        "label",
        "item",
        "truth",
        "task",
    }
    for exhibit in all_exhibits():
        for column in exhibit.columns:
            assert column.name not in names or column.kind == "text", f"{exhibit.name}: {column.name}"


@pytest.mark.parametrize("exhibit", all_exhibits(), ids=lambda exhibit: exhibit.name)
def test_every_exhibit_reads_back_and_shows_names_that_look_like_something_else(tmp_path, exhibit):
    texts = [column.name for column in exhibit.columns if column.kind == "text"]
    frame = pd.DataFrame({column.name: NAMES if column.name in texts else 0.5 for column in exhibit.columns})
    write_table(frame, tmp_path / "t.csv")
    back = exhibit.read(tmp_path / "t.csv")
    for column in texts:
        assert list(back[column]) == list(NAMES)
    page = table(back, "caption", exhibit.column)
    assert page.count(">True<") == page.count(">yes<") == len(texts), "the names, and nothing made of them"


ESCAPES = "\x1b[31mred\x1b]0;title\x07\r\b\x9b2J\u202e\u2028"


def test_signs_that_steer_a_terminal_are_escaped():
    assert printable("plain 猫 é") == "plain 猫 é"
    shown = printable(ESCAPES)
    assert shown.isprintable() and shown.startswith(r"\x1b[31mred")


def console(tmp_path: Path, capsys, records: list[dict], *options: str) -> str:
    file = tmp_path / "own.jsonl"
    file.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    main(["check", str(file), *options])
    out, err = capsys.readouterr()
    return out + err


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("good", [True, False])
def test_check_shows_no_escape_of_the_data(tmp_path, capsys, options, good):
    item = {
        "id": ESCAPES,
        "truth": [],
        "predictions": {f"a{ESCAPES}": [[ESCAPES, 0.5 if good else 7]], "b": []},
    }
    other = item | {"id": "b", "truth": [f"{ESCAPES} "]}
    shown = console(tmp_path, capsys, [item, other], *options)
    assert "1b" in shown
    assert all(line.isprintable() for line in shown.split("\n"))


def test_a_file_named_by_escapes_is_shown_escaped(tmp_path, capsys):
    main(["check", str(tmp_path / f"no{ESCAPES}.jsonl")])
    shown = "".join(capsys.readouterr())
    assert shown and all(line.isprintable() for line in shown.split("\n"))


def test_a_jobs_sentence_is_shown_escaped(capsys):
    with pytest.raises(SystemExit), sentence_only():
        raise FrugalError(f"The service {ESCAPES} has no price.")
    assert capsys.readouterr().err.rstrip("\n").isprintable()


def test_a_headline_is_shown_escaped(tmp_path):
    """The script that announces a dataset, with a service whose name steers a terminal."""
    script = Path(__file__).parents[3] / "workflow" / "scripts" / "announce_dataset.py"
    rows = pd.DataFrame(
        {"dataset": "own", "method": [f"single:{ESCAPES}", "frugalmct_online"], "budget": 5.0,
         "repetition": 0, "accuracy": [0.5, 0.7], "cost": [5.0, 4.0]}
    )  # fmt: skip
    write_table(rows, tmp_path / "rows.csv")
    split(200, seed=1).save(tmp_path / "split.npz")
    code = (
        "import sys, types; from pathlib import Path\n"
        "class S(types.SimpleNamespace): pass\n"
        f"given = S(tables=[{str(tmp_path / 'rows.csv')!r}], split={str(tmp_path / 'split.npz')!r})\n"
        f"snakemake = S(log=[{str(tmp_path / 'log')!r}], input=given,"
        f" output=[{str(tmp_path / 'out.txt')!r}], wildcards=S(dataset='own'), params=S(task='MIC'))\n"
        f"exec(compile(Path({str(script)!r}).read_text(), 'script', 'exec'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("own is done: ") and r"\x1b[31mred" in done.stderr
    assert done.stderr.rstrip("\n").isprintable()
    assert io.StringIO(done.stdout).read() == ""
