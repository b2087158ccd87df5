import pandas as pd

from frugalmct.paper.tables import read_table, write_table


def test_written_tables_have_whole_counts_short_floats_and_unix_lines(tmp_path):
    table = pd.DataFrame({"name": ["a,b", None], "count": [1878682.0, 61643.0], "share": [0.1 + 0.2, 1 / 3]})
    write_table(table, tmp_path / "deep" / "table.csv")
    assert (tmp_path / "deep" / "table.csv").read_bytes() == (
        b'name,count,share\n"a,b",1878682,0.3\n,61643,0.3333333333\n'
    )


def test_labels_that_look_like_missing_values_come_back_as_text(tmp_path):
    labels = ["NA", "null", "nan", 'quo"te', "two\nlines", "猫"]
    write_table(pd.DataFrame({"label": labels, "items": 1}), tmp_path / "table.csv")
    assert read_table(tmp_path / "table.csv")["label"].tolist() == labels


def test_names_that_look_like_numbers_come_back_as_text(tmp_path):
    table = pd.DataFrame({"dataset": ["007", "1e5"], "base": ["1", None], "repetition": [0, 1]})
    write_table(table, tmp_path / "table.csv")
    again = read_table(tmp_path / "table.csv")
    assert again["dataset"].tolist() == ["007", "1e5"] and again["repetition"].tolist() == [0, 1]
    assert again["base"][0] == "1" and again["base"].isna().tolist() == [False, True]
