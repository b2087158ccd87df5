import numpy as np
import pandas as pd
import pytest
from made_up_tables import robustness as made_up

from frugalmct.paper.exhibits.robustness import part_of, reading, slope


@pytest.mark.parametrize("power", [-0.5, -1.0, 0.25])
def test_the_slope_of_a_power_law_is_its_power(power):
    items = np.array([50, 700, 60_000])
    assert slope(pd.DataFrame({"items": items, "regret": 0.3 * items**power})) == pytest.approx(power)


def test_where_nothing_is_lost_there_is_no_slope():
    assert np.isnan(slope(pd.DataFrame({"items": [50, 60], "regret": [0.0, 0.0]})))
    assert np.isnan(slope(pd.DataFrame({"items": [50, 60], "regret": [0.1, 0.0]})))


def test_the_reading_names_the_slopes_the_worst_settings_and_an_overrun():
    table = made_up(("COCO", "mine"))
    lines = reading(table)
    assert "With fixed δ, regret goes as N to the power -0.50 (COCO), -0.50 (mine)" in lines[0]
    assert "mix 0.45 points (hard half, COCO)" in lines[2]
    assert lines[-1].startswith("None of the ")
    table.loc[3, "highest_cost"] = 6.1
    assert reading(table)[-1].startswith("1 of the ")


def test_the_appendixs_prices_are_compared_with_those_configured():
    rows = made_up(("COCO",))
    usual = part_of(rows, "prices").assign(setting="as configured", accuracy=0.55)
    raised = part_of(rows, "prices").assign(setting="SSD at 15", accuracy=0.45)
    lines = reading(pd.concat([rows, usual, raised], ignore_index=True))
    assert "The free models at the appendix's prices: COCO with SSD at 15: 45.0 % for 55.0 %." in lines
