import pandas as pd
import pytest
from long_tables import long_table, online, only_row, row, singles, whole_sweep

from frugalmct.paper.exhibits.beyond import COLUMNS, beyond, largest_overrun
from frugalmct.paper.names import IDEAL, ONLINE


def test_beyond_by_hand():
    found = only_row(beyond(long_table(*whole_sweep()), {"own": "MIC"}))
    assert found["gain_at_best_cost"] == pytest.approx(0)
    assert (found["area_from"], found["area_to"]) == (0, 10)
    # Rising by 0.2 over the first half, flat over the second.
    assert found["area_online"] == pytest.approx(0.65) and found["area_oracle"] == pytest.approx(0.75)
    assert found["area_plus"] == pytest.approx(0.7)
    losses = found[["loss_combiner", "loss_predictor", "loss_dual_price", "gap_to_oracle"]]
    assert losses.tolist() == pytest.approx([0.1, 0.08, 0.02, 0.1])
    assert found["budget_used_online"] == 1 and found["largest_overrun_online"] == 0
    assert pd.isna(found["area_dap_low"]) and pd.isna(found["reason"])


def test_beyond_has_intervals_over_repetitions():
    rows = [*whole_sweep(0), *whole_sweep(1)]
    found = only_row(beyond(long_table(*rows), {"own": "MIC"}))
    assert found["area_online_low"] == pytest.approx(0.65) == found["area_online_high"]
    assert found["repetitions"] == 2


def test_beyond_says_what_is_missing():
    rows = [entry for entry in whole_sweep() if entry["method"] not in (IDEAL, "frugalml")]
    found = beyond(long_table(*rows), {"own": "MIC", "none": "NER"})
    assert found.columns.tolist() == [column.name for column in COLUMNS]
    assert found["reason"][0] == f"no result of {IDEAL}; no result of frugalml"
    assert pd.isna(found["loss_combiner"][0]) and found["loss_dual_price"][0] == pytest.approx(0.02)
    assert found["reason"][1] == f"no result of any single service; no result of {ONLINE}"


def test_a_best_service_below_all_budgets_has_no_gain_and_no_area():
    rows = [*singles(services={"only": (0.7, 1.0)}), *online((2, 0.7), (3, 0.8))]
    found = only_row(beyond(long_table(*rows), {"own": "MIC"}))
    assert pd.isna(found["gain_at_best_cost"]) and pd.isna(found["area_online"])
    assert "the best service is cheaper than any budget" in found["reason"]
    assert "no area" in found["reason"]


def test_overruns_are_the_largest_and_rounding_is_none():
    rows = long_table(row(ONLINE, 3, 0.5, 3 * (1 + 1e-12)), row(ONLINE, 5, 0.5, 4))
    assert largest_overrun(rows) == 0
    assert largest_overrun(long_table(row(ONLINE, 3, 0.5, 3.5), row(ONLINE, 5, 0.5, 5.25))) == 0.5


def test_the_share_of_a_budget_of_nothing_is_not_counted():
    rows = [*singles(), row(ONLINE, 0, 0.4, 0), row(ONLINE, 10, 0.7, 6)]
    assert only_row(beyond(long_table(*rows), {"own": "MIC"}))["budget_used_online"] == pytest.approx(0.6)
