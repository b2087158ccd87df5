import numpy as np
import pandas as pd
import pytest

from frugalmct.paper.intervals import interval, with_intervals
from frugalmct.paper.tables import write_table

T_OF_ONE_DEGREE = 12.706204736  # of two repetitions


def test_interval_of_two_by_hand():
    found = interval([0.4, 0.6])
    assert found.mean == pytest.approx(0.5)
    # The standard deviation is 0.1 sqrt(2), so the standard error is 0.1.
    assert found.low == pytest.approx(0.5 - T_OF_ONE_DEGREE * 0.1)
    assert found.high == pytest.approx(0.5 + T_OF_ONE_DEGREE * 0.1)
    assert found.within(0, 1) == (found.mean, 0.0, 1.0)


def test_interval_of_five_uses_the_t_table():
    found = interval([1, 2, 3, 4, 5])
    assert found.high - found.mean == pytest.approx(2.776445105 * np.sqrt(2.5 / 5))


def test_one_value_has_no_interval_and_none_no_mean():
    assert interval([0.3]).mean == 0.3 and np.isnan(interval([0.3]).low)
    assert interval([0.3, np.nan]).mean == 0.3 and np.isnan(interval([0.3, np.nan]).high)
    assert np.isnan(interval([])).all() and np.isnan(interval([np.nan])).all()


def test_last_bits_and_the_sign_of_zero_do_not_show(tmp_path):
    assert interval([0.1 + 0.2 - 0.3, 0.0]) == (0.0, 0.0, 0.0)
    write_table(pd.DataFrame([interval([-1e-17]).columns("loss")]), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "loss,loss_low,loss_high\n0,,\n"


def test_half_widths_are_students():
    assert interval([1.0, 2.0, 3.0]).half == pytest.approx(4.302653 / np.sqrt(3))
    assert np.isnan(interval([1.0]).half)


def test_intervals_by_key_with_other_means():
    rows = pd.DataFrame({"key": ["b", "a", "b"], "value": [1.0, 5.0, 3.0], "cost": [2.0, 7.0, 4.0]})
    found = with_intervals(rows, ["key"], "value", "cost")
    assert found["key"].tolist() == ["b", "a"] and found["value"].tolist() == [2.0, 5.0]
    assert found["cost"].tolist() == [3.0, 7.0]
    assert found["half"][0] == pytest.approx(T_OF_ONE_DEGREE) and np.isnan(found["half"][1])
