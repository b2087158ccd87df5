import numpy as np
import pandas as pd
import pytest
from estimates_by_hand import PRICES, SERVICES, repetition
from long_tables import long_table, online, only_row, row, singles

from frugalmct.paper.exhibits.cheapest_budget import COLUMNS, cheapest_budgets, foreseen_budget
from frugalmct.paper.names import ONLINE, PLUS
from frugalmct.paper.stages.estimate import RepetitionEstimates

ESTIMATES = np.array([[0.2, 0.8], [0.5, 0.6], [0.1, 0.9], [0.4, 0.4]])


def foresee(reach):
    """A training frontier that rises from nothing at budget 0 to `reach` at budget 10."""
    return lambda target: 10 * target / reach if target <= reach else np.nan


def test_cheapest_budgets_measured_and_foreseen():
    # Budgets, not costs: at budget 4 only 1 is spent.
    rows = [*singles(), row(ONLINE, 0, 0.4, 0), row(ONLINE, 4, 0.6, 1), row(ONLINE, 8, 0.72, 2)]
    table = cheapest_budgets(long_table(*rows), {("own", 0): foresee(0.715)}, ["own"])
    assert table.columns.tolist() == [column.name for column in COLUMNS]
    assert table["target"].tolist() == [
        "as free", "as fair", "as dear", "dear + 1 point", "dear + 2 points", "dear + 3 points",
    ]  # fmt: skip
    assert table["budget"].tolist()[:3] == pytest.approx([0, 2, 4 + 4 * 0.1 / 0.12])
    assert table["budget"][4] == pytest.approx(8) and pd.isna(table["budget"][5])
    assert table["predicted_budget"][3] == pytest.approx(7.1 / 0.715)
    assert table["plus_budget"].isna().all()
    assert table["reason"][4] == "no result of frugalmct_plus; out of reach of the training estimates"
    assert table["reason"][5] == (
        "out of reach of the test curve; no result of frugalmct_plus; out of reach of the training estimates"
    )
    assert table["reached"].tolist() == [1] * 5 + [0]


def test_cheapest_budgets_of_several_repetitions_have_one_target():
    rows = [
        *singles(0),
        *singles(1, shift=0.1),
        *online((0, 0.4), (10, 0.8)),
        *online((3, 0.9), repetition=1),
        *online((0, 0.4), (4, 0.8), method=PLUS),
        *online((2, 0.7), repetition=1, method=PLUS),
    ]
    foresight = {("own", 0): foresee(1.0), ("own", 1): foresee(0.5)}
    table = cheapest_budgets(long_table(*rows), foresight, ["own"]).set_index("target")
    dear = table.loc["as dear"]
    assert dear["target_accuracy"] == pytest.approx(0.75)
    assert dear["budget"] == pytest.approx((8.75 + 3) / 2) and dear["predicted_budget"] == pytest.approx(7.5)
    assert dear["plus_budget"] == pytest.approx(3.5), "only the first repetition gets there"
    assert dear[["reached", "plus_reached", "predicted_reached"]].tolist() == [2, 1, 1]
    assert dear["reason"] == (
        "out of reach of plus in 1 of 2 repetitions; "
        "out of reach of the training estimates in 1 of 2 repetitions"
    )


def test_a_dataset_without_results_has_a_row_with_its_reason():
    found = only_row(cheapest_budgets(long_table(), {}, ["own"]))
    assert (found["dataset"], found["reason"]) == ("own", "no result of any single service")


def test_budgets_are_foreseen_with_the_cheapest_base():
    foresee = foreseen_budget(repetition(ESTIMATES, ESTIMATES))
    assert foresee(0.3) == pytest.approx(1)
    # The best upgrade gains 0.8 / 4 for 4 / 4: halfway there costs half of it.
    assert foresee(0.4) == pytest.approx(1.5)
    assert np.isnan(foresee(0.7))
    other = repetition(1 - 0 * ESTIMATES, ESTIMATES, base=1).by_base
    both = RepetitionEstimates(SERVICES, PRICES, repetition(ESTIMATES, ESTIMATES).by_base | other)
    assert foreseen_budget(both)(0.4) == pytest.approx(1.5)
    assert foreseen_budget(both)(0.7) == pytest.approx(4)
