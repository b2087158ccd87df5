import pandas as pd
import pytest
from drawings import drawn_text

from frugalmct.paper.exhibits import ablation as exhibit
from frugalmct.paper.exhibits.ablation import COLUMNS, ablation_table, plot, reading, shown
from frugalmct.paper.intervals import paired_difference
from frugalmct.paper.studies import ablation as study

# Accuracy in two repetitions at budgets 1, 4 and 9.
REACHED = {
    ("added", study.PAPER): (0.50, 0.54),
    ("added", study.ABSTENTION): (0.52, 0.55),
    ("added", study.FURTHER): (0.60, 0.66),
    ("reading", study.IN_SAMPLE): (0.40, 0.52),
    ("left out", study.ABSTENTION): (0.59, 0.66),
}


def study_rows(dataset: str = "own") -> pd.DataFrame:
    rows = [
        (dataset, kind, part, budget, repetition, accuracy + budget / 100, budget, 600, 200, "recorded")
        for (kind, part), accuracies in REACHED.items()
        for budget in (9.0, 1.0, 4.0)
        for repetition, accuracy in enumerate(accuracies)
    ]
    return pd.DataFrame(rows, columns=study.COLUMNS)


def test_gains_are_over_the_row_before_over_plus_or_over_the_papers_method():
    table = ablation_table(study_rows())
    assert table.columns.tolist() == [column.name for column in COLUMNS]
    low = table[table["level"] == "low"].set_index(["kind", "part"])
    assert set(low["budget"]) == {1.0} and set(low["repetitions"]) == {2}
    assert low["accuracy"].tolist() == pytest.approx([0.53, 0.545, 0.64, 0.47, 0.635])
    assert pd.isna(low["gain"].iloc[0]), "the paper's method is compared with nothing"
    assert low["gain"].tolist()[1:] == pytest.approx([0.015, 0.095, -0.06, -0.005])
    assert low["against"].tolist()[1:] == [study.PAPER, study.ABSTENTION, study.PAPER, study.FURTHER]
    # A quarter of the items is tested on.
    expected = paired_difference([0.60, 0.66], [0.52, 0.55], 0.25)
    found = low.loc[("added", study.FURTHER)]
    assert (found["gain_low"], found["gain_high"]) == pytest.approx((expected.low, expected.high))


def test_it_is_read_drawn_and_shown(tmp_path):
    table = ablation_table(pd.concat([study_rows(), study_rows("two")]))
    lines = reading(table)
    assert lines[0].endswith(f"{study.ABSTENTION} +1.5, {study.FURTHER} +9.5.")
    assert lines[1].endswith(f"{study.ABSTENTION} -0.5.")
    assert "-6.0 points in the mean" in lines[2]
    drawn = drawn_text(plot(table.assign(data="simulated")), tmp_path)
    # Of "further steps" the table has the same gain at every budget.
    for words in ("abstention", "left out of plus", "own", "two", "mean", "+9.5", "-0.5", "SIMULATED"):
        assert words in drawn
    assert "in-sample" not in drawn
    assert "+9.5" in shown(table)["gain"].str.slice(0, 4).tolist()


def test_the_study_and_the_exhibit_use_the_same_words():
    assert (exhibit.ADDED, exhibit.WITHOUT, exhibit.READING) == (study.ADDED, study.WITHOUT, study.READING)
    assert f"{study.ITEMS:,}" in exhibit.CAPTION and f"{study.TREES} trees" in exhibit.CAPTION
    assert study.IN_SAMPLE in " ".join(exhibit.CAPTION.split())
