import pandas as pd

from frugalmct.studies.parts import joined
from frugalmct.tables import write_table


def test_cells_stay_what_they_were(tmp_path):
    first = pd.DataFrame({"label": ["007", "NA", ""], "share": [1 / 3, None, 2.0], "marked": True})
    write_table(first, tmp_path / "a.csv")
    write_table(first.tail(1), tmp_path / "b.csv")
    write_table(joined([tmp_path / "a.csv", tmp_path / "b.csv"]), tmp_path / "all.csv")
    a, b = ((tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("a.csv", "b.csv"))
    assert (tmp_path / "all.csv").read_text(encoding="utf-8").splitlines() == a + b[1:]
