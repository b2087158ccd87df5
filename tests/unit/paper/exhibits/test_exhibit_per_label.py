import pandas as pd
import pytest

from frugalmct.paper.exhibits.per_label import plot_each, reading, shown
from frugalmct.paper.names import FRUGALMCT, single

OFTEN, SELDOM = 50, 49


def rows(**occurrences: int) -> pd.DataFrame:
    """Ours finds the half of every label, the service a quarter, but all of what is seldom."""
    found = []
    for label, times in occurrences.items():
        for method, recall in ((FRUGALMCT, 0.5), (single("Google"), 0.25 if times >= OFTEN else 1.0)):
            found.append(
                ("mine", 8.0, method, label, times, times, recall * times, recall, recall, "recorded")
            )
    names = ["dataset", "budget", "method", "label", "occurrences", "predicted", "correct", "precision",
             "recall", "data"]  # fmt: skip
    return pd.DataFrame(found, columns=names)


def test_what_is_said_of_labels_leaves_out_those_of_few_items():
    lines = reading(rows(cat=OFTEN, dog=OFTEN, owl=SELDOM))
    assert "at or above every single service's on 2 of 2 labels" in lines[0]
    assert "1 of 3 labels are true of fewer than 50 test items" in lines[-1] and "star" in lines[-1]
    assert not any("star" in line for line in reading(rows(cat=OFTEN)))


def test_of_few_items_nothing_is_said():
    (line,) = reading(rows(owl=SELDOM, elk=1))
    assert line.startswith("2 of 2 labels") and "chance decides" in line


def test_labels_of_few_items_have_a_star_in_the_table_and_the_figure():
    table = rows(cat=OFTEN, owl=SELDOM)
    assert shown(table)["label"].tolist() == ["cat", "owl *"]
    ticks = [tick.get_text() for tick in plot_each(table).axes[0].get_yticklabels()]
    assert ticks == ["cat", "owl *"]
    assert shown(table)["recall FrugalMCT"].tolist() == pytest.approx([0.5, 0.5])
