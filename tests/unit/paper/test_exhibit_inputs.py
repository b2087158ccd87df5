"""What an exhibit reads: files of stages, studies and other exhibits."""

import pandas as pd
import pytest

from frugalmct.errors import FrugalError
from frugalmct.paper.exhibit import Inputs, load_exhibit, rows_of
from frugalmct.paper.tables import write_table


def test_cells_of_a_study_stay_what_they_were(tmp_path):
    first = pd.DataFrame({"label": ["007", "NA", ""], "share": [1 / 3, None, 2.0], "marked": True})
    write_table(first, tmp_path / "a.csv")
    write_table(first.tail(1), tmp_path / "b.csv")
    inputs = Inputs({"studies/some": [tmp_path / "a.csv", tmp_path / "b.csv"]})
    write_table(inputs.study("some"), tmp_path / "all.csv")
    a, b = ((tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("a.csv", "b.csv"))
    assert (tmp_path / "all.csv").read_text(encoding="utf-8").splitlines() == a + b[1:]


def test_tables_without_rows_are_read_as_empty_and_files_without_content_are_refused(tmp_path):
    path = tmp_path / "tradeoff.csv"
    path.write_text("dataset,method\n", encoding="utf-8")
    assert load_exhibit("tradeoff").read(path).empty
    assert Inputs({"tradeoff": [path]}).table("tradeoff").empty
    path.write_text("", encoding="utf-8")
    with pytest.raises(FrugalError, match="it is cut off; make it again"):
        load_exhibit("tradeoff").read(path)
    assert rows_of(pd.DataFrame({"x": [1]}), "COCO").empty
